//! Kernel descriptors: `amd_kernel_code_t` of code object version 2 and the 64-byte descriptor of later versions.

use core::ffi::{c_char, c_void};

/// Version of `amd_kernel_code_t`.
pub type amd_kernel_code_version32_t = u32;

abi_enum! {
    /// Version of `amd_kernel_code_t`.
    amd_kernel_code_version_t: u32 {
        /// Major version.
        MAJOR = 1 => AMD_KERNEL_CODE_VERSION_MAJOR,
        /// Minor version.
        MINOR = 1 => AMD_KERNEL_CODE_VERSION_MINOR,
    }
}

/// `amd_machine_kind_t` in 16 bits.
pub type amd_machine_kind16_t = u16;

abi_enum! {
    /// Machine a kernel is for.
    amd_machine_kind_t: u32 {
        /// None.
        UNDEFINED = 0 => AMD_MACHINE_KIND_UNDEFINED,
        /// AMD GPU.
        AMDGPU = 1 => AMD_MACHINE_KIND_AMDGPU,
    }
}

/// Version of a machine.
pub type amd_machine_version16_t = u16;

abi_enum! {
    /// Rounding.
    amd_float_round_mode_t: u32 {
        /// To nearest, ties to even.
        NEAREST_EVEN = 0 => AMD_FLOAT_ROUND_MODE_NEAREST_EVEN,
        /// Up.
        PLUS_INFINITY = 1 => AMD_FLOAT_ROUND_MODE_PLUS_INFINITY,
        /// Down.
        MINUS_INFINITY = 2 => AMD_FLOAT_ROUND_MODE_MINUS_INFINITY,
        /// Towards zero.
        ZERO = 3 => AMD_FLOAT_ROUND_MODE_ZERO,
    }
}

abi_enum! {
    /// Denormal values.
    amd_float_denorm_mode_t: u32 {
        /// Sources and results become zero.
        FLUSH_SOURCE_OUTPUT = 0 => AMD_FLOAT_DENORM_MODE_FLUSH_SOURCE_OUTPUT,
        /// Results become zero.
        FLUSH_OUTPUT = 1 => AMD_FLOAT_DENORM_MODE_FLUSH_OUTPUT,
        /// Sources become zero.
        FLUSH_SOURCE = 2 => AMD_FLOAT_DENORM_MODE_FLUSH_SOURCE,
        /// They are kept.
        NO_FLUSH = 3 => AMD_FLOAT_DENORM_MODE_NO_FLUSH,
    }
}

/// `amd_compute_pgm_rsrc_one_t` in 32 bits.
pub type amd_compute_pgm_rsrc_one32_t = u32;

abi_bits! {
    /// First resource register.
    amd_compute_pgm_rsrc_one_t {
        /// Vector registers, in granules, less 1.
        GRANULATED_WORKITEM_VGPR_COUNT = 0, 6 => AMD_COMPUTE_PGM_RSRC_ONE_GRANULATED_WORKITEM_VGPR_COUNT,
        /// Scalar registers, in granules, less 1.
        GRANULATED_WAVEFRONT_SGPR_COUNT = 6, 4 => AMD_COMPUTE_PGM_RSRC_ONE_GRANULATED_WAVEFRONT_SGPR_COUNT,
        /// Priority.
        PRIORITY = 10, 2 => AMD_COMPUTE_PGM_RSRC_ONE_PRIORITY,
        /// Rounding of single precision.
        FLOAT_ROUND_MODE_32 = 12, 2 => AMD_COMPUTE_PGM_RSRC_ONE_FLOAT_ROUND_MODE_32,
        /// Rounding of half and double precision.
        FLOAT_ROUND_MODE_16_64 = 14, 2 => AMD_COMPUTE_PGM_RSRC_ONE_FLOAT_ROUND_MODE_16_64,
        /// Denormals of single precision.
        FLOAT_DENORM_MODE_32 = 16, 2 => AMD_COMPUTE_PGM_RSRC_ONE_FLOAT_DENORM_MODE_32,
        /// Denormals of half and double precision.
        FLOAT_DENORM_MODE_16_64 = 18, 2 => AMD_COMPUTE_PGM_RSRC_ONE_FLOAT_DENORM_MODE_16_64,
        /// Privileged.
        PRIV = 20, 1 => AMD_COMPUTE_PGM_RSRC_ONE_PRIV,
        /// NaN clamps to zero.
        ENABLE_DX10_CLAMP = 21, 1 => AMD_COMPUTE_PGM_RSRC_ONE_ENABLE_DX10_CLAMP,
        /// Debug mode.
        DEBUG_MODE = 22, 1 => AMD_COMPUTE_PGM_RSRC_ONE_DEBUG_MODE,
        /// Signalling NaN is quieted.
        ENABLE_IEEE_MODE = 23, 1 => AMD_COMPUTE_PGM_RSRC_ONE_ENABLE_IEEE_MODE,
        /// One work-group at a time.
        BULKY = 24, 1 => AMD_COMPUTE_PGM_RSRC_ONE_BULKY,
        /// For debuggers.
        CDBG_USER = 25, 1 => AMD_COMPUTE_PGM_RSRC_ONE_CDBG_USER,
        /// Zero.
        RESERVED1 = 26, 6 => AMD_COMPUTE_PGM_RSRC_ONE_RESERVED1,
    }
}

