//! AMD's agent and region properties.

abi_struct! {
    /// Three 64-bit extents.
    hsa_amd_dim3_t {
        /// Along X.
        x: u64,
        /// Along Y.
        y: u64,
        /// Along Z.
        z: u64,
    }
}

abi_enum! {
    /// IOMMU support of an agent.
    hsa_amd_iommu_version_t: u32 {
        /// None.
        NONE = 0 => HSA_IOMMU_SUPPORT_NONE,
        /// IOMMU version 2.
        V2 = 1 => HSA_IOMMU_SUPPORT_V2,
    }
}

abi_struct! {
    /// Clocks read together.
    hsa_amd_clock_counters_t {
        /// Clock of the agent.
        gpu_clock_counter: u64,
        /// Clock of the host.
        cpu_clock_counter: u64,
        /// System clock.
        system_clock_counter: u64,
        /// Ticks of the system clock per second.
        system_clock_frequency: u64,
    }
}

abi_enum! {
    /// What AMD adds to `hsa_agent_get_info`.
    hsa_amd_agent_info_t: u32 {
        /// `uint32_t`: PCI device id.
        CHIP_ID = 0xa000 => HSA_AMD_AGENT_INFO_CHIP_ID,
        /// `uint32_t`: bytes of a cache line.
        CACHELINE_SIZE = 0xa001 => HSA_AMD_AGENT_INFO_CACHELINE_SIZE,
        /// `uint32_t`: compute units.
        COMPUTE_UNIT_COUNT = 0xa002 => HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT,
        /// `uint32_t`: highest clock in MHz.
        MAX_CLOCK_FREQUENCY = 0xa003 => HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY,
        /// `uint32_t`: node number of the driver.
        DRIVER_NODE_ID = 0xa004 => HSA_AMD_AGENT_INFO_DRIVER_NODE_ID,
        /// `uint32_t`: address watch points.
        MAX_ADDRESS_WATCH_POINTS = 0xa005 => HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS,
        /// `uint32_t`: PCI bus, device and function.
        BDFID = 0xa006 => HSA_AMD_AGENT_INFO_BDFID,
        /// `uint32_t`: memory bus width in bits; deprecated.
        MEMORY_WIDTH = 0xa007 => HSA_AMD_AGENT_INFO_MEMORY_WIDTH,
        /// `uint32_t`: highest memory clock in MHz.
        MEMORY_MAX_FREQUENCY = 0xa008 => HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY,
        /// `char[64]`: product name.
        PRODUCT_NAME = 0xa009 => HSA_AMD_AGENT_INFO_PRODUCT_NAME,
        /// `uint32_t`: most waves of a compute unit.
        MAX_WAVES_PER_CU = 0xa00a => HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU,
        /// `uint32_t`: SIMDs of a compute unit.
        NUM_SIMDS_PER_CU = 0xa00b => HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU,
        /// `uint32_t`: shader engines.
        NUM_SHADER_ENGINES = 0xa00c => HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES,
        /// `uint32_t`: shader arrays of a shader engine.
        NUM_SHADER_ARRAYS_PER_SE = 0xa00d => HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE,
        /// `hsa_amd_hdp_flush_t`: registers that flush host writes.
        HDP_FLUSH = 0xa00e => HSA_AMD_AGENT_INFO_HDP_FLUSH,
        /// `uint32_t`: PCI domain.
        DOMAIN = 0xa00f => HSA_AMD_AGENT_INFO_DOMAIN,
        /// `bool`: whether cooperative queues exist.
        COOPERATIVE_QUEUES = 0xa010 => HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES,
        /// `char[21]`: unique text, `GPU-XX` when there is none.
        UUID = 0xa011 => HSA_AMD_AGENT_INFO_UUID,
        /// `uint32_t`: revision of the chip.
        ASIC_REVISION = 0xa012 => HSA_AMD_AGENT_INFO_ASIC_REVISION,
        /// `bool`: whether the host reaches local shared virtual memory.
        SVM_DIRECT_HOST_ACCESS = 0xa013 => HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS,
        /// `uint32_t`: compute units for cooperative dispatches.
        COOPERATIVE_COMPUTE_UNIT_COUNT = 0xa014 => HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT,
        /// `uint64_t`: free bytes of its global pools.
        MEMORY_AVAIL = 0xa015 => HSA_AMD_AGENT_INFO_MEMORY_AVAIL,
        /// `uint64_t`: ticks of its clock per second.
        TIMESTAMP_FREQUENCY = 0xa016 => HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY,
        /// `uint32_t`: chip family.
        ASIC_FAMILY_ID = 0xa107 => HSA_AMD_AGENT_INFO_ASIC_FAMILY_ID,
        /// `uint32_t`: firmware of the packet processor.
        UCODE_VERSION = 0xa108 => HSA_AMD_AGENT_INFO_UCODE_VERSION,
        /// `uint32_t`: firmware of the copy engines.
        SDMA_UCODE_VERSION = 0xa109 => HSA_AMD_AGENT_INFO_SDMA_UCODE_VERSION,
        /// `uint32_t`: copy engines for host traffic.
        NUM_SDMA_ENG = 0xa10a => HSA_AMD_AGENT_INFO_NUM_SDMA_ENG,
        /// `uint32_t`: further copy engines for xGMI.
        NUM_SDMA_XGMI_ENG = 0xa10b => HSA_AMD_AGENT_INFO_NUM_SDMA_XGMI_ENG,
        /// `hsa_amd_iommu_version_t`: IOMMU support.
        IOMMU_SUPPORT = 0xa110 => HSA_AMD_AGENT_INFO_IOMMU_SUPPORT,
        /// `uint32_t`: compute dies.
        NUM_XCC = 0xa111 => HSA_AMD_AGENT_INFO_NUM_XCC,
        /// `uint32_t`: unique number of the driver.
        DRIVER_UID = 0xa112 => HSA_AMD_AGENT_INFO_DRIVER_UID,
        /// `hsa_agent_t`: nearest CPU agent.
        NEAREST_CPU = 0xa113 => HSA_AMD_AGENT_INFO_NEAREST_CPU,
        /// `uint8_t[8]`: `hsa_amd_agent_memory_properties_t` bits.
        MEMORY_PROPERTIES = 0xa114 => HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES,
        /// `uint8_t[8]`: `hsa_amd_agent_aql_properties_t` bits.
        AQL_EXTENSIONS = 0xa115 => HSA_AMD_AGENT_INFO_AQL_EXTENSIONS,
        /// `uint64_t`: most bytes of the scratch limit.
        SCRATCH_LIMIT_MAX = 0xa116 => HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_MAX,
        /// `uint64_t`: scratch limit in bytes.
        SCRATCH_LIMIT_CURRENT = 0xa117 => HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_CURRENT,
        /// `hsa_amd_clock_counters_t`: clocks read together.
        CLOCK_COUNTERS = 0xa118 => HSA_AMD_AGENT_INFO_CLOCK_COUNTERS,
        /// `bool`: whether the queues emulate AQL with PM4.
        PM4_EMULATION = 0xa119 => HSA_AMD_AGENT_INFO_PM4_EMULATION,
        /// `uint8_t[8]`: adapter number of Windows.
        LUID = 0xa11a => HSA_AMD_AGENT_INFO_LUID,
        /// `bool`: whether kernels may use expert scheduling.
        HAS_EXPERT_SCHED_MODE = 0xa11b => HSA_AMD_AGENT_INFO_HAS_EXPERT_SCHED_MODE,
        /// `uint8_t[16]`: UUID of the component.
        CUID = 0xa11c => HSA_AMD_AGENT_INFO_CUID,
        /// `uint64_t`: most work-groups of a dispatch without clusters.
        KERNEL_WG_MAX_SIZE = 0xa11d => HSA_AMD_AGENT_INFO_KERNEL_WG_MAX_SIZE,
        /// `hsa_amd_dim3_t`: most clusters of a dispatch in each dimension.
        KERNEL_CLUSTER_MAX_DIM = 0xa11e => HSA_AMD_AGENT_INFO_KERNEL_CLUSTER_MAX_DIM,
        /// `uint64_t`: most clusters of a dispatch.
        KERNEL_CLUSTER_MAX_SIZE = 0xa11f => HSA_AMD_AGENT_INFO_KERNEL_CLUSTER_MAX_SIZE,
        /// `hsa_amd_dim3_t`: most work-groups of a cluster in each dimension.
        CLUSTER_MAX_DIM = 0xa120 => HSA_AMD_AGENT_INFO_CLUSTER_MAX_DIM,
        /// `uint64_t`: most work-groups of a cluster.
        CLUSTER_MAX_SIZE = 0xa121 => HSA_AMD_AGENT_INFO_CLUSTER_MAX_SIZE,
        /// `hsa_amd_dim3_t`: most work-groups of a dispatch in each dimension.
        KERNEL_WG_MAX_DIM = 0xa122 => HSA_AMD_AGENT_INFO_KERNEL_WG_MAX_DIM,
        /// `uint32_t`: areas a dispatch may prefetch; 0 for none.
        MAX_DATA_PREFETCH_REGIONS = 0xa123 => HSA_AMD_AGENT_INFO_MAX_DATA_PREFETCH_REGIONS,
        /// `bool`: whether host memory can be exported as dma-buf and used here.
        HOST_ALLOC_DMABUF_SUPPORTED = 0xa124 => HSA_AMD_AGENT_INFO_HOST_ALLOC_DMABUF_SUPPORTED,
        /// `size_t`: bytes of L2 cache asked to persist.
        REQUEST_PERSISTING_L2_CACHE_SIZE = 0xa125 => HSA_AMD_AGENT_INFO_REQUEST_PERSISTING_L2_CACHE_SIZE,
        /// `size_t`: most bytes of L2 cache that can persist.
        MAX_PERSISTING_L2_CACHE_SIZE = 0xa126 => HSA_AMD_AGENT_INFO_MAX_PERSISTING_L2_CACHE_SIZE,
    }
}

