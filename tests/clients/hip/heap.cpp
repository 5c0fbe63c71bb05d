// Memory that kernels allocate, keep from one kernel to the next, and free.
#include "check.hpp"

enum { LANES = 128, LENGTH = 5 };

struct Node {
    Node *next;
    int value;
};

__global__ void build(Node **lists)
{
    int lane = blockIdx.x * blockDim.x + threadIdx.x;
    Node *head = nullptr;
    for (int i = 0; i < LENGTH; i++) {
        auto node = static_cast<Node *>(malloc(sizeof(Node)));
        if (!node)
            break;
        node->next = head;
        node->value = lane * 100 + i;
        head = node;
    }
    lists[lane] = head;
}

__global__ void sum(Node *const *lists, int *sums)
{
    int lane = blockIdx.x * blockDim.x + threadIdx.x;
    int total = 0;
    for (const Node *node = lists[lane]; node; node = node->next)
        total += node->value;
    sums[lane] = total;
}

__global__ void release(Node **lists, int *freed)
{
    int lane = blockIdx.x * blockDim.x + threadIdx.x;
    int count = 0;
    for (Node *node = lists[lane]; node; count++) {
        Node *next = node->next;
        free(node);
        node = next;
    }
    freed[lane] = count;
}

// Some lanes of a wave ask, each for another size.
__global__ void uneven(int *out)
{
    int lane = static_cast<int>(threadIdx.x);
    auto mine = lane % 3 ? static_cast<int *>(malloc(sizeof(int) * (lane + 1))) : nullptr;
    int total = 0;
    if (mine) {
        for (int i = 0; i <= lane; i++)
            mine[i] = i;
        for (int i = 0; i <= lane; i++)
            total += mine[i];
        free(mine);
    }
    out[lane] = total;
}

int main()
{
    Array<Node *> lists(LANES);
    Array<int> sums(LANES), freed(LANES), out(64);
    build<<<2, LANES / 2>>>(lists);
    OK(hipDeviceSynchronize());
    sum<<<2, LANES / 2>>>(lists, sums);
    SAME(sums.values(), made(LANES, [](size_t lane) { return static_cast<int>(lane) * 100 * LENGTH + 10; }));
    release<<<2, LANES / 2>>>(lists, freed);
    SAME(freed.values(), std::vector<int>(LANES, LENGTH));
    uneven<<<1, 64>>>(out);
    SAME(out.values(), made(64, [](size_t lane) { return lane % 3 ? static_cast<int>(lane * (lane + 1) / 2) : 0; }));
    return summary();
}
