// Refers to a variable that the program has to define.
__attribute__((visibility("default"))) extern global int supplied;
kernel void read_supplied(global int *out) { out[0] = supplied; }
