/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 * Part of Hansa, an HSA runtime.
 *
 * AMD's extension of the runtime, interface version 1.34.
 */
#ifndef HSA_RUNTIME_EXT_AMD_H_
#define HSA_RUNTIME_EXT_AMD_H_

#include "hsa.h"
#include "hsa_ext_image.h"
#include "hsa_ven_amd_pc_sampling.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Version and flag words ---- */

/** Major version of this extension. */
#define HSA_AMD_INTERFACE_VERSION_MAJOR 1

/** Minor version of this extension. */
#define HSA_AMD_INTERFACE_VERSION_MINOR 34

/* Sets one bit of a uint8_t[8] flag word. */
static inline void hsa_flag_set64(uint8_t *value, uint32_t bit) {
  value[bit / 8] = (uint8_t)(value[bit / 8] | (1u << (bit % 8)));
}
/* Tells whether one bit of a uint8_t[8] flag word is set. */
static inline bool hsa_flag_isset64(uint8_t *value, uint32_t bit) {
  return (value[bit / 8] & (1u << (bit % 8))) != 0;
}

/* ---- Vendor packets ---- */

/** hsa_signal_condition_t in 32 bits. */
typedef uint32_t hsa_signal_condition32_t;

/** Format of a vendor packet: the byte after its header. */
typedef enum {
  HSA_AMD_PACKET_TYPE_BARRIER_VALUE = 2, /**< Wait until a signal meets a condition. */
  /** Run a kernel over clusters. On queues of AI engines of before 2026: an ERT packet. */
  HSA_AMD_PACKET_TYPE_EXT_KERNEL_DISPATCH = 3,
  HSA_AMD_PACKET_TYPE_RESERVED200 = 200 /**< Kept for a packet to come. */
} hsa_amd_packet_type_t;

/** hsa_amd_packet_type_t in 8 bits. */
typedef uint8_t hsa_amd_packet_type8_t;

/** First four bytes of a vendor packet. */
typedef struct hsa_amd_packet_header_s {
  uint16_t header; /**< Type, barrier and fences. */
  hsa_amd_packet_type8_t AmdFormat; /**< Format of the packet. */
  uint8_t reserved; /**< Zero, or the setup byte of an extended dispatch. */
} hsa_amd_vendor_packet_header_t;

/** Holds the queue until the masked value of a signal meets a condition. */
typedef struct hsa_amd_barrier_value_packet_s {
  hsa_amd_vendor_packet_header_t header; /**< Header with format BARRIER_VALUE. */
  uint32_t reserved0; /**< Zero. */
  hsa_signal_t signal; /**< Signal to look at; 0 counts as met. */
  hsa_signal_value_t value; /**< Right side of the comparison. */
  hsa_signal_value_t mask; /**< The value of the signal is masked with this. */
  hsa_signal_condition32_t cond; /**< How the two are compared: hsa_signal_condition_t. */
  uint32_t reserved1; /**< Zero. */
  uint64_t reserved2; /**< Zero. */
  uint64_t reserved3; /**< Zero. */
  hsa_signal_t completion_signal; /**< Decremented at the end; 0 for none. */
} hsa_amd_barrier_value_packet_t;

/** First bit of each field of a performance hint. */
typedef enum {
  HSA_AMD_EXT_PERF_HINT_GROUP_MEM_CARVEOUT = 0, /**< Share of the storage kept for group memory. */
  HSA_AMD_EXT_PERF_HINT_REVERSE_DISPATCH_ORDER = 7 /**< Start work-groups from the last. */
} hsa_amd_ext_perf_hint_subfield_t;

/** Bits of each field of a performance hint. */
typedef enum {
  HSA_AMD_EXT_PERF_HINT_WIDTH_GROUP_MEM_CARVEOUT = 7, /**< Share of the storage kept for group memory. */
  HSA_AMD_EXT_PERF_HINT_WIDTH_REVERSE_DISPATCH_ORDER = 1 /**< Start work-groups from the last. */
} hsa_amd_ext_perf_hint_subfield_width_t;

/* Hints of an extended dispatch; an agent may ignore them. */
typedef union {
  HSA_EXTENSION struct {
    uint8_t group_mem_carveout : 7; /**< 0 leaves it to the agent; 1 to 127 stand for 0 % to 100 %. */
    uint8_t reverse_dispatch_order : 1; /**< Start work-groups from the last. */
  };
  uint8_t hint_val; /**< Both fields. */
} hsa_amd_ext_perf_hint_t;

/** Runs a kernel over a grid of clusters of work-groups. */
typedef struct hsa_amd_ext_kernel_dispatch_packet_s {
  uint16_t header; /**< Type, barrier and fences. */
  hsa_amd_packet_type8_t amd_format; /**< EXT_KERNEL_DISPATCH. */
  uint8_t setup; /**< Number of dimensions. */
  uint16_t workgroup_size_x; /**< Work-group extent along X. */
  uint16_t workgroup_size_y; /**< Work-group extent along Y. */
  uint16_t workgroup_size_z; /**< Work-group extent along Z. */
  uint16_t reserved0; /**< Zero. */
  uint32_t cluster_count_x; /**< Grid extent along X, in clusters. */
  uint16_t cluster_count_y; /**< Grid extent along Y, in clusters. */
  uint16_t cluster_count_z; /**< Grid extent along Z, in clusters. */
  uint8_t cluster_size_x; /**< Cluster extent along X, in work-groups. */
  uint8_t cluster_size_y; /**< Cluster extent along Y, in work-groups. */
  uint8_t cluster_size_z; /**< Cluster extent along Z, in work-groups. */
  hsa_amd_ext_perf_hint_t perf_hint; /**< Hints. */
  uint32_t private_segment_size; /**< Private bytes of a work-item. */
  uint32_t group_segment_size; /**< Group bytes of a work-group. */
  uint64_t kernel_object; /**< The kernel. */
  void *kernarg_address; /**< Kernel arguments; may be NULL. */
  hsa_signal_t dep_signal; /**< Start when this signal is 0; a 0 handle for at once. */
  hsa_signal_t completion_signal; /**< Decremented at the end; 0 for none. */
} hsa_amd_ext_kernel_dispatch_packet_t;

/* ---- Metadata ring: companion packets that a queue may prefetch ---- */

/** First bit of each field of a metadata header. */
typedef enum {
  HSA_AMD_METADATA_PACKET_HEADER_TYPE = 0, /**< Packet type. */
  HSA_AMD_METADATA_PACKET_HEADER_RESERVED = 8, /**< Zero. */
  HSA_AMD_METADATA_PACKET_HEADER_VERSION_MAJOR = 24, /**< Major version. */
  HSA_AMD_METADATA_PACKET_HEADER_VERSION_MINOR = 27 /**< Minor version. */
} hsa_amd_metadata_packet_header_t;

/** Bits of each field of a metadata header. */
typedef enum hsa_amd_metadata_packet_header_width_s {
  HSA_AMD_METADATA_PACKET_HEADER_WIDTH_TYPE = 8, /**< Packet type. */
  HSA_AMD_METADATA_PACKET_HEADER_WIDTH_RESERVED = 16, /**< Zero. */
  HSA_AMD_METADATA_PACKET_HEADER_WIDTH_VERSION_MAJOR = 3, /**< Major version. */
  HSA_AMD_METADATA_PACKET_HEADER_WIDTH_VERSION_MINOR = 5 /**< Minor version. */
} hsa_amd_metadata_packet_header_width_t;

/* Part of the kernel arguments to load into registers before the start. */
typedef struct hsa_amd_metadata_preload_s {
  uint16_t length : 7; /**< Dwords. */
  uint16_t offset : 9; /**< First dword. */
} hsa_amd_metadata_preload_t;

/** Copy of the kernel descriptor from its entry offset on. */
typedef struct hsa_amd_metadata_kernel_descriptor_s {
  int64_t kernel_code_entry_byte_offset; /**< First instruction, relative to the descriptor. */
  uint8_t reserved1[20]; /**< Zero. */
  uint32_t compute_pgm_rsrc3; /**< Third resource register. */
  uint32_t compute_pgm_rsrc1; /**< First resource register. */
  uint32_t compute_pgm_rsrc2; /**< Second resource register. */
  uint16_t kernel_code_properties; /**< Property bits. */
  hsa_amd_metadata_preload_t kernarg_preload; /**< Arguments to preload. */
  uint8_t reserved2[4]; /**< Zero. */
} hsa_amd_metadata_kernel_descriptor_t;

/* Prefetch of a two-dimensional memory area into the L2 cache. */
typedef struct amd_data_prefetch_s {
  uint32_t dw0; /**< Bit 0 cooperative, 2:1 temporal hint, 4:3 scope, 15:5 burst size - 1, 31:16 bursts - 1. */
  uint32_t dw1; /**< Bits 3:0 chunk size, 5:4 permissions, 31:8 low address or argument offset. */
  uint32_t dw2; /**< Bits 24:0 high address. */
  uint32_t dw3; /**< Bits 23:0 stride, 31:30 mode: 0 off, 1 address, 2 argument. */
} amd_data_prefetch_t;

/* Per-dispatch overrides; all zero means none. */
typedef struct amd_launch_descriptor_s {
  uint8_t version; /**< 0 none, 1 the gfx1250 layout. */
  uint8_t priority; /**< 0 default. */
  uint8_t pm_hint; /**< Power management hint; 0 none. */
  uint8_t reserved0; /**< Zero. */
  uint32_t cu_enable; /**< Bits 3:0 first unit, 7:4 count, 9:8 shader engines; 0 all. */
  uint16_t dispatch_granularity_limiter; /**< Most groups or clusters in flight; 0 no limit. */
  uint16_t reserved1; /**< Zero. */
  uint8_t reserved2; /**< Zero. */
  uint8_t reserved3; /**< Zero. */
  uint16_t tg_chunk_size; /**< Work-groups given to one die at a time; 0 inherit. */
  uint32_t reserved4; /**< Zero. */
  amd_data_prefetch_t prefetch[2]; /**< Areas to prefetch. */
} amd_launch_descriptor_t;

