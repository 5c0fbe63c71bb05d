/* Kernels that submit packets themselves. */

void __ockl_hsa_signal_store(ulong signal, long value, int memory_order);

/* Makes a packet that lies in a queue valid, and rings the queue's doorbell. */
kernel void ring(global atomic_uint *header, uint valid, ulong doorbell, long index)
{
    if (get_global_id(0) == 0) {
        atomic_store_explicit(header, valid, memory_order_release, memory_scope_all_svm_devices);
        __ockl_hsa_signal_store(doorbell, index, memory_order_release);
    }
}
