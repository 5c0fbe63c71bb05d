/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 * Part of Hansa, an HSA runtime.
 *
 * The API tables that tools patch, for C and C++.
 *
 * A table begins with its version: a major number that must match, its size in bytes as minor number
 * and a step that counts additions. A tool copies the smaller of the two sizes.
 */
#ifndef HSA_RUNTIME_INC_HSA_API_TRACE_H
#define HSA_RUNTIME_INC_HSA_API_TRACE_H

#include "hsa.h"
#include "hsa_amd_tool.h"
#include "hsa_api_trace_version.h"
#include "hsa_ext_amd.h"
#include "hsa_ext_finalize.h"
#include "hsa_ext_image.h"
#include "hsa_ven_amd_pc_sampling.h"

#include <stddef.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Queue interception ---- */

/** Format of an intercept marker packet. */
#define AMD_AQL_FORMAT_INTERCEPT_MARKER 0xFE

struct amd_aql_intercept_marker_s;
/* Called when an intercept marker is reached. */
typedef void (*amd_intercept_marker_handler)(const struct amd_aql_intercept_marker_s *packet, hsa_queue_t *queue,
                                             uint64_t packet_id);
/* Vendor packet that calls back instead of going to the hardware. */
typedef struct amd_aql_intercept_marker_s {
  uint16_t header; /**< Vendor packet. */
  uint8_t format; /**< AMD_AQL_FORMAT_INTERCEPT_MARKER. */
  uint8_t reserved[5]; /**< Zero. */
#ifdef HSA_LARGE_MODEL
  amd_intercept_marker_handler callback; /**< Called with the packet. */
#elif defined HSA_LITTLE_ENDIAN
  amd_intercept_marker_handler callback; /**< Called with the packet. */
  uint32_t reserved1; /**< Zero. */
#else
  uint32_t reserved1; /**< Zero. */
  amd_intercept_marker_handler callback; /**< Called with the packet. */
#endif
  uint64_t user_data[6]; /**< Data of the tool. */
} amd_aql_intercept_marker_t;

/** Given to the tool to pass packets on. */
typedef void (*hsa_amd_queue_intercept_packet_writer)(const void *pkts, uint64_t pkt_count);

/** Called with packets the program has submitted. */
typedef void (*hsa_amd_queue_intercept_handler)(
    const void *pkts, uint64_t pkt_count, uint64_t user_pkt_index, void *data,
    hsa_amd_queue_intercept_packet_writer writer);

/** Adds a function that sees the packets of an intercept queue. For tools: in the table only. */
hsa_status_t HSA_API hsa_amd_queue_intercept_register(
    hsa_queue_t *queue, hsa_amd_queue_intercept_handler callback, void *user_data);

/** Creates a queue whose packets tools can see. For tools: in the table only. */
hsa_status_t HSA_API hsa_amd_queue_intercept_create(
    hsa_agent_t agent_handle, uint32_t size, hsa_queue_type32_t type,
    void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data), void *data,
    uint32_t private_segment_size, uint32_t group_segment_size, hsa_queue_t **queue);

/** Called when the runtime itself has created a queue. */
typedef void (*hsa_amd_runtime_queue_notifier)(
    const hsa_queue_t *queue, hsa_agent_t agent, void *data);

/** Sets the function to call when the runtime itself creates a queue. For tools: in the table only. */
hsa_status_t HSA_API hsa_amd_runtime_queue_create_register(
    hsa_amd_runtime_queue_notifier callback, void *user_data);

/** Correlates clocks more exactly from now on. For tools: in the table only. */
hsa_status_t HSA_API hsa_amd_enable_high_precision_timestamps(void);

/* ---- Tables ---- */

/** Member of a table: a pointer to the function, named after it. */
#ifdef __cplusplus
#define HSA_API_TABLE_MEMBER(function) decltype(function) *function##_fn
#else
#define HSA_API_TABLE_MEMBER(function) __typeof__(function) *function##_fn
#endif

