// Three variables with different attributes, and kernels that differ in every descriptor field.
#define EXPORT __attribute__((visibility("default")))
EXPORT global int counter = 7;
EXPORT global long table[16];
EXPORT constant int weights[4] = {1, 2, 3, 4};

kernel void touch(global int *out) {
  uint id = __builtin_amdgcn_workitem_id_x();
  out[0] = counter + (int)table[id & 15] + weights[id & 3];
  counter = 9;
  table[1] = 2;
}

kernel __attribute__((reqd_work_group_size(64, 2, 1))) void
reduce(global const float *restrict in, local float *scratch, global float *out, uint n) {
  local float own[256];
  uint id = __builtin_amdgcn_workitem_id_x();
  own[id & 255] = in[id];
  scratch[id] = own[(id + 1) & 255];
  __builtin_amdgcn_s_barrier();
  volatile float spill[65];
  for (uint i = 0; i < n; ++i) spill[i % 65] = scratch[i];
  out[id] = spill[id % 65];
}