abi_enum! {
    /// Work-item ids given in vector registers.
    amd_system_vgpr_workitem_id_t: u32 {
        /// X.
        X = 0 => AMD_SYSTEM_VGPR_WORKITEM_ID_X,
        /// X and Y.
        X_Y = 1 => AMD_SYSTEM_VGPR_WORKITEM_ID_X_Y,
        /// X, Y and Z.
        X_Y_Z = 2 => AMD_SYSTEM_VGPR_WORKITEM_ID_X_Y_Z,
        /// Not defined.
        UNDEFINED = 3 => AMD_SYSTEM_VGPR_WORKITEM_ID_UNDEFINED,
    }
}

/// `amd_compute_pgm_rsrc_two_t` in 32 bits.
pub type amd_compute_pgm_rsrc_two32_t = u32;

abi_bits! {
    /// Second resource register.
    amd_compute_pgm_rsrc_two_t {
        /// Scratch offset of the wave in a register.
        ENABLE_SGPR_PRIVATE_SEGMENT_WAVE_BYTE_OFFSET = 0, 1 => AMD_COMPUTE_PGM_RSRC_TWO_ENABLE_SGPR_PRIVATE_SEGMENT_WAVE_BYTE_OFFSET,
        /// User registers.
        USER_SGPR_COUNT = 1, 5 => AMD_COMPUTE_PGM_RSRC_TWO_USER_SGPR_COUNT,
        /// The trap handler runs.
        ENABLE_TRAP_HANDLER = 6, 1 => AMD_COMPUTE_PGM_RSRC_TWO_ENABLE_TRAP_HANDLER,
        /// Work-group id X in a register.
        ENABLE_SGPR_WORKGROUP_ID_X = 7, 1 => AMD_COMPUTE_PGM_RSRC_TWO_ENABLE_SGPR_WORKGROUP_ID_X,
        /// Work-group id Y in a register.
        ENABLE_SGPR_WORKGROUP_ID_Y = 8, 1 => AMD_COMPUTE_PGM_RSRC_TWO_ENABLE_SGPR_WORKGROUP_ID_Y,
        /// Work-group id Z in a register.
        ENABLE_SGPR_WORKGROUP_ID_Z = 9, 1 => AMD_COMPUTE_PGM_RSRC_TWO_ENABLE_SGPR_WORKGROUP_ID_Z,
        /// Work-group facts in a register.
        ENABLE_SGPR_WORKGROUP_INFO = 10, 1 => AMD_COMPUTE_PGM_RSRC_TWO_ENABLE_SGPR_WORKGROUP_INFO,
        /// `amd_system_vgpr_workitem_id_t`.
        ENABLE_VGPR_WORKITEM_ID = 11, 2 => AMD_COMPUTE_PGM_RSRC_TWO_ENABLE_VGPR_WORKITEM_ID,
        /// Trap on a watched address.
        ENABLE_EXCEPTION_ADDRESS_WATCH = 13, 1 => AMD_COMPUTE_PGM_RSRC_TWO_ENABLE_EXCEPTION_ADDRESS_WATCH,
        /// Trap on a memory violation.
        ENABLE_EXCEPTION_MEMORY_VIOLATION = 14, 1 => AMD_COMPUTE_PGM_RSRC_TWO_ENABLE_EXCEPTION_MEMORY_VIOLATION,
        /// Group bytes, in granules.
        GRANULATED_LDS_SIZE = 15, 9 => AMD_COMPUTE_PGM_RSRC_TWO_GRANULATED_LDS_SIZE,
        /// Trap on an invalid operation.
        ENABLE_EXCEPTION_IEEE_754_FP_INVALID_OPERATION = 24, 1 => AMD_COMPUTE_PGM_RSRC_TWO_ENABLE_EXCEPTION_IEEE_754_FP_INVALID_OPERATION,
        /// Trap on a denormal source.
        ENABLE_EXCEPTION_FP_DENORMAL_SOURCE = 25, 1 => AMD_COMPUTE_PGM_RSRC_TWO_ENABLE_EXCEPTION_FP_DENORMAL_SOURCE,
        /// Trap on a division by zero.
        ENABLE_EXCEPTION_IEEE_754_FP_DIVISION_BY_ZERO = 26, 1 => AMD_COMPUTE_PGM_RSRC_TWO_ENABLE_EXCEPTION_IEEE_754_FP_DIVISION_BY_ZERO,
        /// Trap on overflow.
        ENABLE_EXCEPTION_IEEE_754_FP_OVERFLOW = 27, 1 => AMD_COMPUTE_PGM_RSRC_TWO_ENABLE_EXCEPTION_IEEE_754_FP_OVERFLOW,
        /// Trap on underflow.
        ENABLE_EXCEPTION_IEEE_754_FP_UNDERFLOW = 28, 1 => AMD_COMPUTE_PGM_RSRC_TWO_ENABLE_EXCEPTION_IEEE_754_FP_UNDERFLOW,
        /// Trap on an inexact result.
        ENABLE_EXCEPTION_IEEE_754_FP_INEXACT = 29, 1 => AMD_COMPUTE_PGM_RSRC_TWO_ENABLE_EXCEPTION_IEEE_754_FP_INEXACT,
        /// Trap on an integer division by zero.
        ENABLE_EXCEPTION_INT_DIVISION_BY_ZERO = 30, 1 => AMD_COMPUTE_PGM_RSRC_TWO_ENABLE_EXCEPTION_INT_DIVISION_BY_ZERO,
        /// Zero.
        RESERVED1 = 31, 1 => AMD_COMPUTE_PGM_RSRC_TWO_RESERVED1,
    }
}