/** First member of every table. */
typedef struct ApiTableVersion {
  uint32_t major_id; /**< Number that changes when members move; 0 for an absent table. */
  uint32_t minor_id; /**< Bytes of the table. */
  uint32_t step_id; /**< Number that changes when members are added. */
  uint32_t reserved; /**< Zero. */
} ApiTableVersion;

/** Callbacks that a tool fills in. */
typedef struct ToolsApiTable {
  ApiTableVersion version; /**< Version of the table. */
  hsa_amd_tool_event hsa_amd_tool_scratch_event_alloc_start_fn; /**< For that event. */
  hsa_amd_tool_event hsa_amd_tool_scratch_event_alloc_end_fn; /**< For that event. */
  hsa_amd_tool_event hsa_amd_tool_scratch_event_free_start_fn; /**< For that event. */
  hsa_amd_tool_event hsa_amd_tool_scratch_event_free_end_fn; /**< For that event. */
  hsa_amd_tool_event hsa_amd_tool_scratch_event_async_reclaim_start_fn; /**< For that event. */
  hsa_amd_tool_event hsa_amd_tool_scratch_event_async_reclaim_end_fn; /**< For that event. */
} ToolsApiTable;

/** Functions of the finalizer extension. */
typedef struct FinalizerExtTable {
  ApiTableVersion version; /**< Version of the table. */
  HSA_API_TABLE_MEMBER(hsa_ext_program_create);
  HSA_API_TABLE_MEMBER(hsa_ext_program_destroy);
  HSA_API_TABLE_MEMBER(hsa_ext_program_add_module);
  HSA_API_TABLE_MEMBER(hsa_ext_program_iterate_modules);
  HSA_API_TABLE_MEMBER(hsa_ext_program_get_info);
  HSA_API_TABLE_MEMBER(hsa_ext_program_finalize);
} FinalizerExtTable;

/** Functions of the image extension. */
typedef struct ImageExtTable {
  ApiTableVersion version; /**< Version of the table. */
  HSA_API_TABLE_MEMBER(hsa_ext_image_get_capability);
  HSA_API_TABLE_MEMBER(hsa_ext_image_data_get_info);
  HSA_API_TABLE_MEMBER(hsa_ext_image_create);
  HSA_API_TABLE_MEMBER(hsa_ext_image_import);
  HSA_API_TABLE_MEMBER(hsa_ext_image_export);
  HSA_API_TABLE_MEMBER(hsa_ext_image_copy);
  HSA_API_TABLE_MEMBER(hsa_ext_image_clear);
  HSA_API_TABLE_MEMBER(hsa_ext_image_destroy);
  HSA_API_TABLE_MEMBER(hsa_ext_sampler_create);
  HSA_API_TABLE_MEMBER(hsa_ext_sampler_destroy);
  HSA_API_TABLE_MEMBER(hsa_ext_image_get_capability_with_layout);
  HSA_API_TABLE_MEMBER(hsa_ext_image_data_get_info_with_layout);
  HSA_API_TABLE_MEMBER(hsa_ext_image_create_with_layout);
  HSA_API_TABLE_MEMBER(hsa_ext_sampler_create_v2);
} ImageExtTable;

/** Functions of the sampling extension. */
typedef struct PcSamplingExtTable {
  ApiTableVersion version; /**< Version of the table. */
  HSA_API_TABLE_MEMBER(hsa_ven_amd_pcs_iterate_configuration);
  HSA_API_TABLE_MEMBER(hsa_ven_amd_pcs_create);
  HSA_API_TABLE_MEMBER(hsa_ven_amd_pcs_create_from_id);
  HSA_API_TABLE_MEMBER(hsa_ven_amd_pcs_destroy);
  HSA_API_TABLE_MEMBER(hsa_ven_amd_pcs_start);
  HSA_API_TABLE_MEMBER(hsa_ven_amd_pcs_stop);
  HSA_API_TABLE_MEMBER(hsa_ven_amd_pcs_flush);
} PcSamplingExtTable;