abi_enum! {
    /// Bits of `MEMORY_PROPERTIES`.
    hsa_amd_agent_memory_properties_t: u32 {
        /// The agent shares the memory of the host.
        AGENT_IS_APU = 1 => HSA_AMD_MEMORY_PROPERTY_AGENT_IS_APU,
    }
}

abi_enum! {
    /// Bits of `AQL_EXTENSIONS`.
    hsa_amd_agent_aql_properties_t: u32 {
        /// Extended kernel dispatch packets.
        EXT_DISPATCH = 1 => HSA_AMD_AQL_PROPERTY_EXT_DISPATCH,
    }
}

abi_enum! {
    /// Copy engines; a set of bits.
    hsa_amd_sdma_engine_id_t: u32 {
        /// Copy engine 0.
        ENGINE_0 = 0x1 => HSA_AMD_SDMA_ENGINE_0,
        /// Copy engine 1.
        ENGINE_1 = 0x2 => HSA_AMD_SDMA_ENGINE_1,
        /// Copy engine 2.
        ENGINE_2 = 0x4 => HSA_AMD_SDMA_ENGINE_2,
        /// Copy engine 3.
        ENGINE_3 = 0x8 => HSA_AMD_SDMA_ENGINE_3,
        /// Copy engine 4.
        ENGINE_4 = 0x10 => HSA_AMD_SDMA_ENGINE_4,
        /// Copy engine 5.
        ENGINE_5 = 0x20 => HSA_AMD_SDMA_ENGINE_5,
        /// Copy engine 6.
        ENGINE_6 = 0x40 => HSA_AMD_SDMA_ENGINE_6,
        /// Copy engine 7.
        ENGINE_7 = 0x80 => HSA_AMD_SDMA_ENGINE_7,
        /// Copy engine 8.
        ENGINE_8 = 0x100 => HSA_AMD_SDMA_ENGINE_8,
        /// Copy engine 9.
        ENGINE_9 = 0x200 => HSA_AMD_SDMA_ENGINE_9,
        /// Copy engine 10.
        ENGINE_10 = 0x400 => HSA_AMD_SDMA_ENGINE_10,
        /// Copy engine 11.
        ENGINE_11 = 0x800 => HSA_AMD_SDMA_ENGINE_11,
        /// Copy engine 12.
        ENGINE_12 = 0x1000 => HSA_AMD_SDMA_ENGINE_12,
        /// Copy engine 13.
        ENGINE_13 = 0x2000 => HSA_AMD_SDMA_ENGINE_13,
        /// Copy engine 14.
        ENGINE_14 = 0x4000 => HSA_AMD_SDMA_ENGINE_14,
        /// Copy engine 15.
        ENGINE_15 = 0x8000 => HSA_AMD_SDMA_ENGINE_15,
    }
}

