//! System properties, extension numbers and small types used everywhere (HSA Runtime PRM 1.2, sections 2.1 and 2.3).

use core::ffi::c_int;

abi_struct! {
    /// Three 32-bit extents or coordinates.
    hsa_dim3_t {
        /// Along X.
        x: u32,
        /// Along Y.
        y: u32,
        /// Along Z.
        z: u32,
    }
}

abi_enum! {
    /// How an agent may touch memory or an image; a set of bits.
    hsa_access_permission_t: u32 {
        /// No access.
        NONE = 0 => HSA_ACCESS_PERMISSION_NONE,
        /// Reading only.
        RO = 1 => HSA_ACCESS_PERMISSION_RO,
        /// Writing only.
        WO = 2 => HSA_ACCESS_PERMISSION_WO,
        /// Reading and writing.
        RW = 3 => HSA_ACCESS_PERMISSION_RW,
    }
}

/// An open POSIX file descriptor.
pub type hsa_file_t = c_int;

/// An operating system handle: on Linux a file descriptor.
pub type hsa_handle_t = c_int;

abi_enum! {
    /// Byte order.
    hsa_endianness_t: u32 {
        /// Least significant byte first.
        LITTLE = 0 => HSA_ENDIANNESS_LITTLE,
        /// Most significant byte first.
        BIG = 1 => HSA_ENDIANNESS_BIG,
    }
}

abi_enum! {
    /// Width of addresses.
    hsa_machine_model_t: u32 {
        /// 32-bit addresses.
        SMALL = 0 => HSA_MACHINE_MODEL_SMALL,
        /// 64-bit addresses.
        LARGE = 1 => HSA_MACHINE_MODEL_LARGE,
    }
}

abi_enum! {
    /// Feature profile of the standard.
    hsa_profile_t: u32 {
        /// Base profile.
        BASE = 0 => HSA_PROFILE_BASE,
        /// Full profile: agents share the address space of the process.
        FULL = 1 => HSA_PROFILE_FULL,
    }
}

abi_enum! {
    /// What `hsa_system_get_info` can be asked.
    hsa_system_info_t: u32 {
        /// `uint16_t`: major version of the interface.
        VERSION_MAJOR = 0 => HSA_SYSTEM_INFO_VERSION_MAJOR,
        /// `uint16_t`: minor version of the interface.
        VERSION_MINOR = 1 => HSA_SYSTEM_INFO_VERSION_MINOR,
        /// `uint64_t`: the system clock now.
        TIMESTAMP = 2 => HSA_SYSTEM_INFO_TIMESTAMP,
        /// `uint64_t`: ticks of the system clock per second.
        TIMESTAMP_FREQUENCY = 3 => HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY,
        /// `uint64_t`: longest wait on a signal, in ticks.
        SIGNAL_MAX_WAIT = 4 => HSA_SYSTEM_INFO_SIGNAL_MAX_WAIT,
        /// `hsa_endianness_t`: byte order of the system.
        ENDIANNESS = 5 => HSA_SYSTEM_INFO_ENDIANNESS,
        /// `hsa_machine_model_t`: address width of the system.
        MACHINE_MODEL = 6 => HSA_SYSTEM_INFO_MACHINE_MODEL,
        /// `uint8_t[128]`: one bit for each supported extension.
        EXTENSIONS = 7 => HSA_SYSTEM_INFO_EXTENSIONS,
        /// `const char *`: version text of this build.
        AMD_BUILD_VERSION = 0x200 => HSA_AMD_SYSTEM_INFO_BUILD_VERSION,
        /// `bool`: whether the shared virtual memory calls work.
        AMD_SVM_SUPPORTED = 0x201 => HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED,
        /// `bool`: whether agents reach all memory of the process without asking.
        AMD_SVM_ACCESSIBLE_BY_DEFAULT = 0x202 => HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT,
        /// `bool`: whether waits use the MWAITX instruction.
        AMD_MWAITX_ENABLED = 0x203 => HSA_AMD_SYSTEM_INFO_MWAITX_ENABLED,
        /// `bool`: whether allocations can be exported as dma-buf.
        AMD_DMABUF_SUPPORTED = 0x204 => HSA_AMD_SYSTEM_INFO_DMABUF_SUPPORTED,
        /// `bool`: whether the `hsa_amd_vmem` calls work.
        AMD_VIRTUAL_MEM_API_SUPPORTED = 0x205 => HSA_AMD_SYSTEM_INFO_VIRTUAL_MEM_API_SUPPORTED,
        /// `bool`: whether this process runs with retryable page faults.
        AMD_XNACK_ENABLED = 0x206 => HSA_AMD_SYSTEM_INFO_XNACK_ENABLED,
        /// `uint16_t`: major version of the AMD extension.
        AMD_EXT_VERSION_MAJOR = 0x207 => HSA_AMD_SYSTEM_INFO_EXT_VERSION_MAJOR,
        /// `uint16_t`: minor version of the AMD extension.
        AMD_EXT_VERSION_MINOR = 0x208 => HSA_AMD_SYSTEM_INFO_EXT_VERSION_MINOR,
        /// `bool`: whether there are GPUs and all of them take fabric handles.
        AMD_FABRIC_HANDLES_SUPPORTED = 0x209 => HSA_AMD_SYSTEM_INFO_FABRIC_HANDLES_SUPPORTED,
        /// `bool`: whether host memory of the virtual memory calls can be exported as dma-buf.
        AMD_HOST_ALLOC_DMA_BUF_SUPPORTED = 0x20a => HSA_AMD_SYSTEM_INFO_HOST_ALLOC_DMA_BUF_SUPPORTED,
    }
}

abi_enum! {
    /// Numbers of the extensions.
    hsa_extension_t: u32 {
        /// Finalizer: from HSAIL to machine code.
        FINALIZER = 0 => HSA_EXTENSION_FINALIZER,
        /// Images and samplers.
        IMAGES = 1 => HSA_EXTENSION_IMAGES,
        /// Performance counters.
        PERFORMANCE_COUNTERS = 2 => HSA_EXTENSION_PERFORMANCE_COUNTERS,
        /// Profiling events.
        PROFILING_EVENTS = 3 => HSA_EXTENSION_PROFILING_EVENTS,
        /// Last number of the standard.
        STD_LAST = 3 => HSA_EXTENSION_STD_LAST,
        /// First number of AMD.
        AMD_FIRST_EXTENSION = 0x200 => HSA_AMD_FIRST_EXTENSION,
        /// Profiler.
        AMD_PROFILER = 0x200 => HSA_EXTENSION_AMD_PROFILER,
        /// Loader queries.
        AMD_LOADER = 0x201 => HSA_EXTENSION_AMD_LOADER,
        /// Counter and trace packets.
        AMD_AQLPROFILE = 0x202 => HSA_EXTENSION_AMD_AQLPROFILE,
        /// Program counter sampling.
        AMD_PC_SAMPLING = 0x203 => HSA_EXTENSION_AMD_PC_SAMPLING,
        /// Last number of AMD.
        AMD_LAST_EXTENSION = 0x203 => HSA_AMD_LAST_EXTENSION,
    }
}