/* Metadata of a kernel dispatch packet. */
typedef struct hsa_amd_metadata_kernel_dispatch_packet_s {
  uint32_t header0; /**< Header. */
  uint32_t event_id; /**< Event of the completion signal. */
  hsa_amd_metadata_kernel_descriptor_t kernel_descriptor; /**< Copy of the descriptor. */
  uint8_t reserved0[8]; /**< Zero. */
  uint32_t header1; /**< Same as header0. */
  uint32_t kernarg_preload_0_14[15]; /**< Preloaded dwords. */
  uint32_t header2; /**< Same as header0. */
  uint32_t kernarg_preload_15_29[15]; /**< Preloaded dwords. */
  uint32_t header3; /**< Same as header0. */
  uint32_t kernarg_preload_30_31[2]; /**< Preloaded dwords. */
  HSA_EXTENSION union {
    uint8_t reserved1[52]; /**< Zero. */
    amd_launch_descriptor_t launch_descriptor; /**< Overrides. */
  };
} hsa_amd_metadata_kernel_dispatch_packet_t;

/** Metadata of a barrier packet. */
typedef struct hsa_amd_metadata_barrier_packet_s {
  uint32_t header0; /**< Header. */
  uint32_t event_id; /**< Event of the completion signal. */
  uint8_t reserved0[56]; /**< Zero. */
  uint32_t header1; /**< Same as header0. */
  uint8_t reserved1[60]; /**< Zero. */
  uint32_t header2; /**< Same as header0. */
  uint8_t reserved2[60]; /**< Zero. */
  uint32_t header3; /**< Same as header0. */
  uint8_t reserved3[60]; /**< Zero. */
} hsa_amd_metadata_barrier_packet_t;

/* ---- Status codes ---- */

/** Codes added to hsa_status_t. */
enum {
  HSA_STATUS_ERROR_INVALID_MEMORY_POOL = 40, /**< The handle names no memory pool. */
  HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION = 41, /**< A kernel used an address outside every aperture. */
  HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION = 42, /**< A kernel executed an instruction its agent does not have. */
  HSA_STATUS_ERROR_MEMORY_FAULT = 43, /**< A kernel used memory its agent may not touch. */
  /** The compute unit mask was set without the units this process may not use. */
  HSA_STATUS_CU_MASK_REDUCED = 44,
  HSA_STATUS_ERROR_OUT_OF_REGISTERS = 45, /**< A kernel needs more vector registers than the agent has. */
  HSA_STATUS_ERROR_RESOURCE_BUSY = 46, /**< The resource is in use now. */
  HSA_STATUS_ERROR_NOT_SUPPORTED = 47, /**< This system cannot do what was asked. */
  HSA_STATUS_ERROR_XNACK_DISABLED = 48, /**< The call needs retryable page faults, which are off. */
  HSA_STATUS_ERROR_INVALID_DISPATCH_PARAMETERS = 49, /**< A dispatch packet exceeds a limit of the agent. */
  HSA_STATUS_ERROR_RESOURCE_NOT_READY = 50 /**< The resource is valid but cannot be used yet. */
};

/* ---- Agents ---- */

/** Three 64-bit extents. */
typedef struct hsa_amd_dim3_s {
  uint64_t x; /**< Along X. */
  uint64_t y; /**< Along Y. */
  uint64_t z; /**< Along Z. */
} hsa_amd_dim3_t;

/** IOMMU support of an agent. */
typedef enum {
  HSA_IOMMU_SUPPORT_NONE = 0, /**< None. */
  HSA_IOMMU_SUPPORT_V2 = 1 /**< IOMMU version 2. */
} hsa_amd_iommu_version_t;

/** Clocks read together. */
typedef struct hsa_amd_clock_counters_s {
  uint64_t gpu_clock_counter; /**< Clock of the agent. */
  uint64_t cpu_clock_counter; /**< Clock of the host. */
  uint64_t system_clock_counter; /**< System clock. */
  uint64_t system_clock_frequency; /**< Ticks of the system clock per second. */
} hsa_amd_clock_counters_t;

/** What AMD adds to hsa_agent_get_info. */
typedef enum hsa_amd_agent_info_s {
  HSA_AMD_AGENT_INFO_CHIP_ID = 0xA000, /**< uint32_t: PCI device id. */
  HSA_AMD_AGENT_INFO_CACHELINE_SIZE = 0xA001, /**< uint32_t: bytes of a cache line. */
  HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT = 0xA002, /**< uint32_t: compute units. */
  HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY = 0xA003, /**< uint32_t: highest clock in MHz. */
  HSA_AMD_AGENT_INFO_DRIVER_NODE_ID = 0xA004, /**< uint32_t: node number of the driver. */
  HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS = 0xA005, /**< uint32_t: address watch points. */
  HSA_AMD_AGENT_INFO_BDFID = 0xA006, /**< uint32_t: PCI bus, device and function. */
  HSA_AMD_AGENT_INFO_MEMORY_WIDTH = 0xA007, /**< uint32_t: memory bus width in bits; deprecated. */
  HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY = 0xA008, /**< uint32_t: highest memory clock in MHz. */
  HSA_AMD_AGENT_INFO_PRODUCT_NAME = 0xA009, /**< char[64]: product name. */
  HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU = 0xA00A, /**< uint32_t: most waves of a compute unit. */
  HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU = 0xA00B, /**< uint32_t: SIMDs of a compute unit. */
  HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES = 0xA00C, /**< uint32_t: shader engines. */
  HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE = 0xA00D, /**< uint32_t: shader arrays of a shader engine. */
  HSA_AMD_AGENT_INFO_HDP_FLUSH = 0xA00E, /**< hsa_amd_hdp_flush_t: registers that flush host writes. */
  HSA_AMD_AGENT_INFO_DOMAIN = 0xA00F, /**< uint32_t: PCI domain. */
  HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES = 0xA010, /**< bool: whether cooperative queues exist. */
  HSA_AMD_AGENT_INFO_UUID = 0xA011, /**< char[21]: unique text, GPU-XX when there is none. */
  HSA_AMD_AGENT_INFO_ASIC_REVISION = 0xA012, /**< uint32_t: revision of the chip. */
  /** bool: whether the host reaches local shared virtual memory. */
  HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS = 0xA013,
  /** uint32_t: compute units for cooperative dispatches. */
  HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT = 0xA014,
  HSA_AMD_AGENT_INFO_MEMORY_AVAIL = 0xA015, /**< uint64_t: free bytes of its global pools. */
  HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY = 0xA016, /**< uint64_t: ticks of its clock per second. */
  HSA_AMD_AGENT_INFO_ASIC_FAMILY_ID = 0xA107, /**< uint32_t: chip family. */
  HSA_AMD_AGENT_INFO_UCODE_VERSION = 0xA108, /**< uint32_t: firmware of the packet processor. */
  HSA_AMD_AGENT_INFO_SDMA_UCODE_VERSION = 0xA109, /**< uint32_t: firmware of the copy engines. */
  HSA_AMD_AGENT_INFO_NUM_SDMA_ENG = 0xA10A, /**< uint32_t: copy engines for host traffic. */
  HSA_AMD_AGENT_INFO_NUM_SDMA_XGMI_ENG = 0xA10B, /**< uint32_t: further copy engines for xGMI. */
  HSA_AMD_AGENT_INFO_IOMMU_SUPPORT = 0xA110, /**< hsa_amd_iommu_version_t: IOMMU support. */
  HSA_AMD_AGENT_INFO_NUM_XCC = 0xA111, /**< uint32_t: compute dies. */
  HSA_AMD_AGENT_INFO_DRIVER_UID = 0xA112, /**< uint32_t: unique number of the driver. */
  HSA_AMD_AGENT_INFO_NEAREST_CPU = 0xA113, /**< hsa_agent_t: nearest CPU agent. */
  HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES = 0xA114, /**< uint8_t[8]: hsa_amd_agent_memory_properties_t bits. */
  HSA_AMD_AGENT_INFO_AQL_EXTENSIONS = 0xA115, /**< uint8_t[8]: hsa_amd_agent_aql_properties_t bits. */
  HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_MAX = 0xA116, /**< uint64_t: most bytes of the scratch limit. */
  HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_CURRENT = 0xA117, /**< uint64_t: scratch limit in bytes. */
  HSA_AMD_AGENT_INFO_CLOCK_COUNTERS = 0xA118, /**< hsa_amd_clock_counters_t: clocks read together. */
  HSA_AMD_AGENT_INFO_PM4_EMULATION = 0xA119, /**< bool: whether the queues emulate AQL with PM4. */
  HSA_AMD_AGENT_INFO_LUID = 0xA11A, /**< uint8_t[8]: adapter number of Windows. */
  HSA_AMD_AGENT_INFO_HAS_EXPERT_SCHED_MODE = 0xA11B, /**< bool: whether kernels may use expert scheduling. */
  HSA_AMD_AGENT_INFO_CUID = 0xA11C, /**< uint8_t[16]: UUID of the component. */
  /** uint64_t: most work-groups of a dispatch without clusters. */
  HSA_AMD_AGENT_INFO_KERNEL_WG_MAX_SIZE = 0xA11D,
  /** hsa_amd_dim3_t: most clusters of a dispatch in each dimension. */
  HSA_AMD_AGENT_INFO_KERNEL_CLUSTER_MAX_DIM = 0xA11E,
  HSA_AMD_AGENT_INFO_KERNEL_CLUSTER_MAX_SIZE = 0xA11F, /**< uint64_t: most clusters of a dispatch. */
  /** hsa_amd_dim3_t: most work-groups of a cluster in each dimension. */
  HSA_AMD_AGENT_INFO_CLUSTER_MAX_DIM = 0xA120,
  HSA_AMD_AGENT_INFO_CLUSTER_MAX_SIZE = 0xA121, /**< uint64_t: most work-groups of a cluster. */
  /** hsa_amd_dim3_t: most work-groups of a dispatch in each dimension. */
  HSA_AMD_AGENT_INFO_KERNEL_WG_MAX_DIM = 0xA122,
  /** uint32_t: areas a dispatch may prefetch; 0 for none. */
  HSA_AMD_AGENT_INFO_MAX_DATA_PREFETCH_REGIONS = 0xA123,
  /** bool: whether host memory can be exported as dma-buf and used here. */
  HSA_AMD_AGENT_INFO_HOST_ALLOC_DMABUF_SUPPORTED = 0xA124,
  /** size_t: bytes of L2 cache asked to persist. */
  HSA_AMD_AGENT_INFO_REQUEST_PERSISTING_L2_CACHE_SIZE = 0xA125,
  /** size_t: most bytes of L2 cache that can persist. */
  HSA_AMD_AGENT_INFO_MAX_PERSISTING_L2_CACHE_SIZE = 0xA126
} hsa_amd_agent_info_t;

