//! Companion packets of a queue's metadata ring, 256 bytes each, that gfx125x packet processors prefetch.

abi_enum! {
    /// First bit of each field of a metadata header.
    hsa_amd_metadata_packet_header_t: u32 {
        /// Packet type.
        TYPE = 0 => HSA_AMD_METADATA_PACKET_HEADER_TYPE,
        /// Zero.
        RESERVED = 8 => HSA_AMD_METADATA_PACKET_HEADER_RESERVED,
        /// Major version.
        VERSION_MAJOR = 24 => HSA_AMD_METADATA_PACKET_HEADER_VERSION_MAJOR,
        /// Minor version.
        VERSION_MINOR = 27 => HSA_AMD_METADATA_PACKET_HEADER_VERSION_MINOR,
    }
}

abi_enum! {
    /// Bits of each field of a metadata header.
    hsa_amd_metadata_packet_header_width_t: u32 {
        /// Packet type.
        TYPE = 8 => HSA_AMD_METADATA_PACKET_HEADER_WIDTH_TYPE,
        /// Zero.
        RESERVED = 16 => HSA_AMD_METADATA_PACKET_HEADER_WIDTH_RESERVED,
        /// Major version.
        VERSION_MAJOR = 3 => HSA_AMD_METADATA_PACKET_HEADER_WIDTH_VERSION_MAJOR,
        /// Minor version.
        VERSION_MINOR = 5 => HSA_AMD_METADATA_PACKET_HEADER_WIDTH_VERSION_MINOR,
    }
}

/// Part of the kernel arguments to preload: dwords in bits 0 to 6, first dword in bits 7 to 15.
pub type hsa_amd_metadata_preload_t = u16;

abi_struct! {
    /// Copy of the kernel descriptor from its entry offset on.
    hsa_amd_metadata_kernel_descriptor_t {
        /// First instruction, relative to the descriptor.
        kernel_code_entry_byte_offset: i64,
        /// Zero.
        reserved1: [u8; 20],
        /// Third resource register.
        compute_pgm_rsrc3: u32,
        /// First resource register.
        compute_pgm_rsrc1: u32,
        /// Second resource register.
        compute_pgm_rsrc2: u32,
        /// Property bits.
        kernel_code_properties: u16,
        /// Arguments to preload.
        kernarg_preload: hsa_amd_metadata_preload_t,
        /// Zero.
        reserved2: [u8; 4],
    }
}

abi_struct! {
    /// Prefetch of a two-dimensional memory area into the L2 cache.
    amd_data_prefetch_t {
        /// Bit 0 cooperative, 2:1 temporal hint, 4:3 scope, 15:5 burst size - 1, 31:16 bursts - 1.
        dw0: u32,
        /// Bits 3:0 chunk size, 5:4 permissions, 31:8 low address or argument offset.
        dw1: u32,
        /// Bits 24:0 high address.
        dw2: u32,
        /// Bits 23:0 stride, 31:30 mode: 0 off, 1 address, 2 argument.
        dw3: u32,
    }
}

abi_struct! {
    /// Per-dispatch overrides; all zero means none.
    amd_launch_descriptor_t {
        /// 0 none, 1 the gfx1250 layout.
        version: u8,
        /// 0 default.
        priority: u8,
        /// Power management hint; 0 none.
        pm_hint: u8,
        /// Zero.
        reserved0: u8,
        /// Bits 3:0 first unit, 7:4 count, 9:8 shader engines; 0 all.
        cu_enable: u32,
        /// Most groups or clusters in flight; 0 no limit.
        dispatch_granularity_limiter: u16,
        /// Zero.
        reserved1: u16,
        /// Zero.
        reserved2: u8,
        /// Zero.
        reserved3: u8,
        /// Work-groups given to one die at a time; 0 inherit.
        tg_chunk_size: u16,
        /// Zero.
        reserved4: u32,
        /// Areas to prefetch.
        prefetch: [amd_data_prefetch_t; 2],
    }
}

abi_struct! {
    /// Metadata of a kernel dispatch packet.
    hsa_amd_metadata_kernel_dispatch_packet_t {
        /// Header.
        header0: u32,
        /// Event of the completion signal.
        event_id: u32,
        /// Copy of the descriptor.
        kernel_descriptor: hsa_amd_metadata_kernel_descriptor_t,
        /// Zero.
        reserved0: [u8; 8],
        /// Same as header0.
        header1: u32,
        /// Preloaded dwords.
        kernarg_preload_0_14: [u32; 15],
        /// Same as header0.
        header2: u32,
        /// Preloaded dwords.
        kernarg_preload_15_29: [u32; 15],
        /// Same as header0.
        header3: u32,
        /// Preloaded dwords.
        kernarg_preload_30_31: [u32; 2],
        /// Overrides; zero for none.
        launch_descriptor: amd_launch_descriptor_t,
    }
}

abi_struct! {
    /// Metadata of a barrier packet.
    hsa_amd_metadata_barrier_packet_t {
        /// Header.
        header0: u32,
        /// Event of the completion signal.
        event_id: u32,
        /// Zero.
        reserved0: [u8; 56],
        /// Same as header0.
        header1: u32,
        /// Zero.
        reserved1: [u8; 60],
        /// Same as header0.
        header2: u32,
        /// Zero.
        reserved2: [u8; 60],
        /// Same as header0.
        header3: u32,
        /// Zero.
        reserved3: [u8; 60],
    }
}