abi_struct! {
    /// Registers that flush host writes through the bus.
    hsa_amd_hdp_flush_t {
        /// Write here to flush memory writes.
        HDP_MEM_FLUSH_CNTL: *mut u32,
        /// Write here to flush register writes.
        HDP_REG_FLUSH_CNTL: *mut u32,
    }
}

abi_enum! {
    /// What AMD adds to `hsa_region_get_info`.
    hsa_amd_region_info_t: u32 {
        /// `bool`: whether the host reaches it.
        HOST_ACCESSIBLE = 0xa000 => HSA_AMD_REGION_INFO_HOST_ACCESSIBLE,
        /// `void *`: first address.
        BASE = 0xa001 => HSA_AMD_REGION_INFO_BASE,
        /// `uint32_t`: bus width in bits; deprecated.
        BUS_WIDTH = 0xa002 => HSA_AMD_REGION_INFO_BUS_WIDTH,
        /// `uint32_t`: highest clock in MHz; deprecated.
        MAX_CLOCK_FREQUENCY = 0xa003 => HSA_AMD_REGION_INFO_MAX_CLOCK_FREQUENCY,
    }
}

abi_enum! {
    /// Coherency of the fine-grained region of an agent.
    hsa_amd_coherency_type_t: u32 {
        /// Coherent.
        COHERENT = 0 => HSA_AMD_COHERENCY_TYPE_COHERENT,
        /// Not coherent.
        NONCOHERENT = 1 => HSA_AMD_COHERENCY_TYPE_NONCOHERENT,
    }
}