/** Bits of MEMORY_PROPERTIES. */
typedef enum hsa_amd_agent_memory_properties_s {
  HSA_AMD_MEMORY_PROPERTY_AGENT_IS_APU = 1 /**< The agent shares the memory of the host. */
} hsa_amd_agent_memory_properties_t;

/** Bits of AQL_EXTENSIONS. */
typedef enum hsa_amd_agent_aql_properties_s {
  HSA_AMD_AQL_PROPERTY_EXT_DISPATCH = 1 /**< Extended kernel dispatch packets. */
} hsa_amd_agent_aql_properties_t;

/** Copy engines; a set of bits. */
typedef enum hsa_amd_sdma_engine_id {
  HSA_AMD_SDMA_ENGINE_0 = 0x1, /**< Copy engine 0. */
  HSA_AMD_SDMA_ENGINE_1 = 0x2, /**< Copy engine 1. */
  HSA_AMD_SDMA_ENGINE_2 = 0x4, /**< Copy engine 2. */
  HSA_AMD_SDMA_ENGINE_3 = 0x8, /**< Copy engine 3. */
  HSA_AMD_SDMA_ENGINE_4 = 0x10, /**< Copy engine 4. */
  HSA_AMD_SDMA_ENGINE_5 = 0x20, /**< Copy engine 5. */
  HSA_AMD_SDMA_ENGINE_6 = 0x40, /**< Copy engine 6. */
  HSA_AMD_SDMA_ENGINE_7 = 0x80, /**< Copy engine 7. */
  HSA_AMD_SDMA_ENGINE_8 = 0x100, /**< Copy engine 8. */
  HSA_AMD_SDMA_ENGINE_9 = 0x200, /**< Copy engine 9. */
  HSA_AMD_SDMA_ENGINE_10 = 0x400, /**< Copy engine 10. */
  HSA_AMD_SDMA_ENGINE_11 = 0x800, /**< Copy engine 11. */
  HSA_AMD_SDMA_ENGINE_12 = 0x1000, /**< Copy engine 12. */
  HSA_AMD_SDMA_ENGINE_13 = 0x2000, /**< Copy engine 13. */
  HSA_AMD_SDMA_ENGINE_14 = 0x4000, /**< Copy engine 14. */
  HSA_AMD_SDMA_ENGINE_15 = 0x8000 /**< Copy engine 15. */
} hsa_amd_sdma_engine_id_t;

/** Registers that flush host writes through the bus. */
typedef struct hsa_amd_hdp_flush_s {
  uint32_t *HDP_MEM_FLUSH_CNTL; /**< Write here to flush memory writes. */
  uint32_t *HDP_REG_FLUSH_CNTL; /**< Write here to flush register writes. */
} hsa_amd_hdp_flush_t;

/** What AMD adds to hsa_region_get_info. */
typedef enum hsa_amd_region_info_s {
  HSA_AMD_REGION_INFO_HOST_ACCESSIBLE = 0xA000, /**< bool: whether the host reaches it. */
  HSA_AMD_REGION_INFO_BASE = 0xA001, /**< void *: first address. */
  HSA_AMD_REGION_INFO_BUS_WIDTH = 0xA002, /**< uint32_t: bus width in bits; deprecated. */
  HSA_AMD_REGION_INFO_MAX_CLOCK_FREQUENCY = 0xA003 /**< uint32_t: highest clock in MHz; deprecated. */
} hsa_amd_region_info_t;

/** Coherency of the fine-grained region of an agent. */
typedef enum hsa_amd_coherency_type_s {
  HSA_AMD_COHERENCY_TYPE_COHERENT = 0, /**< Coherent. */
  HSA_AMD_COHERENCY_TYPE_NONCOHERENT = 1 /**< Not coherent. */
} hsa_amd_coherency_type_t;

/** How a dma-buf will be mapped; a set of bits. */
typedef enum hsa_amd_dma_buf_mapping_type_s {
  HSA_AMD_DMABUF_MAPPING_TYPE_NONE = 0, /**< Any way. */
  HSA_AMD_DMABUF_MAPPING_TYPE_PCIE = 1 /**< Through PCIe. */
} hsa_amd_dma_buf_mapping_type_t;

/** Gives the coherency of the fine-grained region of an agent. */
hsa_status_t HSA_API hsa_amd_coherency_get_type(hsa_agent_t agent, hsa_amd_coherency_type_t *type);

/** Sets the coherency of the fine-grained region of an agent, where that can be chosen. */
hsa_status_t HSA_API hsa_amd_coherency_set_type(hsa_agent_t agent, hsa_amd_coherency_type_t type);

/** What hsa_amd_agent_preload leaves out; a set of bits. */
typedef enum hsa_amd_agent_preload_flag_s {
  HSA_AMD_AGENT_PRELOAD_SKIP_CLOCK_SYNC = 1, /**< Clock correlation. */
  HSA_AMD_AGENT_PRELOAD_SKIP_BLITS = 2 /**< Copy kernels. */
} hsa_amd_agent_preload_flag_t;

/** Sets up now what a GPU agent would set up at first use. */
hsa_status_t HSA_API hsa_amd_agent_preload(hsa_agent_t agent, uint64_t flags);

/** What hsa_amd_agent_set_attribute can set. */
typedef enum hsa_amd_agent_attribute_s {
  /** size_t: bytes of L2 cache that should persist. */
  HSA_AMD_AGENT_ATTRIBUTE_REQUEST_PERSISTING_L2_CACHE_SIZE = 0
} hsa_amd_agent_attribute_t;

/** Sets an attribute of an agent. */
hsa_status_t HSA_API hsa_amd_agent_set_attribute(
    hsa_agent_t agent, hsa_amd_agent_attribute_t attribute, void *value);

/** Sets how many scratch bytes the queues of an agent may keep. */
hsa_status_t HSA_API hsa_amd_agent_set_async_scratch_limit(hsa_agent_t agent, size_t threshold);

/* ---- Profiling ---- */

/** When a packet ran, in ticks of the system clock. */
typedef struct hsa_amd_profiling_dispatch_time_s {
  uint64_t start; /**< Start. */
  uint64_t end; /**< End. */
} hsa_amd_profiling_dispatch_time_t;

/** When a copy ran, in ticks of the system clock. */
typedef struct hsa_amd_profiling_async_copy_time_s {
  uint64_t start; /**< Start. */
  uint64_t end; /**< End. */
} hsa_amd_profiling_async_copy_time_t;

/** Turns time stamps of the packets of a queue on or off. */
hsa_status_t HSA_API hsa_amd_profiling_set_profiler_enabled(hsa_queue_t *queue, int enable);

/** Turns time stamps of copies on or off. */
hsa_status_t HSA_API hsa_amd_profiling_async_copy_enable(bool enable);

/** Gives the times of the packet a completion signal belonged to. */
hsa_status_t HSA_API hsa_amd_profiling_get_dispatch_time(
    hsa_agent_t agent, hsa_signal_t signal, hsa_amd_profiling_dispatch_time_t *time);

/** Gives the times of the copy a completion signal belonged to. */
hsa_status_t HSA_API hsa_amd_profiling_get_async_copy_time(
    hsa_signal_t signal, hsa_amd_profiling_async_copy_time_t *time);

/** Converts a tick of the clock of an agent to the system clock. */
hsa_status_t HSA_API hsa_amd_profiling_convert_tick_to_system_domain(
    hsa_agent_t agent, uint64_t agent_tick, uint64_t *system_tick);

/** Takes the stream performance monitor of an agent. */
hsa_status_t HSA_API hsa_amd_spm_acquire(hsa_agent_t preferred_agent);

/** Gives the stream performance monitor of an agent back. */
hsa_status_t HSA_API hsa_amd_spm_release(hsa_agent_t preferred_agent);

/** Sets where the stream performance monitor writes, and collects what the last buffer holds. */
hsa_status_t HSA_API hsa_amd_spm_set_dest_buffer(
    hsa_agent_t preferred_agent, size_t size_in_bytes, uint32_t *timeout, uint32_t *size_copied,
    void *dest, bool *is_data_loss);

/** Bits of hsa_amd_enable_logging. */
typedef enum hsa_amd_log_flag_s {
  HSA_AMD_LOG_FLAG_BLIT_KERNEL_PKTS = 0, /**< Packets the runtime itself submits. */
  HSA_AMD_LOG_FLAG_AQL = 0, /**< Another name of the same. */
  HSA_AMD_LOG_FLAG_SDMA = 1, /**< Copy engine packets. */
  HSA_AMD_LOG_FLAG_INFO = 2 /**< Information. */
} hsa_amd_log_flag_t;

/** Chooses what is logged and to which FILE; NULL means stderr. */
hsa_status_t HSA_API hsa_amd_enable_logging(uint8_t *flags, void *file);

/* ---- Signals ---- */

/** Attributes of hsa_amd_signal_create; a set of bits. */
typedef enum {
  HSA_AMD_SIGNAL_AMD_GPU_ONLY = 1, /**< Only GPUs wait on it. */
  HSA_AMD_SIGNAL_IPC = 2 /**< It can be shared with other processes. */
} hsa_amd_signal_attribute_t;

