// The kernels of `hansa demo` and `hansa bench`. `build` compiles them; the results are committed, because a machine
// that runs the demo need not have a compiler for GPUs. A test compares them with a new build.

#define GROUP 256

// sum[i] = a[i] + b[i], for i below count; work-groups of 256.
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
kernel void vector_add(global const float *a, global const float *b, global float *sum, uint count) {
    uint i = __builtin_amdgcn_workgroup_id_x() * GROUP + __builtin_amdgcn_workitem_id_x();
    if (i < count)
        sum[i] = a[i] + b[i];
}

kernel void empty(void) {}
