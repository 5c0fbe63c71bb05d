/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 * Part of Hansa, an HSA runtime.
 *
 * Counter and trace packets: extension HSA_EXTENSION_AMD_AQLPROFILE, version 1.0.
 *
 * The functions are those of a library of its own, which the runtime loads when asked for the
 * extension table.
 */
#ifndef OPENSRC_HSA_RUNTIME_INC_HSA_VEN_AMD_AQLPROFILE_H_
#define OPENSRC_HSA_RUNTIME_INC_HSA_VEN_AMD_AQLPROFILE_H_

#include "hsa.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Versions ---- */

/** Major version of the library. */
#define HSA_AQLPROFILE_VERSION_MAJOR 2

/** Minor version of the library. */
#define HSA_AQLPROFILE_VERSION_MINOR 0

/** Major version of the extension. */
#define hsa_ven_amd_aqlprofile_VERSION_MAJOR 1

/** Gives the major version of the library. */
uint32_t HSA_API hsa_ven_amd_aqlprofile_version_major(void);

/** Gives the minor version of the library. */
uint32_t HSA_API hsa_ven_amd_aqlprofile_version_minor(void);

/* ---- Events ---- */

/** Kind of profile. */
typedef enum {
  HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_PMC = 0, /**< Performance counters. */
  HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_TRACE = 1 /**< Trace. */
} hsa_ven_amd_aqlprofile_event_type_t;

/** Hardware block with counters. */
typedef enum {
  HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_CPC = 0, /**< Block CPC. */
  HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_CPF = 1, /**< Block CPF. */
  HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_GDS = 2, /**< Block GDS. */
  HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_GRBM = 3, /**< Block GRBM. */
  HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_GRBMSE = 4, /**< Block GRBMSE. */
  HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SPI = 5, /**< Block SPI. */
  HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SQ = 6, /**< Block SQ. */
  HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SQCS = 7, /**< Block SQCS. */
  HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SRBM = 8, /**< Block SRBM. */
  HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SX = 9, /**< Block SX. */
  HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_TA = 10, /**< Block TA. */
  HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_TCA = 11, /**< Block TCA. */
  HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_TCC = 12, /**< Block TCC. */
  HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_TCP = 13, /**< Block TCP. */
  HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_TD = 14, /**< Block TD. */
  HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_MCARB = 15, /**< Block MCARB. */
  HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_MCHUB = 16, /**< Block MCHUB. */
  HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_MCMCBVM = 17, /**< Block MCMCBVM. */
  HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_MCSEQ = 18, /**< Block MCSEQ. */
  HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_MCVML2 = 19, /**< Block MCVML2. */
  HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_MCXBAR = 20, /**< Block MCXBAR. */
  HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_ATC = 21, /**< Block ATC. */
  HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_ATCL2 = 22, /**< Block ATCL2. */
  HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_GCEA = 23, /**< Block GCEA. */
  HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_RPB = 24, /**< Block RPB. */
  HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SDMA = 25, /**< Block SDMA. */
  HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_GL1A = 26, /**< Block GL1A. */
  HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_GL1C = 27, /**< Block GL1C. */
  HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_GL2A = 28, /**< Block GL2A. */
  HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_GL2C = 29, /**< Block GL2C. */
  HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_GCR = 30, /**< Block GCR. */
  HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_GUS = 31, /**< Block GUS. */
  HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_UMC = 32, /**< Block UMC. */
  HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_MMEA = 33, /**< Block MMEA. */
  HSA_VEN_AMD_AQLPROFILE_BLOCKS_NUMBER = 34 /**< Number of blocks. */
} hsa_ven_amd_aqlprofile_block_name_t;

/** One counter. */
typedef struct {
  hsa_ven_amd_aqlprofile_block_name_t block_name; /**< Block. */
  uint32_t block_index; /**< Which of the blocks of that name. */
  uint32_t counter_id; /**< Counter of the block. */
} hsa_ven_amd_aqlprofile_event_t;

/** Tells whether an agent has a counter. */
hsa_status_t HSA_API hsa_ven_amd_aqlprofile_validate_event(
    hsa_agent_t agent, const hsa_ven_amd_aqlprofile_event_t *event, bool *result);

