/* What signal and queue operations are compared with: the same C11 atomic behind a call into another library. */
#include <stdatomic.h>
#include <stdint.h>

int64_t baseline_load(const _Atomic int64_t *value) {
    return atomic_load_explicit(value, memory_order_acquire);
}

void baseline_store(_Atomic int64_t *value, int64_t next) {
    atomic_store_explicit(value, next, memory_order_release);
}

uint64_t baseline_add(_Atomic uint64_t *value, uint64_t more) {
    return atomic_fetch_add_explicit(value, more, memory_order_relaxed);
}