abi_enum! {
    /// Interleaving of private memory.
    amd_element_byte_size_t: u32 {
        /// 2 bytes.
        SIZE_2 = 0 => AMD_ELEMENT_BYTE_SIZE_2,
        /// 4 bytes.
        SIZE_4 = 1 => AMD_ELEMENT_BYTE_SIZE_4,
        /// 8 bytes.
        SIZE_8 = 2 => AMD_ELEMENT_BYTE_SIZE_8,
        /// 16 bytes.
        SIZE_16 = 3 => AMD_ELEMENT_BYTE_SIZE_16,
    }
}

/// `amd_kernel_code_properties_t` in 32 bits.
pub type amd_kernel_code_properties32_t = u32;

abi_bits! {
    /// What a kernel wants in registers, and more.
    amd_kernel_code_properties_t {
        /// Buffer resource of the private segment.
        ENABLE_SGPR_PRIVATE_SEGMENT_BUFFER = 0, 1 => AMD_KERNEL_CODE_PROPERTIES_ENABLE_SGPR_PRIVATE_SEGMENT_BUFFER,
        /// Address of the packet.
        ENABLE_SGPR_DISPATCH_PTR = 1, 1 => AMD_KERNEL_CODE_PROPERTIES_ENABLE_SGPR_DISPATCH_PTR,
        /// Address of the queue.
        ENABLE_SGPR_QUEUE_PTR = 2, 1 => AMD_KERNEL_CODE_PROPERTIES_ENABLE_SGPR_QUEUE_PTR,
        /// Address of the arguments.
        ENABLE_SGPR_KERNARG_SEGMENT_PTR = 3, 1 => AMD_KERNEL_CODE_PROPERTIES_ENABLE_SGPR_KERNARG_SEGMENT_PTR,
        /// Number of the packet.
        ENABLE_SGPR_DISPATCH_ID = 4, 1 => AMD_KERNEL_CODE_PROPERTIES_ENABLE_SGPR_DISPATCH_ID,
        /// Start of flat scratch.
        ENABLE_SGPR_FLAT_SCRATCH_INIT = 5, 1 => AMD_KERNEL_CODE_PROPERTIES_ENABLE_SGPR_FLAT_SCRATCH_INIT,
        /// Private bytes.
        ENABLE_SGPR_PRIVATE_SEGMENT_SIZE = 6, 1 => AMD_KERNEL_CODE_PROPERTIES_ENABLE_SGPR_PRIVATE_SEGMENT_SIZE,
        /// Work-groups along X.
        ENABLE_SGPR_GRID_WORKGROUP_COUNT_X = 7, 1 => AMD_KERNEL_CODE_PROPERTIES_ENABLE_SGPR_GRID_WORKGROUP_COUNT_X,
        /// Work-groups along Y.
        ENABLE_SGPR_GRID_WORKGROUP_COUNT_Y = 8, 1 => AMD_KERNEL_CODE_PROPERTIES_ENABLE_SGPR_GRID_WORKGROUP_COUNT_Y,
        /// Work-groups along Z.
        ENABLE_SGPR_GRID_WORKGROUP_COUNT_Z = 9, 1 => AMD_KERNEL_CODE_PROPERTIES_ENABLE_SGPR_GRID_WORKGROUP_COUNT_Z,
        /// Zero; bit 10 is 32-lane waves in later descriptors.
        RESERVED1 = 10, 6 => AMD_KERNEL_CODE_PROPERTIES_RESERVED1,
        /// Ordered append.
        ENABLE_ORDERED_APPEND_GDS = 16, 1 => AMD_KERNEL_CODE_PROPERTIES_ENABLE_ORDERED_APPEND_GDS,
        /// `amd_element_byte_size_t`.
        PRIVATE_ELEMENT_SIZE = 17, 2 => AMD_KERNEL_CODE_PROPERTIES_PRIVATE_ELEMENT_SIZE,
        /// Addresses have 64 bits.
        IS_PTR64 = 19, 1 => AMD_KERNEL_CODE_PROPERTIES_IS_PTR64,
        /// The private bytes may grow by calls.
        IS_DYNAMIC_CALLSTACK = 20, 1 => AMD_KERNEL_CODE_PROPERTIES_IS_DYNAMIC_CALLSTACK,
        /// Made for debugging.
        IS_DEBUG_ENABLED = 21, 1 => AMD_KERNEL_CODE_PROPERTIES_IS_DEBUG_ENABLED,
        /// Made for retryable faults.
        IS_XNACK_ENABLED = 22, 1 => AMD_KERNEL_CODE_PROPERTIES_IS_XNACK_ENABLED,
        /// Zero.
        RESERVED2 = 23, 9 => AMD_KERNEL_CODE_PROPERTIES_RESERVED2,
    }
}

