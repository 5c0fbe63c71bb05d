//! Memory regions (HSA Runtime PRM 1.2, section 2.7).

use core::ffi::c_void;

use super::status::hsa_status_t;

abi_handle! {
    /// Names a memory region.
    hsa_region_t
}

/// Called once for each region; anything but success ends the iteration.
pub type RegionCallback =
    Option<unsafe extern "C" fn(region: hsa_region_t, data: *mut c_void) -> hsa_status_t>;

abi_enum! {
    /// Segment a region is used for.
    hsa_region_segment_t: u32 {
        /// Global: shared by all agents.
        GLOBAL = 0 => HSA_REGION_SEGMENT_GLOBAL,
        /// Read-only: does not change while a kernel runs.
        READONLY = 1 => HSA_REGION_SEGMENT_READONLY,
        /// Private to a work-item.
        PRIVATE = 2 => HSA_REGION_SEGMENT_PRIVATE,
        /// Shared by a work-group.
        GROUP = 3 => HSA_REGION_SEGMENT_GROUP,
        /// Kernel arguments.
        KERNARG = 4 => HSA_REGION_SEGMENT_KERNARG,
    }
}

abi_enum! {
    /// Flags of a global region; a set of bits.
    hsa_region_global_flag_t: u32 {
        /// Kernel arguments may live here.
        KERNARG = 1 => HSA_REGION_GLOBAL_FLAG_KERNARG,
        /// Writes become visible while kernels run.
        FINE_GRAINED = 2 => HSA_REGION_GLOBAL_FLAG_FINE_GRAINED,
        /// One agent owns an allocation at a time.
        COARSE_GRAINED = 4 => HSA_REGION_GLOBAL_FLAG_COARSE_GRAINED,
        /// Device scope atomics act at system scope.
        EXTENDED_SCOPE_FINE_GRAINED = 8 => HSA_REGION_GLOBAL_FLAG_EXTENDED_SCOPE_FINE_GRAINED,
    }
}

abi_enum! {
    /// What `hsa_region_get_info` can be asked.
    hsa_region_info_t: u32 {
        /// `hsa_region_segment_t`: its segment.
        SEGMENT = 0 => HSA_REGION_INFO_SEGMENT,
        /// `uint32_t`: `hsa_region_global_flag_t` bits.
        GLOBAL_FLAGS = 1 => HSA_REGION_INFO_GLOBAL_FLAGS,
        /// `size_t`: bytes.
        SIZE = 2 => HSA_REGION_INFO_SIZE,
        /// `size_t`: largest allocation.
        ALLOC_MAX_SIZE = 4 => HSA_REGION_INFO_ALLOC_MAX_SIZE,
        /// `uint32_t`: most private bytes of a work-group.
        ALLOC_MAX_PRIVATE_WORKGROUP_SIZE = 8 => HSA_REGION_INFO_ALLOC_MAX_PRIVATE_WORKGROUP_SIZE,
        /// `bool`: whether `hsa_memory_allocate` takes it.
        RUNTIME_ALLOC_ALLOWED = 5 => HSA_REGION_INFO_RUNTIME_ALLOC_ALLOWED,
        /// `size_t`: sizes are rounded up to a multiple of this.
        RUNTIME_ALLOC_GRANULE = 6 => HSA_REGION_INFO_RUNTIME_ALLOC_GRANULE,
        /// `size_t`: alignment of an allocation.
        RUNTIME_ALLOC_ALIGNMENT = 7 => HSA_REGION_INFO_RUNTIME_ALLOC_ALIGNMENT,
    }
}
