/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 * Part of Hansa, an HSA runtime.
 *
 * Kernel descriptor of code object version 2.
 */
#ifndef AMD_HSA_KERNEL_CODE_H
#define AMD_HSA_KERNEL_CODE_H

#include "amd_hsa_common.h"
#include "hsa.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Kernel descriptor of code object version 2 ---- */

/** Version of amd_kernel_code_t. */
typedef uint32_t amd_kernel_code_version32_t;

/** Version of amd_kernel_code_t. */
enum amd_kernel_code_version_t {
  AMD_KERNEL_CODE_VERSION_MAJOR = 1, /**< Major version. */
  AMD_KERNEL_CODE_VERSION_MINOR = 1 /**< Minor version. */
};

/** amd_machine_kind_t in 16 bits. */
typedef uint16_t amd_machine_kind16_t;

/** Machine a kernel is for. */
enum amd_machine_kind_t {
  AMD_MACHINE_KIND_UNDEFINED = 0, /**< None. */
  AMD_MACHINE_KIND_AMDGPU = 1 /**< AMD GPU. */
};

/** Version of a machine. */
typedef uint16_t amd_machine_version16_t;

/** Rounding. */
enum amd_float_round_mode_t {
  AMD_FLOAT_ROUND_MODE_NEAREST_EVEN = 0, /**< To nearest, ties to even. */
  AMD_FLOAT_ROUND_MODE_PLUS_INFINITY = 1, /**< Up. */
  AMD_FLOAT_ROUND_MODE_MINUS_INFINITY = 2, /**< Down. */
  AMD_FLOAT_ROUND_MODE_ZERO = 3 /**< Towards zero. */
};

/** Denormal values. */
enum amd_float_denorm_mode_t {
  AMD_FLOAT_DENORM_MODE_FLUSH_SOURCE_OUTPUT = 0, /**< Sources and results become zero. */
  AMD_FLOAT_DENORM_MODE_FLUSH_OUTPUT = 1, /**< Results become zero. */
  AMD_FLOAT_DENORM_MODE_FLUSH_SOURCE = 2, /**< Sources become zero. */
  AMD_FLOAT_DENORM_MODE_NO_FLUSH = 3 /**< They are kept. */
};

/** amd_compute_pgm_rsrc_one_t in 32 bits. */
typedef uint32_t amd_compute_pgm_rsrc_one32_t;