/** Parameter of a trace. */
typedef enum {
  HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_COMPUTE_UNIT_TARGET = 0, /**< Compute unit to trace. */
  HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_VM_ID_MASK = 1, /**< Virtual memory ids to trace. */
  HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_MASK = 2, /**< Trace mask. */
  HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_TOKEN_MASK = 3, /**< Token mask. */
  HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_TOKEN_MASK2 = 4, /**< Second token mask. */
  HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_SE_MASK = 5, /**< Shader engines to trace. */
  HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_SAMPLE_RATE = 6, /**< Sample rate. */
  HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_K_CONCURRENT = 7, /**< Whether kernels run at the same time. */
  HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_SIMD_SELECTION = 8, /**< SIMDs to trace. */
  HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_OCCUPANCY_MODE = 9, /**< Occupancy mode. */
  HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_ATT_BUFFER_SIZE = 10, /**< Bytes of the trace buffer. */
  HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_PERFCOUNTER_MASK = 240, /**< Counters in the trace: mask. */
  HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_PERFCOUNTER_CTRL = 241, /**< Counters in the trace: control. */
  HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_PERFCOUNTER_NAME = 242 /**< Counters in the trace: name. */
} hsa_ven_amd_aqlprofile_parameter_name_t;

/** One parameter. */
typedef struct {
  hsa_ven_amd_aqlprofile_parameter_name_t parameter_name; /**< Parameter. */
  uint32_t value; /**< Its value. */
} hsa_ven_amd_aqlprofile_parameter_t;

/** Channel of a marker. */
typedef enum {
  HSA_VEN_AMD_AQLPROFILE_ATT_CHANNEL_0 = 0, /**< Channel 0. */
  HSA_VEN_AMD_AQLPROFILE_ATT_CHANNEL_1 = 1, /**< Channel 1. */
  HSA_VEN_AMD_AQLPROFILE_ATT_CHANNEL_2 = 2, /**< Channel 2. */
  HSA_VEN_AMD_AQLPROFILE_ATT_CHANNEL_3 = 3 /**< Channel 3. */
} hsa_ven_amd_aqlprofile_att_marker_channel_t;

/** A buffer. */
typedef struct {
  void *ptr; /**< First byte. */
  uint32_t size; /**< Bytes. */
} hsa_ven_amd_aqlprofile_descriptor_t;

/** What to measure and where to. */
typedef struct {
  hsa_agent_t agent; /**< Agent. */
  hsa_ven_amd_aqlprofile_event_type_t type; /**< Kind. */
  const hsa_ven_amd_aqlprofile_event_t *events; /**< Counters. */
  uint32_t event_count; /**< Number of counters. */
  const hsa_ven_amd_aqlprofile_parameter_t *parameters; /**< Parameters. */
  uint32_t parameter_count; /**< Number of parameters. */
  hsa_ven_amd_aqlprofile_descriptor_t output_buffer; /**< Where results go. */
  hsa_ven_amd_aqlprofile_descriptor_t command_buffer; /**< Where commands go. */
} hsa_ven_amd_aqlprofile_profile_t;

/** Vendor packet with commands. */
typedef struct {
  uint16_t header; /**< Type, barrier and fences. */
  uint16_t pm4_command[27]; /**< Commands. */
  hsa_signal_t completion_signal; /**< Decremented at the end; 0 for none. */
} hsa_ext_amd_aql_pm4_packet_t;

/** Makes the packet that starts measuring. */
hsa_status_t HSA_API hsa_ven_amd_aqlprofile_start(
    hsa_ven_amd_aqlprofile_profile_t *profile, hsa_ext_amd_aql_pm4_packet_t *aql_start_packet);

/** Makes the packet that stops measuring. */
hsa_status_t HSA_API hsa_ven_amd_aqlprofile_stop(
    const hsa_ven_amd_aqlprofile_profile_t *profile, hsa_ext_amd_aql_pm4_packet_t *aql_stop_packet);

/** Makes the packet that reads counters. */
hsa_status_t HSA_API hsa_ven_amd_aqlprofile_read(
    const hsa_ven_amd_aqlprofile_profile_t *profile, hsa_ext_amd_aql_pm4_packet_t *aql_read_packet);