/** Functions of AMD. */
typedef struct AmdExtTable {
  ApiTableVersion version; /**< Version of the table. */
  HSA_API_TABLE_MEMBER(hsa_amd_coherency_get_type);
  HSA_API_TABLE_MEMBER(hsa_amd_coherency_set_type);
  HSA_API_TABLE_MEMBER(hsa_amd_profiling_set_profiler_enabled);
  HSA_API_TABLE_MEMBER(hsa_amd_profiling_async_copy_enable);
  HSA_API_TABLE_MEMBER(hsa_amd_profiling_get_dispatch_time);
  HSA_API_TABLE_MEMBER(hsa_amd_profiling_get_async_copy_time);
  HSA_API_TABLE_MEMBER(hsa_amd_profiling_convert_tick_to_system_domain);
  HSA_API_TABLE_MEMBER(hsa_amd_signal_async_handler);
  HSA_API_TABLE_MEMBER(hsa_amd_async_function);
  HSA_API_TABLE_MEMBER(hsa_amd_signal_wait_any);
  HSA_API_TABLE_MEMBER(hsa_amd_queue_cu_set_mask);
  HSA_API_TABLE_MEMBER(hsa_amd_memory_pool_get_info);
  HSA_API_TABLE_MEMBER(hsa_amd_agent_iterate_memory_pools);
  HSA_API_TABLE_MEMBER(hsa_amd_memory_pool_allocate);
  HSA_API_TABLE_MEMBER(hsa_amd_memory_pool_free);
  HSA_API_TABLE_MEMBER(hsa_amd_memory_async_copy);
  HSA_API_TABLE_MEMBER(hsa_amd_memory_async_copy_on_engine);
  HSA_API_TABLE_MEMBER(hsa_amd_memory_copy_engine_status);
  HSA_API_TABLE_MEMBER(hsa_amd_agent_memory_pool_get_info);
  HSA_API_TABLE_MEMBER(hsa_amd_agents_allow_access);
  HSA_API_TABLE_MEMBER(hsa_amd_memory_pool_can_migrate);
  HSA_API_TABLE_MEMBER(hsa_amd_memory_migrate);
  HSA_API_TABLE_MEMBER(hsa_amd_memory_lock);
  HSA_API_TABLE_MEMBER(hsa_amd_memory_unlock);
  HSA_API_TABLE_MEMBER(hsa_amd_memory_fill);
  HSA_API_TABLE_MEMBER(hsa_amd_interop_map_buffer);
  HSA_API_TABLE_MEMBER(hsa_amd_interop_unmap_buffer);
  HSA_API_TABLE_MEMBER(hsa_amd_image_create);
  HSA_API_TABLE_MEMBER(hsa_amd_pointer_info);
  HSA_API_TABLE_MEMBER(hsa_amd_pointer_info_set_userdata);
  HSA_API_TABLE_MEMBER(hsa_amd_ipc_memory_create);
  HSA_API_TABLE_MEMBER(hsa_amd_ipc_memory_attach);
  HSA_API_TABLE_MEMBER(hsa_amd_ipc_memory_detach);
  HSA_API_TABLE_MEMBER(hsa_amd_signal_create);
  HSA_API_TABLE_MEMBER(hsa_amd_ipc_signal_create);
  HSA_API_TABLE_MEMBER(hsa_amd_ipc_signal_attach);
  HSA_API_TABLE_MEMBER(hsa_amd_register_system_event_handler);
  HSA_API_TABLE_MEMBER(hsa_amd_queue_intercept_create);
  HSA_API_TABLE_MEMBER(hsa_amd_queue_intercept_register);
  HSA_API_TABLE_MEMBER(hsa_amd_queue_set_priority);
  HSA_API_TABLE_MEMBER(hsa_amd_memory_async_copy_rect);
  HSA_API_TABLE_MEMBER(hsa_amd_runtime_queue_create_register);
  HSA_API_TABLE_MEMBER(hsa_amd_memory_lock_to_pool);
  HSA_API_TABLE_MEMBER(hsa_amd_register_deallocation_callback);
  HSA_API_TABLE_MEMBER(hsa_amd_deregister_deallocation_callback);
  HSA_API_TABLE_MEMBER(hsa_amd_signal_value_pointer);
  HSA_API_TABLE_MEMBER(hsa_amd_svm_attributes_set);
  HSA_API_TABLE_MEMBER(hsa_amd_svm_attributes_get);
  HSA_API_TABLE_MEMBER(hsa_amd_svm_prefetch_async);
  HSA_API_TABLE_MEMBER(hsa_amd_spm_acquire);
  HSA_API_TABLE_MEMBER(hsa_amd_spm_release);
  HSA_API_TABLE_MEMBER(hsa_amd_spm_set_dest_buffer);
  HSA_API_TABLE_MEMBER(hsa_amd_queue_cu_get_mask);
  HSA_API_TABLE_MEMBER(hsa_amd_portable_export_dmabuf);
  HSA_API_TABLE_MEMBER(hsa_amd_portable_close_dmabuf);
  HSA_API_TABLE_MEMBER(hsa_amd_vmem_address_reserve);
  HSA_API_TABLE_MEMBER(hsa_amd_vmem_address_free);
  HSA_API_TABLE_MEMBER(hsa_amd_vmem_handle_create);
  HSA_API_TABLE_MEMBER(hsa_amd_vmem_handle_release);
  HSA_API_TABLE_MEMBER(hsa_amd_vmem_map);
  HSA_API_TABLE_MEMBER(hsa_amd_vmem_unmap);
  HSA_API_TABLE_MEMBER(hsa_amd_vmem_set_access);
  HSA_API_TABLE_MEMBER(hsa_amd_vmem_get_access);
  HSA_API_TABLE_MEMBER(hsa_amd_vmem_export_shareable_handle);
  HSA_API_TABLE_MEMBER(hsa_amd_vmem_import_shareable_handle);
  HSA_API_TABLE_MEMBER(hsa_amd_vmem_retain_alloc_handle);
  HSA_API_TABLE_MEMBER(hsa_amd_vmem_get_alloc_properties_from_handle);
  HSA_API_TABLE_MEMBER(hsa_amd_agent_set_async_scratch_limit);
  HSA_API_TABLE_MEMBER(hsa_amd_queue_get_info);
  HSA_API_TABLE_MEMBER(hsa_amd_vmem_address_reserve_align);
  HSA_API_TABLE_MEMBER(hsa_amd_enable_logging);
  HSA_API_TABLE_MEMBER(hsa_amd_signal_wait_all);
  HSA_API_TABLE_MEMBER(hsa_amd_memory_get_preferred_copy_engine);
  HSA_API_TABLE_MEMBER(hsa_amd_portable_export_dmabuf_v2);
  HSA_API_TABLE_MEMBER(hsa_amd_ais_file_write);
  HSA_API_TABLE_MEMBER(hsa_amd_ais_file_read);
  HSA_API_TABLE_MEMBER(hsa_amd_counted_queue_acquire);
  HSA_API_TABLE_MEMBER(hsa_amd_counted_queue_release);
  HSA_API_TABLE_MEMBER(hsa_amd_memory_async_batch_copy);
  HSA_API_TABLE_MEMBER(hsa_amd_agent_preload);
  HSA_API_TABLE_MEMBER(hsa_amd_svm_discard_batch_async);
  HSA_API_TABLE_MEMBER(hsa_amd_signal_get_event_id);
  HSA_API_TABLE_MEMBER(hsa_amd_external_semaphore_handle_open);
  HSA_API_TABLE_MEMBER(hsa_amd_external_semaphore_handle_close);
  HSA_API_TABLE_MEMBER(hsa_amd_vmem_export_fabric_handle);
  HSA_API_TABLE_MEMBER(hsa_amd_vmem_import_fabric_handle);
  HSA_API_TABLE_MEMBER(hsa_amd_queue_create);
  HSA_API_TABLE_MEMBER(hsa_amd_queue_signal_external_semaphore);
  HSA_API_TABLE_MEMBER(hsa_amd_queue_wait_external_semaphore);
  HSA_API_TABLE_MEMBER(hsa_amd_image_create_v2);
  HSA_API_TABLE_MEMBER(hsa_amd_interop_map_buffer_with_size);
  HSA_API_TABLE_MEMBER(hsa_amd_svm_discard_and_prefetch_batch_async);
  HSA_API_TABLE_MEMBER(hsa_amd_agent_set_attribute);
  HSA_API_TABLE_MEMBER(hsa_amd_enable_high_precision_timestamps);
} AmdExtTable;