/** Creates a signal with attributes. */
hsa_status_t HSA_API hsa_amd_signal_create(
    hsa_signal_value_t initial_value, uint32_t num_consumers, const hsa_agent_t *consumers,
    uint64_t attributes, hsa_signal_t *signal);

/** Gives the address of the value of a signal. */
hsa_status_t HSA_API hsa_amd_signal_value_pointer(
    hsa_signal_t signal, volatile hsa_signal_value_t **value_ptr);

/** Called when a signal meets its condition; true keeps it registered. */
typedef bool (*hsa_amd_signal_handler)(hsa_signal_value_t value, void *arg);

/** Registers a function to call when a signal meets a condition. */
hsa_status_t HSA_API hsa_amd_signal_async_handler(
    hsa_signal_t signal, hsa_signal_condition_t cond, hsa_signal_value_t value,
    hsa_amd_signal_handler handler, void *arg);

/** Calls a function on the event thread of the runtime. */
hsa_status_t HSA_API hsa_amd_async_function(void (*callback)(void *arg), void *arg);

/** Waits until one signal meets its condition and gives its index; UINT32_MAX when none does. */
uint32_t HSA_API hsa_amd_signal_wait_any(
    uint32_t signal_count, hsa_signal_t *signals, hsa_signal_condition_t *conds,
    hsa_signal_value_t *values, uint64_t timeout_hint, hsa_wait_state_t wait_hint,
    hsa_signal_value_t *satisfying_value);

/** Waits until every signal meets its condition: 0 then, UINT32_MAX when the time is up. */
uint32_t HSA_API hsa_amd_signal_wait_all(
    uint32_t signal_count, hsa_signal_t *signals, hsa_signal_condition_t *conds,
    hsa_signal_value_t *values, uint64_t timeout_hint, hsa_wait_state_t wait_hint,
    hsa_signal_value_t *satisfying_values);

/** Gives the number of the kernel event behind a signal; 0 when there is none. */
hsa_status_t HSA_API hsa_amd_signal_get_event_id(hsa_signal_t signal, uint32_t *event_id);

/* Names an allocation, or a signal, to another process. */
typedef struct hsa_amd_ipc_memory_s {
  uint32_t handle[8]; /**< The name. */
} hsa_amd_ipc_memory_t;
typedef hsa_amd_ipc_memory_t hsa_amd_ipc_signal_t;

/** Makes a name under which another process can attach a signal. */
hsa_status_t HSA_API hsa_amd_ipc_signal_create(hsa_signal_t signal, hsa_amd_ipc_signal_t *handle);

/** Attaches a signal of another process; destroy it like any signal. */
hsa_status_t HSA_API hsa_amd_ipc_signal_attach(
    const hsa_amd_ipc_signal_t *handle, hsa_signal_t *signal);

/* ---- Images of other programs ---- */

/** Layout of an image in the form of the vendor. Longer than declared: never copy it. */
typedef struct hsa_amd_image_descriptor_s {
  uint32_t version; /**< Version of the data. */
  uint32_t deviceID; /**< PCI vendor in the high half, device in the low half. */
  uint32_t data[1]; /**< First word of the data. */
} hsa_amd_image_descriptor_t;

/** Version of a descriptor that holds surface metadata of Windows. */
#define HSA_AMD_IMAGE_DESC_VERSION_WDDM_SURFACE_METADATA 0x574D4453u

/** Creates an image over data in a layout of the vendor. */
hsa_status_t HSA_API hsa_amd_image_create(
    hsa_agent_t agent, const hsa_ext_image_descriptor_t *image_descriptor,
    const hsa_amd_image_descriptor_t *image_layout, const void *image_data,
    hsa_access_permission_t access_permission, hsa_ext_image_t *image);

/** Creates an image over data in a layout of the vendor, with mip levels; the layout may be NULL. */
hsa_status_t HSA_API hsa_amd_image_create_v2(
    hsa_agent_t agent, const hsa_ext_image_descriptor_v2_t *image_descriptor,
    const hsa_amd_image_descriptor_t *image_layout, const void *image_data,
    hsa_access_permission_t access_permission, hsa_ext_image_t *image);

/** Gives an image limit of an agent. */
hsa_status_t HSA_API hsa_amd_image_get_info_max_dim(
    hsa_agent_t agent, hsa_agent_info_t attribute, void *value);

/* ---- Memory pools ---- */

/** Segment of a pool. */
typedef enum {
  HSA_AMD_SEGMENT_GLOBAL = 0, /**< Global. */
  HSA_AMD_SEGMENT_READONLY = 1, /**< Read-only. */
  HSA_AMD_SEGMENT_PRIVATE = 2, /**< Private to a work-item. */
  HSA_AMD_SEGMENT_GROUP = 3 /**< Shared by a work-group. */
} hsa_amd_segment_t;

/** Names a pool: memory of one place with one access model. */
typedef struct hsa_amd_memory_pool_s {
  uint64_t handle; /**< The handle itself. */
} hsa_amd_memory_pool_t;

/** Flags of a global pool; a set of bits. */
typedef enum hsa_amd_memory_pool_global_flag_s {
  HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT = 1, /**< Kernel arguments may live here. */
  HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED = 2, /**< Writes become visible while kernels run. */
  HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED = 4, /**< One agent writes at a time. */
  /** Device scope atomics act at system scope. */
  HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_EXTENDED_SCOPE_FINE_GRAINED = 8
} hsa_amd_memory_pool_global_flag_t;

/** Where a pool is. */
typedef enum hsa_amd_memory_pool_location_s {
  HSA_AMD_MEMORY_POOL_LOCATION_CPU = 0, /**< Memory of the host. */
  HSA_AMD_MEMORY_POOL_LOCATION_GPU = 1 /**< Memory of a GPU. */
} hsa_amd_memory_pool_location_t;

/** What hsa_amd_memory_pool_get_info can be asked. */
typedef enum {
  HSA_AMD_MEMORY_POOL_INFO_SEGMENT = 0, /**< hsa_amd_segment_t: its segment. */
  HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS = 1, /**< uint32_t: hsa_amd_memory_pool_global_flag_t bits. */
  HSA_AMD_MEMORY_POOL_INFO_SIZE = 2, /**< size_t: bytes. */
  HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED = 5, /**< bool: whether it can be allocated from. */
  /** size_t: sizes are rounded up to a multiple of this. */
  HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE = 6,
  HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT = 7, /**< size_t: alignment of an allocation. */
  HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL = 15, /**< bool: whether every agent can be given access. */
  HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE = 16, /**< size_t: most bytes of all allocations. */
  HSA_AMD_MEMORY_POOL_INFO_LOCATION = 17, /**< hsa_amd_memory_pool_location_t: where it is. */
  HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_REC_GRANULE = 18 /**< size_t: granule that wastes least. */
} hsa_amd_memory_pool_info_t;

/** Flags of an allocation; a set of bits. */
typedef enum hsa_amd_memory_pool_flag_s {
  HSA_AMD_MEMORY_POOL_STANDARD_FLAG = 0, /**< Nothing special. */
  HSA_AMD_MEMORY_POOL_PCIE_FLAG = 1, /**< Ordered per link only. */
  HSA_AMD_MEMORY_POOL_CONTIGUOUS_FLAG = 2, /**< Physically contiguous. */
  HSA_AMD_MEMORY_POOL_EXECUTABLE_FLAG = 4, /**< Code may live here. */
  HSA_AMD_MEMORY_POOL_UNCACHED_FLAG = 8 /**< Not cached. */
} hsa_amd_memory_pool_flag_t;

/** Reads one property of a pool. */
hsa_status_t HSA_API hsa_amd_memory_pool_get_info(
    hsa_amd_memory_pool_t memory_pool, hsa_amd_memory_pool_info_t attribute, void *value);

/** Calls back for every pool of an agent. */
hsa_status_t HSA_API hsa_amd_agent_iterate_memory_pools(
    hsa_agent_t agent, hsa_status_t (*callback)(hsa_amd_memory_pool_t memory_pool, void *data),
    void *data);

/** Allocates memory from a pool. */
hsa_status_t HSA_API hsa_amd_memory_pool_allocate(
    hsa_amd_memory_pool_t memory_pool, size_t size, uint32_t flags, void **ptr);

/** Frees memory of a pool. */
hsa_status_t HSA_API hsa_amd_memory_pool_free(void *ptr);

/** Access of an agent to a pool. */
typedef enum {
  HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED = 0, /**< Never. */
  HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT = 1, /**< Always. */
  HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT = 2 /**< After hsa_amd_agents_allow_access. */
} hsa_amd_memory_pool_access_t;

/** Kind of a link. */
typedef enum {
  HSA_AMD_LINK_INFO_TYPE_HYPERTRANSPORT = 0, /**< HyperTransport. */
  HSA_AMD_LINK_INFO_TYPE_QPI = 1, /**< QPI. */
  HSA_AMD_LINK_INFO_TYPE_PCIE = 2, /**< PCI Express. */
  HSA_AMD_LINK_INFO_TYPE_INFINBAND = 3, /**< InfiniBand. */
  HSA_AMD_LINK_INFO_TYPE_XGMI = 4 /**< xGMI. */
} hsa_amd_link_info_type_t;

/** One hop between an agent and a pool. */
typedef struct hsa_amd_memory_pool_link_info_s {
  uint32_t min_latency; /**< Lowest latency in ns. */
  uint32_t max_latency; /**< Highest latency in ns. */
  uint32_t min_bandwidth; /**< Lowest bandwidth in MB/s. */
  uint32_t max_bandwidth; /**< Highest bandwidth in MB/s. */
  bool atomic_support_32bit; /**< Whether 32-bit atomics pass. */
  bool atomic_support_64bit; /**< Whether 64-bit atomics pass. */
  bool coherent_support; /**< Whether the hop is cache coherent. */
  hsa_amd_link_info_type_t link_type; /**< Kind of link. */
  uint32_t numa_distance; /**< NUMA distance of the pool from the agent. */
} hsa_amd_memory_pool_link_info_t;