/** First resource register. */
enum amd_compute_pgm_rsrc_one_t {
  /** Vector registers, in granules, less 1. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_COMPUTE_PGM_RSRC_ONE_GRANULATED_WORKITEM_VGPR_COUNT, 0, 6),
  /** Scalar registers, in granules, less 1. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_COMPUTE_PGM_RSRC_ONE_GRANULATED_WAVEFRONT_SGPR_COUNT, 6, 4),
  /** Priority. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_COMPUTE_PGM_RSRC_ONE_PRIORITY, 10, 2),
  /** Rounding of single precision. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_COMPUTE_PGM_RSRC_ONE_FLOAT_ROUND_MODE_32, 12, 2),
  /** Rounding of half and double precision. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_COMPUTE_PGM_RSRC_ONE_FLOAT_ROUND_MODE_16_64, 14, 2),
  /** Denormals of single precision. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_COMPUTE_PGM_RSRC_ONE_FLOAT_DENORM_MODE_32, 16, 2),
  /** Denormals of half and double precision. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_COMPUTE_PGM_RSRC_ONE_FLOAT_DENORM_MODE_16_64, 18, 2),
  /** Privileged. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_COMPUTE_PGM_RSRC_ONE_PRIV, 20, 1),
  /** NaN clamps to zero. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_COMPUTE_PGM_RSRC_ONE_ENABLE_DX10_CLAMP, 21, 1),
  /** Debug mode. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_COMPUTE_PGM_RSRC_ONE_DEBUG_MODE, 22, 1),
  /** Signalling NaN is quieted. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_COMPUTE_PGM_RSRC_ONE_ENABLE_IEEE_MODE, 23, 1),
  /** One work-group at a time. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_COMPUTE_PGM_RSRC_ONE_BULKY, 24, 1),
  /** For debuggers. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_COMPUTE_PGM_RSRC_ONE_CDBG_USER, 25, 1),
  /** Zero. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_COMPUTE_PGM_RSRC_ONE_RESERVED1, 26, 6)
};

/** Work-item ids given in vector registers. */
enum amd_system_vgpr_workitem_id_t {
  AMD_SYSTEM_VGPR_WORKITEM_ID_X = 0, /**< X. */
  AMD_SYSTEM_VGPR_WORKITEM_ID_X_Y = 1, /**< X and Y. */
  AMD_SYSTEM_VGPR_WORKITEM_ID_X_Y_Z = 2, /**< X, Y and Z. */
  AMD_SYSTEM_VGPR_WORKITEM_ID_UNDEFINED = 3 /**< Not defined. */
};

/** amd_compute_pgm_rsrc_two_t in 32 bits. */
typedef uint32_t amd_compute_pgm_rsrc_two32_t;

/** Second resource register. */
enum amd_compute_pgm_rsrc_two_t {
  /** Scratch offset of the wave in a register. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_COMPUTE_PGM_RSRC_TWO_ENABLE_SGPR_PRIVATE_SEGMENT_WAVE_BYTE_OFFSET, 0, 1),
  /** User registers. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_COMPUTE_PGM_RSRC_TWO_USER_SGPR_COUNT, 1, 5),
  /** The trap handler runs. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_COMPUTE_PGM_RSRC_TWO_ENABLE_TRAP_HANDLER, 6, 1),
  /** Work-group id X in a register. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_COMPUTE_PGM_RSRC_TWO_ENABLE_SGPR_WORKGROUP_ID_X, 7, 1),
  /** Work-group id Y in a register. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_COMPUTE_PGM_RSRC_TWO_ENABLE_SGPR_WORKGROUP_ID_Y, 8, 1),
  /** Work-group id Z in a register. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_COMPUTE_PGM_RSRC_TWO_ENABLE_SGPR_WORKGROUP_ID_Z, 9, 1),
  /** Work-group facts in a register. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_COMPUTE_PGM_RSRC_TWO_ENABLE_SGPR_WORKGROUP_INFO, 10, 1),
  /** amd_system_vgpr_workitem_id_t. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_COMPUTE_PGM_RSRC_TWO_ENABLE_VGPR_WORKITEM_ID, 11, 2),
  /** Trap on a watched address. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_COMPUTE_PGM_RSRC_TWO_ENABLE_EXCEPTION_ADDRESS_WATCH, 13, 1),
  /** Trap on a memory violation. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_COMPUTE_PGM_RSRC_TWO_ENABLE_EXCEPTION_MEMORY_VIOLATION, 14, 1),
  /** Group bytes, in granules. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_COMPUTE_PGM_RSRC_TWO_GRANULATED_LDS_SIZE, 15, 9),
  /** Trap on an invalid operation. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_COMPUTE_PGM_RSRC_TWO_ENABLE_EXCEPTION_IEEE_754_FP_INVALID_OPERATION, 24, 1),
  /** Trap on a denormal source. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_COMPUTE_PGM_RSRC_TWO_ENABLE_EXCEPTION_FP_DENORMAL_SOURCE, 25, 1),
  /** Trap on a division by zero. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_COMPUTE_PGM_RSRC_TWO_ENABLE_EXCEPTION_IEEE_754_FP_DIVISION_BY_ZERO, 26, 1),
  /** Trap on overflow. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_COMPUTE_PGM_RSRC_TWO_ENABLE_EXCEPTION_IEEE_754_FP_OVERFLOW, 27, 1),
  /** Trap on underflow. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_COMPUTE_PGM_RSRC_TWO_ENABLE_EXCEPTION_IEEE_754_FP_UNDERFLOW, 28, 1),
  /** Trap on an inexact result. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_COMPUTE_PGM_RSRC_TWO_ENABLE_EXCEPTION_IEEE_754_FP_INEXACT, 29, 1),
  /** Trap on an integer division by zero. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_COMPUTE_PGM_RSRC_TWO_ENABLE_EXCEPTION_INT_DIVISION_BY_ZERO, 30, 1),
  /** Zero. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_COMPUTE_PGM_RSRC_TWO_RESERVED1, 31, 1)
};

/** Interleaving of private memory. */
enum amd_element_byte_size_t {
  AMD_ELEMENT_BYTE_SIZE_2 = 0, /**< 2 bytes. */
  AMD_ELEMENT_BYTE_SIZE_4 = 1, /**< 4 bytes. */
  AMD_ELEMENT_BYTE_SIZE_8 = 2, /**< 8 bytes. */
  AMD_ELEMENT_BYTE_SIZE_16 = 3 /**< 16 bytes. */
};

/** amd_kernel_code_properties_t in 32 bits. */
typedef uint32_t amd_kernel_code_properties32_t;

/** What a kernel wants in registers, and more. */
enum amd_kernel_code_properties_t {
  /** Buffer resource of the private segment. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_KERNEL_CODE_PROPERTIES_ENABLE_SGPR_PRIVATE_SEGMENT_BUFFER, 0, 1),
  /** Address of the packet. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_KERNEL_CODE_PROPERTIES_ENABLE_SGPR_DISPATCH_PTR, 1, 1),
  /** Address of the queue. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_KERNEL_CODE_PROPERTIES_ENABLE_SGPR_QUEUE_PTR, 2, 1),
  /** Address of the arguments. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_KERNEL_CODE_PROPERTIES_ENABLE_SGPR_KERNARG_SEGMENT_PTR, 3, 1),
  /** Number of the packet. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_KERNEL_CODE_PROPERTIES_ENABLE_SGPR_DISPATCH_ID, 4, 1),
  /** Start of flat scratch. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_KERNEL_CODE_PROPERTIES_ENABLE_SGPR_FLAT_SCRATCH_INIT, 5, 1),
  /** Private bytes. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_KERNEL_CODE_PROPERTIES_ENABLE_SGPR_PRIVATE_SEGMENT_SIZE, 6, 1),
  /** Work-groups along X. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_KERNEL_CODE_PROPERTIES_ENABLE_SGPR_GRID_WORKGROUP_COUNT_X, 7, 1),
  /** Work-groups along Y. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_KERNEL_CODE_PROPERTIES_ENABLE_SGPR_GRID_WORKGROUP_COUNT_Y, 8, 1),
  /** Work-groups along Z. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_KERNEL_CODE_PROPERTIES_ENABLE_SGPR_GRID_WORKGROUP_COUNT_Z, 9, 1),
  /** Zero; bit 10 is 32-lane waves in later descriptors. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_KERNEL_CODE_PROPERTIES_RESERVED1, 10, 6),
  /** Ordered append. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_KERNEL_CODE_PROPERTIES_ENABLE_ORDERED_APPEND_GDS, 16, 1),
  /** amd_element_byte_size_t. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_KERNEL_CODE_PROPERTIES_PRIVATE_ELEMENT_SIZE, 17, 2),
  /** Addresses have 64 bits. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_KERNEL_CODE_PROPERTIES_IS_PTR64, 19, 1),
  /** The private bytes may grow by calls. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_KERNEL_CODE_PROPERTIES_IS_DYNAMIC_CALLSTACK, 20, 1),
  /** Made for debugging. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_KERNEL_CODE_PROPERTIES_IS_DEBUG_ENABLED, 21, 1),
  /** Made for retryable faults. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_KERNEL_CODE_PROPERTIES_IS_XNACK_ENABLED, 22, 1),
  /** Zero. */
  AMD_HSA_BITS_CREATE_ENUM_ENTRIES(AMD_KERNEL_CODE_PROPERTIES_RESERVED2, 23, 9)
};

/** amd_powertwo_t in 8 bits. */
typedef uint8_t amd_powertwo8_t;

/** Powers of two. */
enum amd_powertwo_t {
  AMD_POWERTWO_1 = 0, /**< 1. */
  AMD_POWERTWO_2 = 1, /**< 2. */
  AMD_POWERTWO_4 = 2, /**< 4. */
  AMD_POWERTWO_8 = 3, /**< 8. */
  AMD_POWERTWO_16 = 4, /**< 16. */
  AMD_POWERTWO_32 = 5, /**< 32. */
  AMD_POWERTWO_64 = 6, /**< 64. */
  AMD_POWERTWO_128 = 7, /**< 128. */
  AMD_POWERTWO_256 = 8 /**< 256. */
};

/** amd_enabled_control_directive_t in 64 bits. */
typedef uint64_t amd_enabled_control_directive64_t;

/** Which control directives hold; a set of bits. */
enum amd_enabled_control_directive_t {
  AMD_ENABLED_CONTROL_DIRECTIVE_ENABLE_BREAK_EXCEPTIONS = 1, /**< Exceptions that break. */
  AMD_ENABLED_CONTROL_DIRECTIVE_ENABLE_DETECT_EXCEPTIONS = 2, /**< Exceptions that are detected. */
  AMD_ENABLED_CONTROL_DIRECTIVE_MAX_DYNAMIC_GROUP_SIZE = 4, /**< Most dynamic group bytes. */
  AMD_ENABLED_CONTROL_DIRECTIVE_MAX_FLAT_GRID_SIZE = 8, /**< Most work-items of a grid. */
  AMD_ENABLED_CONTROL_DIRECTIVE_MAX_FLAT_WORKGROUP_SIZE = 16, /**< Most work-items of a work-group. */
  AMD_ENABLED_CONTROL_DIRECTIVE_REQUIRED_DIM = 32, /**< Dimensions that will be used. */
  AMD_ENABLED_CONTROL_DIRECTIVE_REQUIRED_GRID_SIZE = 64, /**< Grid that will be used. */
  AMD_ENABLED_CONTROL_DIRECTIVE_REQUIRED_WORKGROUP_SIZE = 128, /**< Work-group that will be used. */
  AMD_ENABLED_CONTROL_DIRECTIVE_REQUIRE_NO_PARTIAL_WORKGROUPS = 256 /**< All work-groups are whole. */
};

/** amd_exception_kind_t in 16 bits. */
typedef uint16_t amd_exception_kind16_t;

/** Exceptions; a set of bits. */
enum amd_exception_kind_t {
  AMD_EXCEPTION_KIND_INVALID_OPERATION = 1, /**< Invalid operation. */
  AMD_EXCEPTION_KIND_DIVISION_BY_ZERO = 2, /**< Division by zero. */
  AMD_EXCEPTION_KIND_OVERFLOW = 4, /**< Overflow. */
  AMD_EXCEPTION_KIND_UNDERFLOW = 8, /**< Underflow. */
  AMD_EXCEPTION_KIND_INEXACT = 16 /**< Inexact result. */
};

#define AMD_CONTROL_DIRECTIVES_ALIGN_BYTES 64
#define AMD_CONTROL_DIRECTIVES_ALIGN __ALIGNED__(AMD_CONTROL_DIRECTIVES_ALIGN_BYTES)
#define AMD_ISA_ALIGN_BYTES 256
#define AMD_KERNEL_CODE_ALIGN_BYTES 64
#define AMD_KERNEL_CODE_ALIGN __ALIGNED__(AMD_KERNEL_CODE_ALIGN_BYTES)

/** Control directives of a kernel. */
typedef struct __ALIGNED__(64) amd_control_directives_s {
  amd_enabled_control_directive64_t enabled_control_directives; /**< Which hold. */
  uint16_t enable_break_exceptions; /**< Exceptions that break. */
  uint16_t enable_detect_exceptions; /**< Exceptions that are detected. */
  uint32_t max_dynamic_group_size; /**< Most dynamic group bytes. */
  uint64_t max_flat_grid_size; /**< Most work-items of a grid. */
  uint32_t max_flat_workgroup_size; /**< Most work-items of a work-group. */
  uint8_t required_dim; /**< Dimensions that will be used. */
  uint8_t reserved1[3]; /**< Zero. */
  uint64_t required_grid_size[3]; /**< Grid that will be used. */
  uint32_t required_workgroup_size[3]; /**< Work-group that will be used. */
  uint8_t reserved2[60]; /**< Zero. */
} amd_control_directives_t;

/** Kernel descriptor of code object version 2: stands before the code. */
typedef struct __ALIGNED__(64) amd_kernel_code_s {
  amd_kernel_code_version32_t amd_kernel_code_version_major; /**< Major version of this structure. */
  amd_kernel_code_version32_t amd_kernel_code_version_minor; /**< Minor version of this structure. */
  amd_machine_kind16_t amd_machine_kind; /**< Machine. */
  amd_machine_version16_t amd_machine_version_major; /**< Major version of the machine. */
  amd_machine_version16_t amd_machine_version_minor; /**< Minor version of the machine. */
  amd_machine_version16_t amd_machine_version_stepping; /**< Stepping of the machine. */
  int64_t kernel_code_entry_byte_offset; /**< First instruction, relative to this structure. */
  int64_t kernel_code_prefetch_byte_offset; /**< First byte to prefetch. */
  uint64_t kernel_code_prefetch_byte_size; /**< Bytes to prefetch. */
  uint64_t max_scratch_backing_memory_byte_size; /**< Most scratch bytes. */
  amd_compute_pgm_rsrc_one32_t compute_pgm_rsrc1; /**< First resource register. */
  amd_compute_pgm_rsrc_two32_t compute_pgm_rsrc2; /**< Second resource register. */
  amd_kernel_code_properties32_t kernel_code_properties; /**< Properties. */
  uint32_t workitem_private_segment_byte_size; /**< Private bytes of a work-item. */
  uint32_t workgroup_group_segment_byte_size; /**< Group bytes of a work-group. */
  uint32_t gds_segment_byte_size; /**< Global data share bytes. */
  uint64_t kernarg_segment_byte_size; /**< Bytes of the arguments. */
  uint32_t workgroup_fbarrier_count; /**< Fbarriers of a work-group. */
  uint16_t wavefront_sgpr_count; /**< Scalar registers. */
  uint16_t workitem_vgpr_count; /**< Vector registers. */
  uint16_t reserved_vgpr_first; /**< First reserved vector register. */
  uint16_t reserved_vgpr_count; /**< Reserved vector registers. */
  uint16_t reserved_sgpr_first; /**< First reserved scalar register. */
  uint16_t reserved_sgpr_count; /**< Reserved scalar registers. */
  uint16_t debug_wavefront_private_segment_offset_sgpr; /**< Register of the scratch offset, for debuggers. */
  uint16_t debug_private_segment_buffer_sgpr; /**< Register of the scratch resource, for debuggers. */
  amd_powertwo8_t kernarg_segment_alignment; /**< Alignment of the arguments. */
  amd_powertwo8_t group_segment_alignment; /**< Alignment of the group segment. */
  amd_powertwo8_t private_segment_alignment; /**< Alignment of the private segment. */
  amd_powertwo8_t wavefront_size; /**< Lanes of a wave. */
  int32_t call_convention; /**< Call convention. */
  uint8_t reserved1[12]; /**< Zero. */
  /** For the loader: address of an amd_runtime_loader_debug_info_t. */
  uint64_t runtime_loader_kernel_symbol;
  amd_control_directives_t control_directives; /**< Control directives. */
} amd_kernel_code_t;

/** What the loader tells a debugger of a kernel. */
typedef struct amd_runtime_loader_debug_info_s {
  const void *elf_raw; /**< Code object. */
  size_t elf_size; /**< Its bytes. */
  const char *kernel_name; /**< Name of the kernel. */
  const void *owning_segment; /**< Segment the kernel is in. */
} amd_runtime_loader_debug_info_t;

#ifdef __cplusplus
}
#endif

#endif /* AMD_HSA_KERNEL_CODE_H */
