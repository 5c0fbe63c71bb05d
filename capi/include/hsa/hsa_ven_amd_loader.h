/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 * Part of Hansa, an HSA runtime.
 *
 * Loader queries: extension HSA_EXTENSION_AMD_LOADER, version 1.4.
 *
 * The library exports none of these functions; ask hsa_system_get_major_extension_table for them.
 */
#ifndef HSA_VEN_AMD_LOADER_H
#define HSA_VEN_AMD_LOADER_H

#include "hsa.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Where code comes from and where it is ---- */

/** Gives the host copy of an address in loaded code. */
hsa_status_t HSA_API hsa_ven_amd_loader_query_host_address(
    const void *device_address, const void **host_address);

/** Where a code object was read from. */
typedef enum {
  HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_NONE = 0, /**< Nowhere: memory of the executable itself. */
  HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_FILE = 1, /**< A file. */
  HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY = 2 /**< Memory. */
} hsa_ven_amd_loader_code_object_storage_type_t;

/** One loaded segment. */
typedef struct hsa_ven_amd_loader_segment_descriptor_s {
  hsa_agent_t agent; /**< Agent it was loaded for. */
  hsa_executable_t executable; /**< Its executable. */
  /** Where its code object was read from. */
  hsa_ven_amd_loader_code_object_storage_type_t code_object_storage_type;
  const void *code_object_storage_base; /**< Memory or file name of the code object. */
  size_t code_object_storage_size; /**< Bytes of the memory, or length of the name. */
  size_t code_object_storage_offset; /**< First byte of the segment in the code object. */
  const void *segment_base; /**< First byte of the segment as the agent sees it. */
  size_t segment_size; /**< Bytes of the segment. */
} hsa_ven_amd_loader_segment_descriptor_t;

/** Lists all loaded segments; a NULL list and 0 ask for their number. */
hsa_status_t HSA_API hsa_ven_amd_loader_query_segment_descriptors(
    hsa_ven_amd_loader_segment_descriptor_t *segment_descriptors, size_t *num_segment_descriptors);

/** Gives the executable an address in loaded code belongs to. */
hsa_status_t HSA_API hsa_ven_amd_loader_query_executable(
    const void *device_address, hsa_executable_t *executable);

/** Calls back for every code object of an executable. */
hsa_status_t HSA_API hsa_ven_amd_loader_executable_iterate_loaded_code_objects(
    hsa_executable_t executable,
    hsa_status_t (*callback)(hsa_executable_t executable, hsa_loaded_code_object_t loaded_code_object, void *data),
    void *data);

/** Whom a loaded code object belongs to. */
typedef enum {
  HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_KIND_PROGRAM = 1, /**< The program. */
  HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_KIND_AGENT = 2 /**< An agent. */
} hsa_ven_amd_loader_loaded_code_object_kind_t;

/** What hsa_ven_amd_loader_loaded_code_object_get_info can be asked. */
typedef enum hsa_ven_amd_loader_loaded_code_object_info_e {
  HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_EXECUTABLE = 1, /**< hsa_executable_t: its executable. */
  /** uint32_t: hsa_ven_amd_loader_loaded_code_object_kind_t. */
  HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_KIND = 2,
  HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_AGENT = 3, /**< hsa_agent_t: its agent. */
  /** uint32_t: hsa_ven_amd_loader_code_object_storage_type_t. */
  HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_TYPE = 4,
  /** uint64_t: memory it was read from. */
  HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_BASE = 5,
  /** uint64_t: bytes of that memory. */
  HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_SIZE = 6,
  HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_FILE = 7, /**< int: file it was read from. */
  /** int64_t: loaded address less linked address. */
  HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_DELTA = 8,
  HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_BASE = 9, /**< uint64_t: first loaded address. */
  HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_SIZE = 10, /**< uint64_t: loaded bytes. */
  /** uint32_t: length of the URI without terminator. */
  HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI_LENGTH = 11,
  HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI = 12 /**< char[]: URI, not terminated. */
} hsa_ven_amd_loader_loaded_code_object_info_t;

