//! Finalizer extension 1.0 (HSA Runtime PRM 1.2, section 3.1).

use core::ffi::c_void;

use super::status::hsa_status_t;
use super::system::hsa_dim3_t;

/// Header of a BRIG module; its contents are described by the HSA PRM and read by the finalizer.
#[repr(C)]
#[derive(Debug)]
pub struct BrigModuleHeader {
    _opaque: [u8; 0],
}
/// A BRIG module.
pub type hsa_ext_module_t = *mut BrigModuleHeader;

abi_handle! {
    /// Names a program: modules to be finalized together.
    hsa_ext_program_t
}

/// Called once for each module; anything but success ends the iteration.
pub type ModuleCallback = Option<
    unsafe extern "C" fn(
        program: hsa_ext_program_t,
        module: hsa_ext_module_t,
        data: *mut c_void,
    ) -> hsa_status_t,
>;

abi_enum! {
    /// What `hsa_ext_program_get_info` can be asked.
    hsa_ext_program_info_t: u32 {
        /// `hsa_machine_model_t`: its address width.
        MACHINE_MODEL = 0 => HSA_EXT_PROGRAM_INFO_MACHINE_MODEL,
        /// `hsa_profile_t`: its profile.
        PROFILE = 1 => HSA_EXT_PROGRAM_INFO_PROFILE,
        /// `hsa_default_float_rounding_mode_t`: its default rounding.
        DEFAULT_FLOAT_ROUNDING_MODE = 2 => HSA_EXT_PROGRAM_INFO_DEFAULT_FLOAT_ROUNDING_MODE,
    }
}

abi_enum! {
    /// Call convention of finalized code.
    hsa_ext_finalizer_call_convention_t: i32 {
        /// The finalizer chooses.
        AUTO = -1 => HSA_EXT_FINALIZER_CALL_CONVENTION_AUTO,
    }
}

abi_struct! {
    /// Directives for the whole program; the mask says which hold.
    hsa_ext_control_directives_t {
        /// One bit for each directive given.
        control_directives_mask: u64,
        /// Exceptions that break.
        break_exceptions_mask: u16,
        /// Exceptions that are detected.
        detect_exceptions_mask: u16,
        /// Most dynamic group bytes.
        max_dynamic_group_size: u32,
        /// Most work-items of a grid.
        max_flat_grid_size: u64,
        /// Most work-items of a work-group.
        max_flat_workgroup_size: u32,
        /// Zero.
        reserved1: u32,
        /// Grid that will be used.
        required_grid_size: [u64; 3],
        /// Work-group that will be used.
        required_workgroup_size: hsa_dim3_t,
        /// Dimensions that will be used.
        required_dim: u8,
        /// Zero.
        reserved2: [u8; 75],
    }
}