/** What hsa_amd_agent_memory_pool_get_info can be asked. */
typedef enum {
  HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS = 0, /**< hsa_amd_memory_pool_access_t: access of the agent. */
  HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS = 1, /**< uint32_t: hops between them. */
  HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO = 2 /**< hsa_amd_memory_pool_link_info_t[]: one for each hop. */
} hsa_amd_agent_memory_pool_info_t;

/** Reads one property of the way from an agent to a pool. */
hsa_status_t HSA_API hsa_amd_agent_memory_pool_get_info(
    hsa_agent_t agent, hsa_amd_memory_pool_t memory_pool,
    hsa_amd_agent_memory_pool_info_t attribute, void *value);

/** Sets which agents may use an allocation, besides the owner of its pool. */
hsa_status_t HSA_API hsa_amd_agents_allow_access(
    uint32_t num_agents, const hsa_agent_t *agents, const uint32_t *flags, const void *ptr);

/** Tells whether allocations can move between two pools. */
hsa_status_t HSA_API hsa_amd_memory_pool_can_migrate(
    hsa_amd_memory_pool_t src_memory_pool, hsa_amd_memory_pool_t dst_memory_pool, bool *result);

/** Moves an allocation to another pool. */
hsa_status_t HSA_API hsa_amd_memory_migrate(
    const void *ptr, hsa_amd_memory_pool_t memory_pool, uint32_t flags);

/** Pins memory of the program and maps it for agents. */
hsa_status_t HSA_API hsa_amd_memory_lock(
    void *host_ptr, size_t size, hsa_agent_t *agents, int num_agent, void **agent_ptr);

/** Pins memory of the program and maps it for agents with the properties of a pool. */
hsa_status_t HSA_API hsa_amd_memory_lock_to_pool(
    void *host_ptr, size_t size, hsa_agent_t *agents, int num_agent, hsa_amd_memory_pool_t pool,
    uint32_t flags, void **agent_ptr);

/** Takes back a pinning. */
hsa_status_t HSA_API hsa_amd_memory_unlock(void *host_ptr);

/** Fills memory with a 32-bit value and waits until it is done. */
hsa_status_t HSA_API hsa_amd_memory_fill(void *ptr, uint32_t value, size_t count);

/** Maps a buffer of another API for agents. */
hsa_status_t HSA_API hsa_amd_interop_map_buffer(
    uint32_t num_agents, hsa_agent_t *agents, hsa_handle_t interop_handle, uint32_t flags,
    size_t *size, void **ptr, size_t *metadata_size, const void **metadata);

/** Maps a buffer of another API for agents; size_hint 0 means unknown. */
hsa_status_t HSA_API hsa_amd_interop_map_buffer_with_size(
    uint32_t num_agents, hsa_agent_t *agents, hsa_handle_t interop_handle, uint32_t flags,
    size_t size_hint, size_t *size, void **ptr, size_t *metadata_size, const void **metadata);

/** Takes back a mapping of a buffer of another API. */
hsa_status_t HSA_API hsa_amd_interop_unmap_buffer(void *ptr);

/* ---- Copies ---- */

/** Starts a copy after signals have become 0. */
hsa_status_t HSA_API hsa_amd_memory_async_copy(
    void *dst, hsa_agent_t dst_agent, const void *src, hsa_agent_t src_agent, size_t size,
    uint32_t num_dep_signals, const hsa_signal_t *dep_signals, hsa_signal_t completion_signal);

/** Starts a copy on a chosen copy engine. */
hsa_status_t HSA_API hsa_amd_memory_async_copy_on_engine(
    void *dst, hsa_agent_t dst_agent, const void *src, hsa_agent_t src_agent, size_t size,
    uint32_t num_dep_signals, const hsa_signal_t *dep_signals, hsa_signal_t completion_signal,
    hsa_amd_sdma_engine_id_t engine_id, bool force_copy_on_sdma);

/** Tells which copy engines are free for a direction. */
hsa_status_t HSA_API hsa_amd_memory_copy_engine_status(
    hsa_agent_t dst_agent, hsa_agent_t src_agent, uint32_t *engine_ids_mask);

/** Tells which copy engines are best for a direction; 0 for no preference. */
hsa_status_t HSA_API hsa_amd_memory_get_preferred_copy_engine(
    hsa_agent_t dst_agent, hsa_agent_t src_agent, uint32_t *recommended_ids_mask);

/** Memory of rows and layers. */
typedef struct hsa_pitched_ptr_s {
  void *base; /**< First byte. */
  size_t pitch; /**< Bytes from row to row. */
  size_t slice; /**< Bytes from layer to layer. */
} hsa_pitched_ptr_t;

/** Direction of a rectangle copy. */
typedef enum {
  hsaHostToHost = 0, /**< Host to host. */
  hsaHostToDevice = 1, /**< Host to device. */
  hsaDeviceToHost = 2, /**< Device to host. */
  hsaDeviceToDevice = 3 /**< Device to device. */
} hsa_amd_copy_direction_t;

/** Starts the copy of a box; X counts bytes, Y rows, Z layers. */
hsa_status_t HSA_API hsa_amd_memory_async_copy_rect(
    const hsa_pitched_ptr_t *dst, const hsa_dim3_t *dst_offset, const hsa_pitched_ptr_t *src,
    const hsa_dim3_t *src_offset, const hsa_dim3_t *range, hsa_agent_t copy_agent,
    hsa_amd_copy_direction_t dir, uint32_t num_dep_signals, const hsa_signal_t *dep_signals,
    hsa_signal_t completion_signal);

/** Kind of an operation of a batch. */
typedef enum {
  HSA_AMD_MEMORY_COPY_OP_LINEAR = 0, /**< Copy. */
  HSA_AMD_MEMORY_COPY_OP_LINEAR_BROADCAST = 1, /**< Copy one source to several destinations. */
  HSA_AMD_MEMORY_COPY_OP_LINEAR_SWAP = 2, /**< Exchange two buffers. */
  HSA_AMD_MEMORY_COPY_OP_LINEAR_INDIRECT_SRC = 3, /**< Copy from where a pointer in memory points. */
  HSA_AMD_MEMORY_COPY_OP_LINEAR_INDIRECT_DST = 4, /**< Copy to where a pointer in memory points. */
  HSA_AMD_MEMORY_COPY_OP_LINEAR_INDIRECT_SRCDST = 5 /**< Both. */
} hsa_amd_memory_copy_op_type_t;

/** Comparison an operation waits for. */
typedef enum {
  HSA_AMD_MEMORY_COPY_WAIT_ALWAYS = 0, /**< No wait. */
  HSA_AMD_MEMORY_COPY_WAIT_LT = 1, /**< Less. */
  HSA_AMD_MEMORY_COPY_WAIT_LE = 2, /**< Less or equal. */
  HSA_AMD_MEMORY_COPY_WAIT_EQ = 3, /**< Equal. */
  HSA_AMD_MEMORY_COPY_WAIT_NE = 4, /**< Not equal. */
  HSA_AMD_MEMORY_COPY_WAIT_GE = 5, /**< Greater or equal. */
  HSA_AMD_MEMORY_COPY_WAIT_GT = 6 /**< Greater. */
} hsa_amd_memory_copy_wait_function_t;

/** What an operation does to memory at its end. */
typedef enum {
  HSA_AMD_MEMORY_COPY_SIGNAL_NONE = 0, /**< Nothing. */
  HSA_AMD_MEMORY_COPY_SIGNAL_WRITE = 1, /**< Store 64 bits. */
  HSA_AMD_MEMORY_COPY_SIGNAL_ADD = 2, /**< Add 64 bits. */
  HSA_AMD_MEMORY_COPY_SIGNAL_SUB = 3 /**< Subtract 64 bits. */
} hsa_amd_memory_copy_signal_op_t;

/** Version of hsa_amd_memory_copy_op_t. */
#define HSA_AMD_MEMORY_COPY_OP_VERSION 1

/* One operation of a batch. With num_entries > 0 the list members are read instead of the single ones. */
typedef struct hsa_amd_memory_copy_op_s {
  uint16_t version; /**< HSA_AMD_MEMORY_COPY_OP_VERSION. */
  uint16_t type; /**< hsa_amd_memory_copy_op_type_t. */
  uint16_t num_entries; /**< Entries of the lists; 0 for a single copy. */
  uint16_t traffic_class; /**< 0 for the default. */
  hsa_signal_t completion_signal; /**< Decremented at the end; the same in the whole batch. */
  HSA_EXTENSION union {
    void *src; /**< Source. */
    void **src_list; /**< Sources. */
  };
  HSA_EXTENSION union {
    hsa_agent_t src_agent; /**< Agent of the source. */
    hsa_agent_t *src_agent_list; /**< Unused. */
  };
  HSA_EXTENSION union {
    hsa_agent_t dst_agent; /**< Agent of the destination. */
    hsa_agent_t *dst_agent_list; /**< Agents of the destinations. */
  };
  HSA_EXTENSION union {
    void *dst; /**< Destination. */
    void **dst_list; /**< Destinations. */
  };
  HSA_EXTENSION union {
    HSA_EXTENSION struct {
      size_t size; /**< Bytes. */
      size_t unused_size; /**< Zero. */
    };
    HSA_EXTENSION struct {
      size_t src_size; /**< Bytes of the source of an exchange. */
      size_t dst_size; /**< Bytes of the destination of an exchange. */
    };
    HSA_EXTENSION struct {
      size_t *size_list; /**< Bytes of each entry. */
      size_t reserved0; /**< Zero. */
    };
  };
  HSA_EXTENSION struct {
    uint16_t function; /**< hsa_amd_memory_copy_wait_function_t. */
    uint16_t scope; /**< hsa_fence_scope_t. */
    uint32_t reserved; /**< Zero. */
    void *addr; /**< Address to poll. */
    uint64_t value; /**< Right side of the comparison. */
    uint64_t mask; /**< Mask of the left side. */
  } wait; /**< What to wait for before. */
  HSA_EXTENSION struct {
    uint16_t operation; /**< hsa_amd_memory_copy_signal_op_t. */
    uint16_t scope; /**< hsa_fence_scope_t. */
    uint32_t reserved; /**< Zero. */
    void *addr; /**< Address to change. */
    uint64_t data; /**< Operand. */
  } signal; /**< What to do after. */
  uint64_t reserved1[1]; /**< Zero. */
} hsa_amd_memory_copy_op_t;

