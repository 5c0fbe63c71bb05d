//! AMD's program counter sampling extension.

use core::ffi::c_void;

use super::status::hsa_status_t;

abi_struct! {
    /// Sample taken by a trap from the host.
    perf_sample_hosttrap_v1_t {
        /// Program counter.
        pc: u64,
        /// Active lanes.
        exec_mask: u64,
        /// Work-group along X.
        workgroup_id_x: u32,
        /// Work-group along Y.
        workgroup_id_y: u32,
        /// Work-group along Z.
        workgroup_id_z: u32,
        /// Wave in the work-group in bits 0 to 5, die in bits 6 to 8; bit fields in C.
        wave_and_chiplet: u32,
        /// Place in the hardware.
        hw_id: u32,
        /// Zero.
        reserved0: u32,
        /// Zero.
        reserved1: u64,
        /// When.
        timestamp: u64,
        /// Number of the dispatch.
        correlation_id: u64,
    }
}

abi_struct! {
    /// Sample taken by the hardware.
    perf_sample_snapshot_v1_t {
        /// Program counter.
        pc: u64,
        /// Active lanes.
        exec_mask: u64,
        /// Work-group along X.
        workgroup_id_x: u32,
        /// Work-group along Y.
        workgroup_id_y: u32,
        /// Work-group along Z.
        workgroup_id_z: u32,
        /// Wave in the work-group in bits 0 to 5, die in bits 6 to 8; bit fields in C.
        wave_and_chiplet: u32,
        /// Place in the hardware.
        hw_id: u32,
        /// Why the wave did not issue, first word.
        perf_snapshot_data: u32,
        /// Second word.
        perf_snapshot_data1: u32,
        /// Third word.
        perf_snapshot_data2: u32,
        /// When.
        timestamp: u64,
        /// Number of the dispatch.
        correlation_id: u64,
    }
}

abi_enum! {
    /// How samples are taken.
    hsa_ven_amd_pcs_method_kind_t: u32 {
        /// By a trap from the host.
        HOSTTRAP_V1 = 0 => HSA_VEN_AMD_PCS_METHOD_HOSTTRAP_V1,
        /// By the hardware.
        STOCHASTIC_V1 = 1 => HSA_VEN_AMD_PCS_METHOD_STOCHASTIC_V1,
    }
}

abi_enum! {
    /// Unit of the interval.
    hsa_ven_amd_pcs_units_t: u32 {
        /// Microseconds.
        MICRO_SECONDS = 0 => HSA_VEN_AMD_PCS_INTERVAL_UNITS_MICRO_SECONDS,
        /// Clock cycles.
        CLOCK_CYCLES = 1 => HSA_VEN_AMD_PCS_INTERVAL_UNITS_CLOCK_CYCLES,
        /// Instructions.
        INSTRUCTIONS = 2 => HSA_VEN_AMD_PCS_INTERVAL_UNITS_INSTRUCTIONS,
    }
}

/// Given to the program to copy samples out.
pub type hsa_ven_amd_pcs_data_copy_callback_t = Option<
    unsafe extern "C" fn(
        hsa_callback_data: *mut c_void,
        data_size: usize,
        destination: *mut c_void,
    ) -> hsa_status_t,
>;

/// Called when samples are ready.
pub type hsa_ven_amd_pcs_data_ready_callback_t = Option<
    unsafe extern "C" fn(
        client_callback_data: *mut c_void,
        data_size: usize,
        lost_sample_count: usize,
        data_copy_callback: hsa_ven_amd_pcs_data_copy_callback_t,
        hsa_callback_data: *mut c_void,
    ),
>;

abi_handle! {
    /// Names a sampling session.
    hsa_ven_amd_pcs_t
}

abi_enum! {
    /// Flags of a configuration; a set of bits.
    hsa_ven_amd_pcs_configuration_flags_t: u32 {
        /// The interval must be a power of two.
        INTERVAL_POWER_OF_2 = 1 => HSA_VEN_AMD_PCS_CONFIGURATION_FLAGS_INTERVAL_POWER_OF_2,
    }
}

abi_struct! {
    /// One way in which an agent can sample.
    hsa_ven_amd_pcs_configuration_t {
        /// How.
        method: hsa_ven_amd_pcs_method_kind_t,
        /// Unit of the interval.
        units: hsa_ven_amd_pcs_units_t,
        /// Shortest interval.
        min_interval: usize,
        /// Longest interval.
        max_interval: usize,
        /// `hsa_ven_amd_pcs_configuration_flags_t` bits.
        flags: u64,
    }
}

/// Called once for each configuration; anything but success ends the iteration.
pub type hsa_ven_amd_pcs_iterate_configuration_callback_t = Option<
    unsafe extern "C" fn(
        configuration: *const hsa_ven_amd_pcs_configuration_t,
        callback_data: *mut c_void,
    ) -> hsa_status_t,
>;