/** Reads one property of a loaded code object. */
hsa_status_t HSA_API hsa_ven_amd_loader_loaded_code_object_get_info(
    hsa_loaded_code_object_t loaded_code_object,
    hsa_ven_amd_loader_loaded_code_object_info_t attribute, void *value);

/** Makes a reader of a part of a file. */
hsa_status_t HSA_API hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size(
    hsa_file_t file, size_t offset, size_t size, hsa_code_object_reader_t *code_object_reader);

/** Calls back for every executable of the process. */
hsa_status_t HSA_API hsa_ven_amd_loader_iterate_executables(
    hsa_status_t (*callback)(hsa_executable_t executable, void *data), void *data);

/** Tells how many bytes a code object takes when loaded. */
hsa_status_t HSA_API hsa_ven_amd_loader_code_object_reader_get_load_size(
    hsa_code_object_reader_t code_object_reader, size_t *load_size);

/** Loads a code object for an agent at a given address. */
hsa_status_t HSA_API hsa_ven_amd_loader_executable_load_agent_code_object_at_address(
    hsa_executable_t executable, hsa_agent_t agent, hsa_code_object_reader_t code_object_reader,
    const char *options, void *load_address, size_t load_size,
    hsa_loaded_code_object_t *loaded_code_object);

/** Version of this extension. */
#define hsa_ven_amd_loader 001004

/* ---- Function tables ---- */

/** Functions of the loader extension 1.0. */
typedef struct hsa_ven_amd_loader_1_00_pfn_s {
  hsa_status_t (*hsa_ven_amd_loader_query_host_address)(
      const void *device_address, const void **host_address);
  hsa_status_t (*hsa_ven_amd_loader_query_segment_descriptors)(
      hsa_ven_amd_loader_segment_descriptor_t *segment_descriptors,
      size_t *num_segment_descriptors);
  hsa_status_t (*hsa_ven_amd_loader_query_executable)(
      const void *device_address, hsa_executable_t *executable);
} hsa_ven_amd_loader_1_00_pfn_t;

/** Functions of the loader extension 1.1. */
typedef struct hsa_ven_amd_loader_1_01_pfn_s {
  hsa_status_t (*hsa_ven_amd_loader_query_host_address)(
      const void *device_address, const void **host_address);
  hsa_status_t (*hsa_ven_amd_loader_query_segment_descriptors)(
      hsa_ven_amd_loader_segment_descriptor_t *segment_descriptors,
      size_t *num_segment_descriptors);
  hsa_status_t (*hsa_ven_amd_loader_query_executable)(
      const void *device_address, hsa_executable_t *executable);
  hsa_status_t (*hsa_ven_amd_loader_executable_iterate_loaded_code_objects)(
      hsa_executable_t executable,
      hsa_status_t (*callback)(hsa_executable_t executable, hsa_loaded_code_object_t loaded_code_object, void *data),
      void *data);
  hsa_status_t (*hsa_ven_amd_loader_loaded_code_object_get_info)(
      hsa_loaded_code_object_t loaded_code_object,
      hsa_ven_amd_loader_loaded_code_object_info_t attribute, void *value);
} hsa_ven_amd_loader_1_01_pfn_t;

/** Functions of the loader extension 1.2. */
typedef struct hsa_ven_amd_loader_1_02_pfn_s {
  hsa_status_t (*hsa_ven_amd_loader_query_host_address)(
      const void *device_address, const void **host_address);
  hsa_status_t (*hsa_ven_amd_loader_query_segment_descriptors)(
      hsa_ven_amd_loader_segment_descriptor_t *segment_descriptors,
      size_t *num_segment_descriptors);
  hsa_status_t (*hsa_ven_amd_loader_query_executable)(
      const void *device_address, hsa_executable_t *executable);
  hsa_status_t (*hsa_ven_amd_loader_executable_iterate_loaded_code_objects)(
      hsa_executable_t executable,
      hsa_status_t (*callback)(hsa_executable_t executable, hsa_loaded_code_object_t loaded_code_object, void *data),
      void *data);
  hsa_status_t (*hsa_ven_amd_loader_loaded_code_object_get_info)(
      hsa_loaded_code_object_t loaded_code_object,
      hsa_ven_amd_loader_loaded_code_object_info_t attribute, void *value);
  hsa_status_t (*hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size)(
      hsa_file_t file, size_t offset, size_t size, hsa_code_object_reader_t *code_object_reader);
} hsa_ven_amd_loader_1_02_pfn_t;

