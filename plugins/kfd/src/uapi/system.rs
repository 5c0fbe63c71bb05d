//! Version, apertures, clocks, address spaces, policies, trap handler, scratch, tiling, run-time options.

use super::{request, READ, WRITE};

request! {
    /// The interface's version.
    GetVersion = 0x01, READ, "GET_VERSION", size 8 {
        /// Major number; a program for another one must not go on.
        major_version: u32 = 0,
        /// Minor number.
        minor_version: u32 = 4,
    }
}

/// Cache policy: coherent with the host.
pub const CACHE_POLICY_COHERENT: u32 = 0;
/// Cache policy: cached by the device.
pub const CACHE_POLICY_NONCOHERENT: u32 = 1;

request! {
    /// How a device caches, by default and in one range.
    SetMemoryPolicy = 0x04, WRITE, "SET_MEMORY_POLICY", size 32 {
        /// Start of the other range.
        alternate_aperture_base: u64 = 0,
        /// Bytes of the other range.
        alternate_aperture_size: u64 = 8,
        /// The device.
        gpu_id: u32 = 16,
        /// Policy outside that range.
        default_policy: u32 = 20,
        /// Policy inside it.
        alternate_policy: u32 = 24,
        /// Process flags; zero before 1.18.
        misc_process_flag: u32 = 28,
    }
}

request! {
    /// The clocks, read together.
    GetClockCounters = 0x05, READ | WRITE, "GET_CLOCK_COUNTERS", size 40 {
        /// The device's clock.
        gpu_clock_counter: u64 = 0,
        /// The host's raw monotonic clock.
        cpu_clock_counter: u64 = 8,
        /// The system's clock.
        system_clock_counter: u64 = 16,
        /// Ticks per second of the system's clock.
        system_clock_freq: u64 = 24,
        /// The device, or 0.
        gpu_id: u32 = 32,
        /// Zero.
        pad: u32 = 36,
    }
}

/// Ranges of one device's address space, filled in by the kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessDeviceApertures {
    /// First address of group memory.
    pub lds_base: u64,
    /// Last one.
    pub lds_limit: u64,
    /// First address of private memory.
    pub scratch_base: u64,
    /// Last one.
    pub scratch_limit: u64,
    /// First address that memory can be mapped at.
    pub gpuvm_base: u64,
    /// Last one.
    pub gpuvm_limit: u64,
    /// The device.
    pub gpu_id: u32,
    /// Zero.
    pub pad: u32,
}
const _: () = assert!(size_of::<ProcessDeviceApertures>() == 56);

request! {
    /// Asks for the apertures of every device.
    GetProcessAperturesNew = 0x14, READ | WRITE, "GET_PROCESS_APERTURES_NEW", size 16 {
        /// Array of [`ProcessDeviceApertures`].
        kfd_process_device_apertures_ptr: u64 = 0,
        /// Room in the array, then entries filled in.
        num_of_nodes: u32 = 8,
        /// Zero.
        pad: u32 = 12,
    }
}

request! {
    /// Address of the private memory of a device's waves.
    SetScratchBackingVa = 0x11, READ | WRITE, "SET_SCRATCH_BACKING_VA", size 16 {
        /// The address.
        va_addr: u64 = 0,
        /// The device.
        gpu_id: u32 = 8,
        /// Zero.
        pad: u32 = 12,
    }
}

request! {
    /// How a device tiles images.
    GetTileConfig = 0x12, READ | WRITE, "GET_TILE_CONFIG", size 40 {
        /// Array of words.
        tile_config_ptr: u64 = 0,
        /// Second array of words.
        macro_tile_config_ptr: u64 = 8,
        /// Room in the first array, then entries.
        num_tile_configs: u32 = 16,
        /// Room in the second array, then entries.
        num_macro_tile_configs: u32 = 20,
        /// The device.
        gpu_id: u32 = 24,
        /// Register GB_ADDR_CONFIG.
        gb_addr_config: u32 = 28,
        /// Banks.
        num_banks: u32 = 32,
        /// Ranks.
        num_ranks: u32 = 36,
    }
}

request! {
    /// Code and data of a device's trap handler.
    SetTrapHandler = 0x13, WRITE, "SET_TRAP_HANDLER", size 24 {
        /// The code.
        tba_addr: u64 = 0,
        /// The data.
        tma_addr: u64 = 8,
        /// The device.
        gpu_id: u32 = 16,
        /// Zero.
        pad: u32 = 20,
    }
}

request! {
    /// Ties the process's address space on a device to a render node's file.
    AcquireVm = 0x15, WRITE, "ACQUIRE_VM", size 8 {
        /// The render node's file.
        drm_fd: u32 = 0,
        /// The device.
        gpu_id: u32 = 4,
    }
}

request! {
    /// A file with a device's system management events.
    SmiEvents = 0x1f, READ | WRITE, "SMI_EVENTS", size 8 {
        /// The device.
        gpuid: u32 = 0,
        /// The file.
        anon_fd: u32 = 4,
    }
}

request! {
    /// Whether memory faults are replayed in this process; -1 asks.
    SetXnackMode = 0x21, READ | WRITE, "SET_XNACK_MODE", size 4 {
        /// 0, 1 or -1.
        xnack_enabled: i32 = 0,
    }
}

/// Run-time option: on.
pub const RUNTIME_ENABLE_MODE: u32 = 1;
/// Run-time option: waves keep what the trap handler needs in registers of its own.
pub const RUNTIME_ENABLE_TTMP: u32 = 2;

request! {
    /// Announces the run-time to debuggers, and turns exception words on.
    RuntimeEnable = 0x25, READ | WRITE, "RUNTIME_ENABLE", size 16 {
        /// Address of the debugger's structure.
        r_debug: u64 = 0,
        /// Options.
        mode_mask: u32 = 8,
        /// What the kernel can do.
        capabilities_mask: u32 = 12,
    }
}
