// A tool that wants to know of scratch memory: it fills in the callbacks of ToolsApiTable, and patches nothing.
//
// TOOL_LOG names the file for its lines: `alloc-start QUEUE FLAGS`, `alloc-end QUEUE FLAGS BYTES SLOTS`, `free-start QUEUE
// FLAGS`, `free-end QUEUE FLAGS`, `reclaim-start QUEUE FLAGS`, `reclaim-end QUEUE FLAGS`.
#include <hsa/hsa_api_trace.h>

#include <cstdio>
#include <cstdlib>

namespace {

FILE *log_file;

hsa_status_t hear(hsa_amd_tool_event_t event)
{
    switch (event.none->kind) {
    case HSA_AMD_TOOL_EVENT_SCRATCH_ALLOC_START:
        fprintf(log_file, "alloc-start %p %d\n", (const void *)event.scratch_alloc_start->queue,
                event.scratch_alloc_start->flags);
        break;
    case HSA_AMD_TOOL_EVENT_SCRATCH_ALLOC_END:
        fprintf(log_file, "alloc-end %p %d %zu %zu\n", (const void *)event.scratch_alloc_end->queue,
                event.scratch_alloc_end->flags, event.scratch_alloc_end->size, event.scratch_alloc_end->num_slots);
        break;
    case HSA_AMD_TOOL_EVENT_SCRATCH_FREE_START:
        fprintf(log_file, "free-start %p %d\n", (const void *)event.scratch_free_start->queue,
                event.scratch_free_start->flags);
        break;
    case HSA_AMD_TOOL_EVENT_SCRATCH_FREE_END:
        fprintf(log_file, "free-end %p %d\n", (const void *)event.scratch_free_end->queue, event.scratch_free_end->flags);
        break;
    case HSA_AMD_TOOL_EVENT_SCRATCH_ASYNC_RECLAIM_START:
        fprintf(log_file, "reclaim-start %p %d\n", (const void *)event.scratch_async_reclaim_start->queue,
                event.scratch_async_reclaim_start->flags);
        break;
    case HSA_AMD_TOOL_EVENT_SCRATCH_ASYNC_RECLAIM_END:
        fprintf(log_file, "reclaim-end %p %d\n", (const void *)event.scratch_async_reclaim_end->queue,
                event.scratch_async_reclaim_end->flags);
        break;
    default:
        fprintf(log_file, "unknown\n");
    }
    fflush(log_file);
    return HSA_STATUS_SUCCESS;
}

} // namespace

extern "C" bool OnLoad(HsaApiTable *table, uint64_t, uint64_t, const char *const *)
{
    log_file = fopen(getenv("TOOL_LOG"), "a");
    table->tools_->hsa_amd_tool_scratch_event_alloc_start_fn = hear;
    table->tools_->hsa_amd_tool_scratch_event_alloc_end_fn = hear;
    table->tools_->hsa_amd_tool_scratch_event_free_start_fn = hear;
    table->tools_->hsa_amd_tool_scratch_event_free_end_fn = hear;
    table->tools_->hsa_amd_tool_scratch_event_async_reclaim_start_fn = hear;
    table->tools_->hsa_amd_tool_scratch_event_async_reclaim_end_fn = hear;
    return log_file != nullptr;
}