abi_enum! {
    /// How a dma-buf will be mapped; a set of bits.
    hsa_amd_dma_buf_mapping_type_t: u32 {
        /// Any way.
        NONE = 0 => HSA_AMD_DMABUF_MAPPING_TYPE_NONE,
        /// Through PCIe.
        PCIE = 1 => HSA_AMD_DMABUF_MAPPING_TYPE_PCIE,
    }
}

abi_enum! {
    /// What `hsa_amd_agent_preload` leaves out; a set of bits.
    hsa_amd_agent_preload_flag_t: u32 {
        /// Clock correlation.
        SKIP_CLOCK_SYNC = 1 => HSA_AMD_AGENT_PRELOAD_SKIP_CLOCK_SYNC,
        /// Copy kernels.
        SKIP_BLITS = 2 => HSA_AMD_AGENT_PRELOAD_SKIP_BLITS,
    }
}

abi_enum! {
    /// What `hsa_amd_agent_set_attribute` can set.
    hsa_amd_agent_attribute_t: u32 {
        /// `size_t`: bytes of L2 cache that should persist.
        REQUEST_PERSISTING_L2_CACHE_SIZE = 0 => HSA_AMD_AGENT_ATTRIBUTE_REQUEST_PERSISTING_L2_CACHE_SIZE,
    }
}