/** Makes the packet that puts a marker into a trace. */
hsa_status_t HSA_API hsa_ven_amd_aqlprofile_att_marker(
    hsa_ven_amd_aqlprofile_profile_t *profile, hsa_ext_amd_aql_pm4_packet_t *aql_marker_packet,
    uint32_t data, hsa_ven_amd_aqlprofile_att_marker_channel_t channel);

/* Bytes of a packet that hsa_ven_amd_aqlprofile_legacy_get_pm4 makes. */
enum { HSA_VEN_AMD_AQLPROFILE_LEGACY_PM4_PACKET_SIZE = 192 };

/** Makes the commands of a packet for GPUs that take them only in a ring. */
hsa_status_t HSA_API hsa_ven_amd_aqlprofile_legacy_get_pm4(
    const hsa_ext_amd_aql_pm4_packet_t *aql_packet, void *data);

/* One result. */
typedef struct {
  uint32_t sample_id; /**< Number of the sample. */
  HSA_EXTENSION union {
    HSA_EXTENSION struct {
      hsa_ven_amd_aqlprofile_event_t event; /**< Counter. */
      uint64_t result; /**< Its value. */
    } pmc_data; /**< For counters. */
    hsa_ven_amd_aqlprofile_descriptor_t trace_data; /**< For a trace. */
  };
} hsa_ven_amd_aqlprofile_info_data_t;

/* Asks for a block by its name. */
typedef struct {
  const char *name; /**< Name. */
  uint32_t id; /**< Out: block. */
  uint32_t instance_count; /**< Out: how many there are. */
} hsa_ven_amd_aqlprofile_id_query_t;

/** What hsa_ven_amd_aqlprofile_get_info can be asked. */
typedef enum {
  HSA_VEN_AMD_AQLPROFILE_INFO_COMMAND_BUFFER_SIZE = 0, /**< uint32_t: bytes of the command buffer. */
  HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA_SIZE = 1, /**< uint32_t: bytes of the counter values. */
  HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA = 2, /**< hsa_ven_amd_aqlprofile_info_data_t: a counter value. */
  HSA_VEN_AMD_AQLPROFILE_INFO_TRACE_DATA = 3, /**< hsa_ven_amd_aqlprofile_info_data_t: trace data. */
  HSA_VEN_AMD_AQLPROFILE_INFO_BLOCK_COUNTERS = 4, /**< uint32_t: counters of a block. */
  HSA_VEN_AMD_AQLPROFILE_INFO_BLOCK_ID = 5, /**< hsa_ven_amd_aqlprofile_id_query_t: a block by its name. */
  /** hsa_ven_amd_aqlprofile_descriptor_t: commands that enable profiling. */
  HSA_VEN_AMD_AQLPROFILE_INFO_ENABLE_CMD = 6,
  /** hsa_ven_amd_aqlprofile_descriptor_t: commands that disable profiling. */
  HSA_VEN_AMD_AQLPROFILE_INFO_DISABLE_CMD = 7
} hsa_ven_amd_aqlprofile_info_type_t;

/** Called once for each result. */
typedef hsa_status_t (*hsa_ven_amd_aqlprofile_data_callback_t)(
    hsa_ven_amd_aqlprofile_info_type_t info_type, hsa_ven_amd_aqlprofile_info_data_t *info_data,
    void *callback_data);

/** Reads one property of a profile. */
hsa_status_t HSA_API hsa_ven_amd_aqlprofile_get_info(
    const hsa_ven_amd_aqlprofile_profile_t *profile, hsa_ven_amd_aqlprofile_info_type_t attribute,
    void *value);

/** Calls back for every result. */
hsa_status_t HSA_API hsa_ven_amd_aqlprofile_iterate_data(
    const hsa_ven_amd_aqlprofile_profile_t *profile,
    hsa_ven_amd_aqlprofile_data_callback_t callback, void *data);

/** Gives the text of the last error. */
hsa_status_t HSA_API hsa_ven_amd_aqlprofile_error_string(const char **str);

/** Called once for each event name. */
typedef hsa_status_t (*hsa_ven_amd_aqlprofile_eventname_callback_t)(int id, const char *name);

/** Calls back for every event name. */
hsa_status_t HSA_API hsa_ven_amd_aqlprofile_iterate_event_ids(
    hsa_ven_amd_aqlprofile_eventname_callback_t callback);