/** Functions of the standard. */
typedef struct CoreApiTable {
  ApiTableVersion version; /**< Version of the table. */
  HSA_API_TABLE_MEMBER(hsa_init);
  HSA_API_TABLE_MEMBER(hsa_shut_down);
  HSA_API_TABLE_MEMBER(hsa_system_get_info);
  HSA_API_TABLE_MEMBER(hsa_system_extension_supported);
  HSA_API_TABLE_MEMBER(hsa_system_get_extension_table);
  HSA_API_TABLE_MEMBER(hsa_iterate_agents);
  HSA_API_TABLE_MEMBER(hsa_agent_get_info);
  HSA_API_TABLE_MEMBER(hsa_queue_create);
  HSA_API_TABLE_MEMBER(hsa_soft_queue_create);
  HSA_API_TABLE_MEMBER(hsa_queue_destroy);
  HSA_API_TABLE_MEMBER(hsa_queue_inactivate);
  HSA_API_TABLE_MEMBER(hsa_queue_load_read_index_scacquire);
  HSA_API_TABLE_MEMBER(hsa_queue_load_read_index_relaxed);
  HSA_API_TABLE_MEMBER(hsa_queue_load_write_index_scacquire);
  HSA_API_TABLE_MEMBER(hsa_queue_load_write_index_relaxed);
  HSA_API_TABLE_MEMBER(hsa_queue_store_write_index_relaxed);
  HSA_API_TABLE_MEMBER(hsa_queue_store_write_index_screlease);
  HSA_API_TABLE_MEMBER(hsa_queue_cas_write_index_scacq_screl);
  HSA_API_TABLE_MEMBER(hsa_queue_cas_write_index_scacquire);
  HSA_API_TABLE_MEMBER(hsa_queue_cas_write_index_relaxed);
  HSA_API_TABLE_MEMBER(hsa_queue_cas_write_index_screlease);
  HSA_API_TABLE_MEMBER(hsa_queue_add_write_index_scacq_screl);
  HSA_API_TABLE_MEMBER(hsa_queue_add_write_index_scacquire);
  HSA_API_TABLE_MEMBER(hsa_queue_add_write_index_relaxed);
  HSA_API_TABLE_MEMBER(hsa_queue_add_write_index_screlease);
  HSA_API_TABLE_MEMBER(hsa_queue_store_read_index_relaxed);
  HSA_API_TABLE_MEMBER(hsa_queue_store_read_index_screlease);
  HSA_API_TABLE_MEMBER(hsa_agent_iterate_regions);
  HSA_API_TABLE_MEMBER(hsa_region_get_info);
  HSA_API_TABLE_MEMBER(hsa_agent_get_exception_policies);
  HSA_API_TABLE_MEMBER(hsa_agent_extension_supported);
  HSA_API_TABLE_MEMBER(hsa_memory_register);
  HSA_API_TABLE_MEMBER(hsa_memory_deregister);
  HSA_API_TABLE_MEMBER(hsa_memory_allocate);
  HSA_API_TABLE_MEMBER(hsa_memory_free);
  HSA_API_TABLE_MEMBER(hsa_memory_copy);
  HSA_API_TABLE_MEMBER(hsa_memory_assign_agent);
  HSA_API_TABLE_MEMBER(hsa_signal_create);
  HSA_API_TABLE_MEMBER(hsa_signal_destroy);
  HSA_API_TABLE_MEMBER(hsa_signal_load_relaxed);
  HSA_API_TABLE_MEMBER(hsa_signal_load_scacquire);
  HSA_API_TABLE_MEMBER(hsa_signal_store_relaxed);
  HSA_API_TABLE_MEMBER(hsa_signal_store_screlease);
  HSA_API_TABLE_MEMBER(hsa_signal_wait_relaxed);
  HSA_API_TABLE_MEMBER(hsa_signal_wait_scacquire);
  HSA_API_TABLE_MEMBER(hsa_signal_and_relaxed);
  HSA_API_TABLE_MEMBER(hsa_signal_and_scacquire);
  HSA_API_TABLE_MEMBER(hsa_signal_and_screlease);
  HSA_API_TABLE_MEMBER(hsa_signal_and_scacq_screl);
  HSA_API_TABLE_MEMBER(hsa_signal_or_relaxed);
  HSA_API_TABLE_MEMBER(hsa_signal_or_scacquire);
  HSA_API_TABLE_MEMBER(hsa_signal_or_screlease);
  HSA_API_TABLE_MEMBER(hsa_signal_or_scacq_screl);
  HSA_API_TABLE_MEMBER(hsa_signal_xor_relaxed);
  HSA_API_TABLE_MEMBER(hsa_signal_xor_scacquire);
  HSA_API_TABLE_MEMBER(hsa_signal_xor_screlease);
  HSA_API_TABLE_MEMBER(hsa_signal_xor_scacq_screl);
  HSA_API_TABLE_MEMBER(hsa_signal_exchange_relaxed);
  HSA_API_TABLE_MEMBER(hsa_signal_exchange_scacquire);
  HSA_API_TABLE_MEMBER(hsa_signal_exchange_screlease);
  HSA_API_TABLE_MEMBER(hsa_signal_exchange_scacq_screl);
  HSA_API_TABLE_MEMBER(hsa_signal_add_relaxed);
  HSA_API_TABLE_MEMBER(hsa_signal_add_scacquire);
  HSA_API_TABLE_MEMBER(hsa_signal_add_screlease);
  HSA_API_TABLE_MEMBER(hsa_signal_add_scacq_screl);
  HSA_API_TABLE_MEMBER(hsa_signal_subtract_relaxed);
  HSA_API_TABLE_MEMBER(hsa_signal_subtract_scacquire);
  HSA_API_TABLE_MEMBER(hsa_signal_subtract_screlease);
  HSA_API_TABLE_MEMBER(hsa_signal_subtract_scacq_screl);
  HSA_API_TABLE_MEMBER(hsa_signal_cas_relaxed);
  HSA_API_TABLE_MEMBER(hsa_signal_cas_scacquire);
  HSA_API_TABLE_MEMBER(hsa_signal_cas_screlease);
  HSA_API_TABLE_MEMBER(hsa_signal_cas_scacq_screl);
  HSA_API_TABLE_MEMBER(hsa_isa_from_name);
  HSA_API_TABLE_MEMBER(hsa_isa_get_info);
  HSA_API_TABLE_MEMBER(hsa_isa_compatible);
  HSA_API_TABLE_MEMBER(hsa_code_object_serialize);
  HSA_API_TABLE_MEMBER(hsa_code_object_deserialize);
  HSA_API_TABLE_MEMBER(hsa_code_object_destroy);
  HSA_API_TABLE_MEMBER(hsa_code_object_get_info);
  HSA_API_TABLE_MEMBER(hsa_code_object_get_symbol);
  HSA_API_TABLE_MEMBER(hsa_code_symbol_get_info);
  HSA_API_TABLE_MEMBER(hsa_code_object_iterate_symbols);
  HSA_API_TABLE_MEMBER(hsa_executable_create);
  HSA_API_TABLE_MEMBER(hsa_executable_destroy);
  HSA_API_TABLE_MEMBER(hsa_executable_load_code_object);
  HSA_API_TABLE_MEMBER(hsa_executable_freeze);
  HSA_API_TABLE_MEMBER(hsa_executable_get_info);
  HSA_API_TABLE_MEMBER(hsa_executable_global_variable_define);
  HSA_API_TABLE_MEMBER(hsa_executable_agent_global_variable_define);
  HSA_API_TABLE_MEMBER(hsa_executable_readonly_variable_define);
  HSA_API_TABLE_MEMBER(hsa_executable_validate);
  HSA_API_TABLE_MEMBER(hsa_executable_get_symbol);
  HSA_API_TABLE_MEMBER(hsa_executable_symbol_get_info);
  HSA_API_TABLE_MEMBER(hsa_executable_iterate_symbols);
  HSA_API_TABLE_MEMBER(hsa_status_string);
  HSA_API_TABLE_MEMBER(hsa_extension_get_name);
  HSA_API_TABLE_MEMBER(hsa_system_major_extension_supported);
  HSA_API_TABLE_MEMBER(hsa_system_get_major_extension_table);
  HSA_API_TABLE_MEMBER(hsa_agent_major_extension_supported);
  HSA_API_TABLE_MEMBER(hsa_cache_get_info);
  HSA_API_TABLE_MEMBER(hsa_agent_iterate_caches);
  HSA_API_TABLE_MEMBER(hsa_signal_silent_store_relaxed);
  HSA_API_TABLE_MEMBER(hsa_signal_silent_store_screlease);
  HSA_API_TABLE_MEMBER(hsa_signal_group_create);
  HSA_API_TABLE_MEMBER(hsa_signal_group_destroy);
  HSA_API_TABLE_MEMBER(hsa_signal_group_wait_any_scacquire);
  HSA_API_TABLE_MEMBER(hsa_signal_group_wait_any_relaxed);
  HSA_API_TABLE_MEMBER(hsa_agent_iterate_isas);
  HSA_API_TABLE_MEMBER(hsa_isa_get_info_alt);
  HSA_API_TABLE_MEMBER(hsa_isa_get_exception_policies);
  HSA_API_TABLE_MEMBER(hsa_isa_get_round_method);
  HSA_API_TABLE_MEMBER(hsa_wavefront_get_info);
  HSA_API_TABLE_MEMBER(hsa_isa_iterate_wavefronts);
  HSA_API_TABLE_MEMBER(hsa_code_object_get_symbol_from_name);
  HSA_API_TABLE_MEMBER(hsa_code_object_reader_create_from_file);
  HSA_API_TABLE_MEMBER(hsa_code_object_reader_create_from_memory);
  HSA_API_TABLE_MEMBER(hsa_code_object_reader_destroy);
  HSA_API_TABLE_MEMBER(hsa_executable_create_alt);
  HSA_API_TABLE_MEMBER(hsa_executable_load_program_code_object);
  HSA_API_TABLE_MEMBER(hsa_executable_load_agent_code_object);
  HSA_API_TABLE_MEMBER(hsa_executable_validate_alt);
  HSA_API_TABLE_MEMBER(hsa_executable_get_symbol_by_name);
  HSA_API_TABLE_MEMBER(hsa_executable_iterate_agent_symbols);
  HSA_API_TABLE_MEMBER(hsa_executable_iterate_program_symbols);
} CoreApiTable;

