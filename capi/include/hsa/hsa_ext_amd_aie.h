/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 * Part of Hansa, an HSA runtime.
 *
 * Packets of AMD's AI engines, interface version 1.0.
 */
#ifndef HSA_RUNTIME_EXT_AMD_AIE_H_
#define HSA_RUNTIME_EXT_AMD_AIE_H_

#include "hsa.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- AI engine packets ---- */

/** Major version of this interface. */
#define HSA_AMD_AIE_INTERFACE_VERSION_MAJOR 1

/** Minor version of this interface. */
#define HSA_AMD_AIE_INTERFACE_VERSION_MINOR 0

/** Type of a packet. */
typedef enum {
  HSA_AMD_AIE_PACKET_TYPE_READY = 0, /**< To be processed. */
  HSA_AMD_AIE_PACKET_TYPE_INVALID = 1 /**< Free. */
} hsa_amd_aie_packet_type_t;

/** What a packet asks for. */
typedef enum {
  HSA_AMD_AIE_PACKET_OPCODE_KMQ = 0 /**< A kernel through the queue of the driver. */
} hsa_amd_aie_packet_opcode_t;

/* Runs a kernel on an array of AI engines. */
typedef struct hsa_amd_aie_kernel_dispatch_packet_s {
  HSA_EXTENSION union {
    HSA_EXTENSION struct {
      uint16_t header; /**< Type, barrier and fences. */
      uint16_t opcode; /**< hsa_amd_aie_packet_opcode_t. */
    };
    uint32_t full_header; /**< Both. */
  };
  uint16_t count; /**< 24: bytes from behind the completion signal up to the arguments. */
  uint8_t reserved0; /**< Zero. */
  uint8_t reserved1; /**< Zero. */
  hsa_signal_t completion_signal; /**< Decremented at the end; 0 for none. */
  uint32_t reserved2; /**< Zero. */
  uint32_t kernel_object_low; /**< Low half of the kernel. */
  uint32_t kernel_object_high; /**< High half of the kernel. */
  uint16_t num_kernargs; /**< Number of arguments. */
  uint16_t reserved3; /**< Zero. */
  void *kernarg_address; /**< Addresses of all arguments, then their sizes, 64 bits each. */
  uint64_t reserved4; /**< Zero. */
  void *reserved5; /**< Zero. */
  uint64_t reserved6; /**< Zero. */
} hsa_amd_aie_kernel_dispatch_packet_t;

#ifdef __cplusplus
}
#endif

#endif /* HSA_RUNTIME_EXT_AMD_AIE_H_ */
