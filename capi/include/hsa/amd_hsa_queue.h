/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 * Part of Hansa, an HSA runtime.
 *
 * The queue descriptor that AMD's packet processors read and write.
 */
#ifndef AMD_HSA_QUEUE_H
#define AMD_HSA_QUEUE_H

#include "amd_hsa_common.h"
#include "hsa.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Queue descriptor ---- */

/** amd_queue_properties_t in 32 bits. */
typedef uint32_t amd_queue_properties32_t;

/** Properties of a queue. */
enum amd_queue_properties_t {
  /** The trap handler runs. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_QUEUE_PROPERTIES_ENABLE_TRAP_HANDLER, 0, 1),
  /** Addresses have 64 bits. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_QUEUE_PROPERTIES_IS_PTR64, 1, 1),
  /** The trap handler gets debug registers. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_QUEUE_PROPERTIES_ENABLE_TRAP_HANDLER_DEBUG_SGPRS, 2, 1),
  /** Packets write time stamps. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_QUEUE_PROPERTIES_ENABLE_PROFILING, 3, 1),
  /** Scratch is given back after a dispatch. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_QUEUE_PROPERTIES_USE_SCRATCH_ONCE, 4, 1),
  /** Zero. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_QUEUE_PROPERTIES_RESERVED1, 5, 27)
};

/** amd_queue_capabilities_t in 32 bits. */
typedef uint32_t amd_queue_capabilities32_t;

/** What the two sides of a queue can do. */
enum amd_queue_capabilities_t {
  /** The firmware gives scratch back at any time; it sets this bit. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_QUEUE_CAPS_CP_ASYNC_RECLAIM, 0, 1),
  /** The runtime keeps the fields of version 2; it sets this bit. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_QUEUE_CAPS_SW_ASYNC_RECLAIM, 1, 1)
};

#define AMD_QUEUE_ALIGN_BYTES 64
#define AMD_QUEUE_ALIGN __ALIGNED__(AMD_QUEUE_ALIGN_BYTES)

/** Descriptor of a hardware queue. Its address is that of the hsa_queue_t. */
typedef struct __ALIGNED__(64) amd_queue_s {
  hsa_queue_t hsa_queue; /**< The part that programs may read. */
  uint32_t caps; /**< amd_queue_capabilities_t bits. */
  uint32_t reserved1[3]; /**< Zero. */
  volatile uint64_t write_dispatch_id; /**< Write index. */
  uint32_t group_segment_aperture_base_hi; /**< High half of the group aperture. */
  uint32_t private_segment_aperture_base_hi; /**< High half of the private aperture. */
  uint32_t max_cu_id; /**< Compute units less 1. */
  uint32_t max_wave_id; /**< Waves of a compute unit less 1. */
  /** Highest packet rung for, plus 1, with old doorbells. */
  volatile uint64_t max_legacy_doorbell_dispatch_id_plus_1;
  volatile uint32_t legacy_doorbell_lock; /**< Lock of old doorbells. */
  uint32_t reserved2[9]; /**< Zero. */
  volatile uint64_t read_dispatch_id; /**< Read index. */
  uint32_t read_dispatch_id_field_base_byte_offset; /**< Offset of the read index in this structure. */
  uint32_t compute_tmpring_size; /**< Scratch waves and bytes, as the register wants them. */
  uint32_t scratch_resource_descriptor[4]; /**< Buffer resource of the scratch. */
  uint64_t scratch_backing_memory_location; /**< Address of the scratch. */
  uint64_t scratch_backing_memory_byte_size; /**< Bytes of the scratch. */
  uint32_t scratch_wave64_lane_byte_size; /**< Scratch bytes of a lane of 64. */
  amd_queue_properties32_t queue_properties; /**< amd_queue_properties_t bits. */
  uint32_t reserved4[2]; /**< Zero; version 2 has a field here. */
  hsa_signal_t queue_inactive_signal; /**< Non-zero when the queue has stopped; the value says why. */
  uint32_t reserved5[14]; /**< Zero; version 2 has fields here. */
} amd_queue_t;

/** Last dispatch of one die that used scratch. */
typedef struct amd_queue_scratch_index_s {
  volatile uint64_t main; /**< Of the main scratch. */
  volatile uint64_t alt; /**< Of the alternate scratch. */
} amd_queue_scratch_index_t;

/** Descriptor of a hardware queue whose scratch can be reclaimed: amd_queue_t with more fields. */
typedef struct __ALIGNED__(64) amd_queue_v2_s {
  hsa_queue_t hsa_queue; /**< The part that programs may read. */
  uint32_t caps; /**< amd_queue_capabilities_t bits. */
  uint32_t reserved1[3]; /**< Zero. */
  volatile uint64_t write_dispatch_id; /**< Write index. */
  uint32_t group_segment_aperture_base_hi; /**< High half of the group aperture. */
  uint32_t private_segment_aperture_base_hi; /**< High half of the private aperture. */
  uint32_t max_cu_id; /**< Compute units less 1. */
  uint32_t max_wave_id; /**< Waves of a compute unit less 1. */
  /** Highest packet rung for, plus 1, with old doorbells. */
  volatile uint64_t max_legacy_doorbell_dispatch_id_plus_1;
  volatile uint32_t legacy_doorbell_lock; /**< Lock of old doorbells. */
  uint32_t reserved2[9]; /**< Zero. */
  volatile uint64_t read_dispatch_id; /**< Read index. */
  uint32_t read_dispatch_id_field_base_byte_offset; /**< Offset of the read index in this structure. */
  uint32_t compute_tmpring_size; /**< Scratch waves and bytes, as the register wants them. */
  uint32_t scratch_resource_descriptor[4]; /**< Buffer resource of the scratch. */
  uint64_t scratch_backing_memory_location; /**< Address of the scratch. */
  uint64_t scratch_backing_memory_byte_size; /**< Bytes of the scratch. */
  uint32_t scratch_wave64_lane_byte_size; /**< Scratch bytes of a lane of 64. */
  amd_queue_properties32_t queue_properties; /**< amd_queue_properties_t bits. */
  volatile uint64_t scratch_max_use_index; /**< Last dispatch that may use the main scratch. */
  hsa_signal_t queue_inactive_signal; /**< Non-zero when the queue has stopped; the value says why. */
  volatile uint64_t alt_scratch_max_use_index; /**< Last dispatch that may use the alternate scratch. */
  uint32_t alt_scratch_resource_descriptor[4]; /**< Buffer resource of the alternate scratch. */
  uint64_t alt_scratch_backing_memory_location; /**< Address of the alternate scratch. */
  uint32_t alt_scratch_dispatch_limit_x; /**< Largest grid along X for the alternate scratch. */
  uint32_t alt_scratch_dispatch_limit_y; /**< Largest grid along Y for the alternate scratch. */
  uint32_t alt_scratch_dispatch_limit_z; /**< Largest grid along Z for the alternate scratch. */
  uint32_t alt_scratch_wave64_lane_byte_size; /**< Alternate scratch bytes of a lane of 64. */
  uint32_t alt_compute_tmpring_size; /**< Alternate scratch waves and bytes, as the register wants them. */
  uint32_t reserved5; /**< Zero. */
  amd_queue_scratch_index_t scratch_last_used_index[128]; /**< Last use of the scratch, for each die. */
} amd_queue_v2_t;

#ifdef __cplusplus
}
#endif

#endif /* AMD_HSA_QUEUE_H */
