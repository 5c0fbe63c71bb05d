//! Requests of the driver `amdxdna`.

use super::{request, structure, BOTH};

/// The driver's name, as `VERSION` tells.
pub const DRIVER_NAME: &str = "amdxdna_accel_driver";

request! {
    /// Makes a hardware context: a share of the array with a queue of its own in the kernel.
    CreateHwctx = 0x40, BOTH, "CREATE_HWCTX", size 56 {
        /// Zero.
        ext: u64 = 0,
        /// Zero.
        ext_flags: u64 = 8,
        /// Address of a [`Qos`].
        qos_p: u64 = 16,
        /// Buffer of a queue in user memory, or 0.
        umq_bo: u32 = 24,
        /// Buffer of a log, or 0.
        log_buf_bo: u32 = 28,
        /// Most operations in a cycle.
        max_opc: u32 = 32,
        /// Core tiles that are wanted.
        num_tiles: u32 = 36,
        /// Bytes of memory tiles that are wanted.
        mem_size: u32 = 40,
        /// Offset of the doorbell of a queue in user memory.
        umq_doorbell: u32 = 44,
        /// The context.
        handle: u32 = 48,
        /// The timeline of its commands, or 0: then they are waited for with [`WaitCmd`].
        syncobj_handle: u32 = 52,
    }
}

structure! {
    /// What a context would like of the device.
    Qos, size 24 {
        /// Operations in a second, in 10^9.
        gops: u32 = 0,
        /// Frames in a second.
        fps: u32 = 4,
        /// Bandwidth.
        dma_bandwidth: u32 = 8,
        /// Latency.
        latency: u32 = 12,
        /// Time of a frame.
        frame_exec_time: u32 = 16,
        /// Urgency: see [`priority`].
        priority: u32 = 20,
    }
}

/// Values of [`Qos::priority`].
pub mod priority {
    /// Before everything else.
    pub const REALTIME: u32 = 0x100;
    /// Above normal.
    pub const HIGH: u32 = 0x180;
    /// Normal.
    pub const NORMAL: u32 = 0x200;
    /// Below normal.
    pub const LOW: u32 = 0x280;
}

request! {
    /// Takes a hardware context down.
    DestroyHwctx = 0x41, BOTH, "DESTROY_HWCTX", size 8 {
        /// The context.
        handle: u32 = 0,
        /// Zero.
        pad: u32 = 4,
    }
}

request! {
    /// Sets something of a hardware context.
    ConfigHwctx = 0x42, BOTH, "CONFIG_HWCTX", size 24 {
        /// The context.
        handle: u32 = 0,
        /// What: [`CONFIG_CU`].
        param_type: u32 = 4,
        /// The value or its address.
        param_val: u64 = 8,
        /// Bytes there.
        param_val_size: u32 = 16,
        /// Zero.
        pad: u32 = 20,
    }
}

/// [`ConfigHwctx::param_type`]: the images of the array that commands of the context use, once.
pub const CONFIG_CU: u32 = 0;
/// Most images of a context.
pub const MOST_IMAGES: usize = 32;

structure! {
    /// One image: what commands call a compute unit.
    CuConfig, size 8 {
        /// Buffer of the image, in the heap.
        cu_bo: u32 = 0,
        /// Function in it.
        cu_func: u8 = 4,
        /// Zero.
        pad: [u8; 3] = 5,
    }
}

structure! {
    /// The images of a context.
    CuConfigs, size 264 {
        /// How many.
        num_cus: u16 = 0,
        /// Zero.
        pad: [u16; 3] = 2,
        /// Each.
        configs: [CuConfig; 32] = 8,
    }
}

request! {
    /// Makes a buffer.
    CreateBo = 0x43, BOTH, "CREATE_BO", size 32 {
        /// Zero.
        flags: u64 = 0,
        /// Zero.
        vaddr: u64 = 8,
        /// Bytes.
        size: u64 = 16,
        /// What: see [`bo`].
        bo_type: u32 = 24,
        /// The handle.
        handle: u32 = 28,
    }
}

/// Values of [`CreateBo::bo_type`].
pub mod bo {
    /// Host memory that the device sees.
    pub const SHARE: u32 = 1;
    /// The heap that buffers inside the device's address space are cut from.
    pub const DEV_HEAP: u32 = 2;
    /// A part of the heap.
    pub const DEV: u32 = 3;
    /// A command.
    pub const CMD: u32 = 4;
}