/// `amd_powertwo_t` in 8 bits.
pub type amd_powertwo8_t = u8;

abi_enum! {
    /// Powers of two.
    amd_powertwo_t: u32 {
        /// 1.
        POWERTWO_1 = 0 => AMD_POWERTWO_1,
        /// 2.
        POWERTWO_2 = 1 => AMD_POWERTWO_2,
        /// 4.
        POWERTWO_4 = 2 => AMD_POWERTWO_4,
        /// 8.
        POWERTWO_8 = 3 => AMD_POWERTWO_8,
        /// 16.
        POWERTWO_16 = 4 => AMD_POWERTWO_16,
        /// 32.
        POWERTWO_32 = 5 => AMD_POWERTWO_32,
        /// 64.
        POWERTWO_64 = 6 => AMD_POWERTWO_64,
        /// 128.
        POWERTWO_128 = 7 => AMD_POWERTWO_128,
        /// 256.
        POWERTWO_256 = 8 => AMD_POWERTWO_256,
    }
}

/// `amd_enabled_control_directive_t` in 64 bits.
pub type amd_enabled_control_directive64_t = u64;

abi_enum! {
    /// Which control directives hold; a set of bits.
    amd_enabled_control_directive_t: u32 {
        /// Exceptions that break.
        ENABLE_BREAK_EXCEPTIONS = 1 => AMD_ENABLED_CONTROL_DIRECTIVE_ENABLE_BREAK_EXCEPTIONS,
        /// Exceptions that are detected.
        ENABLE_DETECT_EXCEPTIONS = 2 => AMD_ENABLED_CONTROL_DIRECTIVE_ENABLE_DETECT_EXCEPTIONS,
        /// Most dynamic group bytes.
        MAX_DYNAMIC_GROUP_SIZE = 4 => AMD_ENABLED_CONTROL_DIRECTIVE_MAX_DYNAMIC_GROUP_SIZE,
        /// Most work-items of a grid.
        MAX_FLAT_GRID_SIZE = 8 => AMD_ENABLED_CONTROL_DIRECTIVE_MAX_FLAT_GRID_SIZE,
        /// Most work-items of a work-group.
        MAX_FLAT_WORKGROUP_SIZE = 16 => AMD_ENABLED_CONTROL_DIRECTIVE_MAX_FLAT_WORKGROUP_SIZE,
        /// Dimensions that will be used.
        REQUIRED_DIM = 32 => AMD_ENABLED_CONTROL_DIRECTIVE_REQUIRED_DIM,
        /// Grid that will be used.
        REQUIRED_GRID_SIZE = 64 => AMD_ENABLED_CONTROL_DIRECTIVE_REQUIRED_GRID_SIZE,
        /// Work-group that will be used.
        REQUIRED_WORKGROUP_SIZE = 128 => AMD_ENABLED_CONTROL_DIRECTIVE_REQUIRED_WORKGROUP_SIZE,
        /// All work-groups are whole.
        REQUIRE_NO_PARTIAL_WORKGROUPS = 256 => AMD_ENABLED_CONTROL_DIRECTIVE_REQUIRE_NO_PARTIAL_WORKGROUPS,
    }
}