/** The root: where all tables are. A pointer past the size said by the version is not there. */
typedef struct HsaApiTable {
  ApiTableVersion version; /**< Version of the root. */
  CoreApiTable *core_; /**< Functions of the standard. */
  AmdExtTable *amd_ext_; /**< Functions of AMD. */
  FinalizerExtTable *finalizer_ext_; /**< Functions of the finalizer extension; may be NULL. */
  ImageExtTable *image_ext_; /**< Functions of the image extension; may be NULL. */
  ToolsApiTable *tools_; /**< Callbacks of tools. */
  PcSamplingExtTable *pc_sampling_ext_; /**< Functions of the sampling extension; may be NULL. */
} HsaApiTable;

/* ---- Copies for tools ---- */

/** Copies what two tables have in common, or marks the destination as absent when the majors differ. */
static inline void copyElement(ApiTableVersion *dest, const ApiTableVersion *src) {
  if (src->major_id == 0 || src->major_id != dest->major_id) {
    dest->major_id = 0;
    dest->minor_id = 0;
    dest->step_id = 0;
    return;
  }
  dest->step_id = src->step_id;
  if (src->minor_id < dest->minor_id) dest->minor_id = src->minor_id;
  if (dest->minor_id > sizeof(ApiTableVersion)) {
    memcpy(dest + 1, src + 1, dest->minor_id - sizeof(ApiTableVersion));
  }
}