/** Functions of the loader extension 1.3. */
typedef struct hsa_ven_amd_loader_1_03_pfn_s {
  hsa_status_t (*hsa_ven_amd_loader_query_host_address)(
      const void *device_address, const void **host_address);
  hsa_status_t (*hsa_ven_amd_loader_query_segment_descriptors)(
      hsa_ven_amd_loader_segment_descriptor_t *segment_descriptors,
      size_t *num_segment_descriptors);
  hsa_status_t (*hsa_ven_amd_loader_query_executable)(
      const void *device_address, hsa_executable_t *executable);
  hsa_status_t (*hsa_ven_amd_loader_executable_iterate_loaded_code_objects)(
      hsa_executable_t executable,
      hsa_status_t (*callback)(hsa_executable_t executable, hsa_loaded_code_object_t loaded_code_object, void *data),
      void *data);
  hsa_status_t (*hsa_ven_amd_loader_loaded_code_object_get_info)(
      hsa_loaded_code_object_t loaded_code_object,
      hsa_ven_amd_loader_loaded_code_object_info_t attribute, void *value);
  hsa_status_t (*hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size)(
      hsa_file_t file, size_t offset, size_t size, hsa_code_object_reader_t *code_object_reader);
  hsa_status_t (*hsa_ven_amd_loader_iterate_executables)(
      hsa_status_t (*callback)(hsa_executable_t executable, void *data), void *data);
} hsa_ven_amd_loader_1_03_pfn_t;

/** Functions of the loader extension 1.4. */
typedef struct hsa_ven_amd_loader_1_04_pfn_s {
  hsa_status_t (*hsa_ven_amd_loader_query_host_address)(
      const void *device_address, const void **host_address);
  hsa_status_t (*hsa_ven_amd_loader_query_segment_descriptors)(
      hsa_ven_amd_loader_segment_descriptor_t *segment_descriptors,
      size_t *num_segment_descriptors);
  hsa_status_t (*hsa_ven_amd_loader_query_executable)(
      const void *device_address, hsa_executable_t *executable);
  hsa_status_t (*hsa_ven_amd_loader_executable_iterate_loaded_code_objects)(
      hsa_executable_t executable,
      hsa_status_t (*callback)(hsa_executable_t executable, hsa_loaded_code_object_t loaded_code_object, void *data),
      void *data);
  hsa_status_t (*hsa_ven_amd_loader_loaded_code_object_get_info)(
      hsa_loaded_code_object_t loaded_code_object,
      hsa_ven_amd_loader_loaded_code_object_info_t attribute, void *value);
  hsa_status_t (*hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size)(
      hsa_file_t file, size_t offset, size_t size, hsa_code_object_reader_t *code_object_reader);
  hsa_status_t (*hsa_ven_amd_loader_iterate_executables)(
      hsa_status_t (*callback)(hsa_executable_t executable, void *data), void *data);
  hsa_status_t (*hsa_ven_amd_loader_code_object_reader_get_load_size)(
      hsa_code_object_reader_t code_object_reader, size_t *load_size);
  hsa_status_t (*hsa_ven_amd_loader_executable_load_agent_code_object_at_address)(
      hsa_executable_t executable, hsa_agent_t agent, hsa_code_object_reader_t code_object_reader,
      const char *options, void *load_address, size_t load_size,
      hsa_loaded_code_object_t *loaded_code_object);
} hsa_ven_amd_loader_1_04_pfn_t;

#ifdef __cplusplus
}
#endif

#endif /* HSA_VEN_AMD_LOADER_H */
