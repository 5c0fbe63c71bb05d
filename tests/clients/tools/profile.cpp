// A tool that times kernels the way profilers do: it gives the program queues of its own making, whose packets it sees, puts
// a signal of its own into each dispatch, and completes the program's signal when it has read the times. Written against
// this project's hsa_api_trace.h, which has the tables of the version that the runtime offers.
//
// TOOL_LOG names the file for its lines: `queue SIZE`, `dispatch GRID NANOSECONDS`.
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa_api_trace.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <vector>

namespace {

CoreApiTable core;
AmdExtTable amd;
FILE *log_file;
double nanoseconds_per_tick;

struct Dispatch {
    hsa_agent_t agent;
    hsa_signal_t own, theirs;
    uint32_t grid;
};

struct Queue {
    hsa_agent_t agent;
};

bool completed(hsa_signal_value_t, void *data)
{
    auto *dispatch = static_cast<Dispatch *>(data);
    hsa_amd_profiling_dispatch_time_t time{};
    if (amd.hsa_amd_profiling_get_dispatch_time_fn(dispatch->agent, dispatch->own, &time) == HSA_STATUS_SUCCESS)
        fprintf(log_file, "dispatch %u %.0f\n", dispatch->grid, double(time.end - time.start) * nanoseconds_per_tick);
    if (dispatch->theirs.handle) {
        /* The program may want to know the times as well. */
        auto *own = reinterpret_cast<amd_signal_t *>(dispatch->own.handle);
        auto *theirs = reinterpret_cast<amd_signal_t *>(dispatch->theirs.handle);
        theirs->start_ts = own->start_ts;
        theirs->end_ts = own->end_ts;
        core.hsa_signal_subtract_screlease_fn(dispatch->theirs, 1);
    }
    core.hsa_signal_destroy_fn(dispatch->own);
    delete dispatch;
    return false;
}

void packets(const void *from, uint64_t count, uint64_t, void *data, hsa_amd_queue_intercept_packet_writer writer)
{
    auto *queue = static_cast<Queue *>(data);
    auto *packet = static_cast<const hsa_kernel_dispatch_packet_t *>(from);
    std::vector<hsa_kernel_dispatch_packet_t> changed(packet, packet + count);
    for (auto &one : changed) {
        if (((one.header >> HSA_PACKET_HEADER_TYPE) & 0xff) != HSA_PACKET_TYPE_KERNEL_DISPATCH)
            continue;
        auto *dispatch = new Dispatch{queue->agent, {0}, one.completion_signal, one.grid_size_x};
        if (core.hsa_signal_create_fn(1, 0, nullptr, &dispatch->own) != HSA_STATUS_SUCCESS)
            abort();
        one.completion_signal = dispatch->own;
        if (amd.hsa_amd_signal_async_handler_fn(dispatch->own, HSA_SIGNAL_CONDITION_LT, 1, completed, dispatch) !=
            HSA_STATUS_SUCCESS)
            abort();
    }
    writer(changed.data(), count);
}

hsa_status_t create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                    void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data, uint32_t private_size,
                    uint32_t group_size, hsa_queue_t **queue)
{
    hsa_status_t status = amd.hsa_amd_queue_intercept_create_fn(agent, size, type, callback, data, private_size, group_size,
                                                                queue);
    if (status != HSA_STATUS_SUCCESS)
        return status;
    if ((status = amd.hsa_amd_profiling_set_profiler_enabled_fn(*queue, true)) != HSA_STATUS_SUCCESS)
        return status;
    fprintf(log_file, "queue %u\n", size);
    return amd.hsa_amd_queue_intercept_register_fn(*queue, packets, new Queue{agent});
}

} // namespace

extern "C" bool OnLoad(HsaApiTable *table, uint64_t, uint64_t, const char *const *)
{
    const char *path = getenv("TOOL_LOG");
    log_file = path ? fopen(path, "a") : nullptr;
    if (!log_file || table->version.major_id != HSA_API_TABLE_MAJOR_VERSION ||
        table->amd_ext_->version.major_id != HSA_AMD_EXT_API_TABLE_MAJOR_VERSION)
        return false;
    setvbuf(log_file, nullptr, _IOLBF, 0);
    core = *table->core_;
    amd = *table->amd_ext_;
    uint64_t frequency = 0;
    if (core.hsa_system_get_info_fn(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency) != HSA_STATUS_SUCCESS || !frequency)
        return false;
    nanoseconds_per_tick = 1e9 / double(frequency);
    table->core_->hsa_queue_create_fn = create;
    return true;
}

extern "C" void OnUnload() {}
