/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 * Part of Hansa, an HSA runtime.
 *
 * Finalizer: extension HSA_EXTENSION_FINALIZER, version 1.0.
 */
#ifndef HSA_RUNTIME_INC_HSA_EXT_FINALIZE_H_
#define HSA_RUNTIME_INC_HSA_EXT_FINALIZE_H_

#include "hsa.h"

#undef HSA_API
#ifdef HSA_EXPORT_FINALIZER
#define HSA_API HSA_API_EXPORT
#else
#define HSA_API HSA_API_IMPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status codes ---- */

/** Codes added to hsa_status_t. */
enum {
  HSA_EXT_STATUS_ERROR_INVALID_PROGRAM = 0x2000, /**< The handle names no program. */
  HSA_EXT_STATUS_ERROR_INVALID_MODULE = 0x2001, /**< The module is not valid HSAIL. */
  /** The module was made for another machine model, profile or rounding than the program. */
  HSA_EXT_STATUS_ERROR_INCOMPATIBLE_MODULE = 0x2002,
  HSA_EXT_STATUS_ERROR_MODULE_ALREADY_INCLUDED = 0x2003, /**< The module is already part of the program. */
  /** Modules of the program declare a symbol in different ways. */
  HSA_EXT_STATUS_ERROR_SYMBOL_MISMATCH = 0x2004,
  HSA_EXT_STATUS_ERROR_FINALIZATION_FAILED = 0x2005, /**< The finalizer could not make code of the program. */
  HSA_EXT_STATUS_ERROR_DIRECTIVE_MISMATCH = 0x2006 /**< The program contradicts a control directive. */
};

/* ---- Programs ---- */

/* A BRIG module: starts with the module header that the HSA PRM describes. */
struct BrigModuleHeader;
typedef struct BrigModuleHeader *BrigModule_t;
typedef BrigModule_t hsa_ext_module_t;

/** Names a program: modules to be finalized together. */
typedef struct hsa_ext_program_s {
  uint64_t handle; /**< The handle itself. */
} hsa_ext_program_t;

/** Creates an empty program. */
hsa_status_t HSA_API hsa_ext_program_create(
    hsa_machine_model_t machine_model, hsa_profile_t profile,
    hsa_default_float_rounding_mode_t default_float_rounding_mode, const char *options,
    hsa_ext_program_t *program);

/** Destroys a program, not its modules. */
hsa_status_t HSA_API hsa_ext_program_destroy(hsa_ext_program_t program);

/** Adds a module, which must outlive the program. */
hsa_status_t HSA_API hsa_ext_program_add_module(hsa_ext_program_t program, hsa_ext_module_t module);

/** Calls back for every module of a program. */
hsa_status_t HSA_API hsa_ext_program_iterate_modules(
    hsa_ext_program_t program,
    hsa_status_t (*callback)(hsa_ext_program_t program, hsa_ext_module_t module, void *data),
    void *data);

/** What hsa_ext_program_get_info can be asked. */
typedef enum {
  HSA_EXT_PROGRAM_INFO_MACHINE_MODEL = 0, /**< hsa_machine_model_t: its address width. */
  HSA_EXT_PROGRAM_INFO_PROFILE = 1, /**< hsa_profile_t: its profile. */
  /** hsa_default_float_rounding_mode_t: its default rounding. */
  HSA_EXT_PROGRAM_INFO_DEFAULT_FLOAT_ROUNDING_MODE = 2
} hsa_ext_program_info_t;

/** Reads one property of a program. */
hsa_status_t HSA_API hsa_ext_program_get_info(
    hsa_ext_program_t program, hsa_ext_program_info_t attribute, void *value);

/** Call convention of finalized code. */
typedef enum {
  HSA_EXT_FINALIZER_CALL_CONVENTION_AUTO = -1 /**< The finalizer chooses. */
} hsa_ext_finalizer_call_convention_t;

/** Directives for the whole program; the mask says which hold. */
typedef struct hsa_ext_control_directives_s {
  uint64_t control_directives_mask; /**< One bit for each directive given. */
  uint16_t break_exceptions_mask; /**< Exceptions that break. */
  uint16_t detect_exceptions_mask; /**< Exceptions that are detected. */
  uint32_t max_dynamic_group_size; /**< Most dynamic group bytes. */
  uint64_t max_flat_grid_size; /**< Most work-items of a grid. */
  uint32_t max_flat_workgroup_size; /**< Most work-items of a work-group. */
  uint32_t reserved1; /**< Zero. */
  uint64_t required_grid_size[3]; /**< Grid that will be used. */
  hsa_dim3_t required_workgroup_size; /**< Work-group that will be used. */
  uint8_t required_dim; /**< Dimensions that will be used. */
  uint8_t reserved2[75]; /**< Zero. */
} hsa_ext_control_directives_t;

/** Makes a code object for an instruction set. */
hsa_status_t HSA_API hsa_ext_program_finalize(
    hsa_ext_program_t program, hsa_isa_t isa, int32_t call_convention,
    hsa_ext_control_directives_t control_directives, const char *options,
    hsa_code_object_type_t code_object_type, hsa_code_object_t *code_object);

/* ---- Function table ---- */

#define hsa_ext_finalizer_1_00
/** Functions of the finalizer extension 1.0. */
typedef struct hsa_ext_finalizer_1_00_pfn_s {
  hsa_status_t (*hsa_ext_program_create)(
      hsa_machine_model_t machine_model, hsa_profile_t profile,
      hsa_default_float_rounding_mode_t default_float_rounding_mode, const char *options,
      hsa_ext_program_t *program);
  hsa_status_t (*hsa_ext_program_destroy)(hsa_ext_program_t program);
  hsa_status_t (*hsa_ext_program_add_module)(hsa_ext_program_t program, hsa_ext_module_t module);
  hsa_status_t (*hsa_ext_program_iterate_modules)(
      hsa_ext_program_t program,
      hsa_status_t (*callback)(hsa_ext_program_t program, hsa_ext_module_t module, void *data),
      void *data);
  hsa_status_t (*hsa_ext_program_get_info)(
      hsa_ext_program_t program, hsa_ext_program_info_t attribute, void *value);
  hsa_status_t (*hsa_ext_program_finalize)(
      hsa_ext_program_t program, hsa_isa_t isa, int32_t call_convention,
      hsa_ext_control_directives_t control_directives, const char *options,
      hsa_code_object_type_t code_object_type, hsa_code_object_t *code_object);
} hsa_ext_finalizer_1_00_pfn_t;

#ifdef __cplusplus
}
#endif

#endif /* HSA_RUNTIME_INC_HSA_EXT_FINALIZE_H_ */
