/* A program that starts the runtime twice and uses a little of it each time, for tools to see. */
#include "machine.h"

int main(void)
{
    for (int life = 0; life < 2; life++) {
        CHECK_OK(hsa_init());
        CHECK_OK(hsa_init());
        uint64_t frequency = 0;
        CHECK_OK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency));
        CHECK(frequency != 0, "no frequency");
        agent_count = 0;
        gpu = NULL;
        NEED_OK(hsa_iterate_agents(add_agent, NULL));
        NEED(gpu != NULL);
        hsa_queue_t *queue;
        CHECK_OK(hsa_queue_create(gpu->handle, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue));
        CHECK_OK(hsa_queue_destroy(queue));
        CHECK_OK(hsa_shut_down());
        CHECK_OK(hsa_shut_down());
        CHECK_STATUS(hsa_shut_down(), HSA_STATUS_ERROR_NOT_INITIALIZED);
    }
    return check_summary();
}
