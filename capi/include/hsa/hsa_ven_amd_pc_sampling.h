/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 * Part of Hansa, an HSA runtime.
 *
 * Program counter sampling: extension HSA_EXTENSION_AMD_PC_SAMPLING, version 1.0.
 */
#ifndef HSA_VEN_AMD_PC_SAMPLING_H
#define HSA_VEN_AMD_PC_SAMPLING_H

#include "hsa.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Samples ---- */

/* Sample taken by a trap from the host. */
typedef struct {
  uint64_t pc; /**< Program counter. */
  uint64_t exec_mask; /**< Active lanes. */
  uint32_t workgroup_id_x; /**< Work-group along X. */
  uint32_t workgroup_id_y; /**< Work-group along Y. */
  uint32_t workgroup_id_z; /**< Work-group along Z. */
  uint32_t wave_in_wg : 6; /**< Wave in the work-group. */
  uint32_t chiplet : 3; /**< Die. */
  uint32_t reserved : 23; /**< Zero. */
  uint32_t hw_id; /**< Place in the hardware. */
  uint32_t reserved0; /**< Zero. */
  uint64_t reserved1; /**< Zero. */
  uint64_t timestamp; /**< When. */
  uint64_t correlation_id; /**< Number of the dispatch. */
} perf_sample_hosttrap_v1_t;

/* Sample taken by the hardware. */
typedef struct {
  uint64_t pc; /**< Program counter. */
  uint64_t exec_mask; /**< Active lanes. */
  uint32_t workgroup_id_x; /**< Work-group along X. */
  uint32_t workgroup_id_y; /**< Work-group along Y. */
  uint32_t workgroup_id_z; /**< Work-group along Z. */
  uint32_t wave_in_wg : 6; /**< Wave in the work-group. */
  uint32_t chiplet : 3; /**< Die. */
  uint32_t reserved : 23; /**< Zero. */
  uint32_t hw_id; /**< Place in the hardware. */
  uint32_t perf_snapshot_data; /**< Why the wave did not issue, first word. */
  uint32_t perf_snapshot_data1; /**< Second word. */
  uint32_t perf_snapshot_data2; /**< Third word. */
  uint64_t timestamp; /**< When. */
  uint64_t correlation_id; /**< Number of the dispatch. */
} perf_sample_snapshot_v1_t;

/* ---- Sessions ---- */

/** How samples are taken. */
typedef enum {
  HSA_VEN_AMD_PCS_METHOD_HOSTTRAP_V1 = 0, /**< By a trap from the host. */
  HSA_VEN_AMD_PCS_METHOD_STOCHASTIC_V1 = 1 /**< By the hardware. */
} hsa_ven_amd_pcs_method_kind_t;

/** Unit of the interval. */
typedef enum {
  HSA_VEN_AMD_PCS_INTERVAL_UNITS_MICRO_SECONDS = 0, /**< Microseconds. */
  HSA_VEN_AMD_PCS_INTERVAL_UNITS_CLOCK_CYCLES = 1, /**< Clock cycles. */
  HSA_VEN_AMD_PCS_INTERVAL_UNITS_INSTRUCTIONS = 2 /**< Instructions. */
} hsa_ven_amd_pcs_units_t;

/** Given to the program to copy samples out. */
typedef hsa_status_t (*hsa_ven_amd_pcs_data_copy_callback_t)(
    void *hsa_callback_data, size_t data_size, void *destination);

/** Called when samples are ready. */
typedef void (*hsa_ven_amd_pcs_data_ready_callback_t)(
    void *client_callback_data, size_t data_size, size_t lost_sample_count,
    hsa_ven_amd_pcs_data_copy_callback_t data_copy_callback, void *hsa_callback_data);

/** Names a sampling session. */
typedef struct {
  uint64_t handle; /**< The handle itself. */
} hsa_ven_amd_pcs_t;

/** Flags of a configuration; a set of bits. */
typedef enum {
  HSA_VEN_AMD_PCS_CONFIGURATION_FLAGS_INTERVAL_POWER_OF_2 = 1 /**< The interval must be a power of two. */
} hsa_ven_amd_pcs_configuration_flags_t;

/** One way in which an agent can sample. */
typedef struct {
  hsa_ven_amd_pcs_method_kind_t method; /**< How. */
  hsa_ven_amd_pcs_units_t units; /**< Unit of the interval. */
  size_t min_interval; /**< Shortest interval. */
  size_t max_interval; /**< Longest interval. */
  uint64_t flags; /**< hsa_ven_amd_pcs_configuration_flags_t bits. */
} hsa_ven_amd_pcs_configuration_t;

