//! Memory pools: AMD's finer view of regions.

use core::ffi::c_void;

use super::status::hsa_status_t;

abi_enum! {
    /// Segment of a pool.
    hsa_amd_segment_t: u32 {
        /// Global.
        GLOBAL = 0 => HSA_AMD_SEGMENT_GLOBAL,
        /// Read-only.
        READONLY = 1 => HSA_AMD_SEGMENT_READONLY,
        /// Private to a work-item.
        PRIVATE = 2 => HSA_AMD_SEGMENT_PRIVATE,
        /// Shared by a work-group.
        GROUP = 3 => HSA_AMD_SEGMENT_GROUP,
    }
}

abi_handle! {
    /// Names a pool: memory of one place with one access model.
    hsa_amd_memory_pool_t
}

abi_enum! {
    /// Flags of a global pool; a set of bits.
    hsa_amd_memory_pool_global_flag_t: u32 {
        /// Kernel arguments may live here.
        KERNARG_INIT = 1 => HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT,
        /// Writes become visible while kernels run.
        FINE_GRAINED = 2 => HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED,
        /// One agent writes at a time.
        COARSE_GRAINED = 4 => HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED,
        /// Device scope atomics act at system scope.
        EXTENDED_SCOPE_FINE_GRAINED = 8 => HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_EXTENDED_SCOPE_FINE_GRAINED,
    }
}

abi_enum! {
    /// Where a pool is.
    hsa_amd_memory_pool_location_t: u32 {
        /// Memory of the host.
        CPU = 0 => HSA_AMD_MEMORY_POOL_LOCATION_CPU,
        /// Memory of a GPU.
        GPU = 1 => HSA_AMD_MEMORY_POOL_LOCATION_GPU,
    }
}

abi_enum! {
    /// What `hsa_amd_memory_pool_get_info` can be asked.
    hsa_amd_memory_pool_info_t: u32 {
        /// `hsa_amd_segment_t`: its segment.
        SEGMENT = 0 => HSA_AMD_MEMORY_POOL_INFO_SEGMENT,
        /// `uint32_t`: `hsa_amd_memory_pool_global_flag_t` bits.
        GLOBAL_FLAGS = 1 => HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS,
        /// `size_t`: bytes.
        SIZE = 2 => HSA_AMD_MEMORY_POOL_INFO_SIZE,
        /// `bool`: whether it can be allocated from.
        RUNTIME_ALLOC_ALLOWED = 5 => HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED,
        /// `size_t`: sizes are rounded up to a multiple of this.
        RUNTIME_ALLOC_GRANULE = 6 => HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE,
        /// `size_t`: alignment of an allocation.
        RUNTIME_ALLOC_ALIGNMENT = 7 => HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT,
        /// `bool`: whether every agent can be given access.
        ACCESSIBLE_BY_ALL = 15 => HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL,
        /// `size_t`: most bytes of all allocations.
        ALLOC_MAX_SIZE = 16 => HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE,
        /// `hsa_amd_memory_pool_location_t`: where it is.
        LOCATION = 17 => HSA_AMD_MEMORY_POOL_INFO_LOCATION,
        /// `size_t`: granule that wastes least.
        RUNTIME_ALLOC_REC_GRANULE = 18 => HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_REC_GRANULE,
    }
}

abi_enum! {
    /// Flags of an allocation; a set of bits.
    hsa_amd_memory_pool_flag_t: u32 {
        /// Nothing special.
        STANDARD_FLAG = 0 => HSA_AMD_MEMORY_POOL_STANDARD_FLAG,
        /// Ordered per link only.
        PCIE_FLAG = 1 => HSA_AMD_MEMORY_POOL_PCIE_FLAG,
        /// Physically contiguous.
        CONTIGUOUS_FLAG = 2 => HSA_AMD_MEMORY_POOL_CONTIGUOUS_FLAG,
        /// Code may live here.
        EXECUTABLE_FLAG = 4 => HSA_AMD_MEMORY_POOL_EXECUTABLE_FLAG,
        /// Not cached.
        UNCACHED_FLAG = 8 => HSA_AMD_MEMORY_POOL_UNCACHED_FLAG,
    }
}

/// Called once for each pool; anything but success ends the iteration.
pub type MemoryPoolCallback =
    Option<unsafe extern "C" fn(memory_pool: hsa_amd_memory_pool_t, data: *mut c_void) -> hsa_status_t>;

abi_enum! {
    /// Access of an agent to a pool.
    hsa_amd_memory_pool_access_t: u32 {
        /// Never.
        NEVER_ALLOWED = 0 => HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED,
        /// Always.
        ALLOWED_BY_DEFAULT = 1 => HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT,
        /// After `hsa_amd_agents_allow_access`.
        DISALLOWED_BY_DEFAULT = 2 => HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT,
    }
}

abi_enum! {
    /// Kind of a link.
    hsa_amd_link_info_type_t: u32 {
        /// HyperTransport.
        HYPERTRANSPORT = 0 => HSA_AMD_LINK_INFO_TYPE_HYPERTRANSPORT,
        /// QPI.
        QPI = 1 => HSA_AMD_LINK_INFO_TYPE_QPI,
        /// PCI Express.
        PCIE = 2 => HSA_AMD_LINK_INFO_TYPE_PCIE,
        /// InfiniBand.
        INFINBAND = 3 => HSA_AMD_LINK_INFO_TYPE_INFINBAND,
        /// xGMI.
        XGMI = 4 => HSA_AMD_LINK_INFO_TYPE_XGMI,
    }
}

abi_struct! {
    /// One hop between an agent and a pool.
    hsa_amd_memory_pool_link_info_t {
        /// Lowest latency in ns.
        min_latency: u32,
        /// Highest latency in ns.
        max_latency: u32,
        /// Lowest bandwidth in MB/s.
        min_bandwidth: u32,
        /// Highest bandwidth in MB/s.
        max_bandwidth: u32,
        /// Whether 32-bit atomics pass.
        atomic_support_32bit: bool,
        /// Whether 64-bit atomics pass.
        atomic_support_64bit: bool,
        /// Whether the hop is cache coherent.
        coherent_support: bool,
        /// Kind of link.
        link_type: hsa_amd_link_info_type_t,
        /// NUMA distance of the pool from the agent.
        numa_distance: u32,
    }
}

abi_enum! {
    /// What `hsa_amd_agent_memory_pool_get_info` can be asked.
    hsa_amd_agent_memory_pool_info_t: u32 {
        /// `hsa_amd_memory_pool_access_t`: access of the agent.
        ACCESS = 0 => HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS,
        /// `uint32_t`: hops between them.
        NUM_LINK_HOPS = 1 => HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS,
        /// `hsa_amd_memory_pool_link_info_t[]`: one for each hop.
        LINK_INFO = 2 => HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO,
    }
}
