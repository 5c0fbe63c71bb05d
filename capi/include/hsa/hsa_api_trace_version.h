/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 * Part of Hansa, an HSA runtime.
 *
 * Versions of the API tables, usable in preprocessor conditions.
 */
#ifndef HSA_RUNTIME_INC_HSA_API_TRACE_VERSION_H
#define HSA_RUNTIME_INC_HSA_API_TRACE_VERSION_H

/** Major version of the root. */
#define HSA_API_TABLE_MAJOR_VERSION 0x03
/** Major version of CoreApiTable. */
#define HSA_CORE_API_TABLE_MAJOR_VERSION 0x02
/** Major version of AmdExtTable. */
#define HSA_AMD_EXT_API_TABLE_MAJOR_VERSION 0x02
/** Major version of FinalizerExtTable. */
#define HSA_FINALIZER_API_TABLE_MAJOR_VERSION 0x02
/** Major version of ImageExtTable. */
#define HSA_IMAGE_API_TABLE_MAJOR_VERSION 0x02
/** Major version of the aqlprofile table. */
#define HSA_AQLPROFILE_API_TABLE_MAJOR_VERSION 0x01
/** Major version of ToolsApiTable. */
#define HSA_TOOLS_API_TABLE_MAJOR_VERSION 0x01
/** Major version of PcSamplingExtTable. */
#define HSA_PC_SAMPLING_API_TABLE_MAJOR_VERSION 0x01

/** Step of the root: counts its additions. */
#define HSA_API_TABLE_STEP_VERSION 0x01
/** Step of CoreApiTable: counts its additions. */
#define HSA_CORE_API_TABLE_STEP_VERSION 0x00
/** Step of AmdExtTable: counts its additions. */
#define HSA_AMD_EXT_API_TABLE_STEP_VERSION 0x15
/** Step of FinalizerExtTable: counts its additions. */
#define HSA_FINALIZER_API_TABLE_STEP_VERSION 0x00
/** Step of ImageExtTable: counts its additions. */
#define HSA_IMAGE_API_TABLE_STEP_VERSION 0x01
/** Step of the aqlprofile table: counts its additions. */
#define HSA_AQLPROFILE_API_TABLE_STEP_VERSION 0x00
/** Step of ToolsApiTable: counts its additions. */
#define HSA_TOOLS_API_TABLE_STEP_VERSION 0x00
/** Step of PcSamplingExtTable: counts its additions. */
#define HSA_PC_SAMPLING_API_TABLE_STEP_VERSION 0x00

#endif /* HSA_RUNTIME_INC_HSA_API_TRACE_VERSION_H */
