/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 * Part of Hansa, an HSA runtime.
 *
 * ELF values of AMD GPU code objects.
 *
 * Defined by the AMDGPU usage document of LLVM and, for code object version 1, by older AMD tools.
 * For C++ the unscoped values are also in namespace ELF, where other AMD sources look for them.
 */
#ifndef AMD_HSA_ELF_H
#define AMD_HSA_ELF_H

#include <stdint.h>

#undef EM_AMDGPU

#ifdef __cplusplus
namespace ELF {
#endif

/** Machine of AMD GPU objects. */
enum { EM_AMDGPU = 224 };

/** Operating system byte of HSA objects. */
enum { ELFOSABI_AMDGPU_HSA = 64 };

/** ABI version byte: the code object version. */
enum {
  ELFABIVERSION_AMDGPU_HSA_V2 = 0, /**< Versions 1 and 2. */
  ELFABIVERSION_AMDGPU_HSA_V3 = 1, /**< Version 3. */
  ELFABIVERSION_AMDGPU_HSA_V4 = 2, /**< Version 4. */
  ELFABIVERSION_AMDGPU_HSA_V5 = 3, /**< Version 5. */
  ELFABIVERSION_AMDGPU_HSA_V6 = 4  /**< Version 6. */
};

/** Fields and values of the ELF flags. */
#ifdef __cplusplus
enum : unsigned {
#elif defined(__GNUC__)
__extension__ enum {
#else
enum {
#endif
  EF_AMDGPU_MACH = 0x0ff, /**< Mask of the processor. */
  EF_AMDGPU_MACH_NONE = 0x000, /**< No processor. */
  EF_AMDGPU_MACH_AMDGCN_GFX600 = 0x020, /**< gfx600. */
  EF_AMDGPU_MACH_AMDGCN_GFX601 = 0x021, /**< gfx601. */
  EF_AMDGPU_MACH_AMDGCN_GFX700 = 0x022, /**< gfx700. */
  EF_AMDGPU_MACH_AMDGCN_GFX701 = 0x023, /**< gfx701. */
  EF_AMDGPU_MACH_AMDGCN_GFX702 = 0x024, /**< gfx702. */
  EF_AMDGPU_MACH_AMDGCN_GFX703 = 0x025, /**< gfx703. */
  EF_AMDGPU_MACH_AMDGCN_GFX704 = 0x026, /**< gfx704. */
  EF_AMDGPU_MACH_AMDGCN_RESERVED_0X27 = 0x027, /**< Not in use. */
  EF_AMDGPU_MACH_AMDGCN_GFX801 = 0x028, /**< gfx801. */
  EF_AMDGPU_MACH_AMDGCN_GFX802 = 0x029, /**< gfx802. */
  EF_AMDGPU_MACH_AMDGCN_GFX803 = 0x02a, /**< gfx803. */
  EF_AMDGPU_MACH_AMDGCN_GFX810 = 0x02b, /**< gfx810. */
  EF_AMDGPU_MACH_AMDGCN_GFX900 = 0x02c, /**< gfx900. */
  EF_AMDGPU_MACH_AMDGCN_GFX902 = 0x02d, /**< gfx902. */
  EF_AMDGPU_MACH_AMDGCN_GFX904 = 0x02e, /**< gfx904. */
  EF_AMDGPU_MACH_AMDGCN_GFX906 = 0x02f, /**< gfx906. */
  EF_AMDGPU_MACH_AMDGCN_GFX908 = 0x030, /**< gfx908. */
  EF_AMDGPU_MACH_AMDGCN_GFX909 = 0x031, /**< gfx909. */
  EF_AMDGPU_MACH_AMDGCN_GFX90C = 0x032, /**< gfx90c. */
  EF_AMDGPU_MACH_AMDGCN_GFX1010 = 0x033, /**< gfx1010. */
  EF_AMDGPU_MACH_AMDGCN_GFX1011 = 0x034, /**< gfx1011. */
  EF_AMDGPU_MACH_AMDGCN_GFX1012 = 0x035, /**< gfx1012. */
  EF_AMDGPU_MACH_AMDGCN_GFX1030 = 0x036, /**< gfx1030. */
  EF_AMDGPU_MACH_AMDGCN_GFX1031 = 0x037, /**< gfx1031. */
  EF_AMDGPU_MACH_AMDGCN_GFX1032 = 0x038, /**< gfx1032. */
  EF_AMDGPU_MACH_AMDGCN_GFX1033 = 0x039, /**< gfx1033. */
  EF_AMDGPU_MACH_AMDGCN_GFX602 = 0x03a, /**< gfx602. */
  EF_AMDGPU_MACH_AMDGCN_GFX705 = 0x03b, /**< gfx705. */
  EF_AMDGPU_MACH_AMDGCN_GFX805 = 0x03c, /**< gfx805. */
  EF_AMDGPU_MACH_AMDGCN_GFX1035 = 0x03d, /**< gfx1035. */
  EF_AMDGPU_MACH_AMDGCN_GFX1034 = 0x03e, /**< gfx1034. */
  EF_AMDGPU_MACH_AMDGCN_GFX90A = 0x03f, /**< gfx90a. */
  EF_AMDGPU_MACH_AMDGCN_GFX940 = 0x040, /**< gfx940. */
  EF_AMDGPU_MACH_AMDGCN_GFX1100 = 0x041, /**< gfx1100. */
  EF_AMDGPU_MACH_AMDGCN_GFX1013 = 0x042, /**< gfx1013. */
  EF_AMDGPU_MACH_AMDGCN_GFX1150 = 0x043, /**< gfx1150. */
  EF_AMDGPU_MACH_AMDGCN_GFX1103 = 0x044, /**< gfx1103. */
  EF_AMDGPU_MACH_AMDGCN_GFX1036 = 0x045, /**< gfx1036. */
  EF_AMDGPU_MACH_AMDGCN_GFX1101 = 0x046, /**< gfx1101. */
  EF_AMDGPU_MACH_AMDGCN_GFX1102 = 0x047, /**< gfx1102. */
  EF_AMDGPU_MACH_AMDGCN_GFX1200 = 0x048, /**< gfx1200. */
  EF_AMDGPU_MACH_AMDGCN_RESERVED_0X49 = 0x049, /**< Not in use. */
  EF_AMDGPU_MACH_AMDGCN_GFX1151 = 0x04a, /**< gfx1151. */
  EF_AMDGPU_MACH_AMDGCN_GFX941 = 0x04b, /**< gfx941. */
  EF_AMDGPU_MACH_AMDGCN_GFX942 = 0x04c, /**< gfx942. */
  EF_AMDGPU_MACH_AMDGCN_RESERVED_0X4D = 0x04d, /**< Not in use. */
  EF_AMDGPU_MACH_AMDGCN_GFX1201 = 0x04e, /**< gfx1201. */
  EF_AMDGPU_MACH_AMDGCN_GFX950 = 0x04f, /**< gfx950. */
  EF_AMDGPU_MACH_AMDGCN_RESERVED_0X50 = 0x050, /**< Not in use. */
  EF_AMDGPU_MACH_AMDGCN_GFX9_GENERIC = 0x051, /**< gfx9-generic. */
  EF_AMDGPU_MACH_AMDGCN_GFX10_1_GENERIC = 0x052, /**< gfx10-1-generic. */
  EF_AMDGPU_MACH_AMDGCN_GFX10_3_GENERIC = 0x053, /**< gfx10-3-generic. */
  EF_AMDGPU_MACH_AMDGCN_GFX11_GENERIC = 0x054, /**< gfx11-generic. */
  EF_AMDGPU_MACH_AMDGCN_GFX1152 = 0x055, /**< gfx1152. */
  EF_AMDGPU_MACH_AMDGCN_RESERVED_0X56 = 0x056, /**< Not in use. */
  EF_AMDGPU_MACH_AMDGCN_RESERVED_0X57 = 0x057, /**< Not in use. */
  EF_AMDGPU_MACH_AMDGCN_GFX1153 = 0x058, /**< gfx1153. */
  EF_AMDGPU_MACH_AMDGCN_GFX12_GENERIC = 0x059, /**< gfx12-generic. */
  EF_AMDGPU_MACH_AMDGCN_GFX9_4_GENERIC = 0x05f, /**< gfx9-4-generic. */
  EF_AMDGPU_MACH_AMDGCN_FIRST = EF_AMDGPU_MACH_AMDGCN_GFX600, /**< Lowest processor. */
  EF_AMDGPU_MACH_AMDGCN_LAST = EF_AMDGPU_MACH_AMDGCN_GFX9_4_GENERIC, /**< Highest processor known here. */
  EF_AMDGPU_FEATURE_XNACK_V2 = 0x01, /**< Version 2: retryable faults. */
  EF_AMDGPU_FEATURE_TRAP_HANDLER_V2 = 0x02, /**< Version 2: trap handler. */
  EF_AMDGPU_FEATURE_XNACK_V3 = 0x100, /**< Version 3: retryable faults. */
  EF_AMDGPU_FEATURE_SRAMECC_V3 = 0x200, /**< Version 3: error correction. */
  EF_AMDGPU_FEATURE_XNACK_V4 = 0x300, /**< Version 4 and later: mask of retryable faults. */
  EF_AMDGPU_FEATURE_XNACK_UNSUPPORTED_V4 = 0x000, /**< Version 4 and later: retryable faults unsupported. */
  EF_AMDGPU_FEATURE_XNACK_ANY_V4 = 0x100, /**< Version 4 and later: retryable faults any. */
  EF_AMDGPU_FEATURE_XNACK_OFF_V4 = 0x200, /**< Version 4 and later: retryable faults off. */
  EF_AMDGPU_FEATURE_XNACK_ON_V4 = 0x300, /**< Version 4 and later: retryable faults on. */
  EF_AMDGPU_FEATURE_SRAMECC_V4 = 0xc00, /**< Version 4 and later: mask of error correction. */
  EF_AMDGPU_FEATURE_SRAMECC_UNSUPPORTED_V4 = 0x000, /**< Version 4 and later: error correction unsupported. */
  EF_AMDGPU_FEATURE_SRAMECC_ANY_V4 = 0x400, /**< Version 4 and later: error correction any. */
  EF_AMDGPU_FEATURE_SRAMECC_OFF_V4 = 0x800, /**< Version 4 and later: error correction off. */
  EF_AMDGPU_FEATURE_SRAMECC_ON_V4 = 0xc00, /**< Version 4 and later: error correction on. */
  EF_AMDGPU_GENERIC_VERSION = 0xff000000, /**< Version 6: mask of the generic version. */
  EF_AMDGPU_GENERIC_VERSION_OFFSET = 24, /**< First bit of the generic version. */
  EF_AMDGPU_GENERIC_VERSION_MIN = 1, /**< Lowest generic version. */
  EF_AMDGPU_GENERIC_VERSION_MAX = 0xff /**< Highest generic version. */
};

/** Relocations of code object version 2 and later. */
enum {
  R_AMDGPU_ABS32_LO = 1, /**< Low half of an address. */
  R_AMDGPU_ABS32_HI = 2, /**< High half of an address. */
  R_AMDGPU_ABS64 = 3, /**< Address. */
  R_AMDGPU_ABS32 = 6, /**< 32-bit address. */
  R_AMDGPU_RELATIVE64 = 13 /**< Load difference plus addend. */
};

#ifdef __cplusplus
}
#endif

/* ---- Sections, segments and symbols of code object version 1 ---- */

#define SHF_AMDGPU_HSA_GLOBAL (0x00100000 & SHF_MASKOS) /**< Global data. */
#define SHF_AMDGPU_HSA_READONLY (0x00200000 & SHF_MASKOS) /**< Read-only data. */
#define SHF_AMDGPU_HSA_CODE (0x00400000 & SHF_MASKOS) /**< Code. */
#define SHF_AMDGPU_HSA_AGENT (0x00800000 & SHF_MASKOS) /**< Of one agent. */

/** Kind of a segment. */
typedef enum {
  AMDGPU_HSA_SEGMENT_GLOBAL_PROGRAM = 0, /**< Global data of the program. */
  AMDGPU_HSA_SEGMENT_GLOBAL_AGENT = 1, /**< Global data of one agent. */
  AMDGPU_HSA_SEGMENT_READONLY_AGENT = 2, /**< Read-only data of one agent. */
  AMDGPU_HSA_SEGMENT_CODE_AGENT = 3, /**< Code of one agent. */
  AMDGPU_HSA_SEGMENT_LAST /**< Number of kinds. */
} amdgpu_hsa_elf_segment_t;

/* Types of program headers. */
#define PT_AMDGPU_HSA_LOAD_GLOBAL_PROGRAM (PT_LOOS + AMDGPU_HSA_SEGMENT_GLOBAL_PROGRAM)
#define PT_AMDGPU_HSA_LOAD_GLOBAL_AGENT (PT_LOOS + AMDGPU_HSA_SEGMENT_GLOBAL_AGENT)
#define PT_AMDGPU_HSA_LOAD_READONLY_AGENT (PT_LOOS + AMDGPU_HSA_SEGMENT_READONLY_AGENT)
#define PT_AMDGPU_HSA_LOAD_CODE_AGENT (PT_LOOS + AMDGPU_HSA_SEGMENT_CODE_AGENT)

#define STT_AMDGPU_HSA_KERNEL (STT_LOOS + 0) /**< Symbol of a kernel. */
#define STT_AMDGPU_HSA_INDIRECT_FUNCTION (STT_LOOS + 1) /**< Symbol of an indirect function. */
#define STT_AMDGPU_HSA_METADATA (STT_LOOS + 2) /**< Symbol of metadata. */
#define STB_AMDGPU_HSA_EXTERNAL (STB_LOOS + 0) /**< Binding of an external symbol. */

#define ELF64_ST_AMDGPU_ALLOCATION(o) (((o) >> 2) & 0x3) /**< Allocation in the other byte of a symbol. */
#define ELF64_ST_AMDGPU_FLAGS(o) ((o) >> 4) /**< Flags in the other byte of a symbol. */
/** Other byte of a symbol from flags, allocation and visibility. */
#define ELF64_ST_AMDGPU_OTHER(f, a, v) (((f) << 4) + (((a) & 0x3) << 2) + ((v) & 0x3))

/** Where a symbol is allocated. */
typedef enum {
  AMDGPU_HSA_SYMBOL_ALLOCATION_DEFAULT = 0, /**< Default. */
  AMDGPU_HSA_SYMBOL_ALLOCATION_GLOBAL_PROGRAM = 1, /**< Global data of the program. */
  AMDGPU_HSA_SYMBOL_ALLOCATION_GLOBAL_AGENT = 2, /**< Global data of one agent. */
  AMDGPU_HSA_SYMBOL_ALLOCATION_READONLY_AGENT = 3, /**< Read-only data of one agent. */
  AMDGPU_HSA_SYMBOL_ALLOCATION_LAST /**< Number of kinds. */
} amdgpu_hsa_symbol_allocation_t;

/* The same under shorter names. */
#define STA_AMDGPU_HSA_DEFAULT AMDGPU_HSA_SYMBOL_ALLOCATION_DEFAULT
#define STA_AMDGPU_HSA_GLOBAL_PROGRAM AMDGPU_HSA_SYMBOL_ALLOCATION_GLOBAL_PROGRAM
#define STA_AMDGPU_HSA_GLOBAL_AGENT AMDGPU_HSA_SYMBOL_ALLOCATION_GLOBAL_AGENT
#define STA_AMDGPU_HSA_READONLY_AGENT AMDGPU_HSA_SYMBOL_ALLOCATION_READONLY_AGENT

/** Flags of a symbol. */
typedef enum {
  AMDGPU_HSA_SYMBOL_FLAG_DEFAULT = 0, /**< None. */
  AMDGPU_HSA_SYMBOL_FLAG_CONST = 1, /**< Constant. */
  AMDGPU_HSA_SYMBOL_FLAG_LAST /**< Number of values. */
} amdgpu_hsa_symbol_flag_t;
#define STF_AMDGPU_HSA_CONST AMDGPU_HSA_SYMBOL_FLAG_CONST /**< The same under a shorter name. */

/* Relocations of code object version 1. */
#define R_AMDGPU_V1_NONE 0 /**< None. */
#define R_AMDGPU_V1_32_LOW 1 /**< Low half of an address. */
#define R_AMDGPU_V1_32_HIGH 2 /**< High half of an address. */
#define R_AMDGPU_V1_64 3 /**< Address. */
#define R_AMDGPU_V1_INIT_SAMPLER 4 /**< Handle of a sampler. */
#define R_AMDGPU_V1_INIT_IMAGE 5 /**< Handle of an image. */
#define R_AMDGPU_V1_RELATIVE64 13 /**< Load difference plus addend. */

/* ---- Notes ---- */

#define NT_AMD_HSA_CODE_OBJECT_VERSION 1 /**< amdgpu_hsa_note_code_object_version_t. */
#define NT_AMD_HSA_HSAIL 2 /**< amdgpu_hsa_note_hsail_t. */
#define NT_AMD_HSA_ISA_VERSION 3 /**< amdgpu_hsa_note_isa_t. */
#define NT_AMD_HSA_PRODUCER 4 /**< amdgpu_hsa_note_producer_t. */
#define NT_AMD_HSA_PRODUCER_OPTIONS 5 /**< amdgpu_hsa_note_producer_options_t. */
#define NT_AMD_HSA_EXTENSION 6 /**< Extension. */
#define NT_AMD_HSA_ISA_NAME 11 /**< Name of the instruction set. */
#define NT_AMDGPU_CORE_STATE 33 /**< State of the device in a core dump. */
#define NT_AMD_HSA_HLDEBUG_DEBUG 101 /**< For debuggers. */
#define NT_AMD_HSA_HLDEBUG_TARGET 102 /**< For debuggers. */

/** Code object version. */
typedef struct amdgpu_hsa_note_code_object_version_s {
  uint32_t major_version; /**< Major version. */
  uint32_t minor_version; /**< Minor version. */
} amdgpu_hsa_note_code_object_version_t;

/** HSAIL the code was made of. */
typedef struct amdgpu_hsa_note_hsail_s {
  uint32_t hsail_major_version; /**< Major version. */
  uint32_t hsail_minor_version; /**< Minor version. */
  uint8_t profile; /**< Profile. */
  uint8_t machine_model; /**< Machine model. */
  uint8_t default_float_round; /**< Default rounding. */
} amdgpu_hsa_note_hsail_t;

/** Instruction set of the code. */
typedef struct amdgpu_hsa_note_isa_s {
  uint16_t vendor_name_size; /**< Bytes of the vendor, with terminator. */
  uint16_t architecture_name_size; /**< Bytes of the architecture, with terminator. */
  uint32_t major; /**< Major version. */
  uint32_t minor; /**< Minor version. */
  uint32_t stepping; /**< Stepping. */
  char vendor_and_architecture_name[1]; /**< First of the bytes of both names. */
} amdgpu_hsa_note_isa_t;

/** Program that made the code. */
typedef struct amdgpu_hsa_note_producer_s {
  uint16_t producer_name_size; /**< Bytes of the name. */
  uint16_t reserved; /**< Zero. */
  uint32_t producer_major_version; /**< Major version. */
  uint32_t producer_minor_version; /**< Minor version. */
  char producer_name[1]; /**< First of the bytes of the name. */
} amdgpu_hsa_note_producer_t;

/** Options of the program that made the code. */
typedef struct amdgpu_hsa_note_producer_options_s {
  uint16_t producer_options_size; /**< Bytes of the options. */
  char producer_options[1]; /**< First of the bytes of the options. */
} amdgpu_hsa_note_producer_options_t;

/* ---- Metadata of samplers and images in code object version 1 ---- */

/** amdgpu_hsa_metadata_kind_t in 16 bits. */
typedef uint16_t amdgpu_hsa_metadata_kind16_t;

/** Kind of metadata. */
typedef enum {
  AMDGPU_HSA_METADATA_KIND_NONE = 0, /**< None. */
  AMDGPU_HSA_METADATA_KIND_INIT_SAMP = 1, /**< Sampler. */
  AMDGPU_HSA_METADATA_KIND_INIT_ROIMG = 2, /**< Read-only image. */
  AMDGPU_HSA_METADATA_KIND_INIT_WOIMG = 3, /**< Write-only image. */
  AMDGPU_HSA_METADATA_KIND_INIT_RWIMG = 4 /**< Read and write image. */
} amdgpu_hsa_metadata_kind_t;

/** amdgpu_hsa_sampler_coord_t in 8 bits. */
typedef uint8_t amdgpu_hsa_sampler_coord8_t;

/** As hsa_ext_sampler_coordinate_mode_t. */
typedef enum {
  AMDGPU_HSA_SAMPLER_COORD_UNNORMALIZED = 0,
  AMDGPU_HSA_SAMPLER_COORD_NORMALIZED = 1
} amdgpu_hsa_sampler_coord_t;

/** amdgpu_hsa_sampler_filter_t in 8 bits. */
typedef uint8_t amdgpu_hsa_sampler_filter8_t;

/** As hsa_ext_sampler_filter_mode_t. */
typedef enum {
  AMDGPU_HSA_SAMPLER_FILTER_NEAREST = 0,
  AMDGPU_HSA_SAMPLER_FILTER_LINEAR = 1
} amdgpu_hsa_sampler_filter_t;

/** amdgpu_hsa_sampler_addressing_t in 8 bits. */
typedef uint8_t amdgpu_hsa_sampler_addressing8_t;

/** As hsa_ext_sampler_addressing_mode_t. */
typedef enum {
  AMDGPU_HSA_SAMPLER_ADDRESSING_UNDEFINED = 0,
  AMDGPU_HSA_SAMPLER_ADDRESSING_CLAMP_TO_EDGE = 1,
  AMDGPU_HSA_SAMPLER_ADDRESSING_CLAMP_TO_BORDER = 2,
  AMDGPU_HSA_SAMPLER_ADDRESSING_REPEAT = 3,
  AMDGPU_HSA_SAMPLER_ADDRESSING_MIRRORED_REPEAT = 4
} amdgpu_hsa_sampler_addressing_t;

/** A sampler to be made by the loader. */
typedef struct amdgpu_hsa_sampler_descriptor_s {
  uint16_t size; /**< Bytes. */
  amdgpu_hsa_metadata_kind16_t kind; /**< Kind. */
  amdgpu_hsa_sampler_coord8_t coord; /**< Unit of coordinates. */
  amdgpu_hsa_sampler_filter8_t filter; /**< How elements are combined. */
  amdgpu_hsa_sampler_addressing8_t addressing; /**< What is outside. */
  uint8_t reserved1; /**< Zero. */
} amdgpu_hsa_sampler_descriptor_t;

/** amdgpu_hsa_image_geometry_t in 8 bits. */
typedef uint8_t amdgpu_hsa_image_geometry8_t;

/** As hsa_ext_image_geometry_t. */
typedef enum {
  AMDGPU_HSA_IMAGE_GEOMETRY_1D = 0,
  AMDGPU_HSA_IMAGE_GEOMETRY_2D = 1,
  AMDGPU_HSA_IMAGE_GEOMETRY_3D = 2,
  AMDGPU_HSA_IMAGE_GEOMETRY_1DA = 3,
  AMDGPU_HSA_IMAGE_GEOMETRY_2DA = 4,
  AMDGPU_HSA_IMAGE_GEOMETRY_1DB = 5,
  AMDGPU_HSA_IMAGE_GEOMETRY_2DDEPTH = 6,
  AMDGPU_HSA_IMAGE_GEOMETRY_2DADEPTH = 7
} amdgpu_hsa_image_geometry_t;

/** amdgpu_hsa_image_channel_order_t in 8 bits. */
typedef uint8_t amdgpu_hsa_image_channel_order8_t;

/** As hsa_ext_image_channel_order_t. */
typedef enum {
  AMDGPU_HSA_IMAGE_CHANNEL_ORDER_A = 0,
  AMDGPU_HSA_IMAGE_CHANNEL_ORDER_R = 1,
  AMDGPU_HSA_IMAGE_CHANNEL_ORDER_RX = 2,
  AMDGPU_HSA_IMAGE_CHANNEL_ORDER_RG = 3,
  AMDGPU_HSA_IMAGE_CHANNEL_ORDER_RGX = 4,
  AMDGPU_HSA_IMAGE_CHANNEL_ORDER_RA = 5,
  AMDGPU_HSA_IMAGE_CHANNEL_ORDER_RGB = 6,
  AMDGPU_HSA_IMAGE_CHANNEL_ORDER_RGBX = 7,
  AMDGPU_HSA_IMAGE_CHANNEL_ORDER_RGBA = 8,
  AMDGPU_HSA_IMAGE_CHANNEL_ORDER_BGRA = 9,
  AMDGPU_HSA_IMAGE_CHANNEL_ORDER_ARGB = 10,
  AMDGPU_HSA_IMAGE_CHANNEL_ORDER_ABGR = 11,
  AMDGPU_HSA_IMAGE_CHANNEL_ORDER_SRGB = 12,
  AMDGPU_HSA_IMAGE_CHANNEL_ORDER_SRGBX = 13,
  AMDGPU_HSA_IMAGE_CHANNEL_ORDER_SRGBA = 14,
  AMDGPU_HSA_IMAGE_CHANNEL_ORDER_SBGRA = 15,
  AMDGPU_HSA_IMAGE_CHANNEL_ORDER_INTENSITY = 16,
  AMDGPU_HSA_IMAGE_CHANNEL_ORDER_LUMINANCE = 17,
  AMDGPU_HSA_IMAGE_CHANNEL_ORDER_DEPTH = 18,
  AMDGPU_HSA_IMAGE_CHANNEL_ORDER_DEPTH_STENCIL = 19
} amdgpu_hsa_image_channel_order_t;

/** amdgpu_hsa_image_channel_type_t in 8 bits. */
typedef uint8_t amdgpu_hsa_image_channel_type8_t;

/** As hsa_ext_image_channel_type_t. */
typedef enum {
  AMDGPU_HSA_IMAGE_CHANNEL_TYPE_SNORM_INT8 = 0,
  AMDGPU_HSA_IMAGE_CHANNEL_TYPE_SNORM_INT16 = 1,
  AMDGPU_HSA_IMAGE_CHANNEL_TYPE_UNORM_INT8 = 2,
  AMDGPU_HSA_IMAGE_CHANNEL_TYPE_UNORM_INT16 = 3,
  AMDGPU_HSA_IMAGE_CHANNEL_TYPE_UNORM_INT24 = 4,
  AMDGPU_HSA_IMAGE_CHANNEL_TYPE_SHORT_555 = 5,
  AMDGPU_HSA_IMAGE_CHANNEL_TYPE_SHORT_565 = 6,
  AMDGPU_HSA_IMAGE_CHANNEL_TYPE_INT_101010 = 7,
  AMDGPU_HSA_IMAGE_CHANNEL_TYPE_SIGNED_INT8 = 8,
  AMDGPU_HSA_IMAGE_CHANNEL_TYPE_SIGNED_INT16 = 9,
  AMDGPU_HSA_IMAGE_CHANNEL_TYPE_SIGNED_INT32 = 10,
  AMDGPU_HSA_IMAGE_CHANNEL_TYPE_UNSIGNED_INT8 = 11,
  AMDGPU_HSA_IMAGE_CHANNEL_TYPE_UNSIGNED_INT16 = 12,
  AMDGPU_HSA_IMAGE_CHANNEL_TYPE_UNSIGNED_INT32 = 13,
  AMDGPU_HSA_IMAGE_CHANNEL_TYPE_HALF_FLOAT = 14,
  AMDGPU_HSA_IMAGE_CHANNEL_TYPE_FLOAT = 15
} amdgpu_hsa_image_channel_type_t;

/** An image to be made by the loader. */
typedef struct amdgpu_hsa_image_descriptor_s {
  uint16_t size; /**< Bytes. */
  amdgpu_hsa_metadata_kind16_t kind; /**< Kind. */
  amdgpu_hsa_image_geometry8_t geometry; /**< Shape. */
  amdgpu_hsa_image_channel_order8_t channel_order; /**< Channel order. */
  amdgpu_hsa_image_channel_type8_t channel_type; /**< Channel type. */
  uint8_t reserved1; /**< Zero. */
  uint64_t width; /**< Columns. */
  uint64_t height; /**< Rows. */
  uint64_t depth; /**< Slices. */
  uint64_t array; /**< Layers. */
} amdgpu_hsa_image_descriptor_t;

/** Data sections. */
typedef enum {
  AMDGPU_HSA_RODATA_GLOBAL_PROGRAM = 0, /**< Initialised and constant, global, of the program. */
  AMDGPU_HSA_RODATA_GLOBAL_AGENT, /**< Initialised and constant, global, of one agent. */
  AMDGPU_HSA_RODATA_READONLY_AGENT, /**< Initialised and constant, read-only, of one agent. */
  AMDGPU_HSA_DATA_GLOBAL_PROGRAM, /**< Initialised, global, of the program. */
  AMDGPU_HSA_DATA_GLOBAL_AGENT, /**< Initialised, global, of one agent. */
  AMDGPU_HSA_DATA_READONLY_AGENT, /**< Initialised, read-only, of one agent. */
  AMDGPU_HSA_BSS_GLOBAL_PROGRAM, /**< Zero, global, of the program. */
  AMDGPU_HSA_BSS_GLOBAL_AGENT, /**< Zero, global, of one agent. */
  AMDGPU_HSA_BSS_READONLY_AGENT, /**< Zero, read-only, of one agent. */
  AMDGPU_HSA_SECTION_LAST /**< Number of sections. */
} amdgpu_hsa_elf_section_t;

#endif /* AMD_HSA_ELF_H */
