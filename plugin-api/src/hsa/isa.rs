//! Instruction sets and wavefronts (HSA Runtime PRM 1.2, section 2.8).

use core::ffi::c_void;

use super::status::hsa_status_t;

abi_handle! {
    /// Names an instruction set.
    hsa_isa_t
}

/// Called once for each instruction set; anything but success ends the iteration.
pub type IsaCallback = Option<unsafe extern "C" fn(isa: hsa_isa_t, data: *mut c_void) -> hsa_status_t>;

abi_enum! {
    /// What `hsa_isa_get_info_alt` can be asked.
    hsa_isa_info_t: u32 {
        /// `uint32_t`: length of the name with its terminator.
        NAME_LENGTH = 0 => HSA_ISA_INFO_NAME_LENGTH,
        /// `char[]`: name.
        NAME = 1 => HSA_ISA_INFO_NAME,
        /// `uint32_t`: number of call conventions.
        CALL_CONVENTION_COUNT = 2 => HSA_ISA_INFO_CALL_CONVENTION_COUNT,
        /// `uint32_t`: lanes of a wavefront in one call convention.
        CALL_CONVENTION_INFO_WAVEFRONT_SIZE = 3 => HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONT_SIZE,
        /// `uint32_t`: wavefronts of a compute unit in one call convention.
        CALL_CONVENTION_INFO_WAVEFRONTS_PER_COMPUTE_UNIT = 4 => HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONTS_PER_COMPUTE_UNIT,
        /// `bool[2]`: whether each `hsa_machine_model_t` is offered.
        MACHINE_MODELS = 5 => HSA_ISA_INFO_MACHINE_MODELS,
        /// `bool[2]`: whether each `hsa_profile_t` is offered.
        PROFILES = 6 => HSA_ISA_INFO_PROFILES,
        /// `bool[3]`: whether each `hsa_default_float_rounding_mode_t` is offered.
        DEFAULT_FLOAT_ROUNDING_MODES = 7 => HSA_ISA_INFO_DEFAULT_FLOAT_ROUNDING_MODES,
        /// `bool[3]`: the same in the base profile.
        BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES = 8 => HSA_ISA_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES,
        /// `bool`: whether half precision is at least as fast as single.
        FAST_F16_OPERATION = 9 => HSA_ISA_INFO_FAST_F16_OPERATION,
        /// `uint16_t[3]`: largest work-group in each dimension.
        WORKGROUP_MAX_DIM = 12 => HSA_ISA_INFO_WORKGROUP_MAX_DIM,
        /// `uint32_t`: most work-items of a work-group.
        WORKGROUP_MAX_SIZE = 13 => HSA_ISA_INFO_WORKGROUP_MAX_SIZE,
        /// `hsa_dim3_t`: largest grid in each dimension.
        GRID_MAX_DIM = 14 => HSA_ISA_INFO_GRID_MAX_DIM,
        /// `uint64_t`: most work-items of a grid.
        GRID_MAX_SIZE = 16 => HSA_ISA_INFO_GRID_MAX_SIZE,
        /// `uint32_t`: most fbarriers of a work-group.
        FBARRIER_MAX_SIZE = 17 => HSA_ISA_INFO_FBARRIER_MAX_SIZE,
    }
}

abi_enum! {
    /// Floating point formats; a set of bits.
    hsa_fp_type_t: u32 {
        /// Half precision.
        TYPE_16 = 1 => HSA_FP_TYPE_16,
        /// Single precision.
        TYPE_32 = 2 => HSA_FP_TYPE_32,
        /// Double precision.
        TYPE_64 = 4 => HSA_FP_TYPE_64,
    }
}

abi_enum! {
    /// What happens to denormal values; a set of bits.
    hsa_flush_mode_t: u32 {
        /// They become zero.
        FTZ = 1 => HSA_FLUSH_MODE_FTZ,
        /// They are kept.
        NON_FTZ = 2 => HSA_FLUSH_MODE_NON_FTZ,
    }
}

abi_enum! {
    /// How a fused operation rounds; a set of bits.
    hsa_round_method_t: u32 {
        /// Once.
        SINGLE = 1 => HSA_ROUND_METHOD_SINGLE,
        /// After each step.
        DOUBLE = 2 => HSA_ROUND_METHOD_DOUBLE,
    }
}

abi_handle! {
    /// Names a wavefront of an instruction set.
    hsa_wavefront_t
}

/// Called once for each wavefront; anything but success ends the iteration.
pub type WavefrontCallback =
    Option<unsafe extern "C" fn(wavefront: hsa_wavefront_t, data: *mut c_void) -> hsa_status_t>;

abi_enum! {
    /// What `hsa_wavefront_get_info` can be asked.
    hsa_wavefront_info_t: u32 {
        /// `uint32_t`: lanes.
        SIZE = 0 => HSA_WAVEFRONT_INFO_SIZE,
    }
}