/** Starts several copies at once; the shared completion signal must start at their number. */
hsa_status_t HSA_API hsa_amd_memory_async_batch_copy(
    const hsa_amd_memory_copy_op_t *copy_ops, uint32_t num_copy_ops, uint32_t num_dep_signals,
    const hsa_signal_t *dep_signals);

/* ---- What is known of an address ---- */

/** Kind of memory an address belongs to. */
typedef enum {
  HSA_EXT_POINTER_TYPE_UNKNOWN = 0, /**< Not known here. */
  HSA_EXT_POINTER_TYPE_HSA = 1, /**< Allocated here. */
  HSA_EXT_POINTER_TYPE_LOCKED = 2, /**< Pinned memory of the program. */
  HSA_EXT_POINTER_TYPE_GRAPHICS = 3, /**< A buffer of another API. */
  HSA_EXT_POINTER_TYPE_IPC = 4, /**< Shared by another process. */
  HSA_EXT_POINTER_TYPE_RESERVED_ADDR = 5, /**< Reserved addresses without memory. */
  HSA_EXT_POINTER_TYPE_HSA_VMEM = 6 /**< Memory of the virtual memory calls. */
} hsa_amd_pointer_type_t;

/** How memory was allocated; a set of bits. */
typedef enum hsa_amd_pointer_info_alloc_flag_s {
  HSA_AMD_POINTER_INFO_ALLOC_FLAG_EXECUTABLE = 1, /**< Code may live here. */
  HSA_AMD_POINTER_INFO_ALLOC_FLAG_CONTIGUOUS = 2, /**< Physically contiguous. */
  HSA_AMD_POINTER_INFO_ALLOC_FLAG_NONPAGED = 4, /**< Pinned. */
  HSA_AMD_POINTER_INFO_ALLOC_FLAG_READONLY = 8, /**< Read-only. */
  HSA_AMD_POINTER_INFO_ALLOC_FLAG_HOST_ACCESS = 16, /**< The host reaches it. */
  HSA_AMD_POINTER_INFO_ALLOC_FLAG_ATOMIC_FULL = 32, /**< All atomics at system scope. */
  HSA_AMD_POINTER_INFO_ALLOC_FLAG_ATOMIC_PARTIAL = 64 /**< The atomics of PCIe. */
} hsa_amd_pointer_info_alloc_flag_t;

/** What is known of an address. Members past size are left alone. */
typedef struct hsa_amd_pointer_info_s {
  uint32_t size; /**< Bytes of this structure: set by the caller, lowered to what is filled. */
  hsa_amd_pointer_type_t type; /**< Kind of memory. */
  void *agentBaseAddress; /**< First byte as agents see it. */
  void *hostBaseAddress; /**< First byte as the host sees it; NULL when it does not. */
  size_t sizeInBytes; /**< Bytes of the allocation. */
  void *userData; /**< Data that the program attached. */
  hsa_agent_t agentOwner; /**< Agent whose memory it is. */
  uint32_t global_flags; /**< Flags of its pool. */
  bool registered; /**< Whether the driver knows it. */
  uint32_t alloc_flags; /**< hsa_amd_pointer_info_alloc_flag_t bits. */
} hsa_amd_pointer_info_t;

/** Tells what is known of an address, and on request which agents reach it. */
hsa_status_t HSA_API hsa_amd_pointer_info(
    const void *ptr, hsa_amd_pointer_info_t *info, void *(*alloc)(size_t size),
    uint32_t *num_agents_accessible, hsa_agent_t **accessible);

/** Attaches data of the program to an allocation. */
hsa_status_t HSA_API hsa_amd_pointer_info_set_userdata(const void *ptr, void *userdata);

/** Called when an allocation goes away. */
typedef void (*hsa_amd_deallocation_callback_t)(void *ptr, void *user_data);

/** Registers a function to call when an allocation is freed. */
hsa_status_t HSA_API hsa_amd_register_deallocation_callback(
    void *ptr, hsa_amd_deallocation_callback_t callback, void *user_data);

/** Takes back hsa_amd_register_deallocation_callback. */
hsa_status_t HSA_API hsa_amd_deregister_deallocation_callback(
    void *ptr, hsa_amd_deallocation_callback_t callback);

/* ---- Sharing with other processes and other programs ---- */

/** Makes a name under which another process can attach an allocation. */
hsa_status_t HSA_API hsa_amd_ipc_memory_create(void *ptr, size_t len, hsa_amd_ipc_memory_t *handle);

/** Attaches an allocation of another process. */
hsa_status_t HSA_API hsa_amd_ipc_memory_attach(
    const hsa_amd_ipc_memory_t *handle, size_t len, uint32_t num_agents,
    const hsa_agent_t *mapping_agents, void **mapped_ptr);

/** Takes back an attach. */
hsa_status_t HSA_API hsa_amd_ipc_memory_detach(void *mapped_ptr);

/** Exports part of an allocation as a dma-buf. */
hsa_status_t HSA_API hsa_amd_portable_export_dmabuf(
    const void *ptr, size_t size, int *dmabuf, uint64_t *offset);

/** Exports part of an allocation as a dma-buf; flags are hsa_amd_dma_buf_mapping_type_t bits. */
hsa_status_t HSA_API hsa_amd_portable_export_dmabuf_v2(
    const void *ptr, size_t size, int *dmabuf, uint64_t *offset, uint64_t flags);

/** Closes an exported dma-buf. */
hsa_status_t HSA_API hsa_amd_portable_close_dmabuf(int dmabuf);

/** Kind of a semaphore of another API. */
typedef enum {
  HSA_AMD_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32 = 0, /**< Windows handle. */
  HSA_AMD_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32_KMT = 1, /**< Global Windows handle. */
  HSA_AMD_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD = 2 /**< File descriptor. */
} hsa_amd_external_semaphore_handle_type_t;

/** Names an imported semaphore. */
typedef struct hsa_amd_external_semaphore_s {
  uint64_t handle; /**< The handle itself. */
} hsa_amd_external_semaphore_t;

/* A semaphore of another API, to be imported. */
typedef struct {
  hsa_amd_external_semaphore_handle_type_t type; /**< Kind. */
  HSA_EXTENSION union {
    void *win32_handle; /**< For the Windows kinds. */
    int fd; /**< For OPAQUE_FD. */
  } handle; /**< The semaphore. */
} hsa_amd_external_semaphore_handle_descriptor_t;

/** Imports a semaphore of another API. */
hsa_status_t HSA_API hsa_amd_external_semaphore_handle_open(
    hsa_agent_t agent, const hsa_amd_external_semaphore_handle_descriptor_t *desc,
    hsa_amd_external_semaphore_t *out_sem);

/** Closes an imported semaphore. */
hsa_status_t HSA_API hsa_amd_external_semaphore_handle_close(hsa_amd_external_semaphore_t sem);

/** Makes a queue signal an imported semaphore. */
hsa_status_t HSA_API hsa_amd_queue_signal_external_semaphore(
    hsa_queue_t *queue, hsa_amd_external_semaphore_t sem, uint64_t value);

/** Makes a queue wait for an imported semaphore. */
hsa_status_t HSA_API hsa_amd_queue_wait_external_semaphore(
    hsa_queue_t *queue, hsa_amd_external_semaphore_t sem, uint64_t value);

/* An open file for direct copies between storage and devices. */
HSA_EXTENSION typedef struct hsa_amd_ais_file_handle_s {
  HSA_EXTENSION union {
    void *handle; /**< Handle on Windows. */
    int fd; /**< File descriptor on Linux. */
    uint8_t pad[8]; /**< Keeps the size. */
  };
} hsa_amd_ais_file_handle_t;

/** Writes device memory to a file. */
hsa_status_t HSA_API hsa_amd_ais_file_write(
    hsa_amd_ais_file_handle_t handle, void *devicePtr, uint64_t size, int64_t file_offset,
    uint64_t *size_copied, int32_t *status);

/** Reads a file into device memory. */
hsa_status_t HSA_API hsa_amd_ais_file_read(
    hsa_amd_ais_file_handle_t handle, void *devicePtr, uint64_t size, int64_t file_offset,
    uint64_t *size_copied, int32_t *status);

/* ---- Shared virtual memory ---- */

/** Memory model of a range. */
typedef enum hsa_amd_svm_model_s {
  HSA_AMD_SVM_GLOBAL_FLAG_FINE_GRAINED = 0, /**< Writes become visible while kernels run. */
  HSA_AMD_SVM_GLOBAL_FLAG_COARSE_GRAINED = 1, /**< One agent writes at a time. */
  HSA_AMD_SVM_GLOBAL_FLAG_INDETERMINATE = 2 /**< Parts differ; only as an answer. */
} hsa_amd_svm_model_t;

/** Attributes of a range. */
typedef enum hsa_amd_svm_attribute_s {
  HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG = 0, /**< hsa_amd_svm_model_t: its memory model. */
  HSA_AMD_SVM_ATTRIB_READ_ONLY = 1, /**< bool: only read, so it may be copied to each reader. */
  HSA_AMD_SVM_ATTRIB_HIVE_LOCAL = 2, /**< bool: stay among GPUs linked by xGMI. */
  HSA_AMD_SVM_ATTRIB_MIGRATION_GRANULARITY = 3, /**< uint64_t: binary logarithm of the pages moved at once. */
  HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION = 4, /**< hsa_agent_t: where it should be; 0 for anywhere. */
  /** hsa_agent_t: where it was last prefetched to; only as a question. */
  HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION = 5,
  HSA_AMD_SVM_ATTRIB_READ_MOSTLY = 6, /**< bool: mostly read. */
  HSA_AMD_SVM_ATTRIB_GPU_EXEC = 7, /**< bool: code may live here. */
  HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE = 0x200, /**< hsa_agent_t: this agent may use it. */
  /** hsa_agent_t: this agent may use it where it is, without faults. */
  HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE = 0x201,
  HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS = 0x202, /**< hsa_agent_t: this agent may not use it. */
  /** hsa_agent_t: asks how this agent may use it; the answer replaces the attribute. */
  HSA_AMD_SVM_ATTRIB_ACCESS_QUERY = 0x203
} hsa_amd_svm_attribute_t;

