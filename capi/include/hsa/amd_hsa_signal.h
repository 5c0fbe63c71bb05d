/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 * Part of Hansa, an HSA runtime.
 *
 * A signal as AMD's packet processors read and write it.
 */
#ifndef AMD_HSA_SIGNAL_H
#define AMD_HSA_SIGNAL_H

#include "amd_hsa_common.h"
#include "amd_hsa_queue.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Signals in memory ---- */

/** amd_signal_kind_t in 64 bits. */
typedef int64_t amd_signal_kind64_t;

/** Kind of a signal. */
typedef enum {
  AMD_SIGNAL_KIND_INVALID = 0, /**< Not a signal. */
  AMD_SIGNAL_KIND_USER = 1, /**< An ordinary signal. */
  AMD_SIGNAL_KIND_DOORBELL = -1, /**< Doorbell of a queue. */
  AMD_SIGNAL_KIND_LEGACY_DOORBELL = -2 /**< Doorbell of a queue of old hardware. */
} amd_signal_kind_t;

#define AMD_SIGNAL_ALIGN_BYTES 64
#define AMD_SIGNAL_ALIGN __ALIGNED__(AMD_SIGNAL_ALIGN_BYTES)
/* A signal in memory; its address is the handle. */
typedef struct AMD_SIGNAL_ALIGN amd_signal_s {
  amd_signal_kind64_t kind; /**< amd_signal_kind_t. */
  HSA_EXTENSION union {
    volatile int64_t value; /**< Value, of an ordinary signal. */
    volatile uint32_t *legacy_hardware_doorbell_ptr; /**< Doorbell of old hardware. */
    volatile uint64_t *hardware_doorbell_ptr; /**< Doorbell. */
  };
  uint64_t event_mailbox_ptr; /**< Where to write the event to raise an interrupt; 0 for none. */
  uint32_t event_id; /**< Event of the driver. */
  uint32_t reserved1; /**< Zero. */
  uint64_t start_ts; /**< When the packet it completes began, in ticks of the agent. */
  uint64_t end_ts; /**< When it ended. */
  HSA_EXTENSION union {
    amd_queue_t *queue_ptr; /**< Queue of a doorbell. */
    uint64_t reserved2; /**< Zero for other signals. */
  };
  uint32_t reserved3[2]; /**< Zero. */
} amd_signal_t;

#ifdef __cplusplus
}
#endif

#endif /* AMD_HSA_SIGNAL_H */