/** Copies one child table of the root, when both roots reach that far and have it. */
#define HSA_API_TABLE_COPY_CHILD(dest, src, child)                                            \
  do {                                                                                        \
    if (offsetof(HsaApiTable, child) < (dest)->version.minor_id && (dest)->child != NULL) {   \
      if ((src)->child != NULL) {                                                             \
        copyElement(&(dest)->child->version, &(src)->child->version);                         \
      } else {                                                                                \
        (dest)->child->version.major_id = 0;                                                  \
        (dest)->child->version.minor_id = 0;                                                  \
        (dest)->child->version.step_id = 0;                                                   \
      }                                                                                       \
    }                                                                                         \
  } while (0)

/** Copies all tables of a root into those of another, which says by its versions what it has room for. */
static inline void copyTables(const HsaApiTable *src, HsaApiTable *dest) {
  if (dest->version.major_id != src->version.major_id) {
    dest->version.major_id = 0;
    dest->version.minor_id = 0;
    dest->version.step_id = 0;
    return;
  }
  dest->version.step_id = src->version.step_id;
  if (src->version.minor_id < dest->version.minor_id) dest->version.minor_id = src->version.minor_id;
  HSA_API_TABLE_COPY_CHILD(dest, src, core_);
  HSA_API_TABLE_COPY_CHILD(dest, src, amd_ext_);
  HSA_API_TABLE_COPY_CHILD(dest, src, finalizer_ext_);
  HSA_API_TABLE_COPY_CHILD(dest, src, image_ext_);
  HSA_API_TABLE_COPY_CHILD(dest, src, tools_);
  HSA_API_TABLE_COPY_CHILD(dest, src, pc_sampling_ext_);
}