/** One attribute of a range. */
typedef struct hsa_amd_svm_attribute_pair_s {
  uint64_t attribute; /**< hsa_amd_svm_attribute_t. */
  uint64_t value; /**< Its value. */
} hsa_amd_svm_attribute_pair_t;

/** Sets attributes of the pages of a range. */
hsa_status_t HSA_API hsa_amd_svm_attributes_set(
    void *ptr, size_t size, hsa_amd_svm_attribute_pair_t *attribute_list, size_t attribute_count);

/** Reads attributes of the pages of a range. */
hsa_status_t HSA_API hsa_amd_svm_attributes_get(
    void *ptr, size_t size, hsa_amd_svm_attribute_pair_t *attribute_list, size_t attribute_count);

/** Starts to move a range to an agent. */
hsa_status_t HSA_API hsa_amd_svm_prefetch_async(
    void *ptr, size_t size, hsa_agent_t agent, uint32_t num_dep_signals,
    const hsa_signal_t *dep_signals, hsa_signal_t completion_signal);

/** Starts to drop the contents of ranges. */
hsa_status_t HSA_API hsa_amd_svm_discard_batch_async(
    void **ptrs, size_t *sizes, uint32_t count, uint32_t num_dep_signals,
    const hsa_signal_t *dep_signals, hsa_signal_t completion_signal);

/** Starts to drop the contents of ranges and to place them with agents. */
hsa_status_t HSA_API hsa_amd_svm_discard_and_prefetch_batch_async(
    void **ptrs, size_t *sizes, uint32_t count, const hsa_agent_t *dst_agents,
    uint32_t num_dst_agents, uint32_t num_dep_signals, const hsa_signal_t *dep_signals,
    hsa_signal_t completion_signal);

/* ---- Virtual memory ---- */

/** Flags of a reservation; a set of bits. */
typedef enum hsa_amd_vmem_address_reserve_flag_s {
  HSA_AMD_VMEM_ADDRESS_NO_REGISTER = 1 /**< Do not tell the driver. */
} hsa_amd_vmem_address_reserve_flag_t;

/** Reserves addresses, if possible at a wanted place. */
hsa_status_t HSA_API hsa_amd_vmem_address_reserve(
    void **va, size_t size, uint64_t address, uint64_t flags);

/** Reserves aligned addresses, if possible at a wanted place. */
hsa_status_t HSA_API hsa_amd_vmem_address_reserve_align(
    void **va, size_t size, uint64_t address, uint64_t alignment, uint64_t flags);

/** Frees a reservation. */
hsa_status_t HSA_API hsa_amd_vmem_address_free(void *va, size_t size);

/** Names memory that has no address of its own. */
typedef struct hsa_amd_vmem_alloc_handle_s {
  uint64_t handle; /**< The handle itself. */
} hsa_amd_vmem_alloc_handle_t;

/** Whether memory is pinned. */
typedef enum {
  MEMORY_TYPE_NONE = 0, /**< As the driver likes. */
  MEMORY_TYPE_PINNED = 1 /**< Pinned. */
} hsa_amd_memory_type_t;

/** Allocates memory without an address; flags are hsa_amd_memory_pool_flag_t bits. */
hsa_status_t HSA_API hsa_amd_vmem_handle_create(
    hsa_amd_memory_pool_t pool, size_t size, hsa_amd_memory_type_t type, uint64_t flags,
    hsa_amd_vmem_alloc_handle_t *memory_handle);

/** Drops one reference to such memory. */
hsa_status_t HSA_API hsa_amd_vmem_handle_release(hsa_amd_vmem_alloc_handle_t memory_handle);

/** Maps memory at reserved addresses. */
hsa_status_t HSA_API hsa_amd_vmem_map(
    void *va, size_t size, size_t in_offset, hsa_amd_vmem_alloc_handle_t memory_handle,
    uint64_t flags);

/** Takes back a mapping. */
hsa_status_t HSA_API hsa_amd_vmem_unmap(void *va, size_t size);

/** Access of one agent. */
typedef struct hsa_amd_memory_access_desc_s {
  hsa_access_permission_t permissions; /**< What it may do. */
  hsa_agent_t agent_handle; /**< The agent. */
} hsa_amd_memory_access_desc_t;

/** Sets what agents may do with a mapping. */
hsa_status_t HSA_API hsa_amd_vmem_set_access(
    void *va, size_t size, const hsa_amd_memory_access_desc_t *desc, size_t desc_cnt);

/** Tells what an agent may do with a mapping. */
hsa_status_t HSA_API hsa_amd_vmem_get_access(
    void *va, hsa_access_permission_t *perms, hsa_agent_t agent_handle);

/** Exports memory as a dma-buf; flags are hsa_amd_dma_buf_mapping_type_t bits. */
hsa_status_t HSA_API hsa_amd_vmem_export_shareable_handle(
    int *dmabuf_fd, hsa_amd_vmem_alloc_handle_t handle, uint64_t flags);

/** Imports memory from a dma-buf. */
hsa_status_t HSA_API hsa_amd_vmem_import_shareable_handle(
    int dmabuf_fd, hsa_amd_vmem_alloc_handle_t *handle);

/** Gives the memory mapped at an address, with one more reference. */
hsa_status_t HSA_API hsa_amd_vmem_retain_alloc_handle(
    hsa_amd_vmem_alloc_handle_t *memory_handle, void *addr);

/** Tells the pool and kind of memory. */
hsa_status_t HSA_API hsa_amd_vmem_get_alloc_properties_from_handle(
    hsa_amd_vmem_alloc_handle_t memory_handle, hsa_amd_memory_pool_t *pool,
    hsa_amd_memory_type_t *type);

/** Names memory to every host of a fabric. */
typedef struct hsa_fabric_handle_s {
  uint8_t handle[16]; /**< The name. */
} hsa_fabric_handle_t;

/** Makes a name for memory that is valid on a whole fabric. */
hsa_status_t HSA_API hsa_amd_vmem_export_fabric_handle(
    hsa_fabric_handle_t *fabric_handle, hsa_amd_vmem_alloc_handle_t handle, uint64_t flags);

/** Imports memory by its name on a fabric. */
hsa_status_t HSA_API hsa_amd_vmem_import_fabric_handle(
    hsa_fabric_handle_t fabric_handle, hsa_amd_vmem_alloc_handle_t *handle);

/* ---- System events ---- */

/** Kind of a system event. */
typedef enum hsa_amd_event_type_s {
  HSA_AMD_GPU_MEMORY_FAULT_EVENT = 0, /**< A kernel used memory it may not touch. */
  HSA_AMD_GPU_HW_EXCEPTION_EVENT = 1, /**< A GPU met a hardware exception. */
  HSA_AMD_GPU_MEMORY_ERROR_EVENT = 2, /**< Memory of a GPU is in error. */
  HSA_AMD_SYSTEM_SHUTDOWN_EVENT = 3 /**< The system shuts down; there is no further data. */
} hsa_amd_event_type_t;

/** Why memory could not be used; a set of bits. */
HSA_EXTENSION typedef enum {
  HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT = 1 << 0, /**< No page there. */
  HSA_AMD_MEMORY_FAULT_READ_ONLY = 1 << 1, /**< Write to a read-only page. */
  HSA_AMD_MEMORY_FAULT_NX = 1 << 2, /**< Code in a page without the right to execute. */
  HSA_AMD_MEMORY_FAULT_HOST_ONLY = 1 << 3, /**< Page of the host only. */
  HSA_AMD_MEMORY_FAULT_DRAMECC = 1 << 4, /**< Memory error. */
  HSA_AMD_MEMORY_FAULT_IMPRECISE = 1 << 5, /**< The address is not exact. */
  HSA_AMD_MEMORY_FAULT_SRAMECC = 1 << 6, /**< Register or cache error. */
  HSA_AMD_MEMORY_FAULT_HANG = 1U << 31 /**< Reset after a hang. */
} hsa_amd_memory_fault_reason_t;

/** Data of a memory fault. */
typedef struct hsa_amd_gpu_memory_fault_info_s {
  hsa_agent_t agent; /**< Agent that faulted. */
  uint64_t virtual_address; /**< Address it used. */
  uint32_t fault_reason_mask; /**< hsa_amd_memory_fault_reason_t bits. */
} hsa_amd_gpu_memory_fault_info_t;

/** What is wrong with memory; a set of bits. */
typedef enum {
  HSA_AMD_MEMORY_ERROR_MEMORY_IN_USE = 1 << 0 /**< In use by hardware, so it cannot be released. */
} hsa_amd_memory_error_reason_t;

/** Data of a memory error. */
typedef struct hsa_amd_gpu_memory_error_info_s {
  hsa_agent_t agent; /**< Agent concerned. */
  uint64_t virtual_address; /**< Address concerned. */
  uint32_t error_reason_mask; /**< hsa_amd_memory_error_reason_t bits. */
} hsa_amd_gpu_memory_error_info_t;

/** Kind of a reset; a set of bits. */
typedef enum {
  HSA_AMD_HW_EXCEPTION_RESET_TYPE_OTHER = 1 << 0 /**< Not told. */
} hsa_amd_hw_exception_reset_type_t;

