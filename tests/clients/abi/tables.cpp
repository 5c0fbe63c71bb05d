/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * What a tool does with the API tables: every header in one C++11 program, and copies between tables of different
 * versions. Prints nothing and ends with 0 when all is well, else with the line of the first failure.
 */
#include "amd_hsa_elf.h"
#include "amd_hsa_kernel_code.h"
#include "amd_hsa_queue.h"
#include "amd_hsa_signal.h"
#include "hsa_api_trace.h"
#include "hsa_ext_amd_aie.h"
#include "hsa_ven_amd_aqlprofile.h"
#include "hsa_ven_amd_loader.h"

#include <stdio.h>

#define EXPECT(condition)                                     \
  do {                                                        \
    if (!(condition)) {                                       \
      printf("line %d: %s does not hold\n", __LINE__, #condition); \
      return 1;                                               \
    }                                                         \
  } while (0)

static hsa_status_t init() { return HSA_STATUS_INFO_BREAK; }
static hsa_status_t alloc_start(hsa_amd_tool_event_t event) {
  return event.none->kind == HSA_AMD_TOOL_EVENT_SCRATCH_ALLOC_START ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR;
}

int main() {
  static HsaApiTableContainer runtime;
  runtime.core.hsa_init_fn = init;
  runtime.core.hsa_shut_down_fn = init;
  runtime.tools.hsa_amd_tool_scratch_event_alloc_start_fn = alloc_start;
  EXPECT(runtime.root.version.minor_id == 64 && runtime.core.version.minor_id == 1016);
  EXPECT(runtime.amd_ext.version.step_id == 0x15);

  static HsaApiTableContainer same;
  copyTables(&runtime.root, &same.root);
  EXPECT(same.core.hsa_init_fn == init && same.core.hsa_init_fn() == HSA_STATUS_INFO_BREAK);
  EXPECT(same.core.hsa_shut_down_fn != nullptr);
  EXPECT(same.root.core_ == &same.core);

  hsa_amd_event_scratch_alloc_start_t data = {};
  data.kind = HSA_AMD_TOOL_EVENT_SCRATCH_ALLOC_START;
  hsa_amd_tool_event_t event;
  event.scratch_alloc_start = &data;
  EXPECT(same.tools.hsa_amd_tool_scratch_event_alloc_start_fn(event) == HSA_STATUS_SUCCESS);

  /* An older tool has room for one function only. */
  static HsaApiTableContainer older;
  older.core.version.minor_id = sizeof(ApiTableVersion) + sizeof(void *);
  copyTables(&runtime.root, &older.root);
  EXPECT(older.core.version.minor_id == 24 && older.core.hsa_init_fn == init);
  EXPECT(older.core.hsa_shut_down_fn == nullptr);

  /* An older root ends before the tool callbacks, which then stay as they are. */
  static HsaApiTableContainer short_root;
  short_root.root.version.minor_id = offsetof(HsaApiTable, tools_);
  copyTables(&runtime.root, &short_root.root);
  EXPECT(short_root.tools.hsa_amd_tool_scratch_event_alloc_start_fn == nullptr);
  EXPECT(short_root.core.hsa_init_fn == init);

  /* A table of another major is absent, and so is one the runtime does not have. */
  static HsaApiTableContainer other;
  other.core.version.major_id = 1;
  runtime.root.image_ext_ = nullptr;
  copyTables(&runtime.root, &other.root);
  EXPECT(other.core.version.major_id == 0 && other.core.hsa_init_fn == nullptr);
  EXPECT(other.image_ext.version.major_id == 0 && other.amd_ext.version.major_id == 2);

  /* Nothing is copied from a root of another major. */
  static HsaApiTableContainer other_root;
  other_root.root.version.major_id = 2;
  copyTables(&runtime.root, &other_root.root);
  EXPECT(other_root.root.version.major_id == 0 && other_root.core.hsa_init_fn == nullptr);

  uint8_t flags[8] = {};
  hsa_flag_set64(flags, 17);
  EXPECT(flags[2] == 2 && hsa_flag_isset64(flags, 17) && !hsa_flag_isset64(flags, 16));

  uint32_t rsrc2 = 0;
  AMD_HSA_BITS_SET(rsrc2, AMD_COMPUTE_PGM_RSRC_TWO_USER_SGPR_COUNT, 6);
  EXPECT(rsrc2 == 12 && AMD_HSA_BITS_GET(rsrc2, AMD_COMPUTE_PGM_RSRC_TWO_USER_SGPR_COUNT) == 6);
  return ELF::EM_AMDGPU == 224 ? 0 : 1;
}