#ifdef __cplusplus
}
#endif

#ifdef __cplusplus
/** All tables with the versions of this header, for a tool to copy into. */
struct HsaApiTableContainer {
  HsaApiTable root;
  CoreApiTable core;
  AmdExtTable amd_ext;
  FinalizerExtTable finalizer_ext;
  ImageExtTable image_ext;
  ToolsApiTable tools;
  PcSamplingExtTable pc_sampling_ext;

  HsaApiTableContainer() : root(), core(), amd_ext(), finalizer_ext(), image_ext(), tools(), pc_sampling_ext() {
    set(root.version, HSA_API_TABLE_MAJOR_VERSION, sizeof(root), HSA_API_TABLE_STEP_VERSION);
    set(core.version, HSA_CORE_API_TABLE_MAJOR_VERSION, sizeof(core), HSA_CORE_API_TABLE_STEP_VERSION);
    set(amd_ext.version, HSA_AMD_EXT_API_TABLE_MAJOR_VERSION, sizeof(amd_ext),
        HSA_AMD_EXT_API_TABLE_STEP_VERSION);
    set(finalizer_ext.version, HSA_FINALIZER_API_TABLE_MAJOR_VERSION, sizeof(finalizer_ext),
        HSA_FINALIZER_API_TABLE_STEP_VERSION);
    set(image_ext.version, HSA_IMAGE_API_TABLE_MAJOR_VERSION, sizeof(image_ext),
        HSA_IMAGE_API_TABLE_STEP_VERSION);
    set(tools.version, HSA_TOOLS_API_TABLE_MAJOR_VERSION, sizeof(tools), HSA_TOOLS_API_TABLE_STEP_VERSION);
    set(pc_sampling_ext.version, HSA_PC_SAMPLING_API_TABLE_MAJOR_VERSION, sizeof(pc_sampling_ext),
        HSA_PC_SAMPLING_API_TABLE_STEP_VERSION);
    root.core_ = &core;
    root.amd_ext_ = &amd_ext;
    root.finalizer_ext_ = &finalizer_ext;
    root.image_ext_ = &image_ext;
    root.tools_ = &tools;
    root.pc_sampling_ext_ = &pc_sampling_ext;
  }

 private:
  static void set(ApiTableVersion &version, uint32_t major_id, size_t size, uint32_t step_id) {
    version.major_id = major_id;
    version.minor_id = static_cast<uint32_t>(size);
    version.step_id = step_id;
  }
};
#endif

#endif /* HSA_RUNTIME_INC_HSA_API_TRACE_H */