/** Cause of a reset; a set of bits. */
typedef enum {
  HSA_AMD_HW_EXCEPTION_CAUSE_GPU_HANG = 1 << 0, /**< Hang. */
  HSA_AMD_HW_EXCEPTION_CAUSE_ECC = 1 << 1 /**< Memory error. */
} hsa_amd_hw_exception_reset_cause_t;

/** Data of a hardware exception. */
typedef struct hsa_amd_gpu_hw_exception_info_s {
  hsa_agent_t agent; /**< Agent concerned. */
  hsa_amd_hw_exception_reset_type_t reset_type; /**< Kind of the reset. */
  hsa_amd_hw_exception_reset_cause_t reset_cause; /**< Its cause. */
} hsa_amd_gpu_hw_exception_info_t;

/* A system event. */
typedef struct hsa_amd_event_s {
  hsa_amd_event_type_t event_type; /**< Kind; says which of the following holds. */
  HSA_EXTENSION union {
    hsa_amd_gpu_memory_fault_info_t memory_fault; /**< For GPU_MEMORY_FAULT_EVENT. */
    hsa_amd_gpu_hw_exception_info_t hw_exception; /**< For GPU_HW_EXCEPTION_EVENT. */
    hsa_amd_gpu_memory_error_info_t memory_error; /**< For GPU_MEMORY_ERROR_EVENT. */
  };
} hsa_amd_event_t;

/** Called for a system event; success means it was dealt with. */
typedef hsa_status_t (*hsa_amd_system_event_callback_t)(const hsa_amd_event_t *event, void *data);

/** Registers the function to call for system events. */
hsa_status_t HSA_API hsa_amd_register_system_event_handler(
    hsa_amd_system_event_callback_t callback, void *data);

/* ---- Queues ---- */

/** Sets on which compute units a queue runs; 0 bits means all. */
hsa_status_t HSA_API hsa_amd_queue_cu_set_mask(
    const hsa_queue_t *queue, uint32_t num_cu_mask_count, const uint32_t *cu_mask);

/** Tells on which compute units a queue runs. */
hsa_status_t HSA_API hsa_amd_queue_cu_get_mask(
    const hsa_queue_t *queue, uint32_t num_cu_mask_count, uint32_t *cu_mask);

/** Priority of a queue. */
typedef enum hsa_amd_queue_priority_s {
  HSA_AMD_QUEUE_PRIORITY_LOW = 0, /**< Below the others. */
  HSA_AMD_QUEUE_PRIORITY_NORMAL = 1, /**< Default. */
  HSA_AMD_QUEUE_PRIORITY_HIGH = 2 /**< Above the others. */
} hsa_amd_queue_priority_t;

/** Sets the priority of a queue. */
hsa_status_t HSA_API hsa_amd_queue_set_priority(
    hsa_queue_t *queue, hsa_amd_queue_priority_t priority);

/** Where the parts of a queue go; a set of bits. */
typedef enum {
  HSA_AMD_QUEUE_CREATE_SYSTEM_MEM = 0, /**< Memory of the host. */
  HSA_AMD_QUEUE_CREATE_DEVICE_MEM_RING_BUF = 1, /**< Ring in device memory. */
  HSA_AMD_QUEUE_CREATE_DEVICE_MEM_QUEUE_DESCRIPTOR = 2 /**< Descriptor in device memory. */
} hsa_amd_queue_create_flag_t;

/** Engine a queue feeds. */
typedef enum {
  HSA_AMD_QUEUE_ENGINE_COMPUTE = 0, /**< Compute, with AQL packets. */
  HSA_AMD_QUEUE_ENGINE_SDMA = 1, /**< Copy engine, with its own packets. */
  HSA_AMD_QUEUE_ENGINE_AIE = 2 /**< AI engine. */
} hsa_amd_queue_engine_t;

/** Any copy engine. */
#define HSA_AMD_SDMA_ENGINE_ID_ANY UINT32_MAX

/** Version of hsa_amd_queue_create_desc_t. */
#define HSA_AMD_QUEUE_CREATE_DESC_VERSION 1

/** Default private segment size. */
#define HSA_AMD_PRIVATE_SEGMENT_SIZE_DEFAULT UINT32_MAX

/** What a compute queue needs. */
typedef struct hsa_amd_compute_queue_params_s {
  const uint32_t *cu_mask; /**< Compute unit mask; NULL when it has no bits. */
  hsa_queue_type32_t type; /**< hsa_queue_type_t. */
  uint32_t private_segment_size; /**< Private bytes of a work-item to begin with. */
  uint32_t cu_mask_count; /**< Bits of the mask, a multiple of 32; 0 for all units. */
  uint32_t reserved[3]; /**< Zero. */
} hsa_amd_compute_queue_params_t;

/** What a copy engine queue needs. */
typedef struct hsa_amd_sdma_queue_params_s {
  uint32_t sdma_engine_id; /**< Engine, or HSA_AMD_SDMA_ENGINE_ID_ANY. */
  uint32_t reserved[7]; /**< Zero. */
} hsa_amd_sdma_queue_params_t;

/** What an AI engine queue needs: nothing yet. */
typedef struct hsa_amd_aie_queue_params_s {
  uint32_t reserved[8]; /**< Zero. */
} hsa_amd_aie_queue_params_t;

/* One queue to create. */
typedef struct hsa_amd_queue_create_desc_s {
  uint16_t version; /**< HSA_AMD_QUEUE_CREATE_DESC_VERSION. */
  uint16_t flags; /**< hsa_amd_queue_create_flag_t bits. */
  uint8_t engine_type; /**< hsa_amd_queue_engine_t. */
  uint8_t reserved_header[3]; /**< Zero. */
  uint32_t queue_size_bytes; /**< Bytes of the ring, a power of two. */
  hsa_amd_queue_priority_t priority; /**< Priority. */
  void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data); /**< Called on errors; may be NULL. */
  void *callback_data; /**< Passed to the callback. */
  hsa_queue_t *queue; /**< Out: the queue, NULL when it failed. */
  HSA_EXTENSION union {
    hsa_amd_compute_queue_params_t compute; /**< For COMPUTE. */
    hsa_amd_sdma_queue_params_t sdma; /**< For SDMA. */
    hsa_amd_aie_queue_params_t aie; /**< For AIE. */
    uint8_t reserved[32]; /**< Fixes the size. */
  } engine; /**< What the engine needs. */
  uint32_t traffic_class; /**< Zero. */
  uint8_t reserved[20]; /**< Zero. */
} hsa_amd_queue_create_desc_t;

/** Creates queues; those that work are kept when others fail. */
hsa_status_t HSA_API hsa_amd_queue_create(
    hsa_agent_t agent, hsa_amd_queue_create_desc_t *descs, uint32_t num_descs);

/** What hsa_amd_queue_get_info can be asked. */
typedef enum {
  HSA_AMD_QUEUE_INFO_AGENT = 0, /**< hsa_agent_t: its agent. */
  HSA_AMD_QUEUE_INFO_DOORBELL_ID = 1, /**< uint64_t: address of its doorbell. */
  HSA_QUEUE_INFO_USE_COUNT = 2, /**< uint32_t: users of the hardware queue; -1 when it is not counted. */
  HSA_QUEUE_INFO_HW_ID = 3, /**< uint32_t: number of the hardware queue. */
  /** uint8_t: major version of dispatch metadata; 0xFF for none. */
  HSA_AMD_QUEUE_INFO_PREFETCH_METADATA_DISPATCH_PKT_VERSION_MAJOR = 4,
  /** uint8_t: minor version of dispatch metadata; 0xFF for none. */
  HSA_AMD_QUEUE_INFO_PREFETCH_METADATA_DISPATCH_PKT_VERSION_MINOR = 5,
  /** uint8_t: major version of barrier metadata; 0xFF for none. */
  HSA_AMD_QUEUE_INFO_PREFETCH_METADATA_BARRIER_PKT_VERSION_MAJOR = 6,
  /** uint8_t: minor version of barrier metadata; 0xFF for none. */
  HSA_AMD_QUEUE_INFO_PREFETCH_METADATA_BARRIER_PKT_VERSION_MINOR = 7,
  HSA_AMD_QUEUE_INFO_PREFETCH_METADATA_RING_BUFFER = 8, /**< uint64_t: address of the metadata ring. */
  HSA_AMD_QUEUE_INFO_PROPERTIES = 9, /**< uint8_t[8]: property bits. */
  HSA_AMD_QUEUE_INFO_VM_FAULT_STATUS = 10, /**< bool: whether it met a memory fault. */
  HSA_AMD_QUEUE_INFO_VM_FAULT_ADDRESS = 11, /**< uint64_t: address of the fault. */
  HSA_AMD_QUEUE_INFO_VM_FAULT_REASON = 12, /**< uint32_t: hsa_amd_memory_fault_reason_t bits. */
  HSA_AMD_QUEUE_INFO_ENGINE_TYPE = 13, /**< hsa_amd_queue_engine_t: its engine. */
  HSA_AMD_QUEUE_INFO_SDMA_ENGINE_ID = 14, /**< uint32_t: its copy engine. */
  HSA_AMD_QUEUE_INFO_READ_POINTER = 15, /**< uint64_t: address of the read index. */
  HSA_AMD_QUEUE_INFO_WRITE_POINTER = 16 /**< uint64_t: address of the write index. */
} hsa_queue_info_attribute_t;

/** Reads one property of a queue. */
hsa_status_t HSA_API hsa_amd_queue_get_info(
    hsa_queue_t *queue, hsa_queue_info_attribute_t attribute, void *value);

/** Gives a share of one of few hardware queues. */
hsa_status_t HSA_API hsa_amd_counted_queue_acquire(
    hsa_agent_t agent, hsa_queue_type_t type, hsa_amd_queue_priority_t priority,
    void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data), void *data,
    uint64_t flags, hsa_queue_t **queue);

/** Gives the share back. */
hsa_status_t HSA_API hsa_amd_counted_queue_release(hsa_queue_t *queue);

#ifdef __cplusplus
}
#endif

#endif /* HSA_RUNTIME_EXT_AMD_H_ */