request! {
    /// Where a buffer is.
    GetBoInfo = 0x44, BOTH, "GET_BO_INFO", size 48 {
        /// Zero.
        ext: u64 = 0,
        /// Zero.
        ext_flags: u64 = 8,
        /// The handle.
        handle: u32 = 16,
        /// Zero.
        pad: u32 = 20,
        /// Offset for `mmap`, or all ones.
        map_offset: u64 = 24,
        /// Where the process sees it.
        vaddr: u64 = 32,
        /// Where the device sees it.
        xdna_addr: u64 = 40,
    }
}

request! {
    /// Writes the host's caches of a range back and drops them.
    SyncBo = 0x45, BOTH, "SYNC_BO", size 24 {
        /// The handle.
        handle: u32 = 0,
        /// 0 to the device, 1 from it.
        direction: u32 = 4,
        /// Start.
        offset: u64 = 8,
        /// Bytes.
        size: u64 = 16,
    }
}

request! {
    /// Hands a command to a hardware context.
    ExecCmd = 0x46, BOTH, "EXEC_CMD", size 56 {
        /// Zero.
        ext: u64 = 0,
        /// Zero.
        ext_flags: u64 = 8,
        /// The context.
        hwctx: u32 = 16,
        /// Zero: a buffer with a command.
        cmd_type: u32 = 20,
        /// The buffer.
        cmd_handles: u64 = 24,
        /// Address of the handles of the buffers that the command uses.
        args: u64 = 32,
        /// One.
        cmd_count: u32 = 40,
        /// How many buffers it uses.
        arg_count: u32 = 44,
        /// The command's number in its context.
        seq: u64 = 48,
    }
}

request! {
    /// Asks something of the device.
    GetInfo = 0x47, BOTH, "GET_INFO", size 16 {
        /// What: see [`query`].
        param: u32 = 0,
        /// Bytes of the room, and then of the answer.
        buffer_size: u32 = 4,
        /// Address of the room.
        buffer: u64 = 8,
    }
}

/// Values of [`GetInfo::param`].
pub mod query {
    /// An [`super::AieMetadata`].
    pub const AIE_METADATA: u32 = 1;
    /// An [`super::AieVersion`].
    pub const AIE_VERSION: u32 = 2;
    /// A [`super::ClockMetadata`].
    pub const CLOCK_METADATA: u32 = 3;
}

structure! {
    /// Version of the array's hardware.
    AieVersion, size 8 {
        /// Major.
        major: u32 = 0,
        /// Minor.
        minor: u32 = 4,
    }
}

structure! {
    /// Tiles of one kind.
    TileMetadata, size 16 {
        /// Rows of them.
        row_count: u16 = 0,
        /// The first row.
        row_start: u16 = 2,
        /// Channels of their data movers.
        dma_channel_count: u16 = 4,
        /// Locks.
        lock_count: u16 = 6,
        /// Event registers.
        event_reg_count: u16 = 8,
        /// Zero.
        pad: [u16; 3] = 10,
    }
}

structure! {
    /// The array.
    AieMetadata, size 64 {
        /// Bytes of a column.
        col_size: u32 = 0,
        /// Columns.
        cols: u16 = 4,
        /// Rows.
        rows: u16 = 6,
        /// Version.
        version: AieVersion = 8,
        /// Tiles that compute.
        core: TileMetadata = 16,
        /// Tiles of memory.
        mem: TileMetadata = 32,
        /// Tiles to the host.
        shim: TileMetadata = 48,
    }
}

structure! {
    /// One clock.
    Clock, size 24 {
        /// Its name, ended by a zero.
        name: [u8; 16] = 0,
        /// MHz.
        freq_mhz: u32 = 16,
        /// Zero.
        pad: u32 = 20,
    }
}

structure! {
    /// The clocks.
    ClockMetadata, size 48 {
        /// That of the management processor.
        mp_npu_clock: Clock = 0,
        /// That of the array.
        h_clock: Clock = 24,
    }
}

request! {
    /// Waits for a command.
    WaitCmd = 0x49, BOTH, "WAIT_CMD", size 16 {
        /// The context.
        hwctx: u32 = 0,
        /// Milliseconds; 0 for ever.
        timeout: u32 = 4,
        /// The command's number.
        seq: u64 = 8,
    }
}