/** Called once for each coordinate. */
typedef hsa_status_t (*hsa_ven_amd_aqlprofile_coordinate_callback_t)(
    int position, int id, int extent, int coordinate, const char *name, void *userdata);

/** Calls back for every coordinate of an event. */
hsa_status_t HSA_API hsa_ven_amd_aqlprofile_iterate_event_coord(
    hsa_agent_t agent, hsa_ven_amd_aqlprofile_event_t event, uint32_t sample_id,
    hsa_ven_amd_aqlprofile_coordinate_callback_t callback, void *userdata);

/* ---- Library and function table ---- */

/** File name of the library, with what stands between its name and the extension. */
#define hsa_ven_amd_aqlprofile_LIB(suff) "libhsa-amd-aqlprofile" suff ".so"

/** File name of the library for this machine model. */
#ifdef HSA_LARGE_MODEL
static const char kAqlProfileLib[] HSA_UNUSED = hsa_ven_amd_aqlprofile_LIB("64");
#else
static const char kAqlProfileLib[] HSA_UNUSED = hsa_ven_amd_aqlprofile_LIB("");
#endif

/** Functions of the counter and trace packet library 1.0. */
typedef struct hsa_ven_amd_aqlprofile_1_00_pfn_s {
  uint32_t (*hsa_ven_amd_aqlprofile_version_major)(void);
  uint32_t (*hsa_ven_amd_aqlprofile_version_minor)(void);
  hsa_status_t (*hsa_ven_amd_aqlprofile_error_string)(const char **str);
  hsa_status_t (*hsa_ven_amd_aqlprofile_validate_event)(
      hsa_agent_t agent, const hsa_ven_amd_aqlprofile_event_t *event, bool *result);
  hsa_status_t (*hsa_ven_amd_aqlprofile_start)(
      hsa_ven_amd_aqlprofile_profile_t *profile, hsa_ext_amd_aql_pm4_packet_t *aql_start_packet);
  hsa_status_t (*hsa_ven_amd_aqlprofile_stop)(
      const hsa_ven_amd_aqlprofile_profile_t *profile,
      hsa_ext_amd_aql_pm4_packet_t *aql_stop_packet);
  hsa_status_t (*hsa_ven_amd_aqlprofile_read)(
      const hsa_ven_amd_aqlprofile_profile_t *profile,
      hsa_ext_amd_aql_pm4_packet_t *aql_read_packet);
  hsa_status_t (*hsa_ven_amd_aqlprofile_legacy_get_pm4)(
      const hsa_ext_amd_aql_pm4_packet_t *aql_packet, void *data);
  hsa_status_t (*hsa_ven_amd_aqlprofile_get_info)(
      const hsa_ven_amd_aqlprofile_profile_t *profile, hsa_ven_amd_aqlprofile_info_type_t attribute,
      void *value);
  hsa_status_t (*hsa_ven_amd_aqlprofile_iterate_data)(
      const hsa_ven_amd_aqlprofile_profile_t *profile,
      hsa_ven_amd_aqlprofile_data_callback_t callback, void *data);
  hsa_status_t (*hsa_ven_amd_aqlprofile_iterate_event_ids)(
      hsa_ven_amd_aqlprofile_eventname_callback_t callback);
  hsa_status_t (*hsa_ven_amd_aqlprofile_iterate_event_coord)(
      hsa_agent_t agent, hsa_ven_amd_aqlprofile_event_t event, uint32_t sample_id,
      hsa_ven_amd_aqlprofile_coordinate_callback_t callback, void *userdata);
  hsa_status_t (*hsa_ven_amd_aqlprofile_att_marker)(
      hsa_ven_amd_aqlprofile_profile_t *profile, hsa_ext_amd_aql_pm4_packet_t *aql_marker_packet,
      uint32_t data, hsa_ven_amd_aqlprofile_att_marker_channel_t channel);
} hsa_ven_amd_aqlprofile_1_00_pfn_t;
typedef hsa_ven_amd_aqlprofile_1_00_pfn_t hsa_ven_amd_aqlprofile_pfn_t;

#ifdef __cplusplus
}
#endif

#endif /* OPENSRC_HSA_RUNTIME_INC_HSA_VEN_AMD_AQLPROFILE_H_ */
