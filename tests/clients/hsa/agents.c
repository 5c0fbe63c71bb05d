/* Says which agents there are, a line each: `gpu NODE NAME UUID ISA`, and which compute units the first 32 of a new queue
 * are, and its size: `queue UNITS PACKETS`. */
#include "machine.h"

static hsa_status_t first_isa(hsa_isa_t isa, void *data)
{
    uint32_t length = 0;
    NEED_OK(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME_LENGTH, &length));
    NEED(length < 200);
    NEED_OK(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME, data));
    return HSA_STATUS_INFO_BREAK;
}

int main(void)
{
    NEED_OK(hsa_init());
    NEED_OK(hsa_iterate_agents(add_agent, NULL));
    for (unsigned i = 0; i < agent_count; i++) {
        struct agent *agent = &agents[i];
        if (agent->type != HSA_DEVICE_TYPE_GPU)
            continue;
        uint32_t node = 0;
        char uuid[64] = "", isa[200] = "";
        CHECK_OK(hsa_agent_get_info(agent->handle, HSA_AGENT_INFO_NODE, &node));
        CHECK_OK(hsa_agent_get_info(agent->handle, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_UUID, uuid));
        CHECK_STATUS(hsa_agent_iterate_isas(agent->handle, first_isa, isa), HSA_STATUS_INFO_BREAK);
        printf("gpu %u %s %s %s\n", node, agent->name, uuid, isa);
        hsa_queue_t *queue;
        uint32_t units = 0;
        NEED_OK(hsa_queue_create(agent->handle, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue));
        CHECK_OK(hsa_amd_queue_cu_get_mask(queue, 32, &units));
        printf("queue %#x %u\n", units, queue->size);
        CHECK_OK(hsa_queue_destroy(queue));
    }
    CHECK_OK(hsa_shut_down());
    return check_summary();
}
