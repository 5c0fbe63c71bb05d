//! Time stamps of packets and copies.

abi_struct! {
    /// When a packet ran, in ticks of the system clock.
    hsa_amd_profiling_dispatch_time_t {
        /// Start.
        start: u64,
        /// End.
        end: u64,
    }
}

abi_struct! {
    /// When a copy ran, in ticks of the system clock.
    hsa_amd_profiling_async_copy_time_t {
        /// Start.
        start: u64,
        /// End.
        end: u64,
    }
}

abi_enum! {
    /// Bits of `hsa_amd_enable_logging`.
    hsa_amd_log_flag_t: u32 {
        /// Packets the runtime itself submits.
        BLIT_KERNEL_PKTS = 0 => HSA_AMD_LOG_FLAG_BLIT_KERNEL_PKTS,
        /// Another name of the same.
        AQL = 0 => HSA_AMD_LOG_FLAG_AQL,
        /// Copy engine packets.
        SDMA = 1 => HSA_AMD_LOG_FLAG_SDMA,
        /// Information.
        INFO = 2 => HSA_AMD_LOG_FLAG_INFO,
    }
}
