/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 * Part of Hansa, an HSA runtime.
 *
 * Events that the runtime reports to tools.
 */
#ifndef HSA_RUNTIME_AMD_TOOL_EVENTS_H_
#define HSA_RUNTIME_AMD_TOOL_EVENTS_H_

#include "hsa.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Events for tools ---- */

/** Kind of a scratch allocation; a set of bits. */
typedef enum {
  HSA_AMD_EVENT_SCRATCH_ALLOC_FLAG_NONE = 0, /**< Nothing special. */
  HSA_AMD_EVENT_SCRATCH_ALLOC_FLAG_USE_ONCE = 1, /**< For one dispatch. */
  HSA_AMD_EVENT_SCRATCH_ALLOC_FLAG_ALT = 2 /**< The alternate scratch. */
} hsa_amd_event_scratch_alloc_flag_t;

/** Kind of an event. */
typedef enum {
  HSA_AMD_TOOL_EVENT_MIN = 0, /**< Below all kinds. */
  HSA_AMD_TOOL_EVENT_SCRATCH_ALLOC_START = 1, /**< The allocation begins. */
  HSA_AMD_TOOL_EVENT_SCRATCH_ALLOC_END = 2, /**< The allocation has ended. */
  HSA_AMD_TOOL_EVENT_SCRATCH_FREE_START = 3, /**< The release begins. */
  HSA_AMD_TOOL_EVENT_SCRATCH_FREE_END = 4, /**< The release has ended. */
  HSA_AMD_TOOL_EVENT_SCRATCH_ASYNC_RECLAIM_START = 5, /**< The reclaim begins. */
  HSA_AMD_TOOL_EVENT_SCRATCH_ASYNC_RECLAIM_END = 6, /**< The reclaim has ended. */
  HSA_AMD_TOOL_EVENT_MAX = 7 /**< Above all kinds. */
} hsa_amd_tool_event_kind_t;

/** What all events begin with. */
typedef struct {
  hsa_amd_tool_event_kind_t kind; /**< Kind. */
} hsa_amd_tool_event_none_t;

/** The allocation begins. */
typedef struct {
  hsa_amd_tool_event_kind_t kind; /**< Kind. */
  const hsa_queue_t *queue; /**< Queue. */
  hsa_amd_event_scratch_alloc_flag_t flags; /**< Kind of the allocation. */
  uint64_t dispatch_id; /**< Dispatch that needs it. */
} hsa_amd_event_scratch_alloc_start_t;

/** The allocation has ended. */
typedef struct {
  hsa_amd_tool_event_kind_t kind; /**< Kind. */
  const hsa_queue_t *queue; /**< Queue. */
  hsa_amd_event_scratch_alloc_flag_t flags; /**< Kind of the allocation. */
  uint64_t dispatch_id; /**< Dispatch that needs it. */
  size_t size; /**< Bytes. */
  size_t num_slots; /**< Waves it serves. */
} hsa_amd_event_scratch_alloc_end_t;

/** The release begins. */
typedef struct {
  hsa_amd_tool_event_kind_t kind; /**< Kind. */
  const hsa_queue_t *queue; /**< Queue. */
  hsa_amd_event_scratch_alloc_flag_t flags; /**< Kind of the allocation. */
} hsa_amd_event_scratch_free_start_t;

/** The release has ended. */
typedef struct {
  hsa_amd_tool_event_kind_t kind; /**< Kind. */
  const hsa_queue_t *queue; /**< Queue. */
  hsa_amd_event_scratch_alloc_flag_t flags; /**< Kind of the allocation. */
} hsa_amd_event_scratch_free_end_t;

/** The reclaim begins. */
typedef struct {
  hsa_amd_tool_event_kind_t kind; /**< Kind. */
  const hsa_queue_t *queue; /**< Queue. */
  hsa_amd_event_scratch_alloc_flag_t flags; /**< Kind of the allocation. */
} hsa_amd_event_scratch_async_reclaim_start_t;

/** The reclaim has ended. */
typedef struct {
  hsa_amd_tool_event_kind_t kind; /**< Kind. */
  const hsa_queue_t *queue; /**< Queue. */
  hsa_amd_event_scratch_alloc_flag_t flags; /**< Kind of the allocation. */
} hsa_amd_event_scratch_async_reclaim_end_t;

/* Any event; `none->kind` says which. */
typedef union {
  const hsa_amd_tool_event_none_t *none; /**< What all begin with. */
  const hsa_amd_event_scratch_alloc_start_t *scratch_alloc_start; /**< The allocation begins. */
  const hsa_amd_event_scratch_alloc_end_t *scratch_alloc_end; /**< The allocation has ended. */
  const hsa_amd_event_scratch_free_start_t *scratch_free_start; /**< The release begins. */
  const hsa_amd_event_scratch_free_end_t *scratch_free_end; /**< The release has ended. */
  const hsa_amd_event_scratch_async_reclaim_start_t *scratch_async_reclaim_start; /**< The reclaim begins. */
  const hsa_amd_event_scratch_async_reclaim_end_t *scratch_async_reclaim_end; /**< The reclaim has ended. */
} hsa_amd_tool_event_t;

/** Called by the runtime for an event. */
typedef hsa_status_t (*hsa_amd_tool_event)(hsa_amd_tool_event_t event);

#ifdef __cplusplus
}
#endif

#endif /* HSA_RUNTIME_AMD_TOOL_EVENTS_H_ */