/// `amd_exception_kind_t` in 16 bits.
pub type amd_exception_kind16_t = u16;

abi_enum! {
    /// Exceptions; a set of bits.
    amd_exception_kind_t: u32 {
        /// Invalid operation.
        INVALID_OPERATION = 1 => AMD_EXCEPTION_KIND_INVALID_OPERATION,
        /// Division by zero.
        DIVISION_BY_ZERO = 2 => AMD_EXCEPTION_KIND_DIVISION_BY_ZERO,
        /// Overflow.
        OVERFLOW = 4 => AMD_EXCEPTION_KIND_OVERFLOW,
        /// Underflow.
        UNDERFLOW = 8 => AMD_EXCEPTION_KIND_UNDERFLOW,
        /// Inexact result.
        INEXACT = 16 => AMD_EXCEPTION_KIND_INEXACT,
    }
}

abi_struct! {
    /// Control directives of a kernel.
    #[repr(align(64))]
    amd_control_directives_t {
        /// Which hold.
        enabled_control_directives: amd_enabled_control_directive64_t,
        /// Exceptions that break.
        enable_break_exceptions: u16,
        /// Exceptions that are detected.
        enable_detect_exceptions: u16,
        /// Most dynamic group bytes.
        max_dynamic_group_size: u32,
        /// Most work-items of a grid.
        max_flat_grid_size: u64,
        /// Most work-items of a work-group.
        max_flat_workgroup_size: u32,
        /// Dimensions that will be used.
        required_dim: u8,
        /// Zero.
        reserved1: [u8; 3],
        /// Grid that will be used.
        required_grid_size: [u64; 3],
        /// Work-group that will be used.
        required_workgroup_size: [u32; 3],
        /// Zero.
        reserved2: [u8; 60],
    }
}