/** Called once for each configuration; anything but success ends the iteration. */
typedef hsa_status_t (*hsa_ven_amd_pcs_iterate_configuration_callback_t)(
    const hsa_ven_amd_pcs_configuration_t *configuration, void *callback_data);

/** Calls back for every configuration of an agent. */
hsa_status_t HSA_API hsa_ven_amd_pcs_iterate_configuration(
    hsa_agent_t agent, hsa_ven_amd_pcs_iterate_configuration_callback_t configuration_callback,
    void *callback_data);

/** Creates a sampling session. */
hsa_status_t HSA_API hsa_ven_amd_pcs_create(
    hsa_agent_t agent, hsa_ven_amd_pcs_method_kind_t method, hsa_ven_amd_pcs_units_t units,
    size_t interval, size_t latency, size_t buffer_size,
    hsa_ven_amd_pcs_data_ready_callback_t data_ready_callback, void *client_callback_data,
    hsa_ven_amd_pcs_t *pc_sampling);

/** Creates a sampling session for one that the driver already knows. */
hsa_status_t HSA_API hsa_ven_amd_pcs_create_from_id(
    uint32_t pcs_id, hsa_agent_t agent, hsa_ven_amd_pcs_method_kind_t method,
    hsa_ven_amd_pcs_units_t units, size_t interval, size_t latency, size_t buffer_size,
    hsa_ven_amd_pcs_data_ready_callback_t data_ready_callback, void *client_callback_data,
    hsa_ven_amd_pcs_t *pc_sampling);

/** Destroys a sampling session. */
hsa_status_t HSA_API hsa_ven_amd_pcs_destroy(hsa_ven_amd_pcs_t pc_sampling);

/** Starts sampling. */
hsa_status_t HSA_API hsa_ven_amd_pcs_start(hsa_ven_amd_pcs_t pc_sampling);

/** Stops sampling. */
hsa_status_t HSA_API hsa_ven_amd_pcs_stop(hsa_ven_amd_pcs_t pc_sampling);

/** Delivers the samples taken so far. */
hsa_status_t HSA_API hsa_ven_amd_pcs_flush(hsa_ven_amd_pcs_t pc_sampling);

/* ---- Function table ---- */

#define hsa_ven_amd_pc_sampling_1_00
/** Functions of the sampling extension 1.0. */
typedef struct hsa_ven_amd_pc_sampling_1_00_pfn_t {
  hsa_status_t (*hsa_ven_amd_pcs_iterate_configuration)(
      hsa_agent_t agent, hsa_ven_amd_pcs_iterate_configuration_callback_t configuration_callback,
      void *callback_data);
  hsa_status_t (*hsa_ven_amd_pcs_create)(
      hsa_agent_t agent, hsa_ven_amd_pcs_method_kind_t method, hsa_ven_amd_pcs_units_t units,
      size_t interval, size_t latency, size_t buffer_size,
      hsa_ven_amd_pcs_data_ready_callback_t data_ready_callback, void *client_callback_data,
      hsa_ven_amd_pcs_t *pc_sampling);
  hsa_status_t (*hsa_ven_amd_pcs_create_from_id)(
      uint32_t pcs_id, hsa_agent_t agent, hsa_ven_amd_pcs_method_kind_t method,
      hsa_ven_amd_pcs_units_t units, size_t interval, size_t latency, size_t buffer_size,
      hsa_ven_amd_pcs_data_ready_callback_t data_ready_callback, void *client_callback_data,
      hsa_ven_amd_pcs_t *pc_sampling);
  hsa_status_t (*hsa_ven_amd_pcs_destroy)(hsa_ven_amd_pcs_t pc_sampling);
  hsa_status_t (*hsa_ven_amd_pcs_start)(hsa_ven_amd_pcs_t pc_sampling);
  hsa_status_t (*hsa_ven_amd_pcs_stop)(hsa_ven_amd_pcs_t pc_sampling);
  hsa_status_t (*hsa_ven_amd_pcs_flush)(hsa_ven_amd_pcs_t pc_sampling);
} hsa_ven_amd_pc_sampling_1_00_pfn_t;

#ifdef __cplusplus
}
#endif

#endif /* HSA_VEN_AMD_PC_SAMPLING_H */