abi_struct! {
    /// Kernel descriptor of code object version 2: stands before the code.
    #[repr(align(64))]
    amd_kernel_code_t {
        /// Major version of this structure.
        amd_kernel_code_version_major: amd_kernel_code_version32_t,
        /// Minor version of this structure.
        amd_kernel_code_version_minor: amd_kernel_code_version32_t,
        /// Machine.
        amd_machine_kind: amd_machine_kind16_t,
        /// Major version of the machine.
        amd_machine_version_major: amd_machine_version16_t,
        /// Minor version of the machine.
        amd_machine_version_minor: amd_machine_version16_t,
        /// Stepping of the machine.
        amd_machine_version_stepping: amd_machine_version16_t,
        /// First instruction, relative to this structure.
        kernel_code_entry_byte_offset: i64,
        /// First byte to prefetch.
        kernel_code_prefetch_byte_offset: i64,
        /// Bytes to prefetch.
        kernel_code_prefetch_byte_size: u64,
        /// Most scratch bytes.
        max_scratch_backing_memory_byte_size: u64,
        /// First resource register.
        compute_pgm_rsrc1: amd_compute_pgm_rsrc_one32_t,
        /// Second resource register.
        compute_pgm_rsrc2: amd_compute_pgm_rsrc_two32_t,
        /// Properties.
        kernel_code_properties: amd_kernel_code_properties32_t,
        /// Private bytes of a work-item.
        workitem_private_segment_byte_size: u32,
        /// Group bytes of a work-group.
        workgroup_group_segment_byte_size: u32,
        /// Global data share bytes.
        gds_segment_byte_size: u32,
        /// Bytes of the arguments.
        kernarg_segment_byte_size: u64,
        /// Fbarriers of a work-group.
        workgroup_fbarrier_count: u32,
        /// Scalar registers.
        wavefront_sgpr_count: u16,
        /// Vector registers.
        workitem_vgpr_count: u16,
        /// First reserved vector register.
        reserved_vgpr_first: u16,
        /// Reserved vector registers.
        reserved_vgpr_count: u16,
        /// First reserved scalar register.
        reserved_sgpr_first: u16,
        /// Reserved scalar registers.
        reserved_sgpr_count: u16,
        /// Register of the scratch offset, for debuggers.
        debug_wavefront_private_segment_offset_sgpr: u16,
        /// Register of the scratch resource, for debuggers.
        debug_private_segment_buffer_sgpr: u16,
        /// Alignment of the arguments.
        kernarg_segment_alignment: amd_powertwo8_t,
        /// Alignment of the group segment.
        group_segment_alignment: amd_powertwo8_t,
        /// Alignment of the private segment.
        private_segment_alignment: amd_powertwo8_t,
        /// Lanes of a wave.
        wavefront_size: amd_powertwo8_t,
        /// Call convention.
        call_convention: i32,
        /// Zero.
        reserved1: [u8; 12],
        /// For the loader: address of an `amd_runtime_loader_debug_info_t`.
        runtime_loader_kernel_symbol: u64,
        /// Control directives.
        control_directives: amd_control_directives_t,
    }
}

abi_struct! {
    /// What the loader tells a debugger of a kernel.
    amd_runtime_loader_debug_info_t {
        /// Code object.
        elf_raw: *const c_void,
        /// Its bytes.
        elf_size: usize,
        /// Name of the kernel.
        kernel_name: *const c_char,
        /// Segment the kernel is in.
        owning_segment: *const c_void,
    }
}

abi_struct! {
    /// Kernel descriptor of code object version 3 and later: the symbol `name.kd`, 64-byte aligned. Described by the AMDGPU usage document of LLVM.
    amdhsa_kernel_descriptor_t {
        /// Static group bytes.
        group_segment_fixed_size: u32,
        /// Static private bytes of a work-item.
        private_segment_fixed_size: u32,
        /// Bytes of the arguments.
        kernarg_size: u32,
        /// Zero.
        reserved0: [u8; 4],
        /// First instruction, relative to this structure.
        kernel_code_entry_byte_offset: i64,
        /// Zero.
        reserved1: [u8; 20],
        /// Third resource register (gfx90a, gfx10 and later).
        compute_pgm_rsrc3: u32,
        /// First resource register.
        compute_pgm_rsrc1: u32,
        /// Second resource register.
        compute_pgm_rsrc2: u32,
        /// Bits 0 to 6 as in version 2, bit 10 waves of 32 lanes, bit 11 dynamic stack.
        kernel_code_properties: u16,
        /// Argument dwords to preload in bits 0 to 6, first one in bits 7 to 15.
        kernarg_preload: u16,
        /// Zero.
        reserved3: [u8; 4],
    }
}
