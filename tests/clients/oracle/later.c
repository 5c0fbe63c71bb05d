/* The functions that came after ROCr 5.2.3, in every state with right and wrong arguments. Own code.
 * build: gcc -O1 -g -w -I ../../../capi/include -o later later.c -lhsa-runtime64 -ldl -pthread -Wl,-z,lazy
 * run:   as status.c. later.txt holds what the headers of these functions ask for. */
#include "cases.h"
#include <hsa/hsa_amd_tool.h>
#include <hsa/hsa_ven_amd_pc_sampling.h>

static hsa_amd_vmem_alloc_handle_t vh; static int fd; static uint64_t u64; static uint32_t u32; static int32_t i32; static void *vp; static void *ranges[2]; static size_t lengths[2] = { 4096, 4096 };
static hsa_amd_external_semaphore_t sem; static hsa_ext_image_t im; static hsa_ext_sampler_t smp; static hsa_ven_amd_pcs_t pcs; static hsa_fabric_handle_t fab;
static hsa_signal_t done;
static void need_done(int64_t v) { NEED(hsa_signal_create(v, 0, 0, &done)); }
static hsa_amd_memory_copy_op_t op;
static void need_op(void) { need_fine(); need_vram(); need_done(1); memset(&op, 0, sizeof op); op.version = HSA_AMD_MEMORY_COPY_OP_VERSION; op.type = HSA_AMD_MEMORY_COPY_OP_LINEAR; op.src = fine; op.src_agent = cpu; op.dst = vram; op.dst_agent = gpu; op.size = 4096; op.completion_signal = done; }
static hsa_amd_queue_create_desc_t qd[2];
static void need_desc(void) { memset(qd, 0, sizeof qd); for (int i = 0; i < 2; i++) { qd[i].version = HSA_AMD_QUEUE_CREATE_DESC_VERSION; qd[i].engine_type = HSA_AMD_QUEUE_ENGINE_COMPUTE; qd[i].queue_size_bytes = 64 * 64; qd[i].priority = HSA_AMD_QUEUE_PRIORITY_NORMAL; qd[i].queue = (void *)0x5a; } }
#define QD note("first=%s second=%s", qd[0].queue == (void *)0x5a ? "untouched" : qd[0].queue ? "set" : "NULL", qd[1].queue == (void *)0x5a ? "untouched" : qd[1].queue ? "set" : "NULL")
static void need_counted(void) { NEED(hsa_amd_counted_queue_acquire(gpu, HSA_QUEUE_TYPE_MULTI, HSA_AMD_QUEUE_PRIORITY_NORMAL, 0, 0, 0, &q)); }

static void t_agents(void) {
  ALL("GPU", , hsa_amd_agent_preload(gpu, 0)); S("GPU, both flags", , hsa_amd_agent_preload(gpu, 3)); S("CPU", , hsa_amd_agent_preload(cpu, 0)); BAD(BAGENT, "agent", , hsa_amd_agent_preload(AG, 0));
  BA( , hsa_amd_agent_set_async_scratch_limit(gpu, 1 << 20)); S("CPU", , hsa_amd_agent_set_async_scratch_limit(cpu, 0)); BAD(BAGENT, "agent", , hsa_amd_agent_set_async_scratch_limit(AG, 0));
  size_t bytes = 0;
  BA( , hsa_amd_agent_set_attribute(gpu, 0, &bytes)); S("NULL value", , hsa_amd_agent_set_attribute(gpu, 0, NULL)); S("attribute 1", , hsa_amd_agent_set_attribute(gpu, 1, &bytes)); BAD(BAGENT, "agent", , hsa_amd_agent_set_attribute(AG, 0, &bytes));
  uint8_t flags[8] = { 0 };
  ALL("no flags, stderr", , hsa_amd_enable_logging(flags, NULL)); S("NULL flags", , hsa_amd_enable_logging(NULL, NULL));
  /* No driver here has a stream performance monitor. */
  BA( , hsa_amd_spm_acquire(gpu)); S("GPU", , hsa_amd_spm_acquire(gpu)); BAD(BAGENT, "agent", , hsa_amd_spm_acquire(AG));
  BA( , hsa_amd_spm_release(gpu)); S("GPU, not acquired", , hsa_amd_spm_release(gpu)); BAD(BAGENT, "agent", , hsa_amd_spm_release(AG));
  bool lost; BA( , hsa_amd_spm_set_dest_buffer(gpu, 4096, &u32, &u32, zero, &lost)); S("NULL size_copied", , hsa_amd_spm_set_dest_buffer(gpu, 4096, &u32, NULL, zero, &lost)); BAD(BAGENT, "agent", , hsa_amd_spm_set_dest_buffer(AG, 4096, &u32, &u32, zero, &lost));
}

static void t_copies(void) {
  uint32_t mask = 0;
  ALLP("VRAM to host", , note("mask=0x%x", mask), hsa_amd_memory_copy_engine_status(cpu, gpu, &mask)); S("NULL mask", , hsa_amd_memory_copy_engine_status(cpu, gpu, NULL)); BAD(BAGENT, "dst", , hsa_amd_memory_copy_engine_status(AG, gpu, &mask)); BAD(BAGENT, "src", , hsa_amd_memory_copy_engine_status(gpu, AG, &mask));
  ALL("VRAM to host", , hsa_amd_memory_get_preferred_copy_engine(cpu, gpu, &mask)); S("NULL mask", , hsa_amd_memory_get_preferred_copy_engine(cpu, gpu, NULL)); BAD(BAGENT, "dst", , hsa_amd_memory_get_preferred_copy_engine(AG, gpu, &mask));
#define OE(d, da, s, sa, n, nd, dl, sig, e) hsa_amd_memory_async_copy_on_engine(d, da, s, sa, n, nd, dl, sig, e, false)
  ALLP("fine to VRAM, engine 0", need_fine(); need_vram(); need_done(1), wait_done(done), hsa_amd_memory_async_copy_on_engine(vram, gpu, fine, cpu, 4096, 0, NULL, done, 1, false));
  S("two engines", need_fine(); need_vram(); need_done(1), OE(vram, gpu, fine, cpu, 4096, 0, NULL, done, 3)); S("engine 15 of few", need_fine(); need_vram(); need_done(1), OE(vram, gpu, fine, cpu, 4096, 0, NULL, done, 1 << 15)); S("NULL dst", need_fine(); need_done(1), OE(NULL, gpu, fine, cpu, 4096, 0, NULL, done, 1)); S("NULL src", need_vram(); need_done(1), OE(vram, gpu, NULL, cpu, 4096, 0, NULL, done, 1)); S("1 dependency, NULL list", need_fine(); need_vram(); need_done(1), OE(vram, gpu, fine, cpu, 4096, 1, NULL, done, 1));
  BAD(BSIG, "completion", need_fine(); need_vram(), OE(vram, gpu, fine, cpu, 4096, 0, NULL, SG, 1)); BAD(BSIG, "dependency", need_fine(); need_vram(); need_done(1), OE(vram, gpu, fine, cpu, 4096, 1, &SG, done, 1));
#define BC(n) hsa_amd_memory_async_batch_copy(&op, n, 0, NULL)
  ALLP("one copy", need_op(), wait_done(done), hsa_amd_memory_async_batch_copy(&op, 1, 0, NULL)); S("NULL list", , hsa_amd_memory_async_batch_copy(NULL, 1, 0, NULL)); S("no operations", need_op(), BC(0)); S("version 99", need_op(); op.version = 99, hsa_amd_memory_async_batch_copy(&op, 1, 0, NULL)); S("type 77", need_op(); op.type = 77, hsa_amd_memory_async_batch_copy(&op, 1, 0, NULL)); S("NULL src", need_op(); op.src = 0, hsa_amd_memory_async_batch_copy(&op, 1, 0, NULL)); S("NULL dst", need_op(); op.dst = 0, hsa_amd_memory_async_batch_copy(&op, 1, 0, NULL)); S("no completion signal", need_op(); op.completion_signal.handle = 0, hsa_amd_memory_async_batch_copy(&op, 1, 0, NULL)); S("reserved is set", need_op(); op.reserved1[0] = 1, hsa_amd_memory_async_batch_copy(&op, 1, 0, NULL)); S("dependencies NULL, 1", need_op(), hsa_amd_memory_async_batch_copy(&op, 1, 1, NULL));
  S("wait function 77", need_op(); op.wait.function = 77, hsa_amd_memory_async_batch_copy(&op, 1, 0, NULL)); S("signal operation 77", need_op(); op.signal.operation = 77, hsa_amd_memory_async_batch_copy(&op, 1, 0, NULL)); S("broadcast without entries", need_op(); op.type = HSA_AMD_MEMORY_COPY_OP_LINEAR_BROADCAST, hsa_amd_memory_async_batch_copy(&op, 1, 0, NULL));
  BAD(BAGENT, "dst agent", need_op(); op.dst_agent.handle = bh(k_), hsa_amd_memory_async_batch_copy(&op, 1, 0, NULL)); BAD(BAGENT, "src agent", need_op(); op.src_agent.handle = bh(k_), hsa_amd_memory_async_batch_copy(&op, 1, 0, NULL)); BAD(BSIG, "completion", need_op(); op.completion_signal.handle = bh(k_), hsa_amd_memory_async_batch_copy(&op, 1, 0, NULL));
}

static void t_queues(void) {
  ALLP("two compute queues", need_desc(), QD, hsa_amd_queue_create(gpu, qd, 2)); S("NULL list", , hsa_amd_queue_create(gpu, NULL, 1)); S("no descriptors", need_desc(), hsa_amd_queue_create(gpu, qd, 0));
  SP("second of size 100", need_desc(); qd[1].queue_size_bytes = 100, QD, hsa_amd_queue_create(gpu, qd, 2)); SP("first of version 99", need_desc(); qd[0].version = 99, QD, hsa_amd_queue_create(gpu, qd, 2)); SP("size 0", need_desc(); qd[0].queue_size_bytes = 0, QD, hsa_amd_queue_create(gpu, qd, 1)); SP("priority 77", need_desc(); qd[0].priority = 77, QD, hsa_amd_queue_create(gpu, qd, 1)); SP("engine 77", need_desc(); qd[0].engine_type = 77, QD, hsa_amd_queue_create(gpu, qd, 1)); SP("engine AIE", need_desc(); qd[0].engine_type = HSA_AMD_QUEUE_ENGINE_AIE, QD, hsa_amd_queue_create(gpu, qd, 1)); SP("traffic class 1", need_desc(); qd[0].traffic_class = 1, QD, hsa_amd_queue_create(gpu, qd, 1)); SP("reserved is set", need_desc(); qd[0].reserved[3] = 1, QD, hsa_amd_queue_create(gpu, qd, 1)); SP("unknown flag", need_desc(); qd[0].flags = 1u << 7, QD, hsa_amd_queue_create(gpu, qd, 1));
  BAD(BAGENT, "agent", need_desc(), hsa_amd_queue_create(AG, qd, 1)); S("CPU", need_desc(), hsa_amd_queue_create(cpu, qd, 1));
  ALLP("AGENT", need_q(), note("agent is the queue's=%d", *(uint64_t *)out == gpu.handle), hsa_amd_queue_get_info(q, HSA_AMD_QUEUE_INFO_AGENT, out)); S("NULL value", need_q(), hsa_amd_queue_get_info(q, HSA_AMD_QUEUE_INFO_AGENT, NULL)); S("attribute 999", need_q(), hsa_amd_queue_get_info(q, 999, out)); S("NULL queue", , hsa_amd_queue_get_info(NULL, HSA_AMD_QUEUE_INFO_AGENT, out)); S("zeroed memory", , hsa_amd_queue_get_info((void *)zero, HSA_AMD_QUEUE_INFO_AGENT, out)); S("destroyed", need_q(); NEED(hsa_queue_destroy(q)), hsa_amd_queue_get_info(q, HSA_AMD_QUEUE_INFO_AGENT, out));
  ALL("GPU, MULTI", , hsa_amd_counted_queue_acquire(gpu, 0, 1, 0, 0, 0, &q)); S("SINGLE", , hsa_amd_counted_queue_acquire(gpu, 1, 1, 0, 0, 0, &q)); S("COOPERATIVE", , hsa_amd_counted_queue_acquire(gpu, 2, 1, 0, 0, 0, &q)); S("priority 77", , hsa_amd_counted_queue_acquire(gpu, 0, 77, 0, 0, 0, &q)); S("NULL queue", , hsa_amd_counted_queue_acquire(gpu, 0, 1, 0, 0, 0, NULL)); S("CPU", , hsa_amd_counted_queue_acquire(cpu, 0, 1, 0, 0, 0, &q)); BAD(BAGENT, "agent", , hsa_amd_counted_queue_acquire(AG, 0, 1, 0, 0, 0, &q));
  SP("two shares have two addresses", need_counted(); q2 = q, note("differ=%d", q != q2), hsa_amd_counted_queue_acquire(gpu, 0, 1, 0, 0, 0, &q));
  ALL("a share", need_counted(), hsa_amd_counted_queue_release(q)); S("twice", need_counted(); NEED(hsa_amd_counted_queue_release(q)), hsa_amd_counted_queue_release(q)); S("NULL", , hsa_amd_counted_queue_release(NULL)); S("zeroed memory", , hsa_amd_counted_queue_release((void *)zero)); S("an ordinary queue", need_q(), hsa_amd_counted_queue_release(q));
  S("priority of a share", need_counted(), hsa_amd_queue_set_priority(q, 2)); S("mask of a share", need_counted(), hsa_amd_queue_cu_set_mask(q, 32, (uint32_t *)out));
  hsa_amd_external_semaphore_handle_descriptor_t sd; memset(&sd, 0, sizeof sd);
  ALL("opaque fd", sd.type = 2; sd.handle.fd = 0, hsa_amd_external_semaphore_handle_open(gpu, &sd, &sem)); S("NULL descriptor", , hsa_amd_external_semaphore_handle_open(gpu, NULL, &sem)); S("NULL semaphore", , hsa_amd_external_semaphore_handle_open(gpu, &sd, NULL)); BAD(BAGENT, "agent", , hsa_amd_external_semaphore_handle_open(AG, &sd, &sem));
  BA( , hsa_amd_external_semaphore_handle_close(sem)); S("handle 0", , hsa_amd_external_semaphore_handle_close(sem)); BA( , hsa_amd_queue_signal_external_semaphore(q, sem, 1)); S("NULL queue", , hsa_amd_queue_signal_external_semaphore(NULL, sem, 1)); S("a queue", need_q(), hsa_amd_queue_signal_external_semaphore(q, sem, 1)); BA( , hsa_amd_queue_wait_external_semaphore(q, sem, 1)); S("NULL queue", , hsa_amd_queue_wait_external_semaphore(NULL, sem, 1)); S("a queue", need_q(), hsa_amd_queue_wait_external_semaphore(q, sem, 1));
}

static void t_signals(void) {
  hsa_signal_t ss[2]; hsa_signal_condition_t cc[2] = { 0, 0 }; hsa_signal_value_t cv[2] = { 5, 7 }, sv[2];
#define TWO need_sig2(); ss[0] = sg; ss[1] = sg2
  VP("both", TWO, note("values=%lld %lld", (long long)sv[0], (long long)sv[1]), hsa_amd_signal_wait_all(2, ss, cc, cv, 0, 0, sv)); V("one of two, timeout 0", TWO; cv[1] = 8, hsa_amd_signal_wait_all(2, ss, cc, cv, 0, 0, sv)); V("one of two, 20 ms", TWO; cv[1] = 8, hsa_amd_signal_wait_all(2, ss, cc, cv, 20000000, 0, sv)); V("no values wanted", TWO, hsa_amd_signal_wait_all(2, ss, cc, cv, 0, 0, NULL)); V("none to wait for", , hsa_amd_signal_wait_all(0, NULL, NULL, NULL, 0, 0, NULL)); V("NULL signals", , hsa_amd_signal_wait_all(2, NULL, cc, cv, 0, 0, sv)); V("NULL conditions", TWO, hsa_amd_signal_wait_all(2, ss, NULL, cv, 0, 0, sv)); V("NULL values", TWO, hsa_amd_signal_wait_all(2, ss, cc, NULL, 0, 0, sv)); V_("before hsa_init", 0, ss[0].handle = ss[1].handle = 0, , hsa_amd_signal_wait_all(2, ss, cc, cv, 0, 0, sv)); V_("after last hsa_shut_down", 1, TWO; NEED(hsa_shut_down()), , hsa_amd_signal_wait_all(2, ss, cc, cv, 0, 0, sv));
  BADV(BSIG, "second", TWO; ss[1].handle = bh(k_), hsa_amd_signal_wait_all(2, ss, cc, cv, 0, 0, sv));
  ALLP("interrupt signal", need_sig(); u32 = 77, note("id=%u", u32), hsa_amd_signal_get_event_id(sg, &u32)); S("NULL id", need_sig(), hsa_amd_signal_get_event_id(sg, NULL)); BAD(BSIG, "signal", , hsa_amd_signal_get_event_id(SG, &u32)); S("destroyed", need_sig(); hsa_signal_destroy(sg), hsa_amd_signal_get_event_id(sg, &u32));
}

static void t_memory(void) {
  hsa_amd_ais_file_handle_t af; memset(&af, 0, sizeof af);
#define NOFD af.fd = -1
  BA(need_vram(), hsa_amd_ais_file_read(af, vram, 4096, 0, &u64, &i32)); S("fd -1", need_vram(); NOFD, hsa_amd_ais_file_read(af, vram, 4096, 0, &u64, &i32)); S("NULL memory", , hsa_amd_ais_file_read(af, NULL, 4096, 0, &u64, &i32)); S("size 0", need_vram(), hsa_amd_ais_file_read(af, vram, 0, 0, &u64, &i32));
  BA(need_vram(), hsa_amd_ais_file_write(af, vram, 4096, 0, &u64, &i32)); S("fd -1", need_vram(); NOFD, hsa_amd_ais_file_write(af, vram, 4096, 0, &u64, &i32)); S("NULL memory", , hsa_amd_ais_file_write(af, NULL, 4096, 0, &u64, &i32)); S("size 0", need_vram(), hsa_amd_ais_file_write(af, vram, 0, 0, &u64, &i32));
  size_t n; const void *md; BA( , hsa_amd_interop_map_buffer_with_size(1, &gpu, 0, 0, 4096, &n, &vp, NULL, NULL)); S("NULL size", , hsa_amd_interop_map_buffer_with_size(1, &gpu, 0, 0, 4096, NULL, &vp, NULL, NULL)); S("NULL ptr", , hsa_amd_interop_map_buffer_with_size(1, &gpu, 0, 0, 4096, &n, NULL, NULL, NULL)); S("no agents", , hsa_amd_interop_map_buffer_with_size(0, &gpu, 0, 0, 4096, &n, &vp, NULL, NULL));
  BA(need_vram(), hsa_amd_portable_export_dmabuf(vram, 4096, &fd, &u64)); S("NULL memory", , hsa_amd_portable_export_dmabuf(NULL, 4096, &fd, &u64)); S("NULL fd", need_vram(), hsa_amd_portable_export_dmabuf(vram, 4096, NULL, &u64)); S("NULL offset", need_vram(), hsa_amd_portable_export_dmabuf(vram, 4096, &fd, NULL)); S("size 0", need_vram(), hsa_amd_portable_export_dmabuf(vram, 0, &fd, &u64));
  BA(need_vram(), hsa_amd_portable_export_dmabuf_v2(vram, 4096, &fd, &u64, 0)); S("unknown flag", need_vram(), hsa_amd_portable_export_dmabuf_v2(vram, 4096, &fd, &u64, 1ull << 40)); S("NULL memory", , hsa_amd_portable_export_dmabuf_v2(NULL, 4096, &fd, &u64, 0));
  BA( , hsa_amd_portable_close_dmabuf(-1)); S("fd -1", , hsa_amd_portable_close_dmabuf(-1));
  ranges[0] = ranges[1] = zero;
  BA( , hsa_amd_svm_discard_batch_async(ranges, lengths, 1, 0, NULL, done)); S("NULL ranges", need_done(1), hsa_amd_svm_discard_batch_async(NULL, lengths, 1, 0, NULL, done)); S("NULL sizes", need_done(1), hsa_amd_svm_discard_batch_async(ranges, NULL, 1, 0, NULL, done)); S("none", need_done(1), hsa_amd_svm_discard_batch_async(ranges, lengths, 0, 0, NULL, done)); S("dependencies NULL, 1", need_done(1), hsa_amd_svm_discard_batch_async(ranges, lengths, 1, 1, NULL, done));
  BA( , hsa_amd_svm_discard_and_prefetch_batch_async(ranges, lengths, 1, &gpu, 1, 0, NULL, done)); S("NULL ranges", need_done(1), hsa_amd_svm_discard_and_prefetch_batch_async(NULL, lengths, 1, &gpu, 1, 0, NULL, done)); S("NULL agents", need_done(1), hsa_amd_svm_discard_and_prefetch_batch_async(ranges, lengths, 1, NULL, 1, 0, NULL, done));
  BA( , hsa_amd_vmem_address_reserve(&vp, 4096, 0, 0)); S("NULL va", , hsa_amd_vmem_address_reserve(NULL, 4096, 0, 0)); S("size 0", , hsa_amd_vmem_address_reserve(&vp, 0, 0, 0)); S("unknown flag", , hsa_amd_vmem_address_reserve(&vp, 4096, 0, 1ull << 40));
  BA( , hsa_amd_vmem_address_reserve_align(&vp, 4096, 0, 0, 0)); S("NULL va", , hsa_amd_vmem_address_reserve_align(NULL, 4096, 0, 0, 0)); S("size 0", , hsa_amd_vmem_address_reserve_align(&vp, 0, 0, 0, 0));
  BA( , hsa_amd_vmem_address_free(zero, 4096)); S("NULL", , hsa_amd_vmem_address_free(NULL, 4096)); S("size 0", , hsa_amd_vmem_address_free(zero, 0));
  BA( , hsa_amd_vmem_handle_create(p_vram, 4096, 0, 0, &vh)); S("NULL handle", , hsa_amd_vmem_handle_create(p_vram, 4096, 0, 0, NULL)); S("size 0", , hsa_amd_vmem_handle_create(p_vram, 0, 0, 0, &vh)); S("type 77", , hsa_amd_vmem_handle_create(p_vram, 4096, 77, 0, &vh));
  BA( , hsa_amd_vmem_handle_release(vh)); BA( , hsa_amd_vmem_map(zero, 4096, 0, vh, 0)); S("NULL va", , hsa_amd_vmem_map(NULL, 4096, 0, vh, 0)); S("size 0", , hsa_amd_vmem_map(zero, 0, 0, vh, 0)); S("offset 4096", , hsa_amd_vmem_map(zero, 4096, 4096, vh, 0));
  BA( , hsa_amd_vmem_unmap(zero, 4096)); S("NULL va", , hsa_amd_vmem_unmap(NULL, 4096)); S("size 0", , hsa_amd_vmem_unmap(zero, 0));
  hsa_amd_memory_access_desc_t ad = { HSA_ACCESS_PERMISSION_RW, gpu }; BA( , hsa_amd_vmem_set_access(zero, 4096, &ad, 1)); S("NULL va", , hsa_amd_vmem_set_access(NULL, 4096, &ad, 1)); S("NULL list", , hsa_amd_vmem_set_access(zero, 4096, NULL, 1)); S("empty list", , hsa_amd_vmem_set_access(zero, 4096, &ad, 0)); S("size 0", , hsa_amd_vmem_set_access(zero, 0, &ad, 1));
  hsa_access_permission_t ap; BA( , hsa_amd_vmem_get_access(zero, &ap, gpu)); S("NULL va", , hsa_amd_vmem_get_access(NULL, &ap, gpu)); S("NULL permission", , hsa_amd_vmem_get_access(zero, NULL, gpu));
  BA( , hsa_amd_vmem_export_shareable_handle(&fd, vh, 0)); S("NULL fd", , hsa_amd_vmem_export_shareable_handle(NULL, vh, 0)); BA( , hsa_amd_vmem_import_shareable_handle(0, &vh)); S("fd -1", , hsa_amd_vmem_import_shareable_handle(-1, &vh)); S("NULL handle", , hsa_amd_vmem_import_shareable_handle(0, NULL));
  BA( , hsa_amd_vmem_retain_alloc_handle(&vh, zero)); S("NULL handle", , hsa_amd_vmem_retain_alloc_handle(NULL, zero)); S("NULL address", , hsa_amd_vmem_retain_alloc_handle(&vh, NULL));
  hsa_amd_memory_type_t mt; hsa_amd_memory_pool_t mp; BA( , hsa_amd_vmem_get_alloc_properties_from_handle(vh, &mp, &mt)); S("NULL pool", , hsa_amd_vmem_get_alloc_properties_from_handle(vh, NULL, &mt)); S("NULL type", , hsa_amd_vmem_get_alloc_properties_from_handle(vh, &mp, NULL));
  BA( , hsa_amd_vmem_export_fabric_handle(&fab, vh, 0)); S("NULL name", , hsa_amd_vmem_export_fabric_handle(NULL, vh, 0)); S("flags 1", , hsa_amd_vmem_export_fabric_handle(&fab, vh, 1)); BA( , hsa_amd_vmem_import_fabric_handle(fab, &vh)); S("NULL handle", , hsa_amd_vmem_import_fabric_handle(fab, NULL));
}

static void t_extensions(void) {
  hsa_ext_image_descriptor_v2_t d; hsa_ext_image_data_info_t di; hsa_ext_sampler_descriptor_v2_t sd; memset(&d, 0, sizeof d); memset(&sd, 0, sizeof sd);
  BA( , hsa_amd_image_create_v2(gpu, &d, NULL, zero, 1, &im)); BA( , hsa_ext_image_create_v2(gpu, &d, zero, 1, &im)); BAD(BAGENT, "agent", , hsa_ext_image_create_v2(AG, &d, zero, 1, &im)); BA( , hsa_ext_image_data_get_info_v2(gpu, &d, 1, &di)); BAD(BAGENT, "agent", , hsa_ext_image_data_get_info_v2(AG, &d, 1, &di)); BA( , hsa_ext_image_destroy_v2(gpu, im)); BAD(BAGENT, "agent", , hsa_ext_image_destroy_v2(AG, im)); BA( , hsa_ext_image_mipmap_array_get_level(gpu, &im, 0, &d, &im)); BAD(BAGENT, "agent", , hsa_ext_image_mipmap_array_get_level(AG, &im, 0, &d, &im)); BA( , hsa_ext_sampler_create_v2(gpu, &sd, &smp)); BAD(BAGENT, "agent", , hsa_ext_sampler_create_v2(AG, &sd, &smp));
  /* No driver here samples program counters. */
  BA( , hsa_ven_amd_pcs_iterate_configuration(gpu, (void *)c_pool, 0)); S("NULL callback", , hsa_ven_amd_pcs_iterate_configuration(gpu, NULL, 0)); S("GPU", , hsa_ven_amd_pcs_iterate_configuration(gpu, (void *)c_pool, 0)); BAD(BAGENT, "agent", , hsa_ven_amd_pcs_iterate_configuration(AG, (void *)c_pool, 0));
  BA( , hsa_ven_amd_pcs_create(gpu, 0, 0, 1000, 0, 4096, (void *)wait_done, 0, &pcs)); S("GPU", , hsa_ven_amd_pcs_create(gpu, 0, 0, 1000, 0, 4096, (void *)wait_done, 0, &pcs)); S("NULL callback", , hsa_ven_amd_pcs_create(gpu, 0, 0, 1000, 0, 4096, NULL, 0, &pcs)); S("NULL session", , hsa_ven_amd_pcs_create(gpu, 0, 0, 1000, 0, 4096, (void *)wait_done, 0, NULL)); BAD(BAGENT, "agent", , hsa_ven_amd_pcs_create(AG, 0, 0, 1000, 0, 4096, (void *)wait_done, 0, &pcs));
  BA( , hsa_ven_amd_pcs_create_from_id(1, gpu, 0, 0, 1000, 0, 4096, (void *)wait_done, 0, &pcs)); S("GPU", , hsa_ven_amd_pcs_create_from_id(1, gpu, 0, 0, 1000, 0, 4096, (void *)wait_done, 0, &pcs)); BAD(BAGENT, "agent", , hsa_ven_amd_pcs_create_from_id(1, AG, 0, 0, 1000, 0, 4096, (void *)wait_done, 0, &pcs));
  BA( , hsa_ven_amd_pcs_destroy(pcs)); S("handle 0", , hsa_ven_amd_pcs_destroy(pcs)); S("handle 1", pcs.handle = 1, hsa_ven_amd_pcs_destroy(pcs)); BA( , hsa_ven_amd_pcs_start(pcs)); S("handle 0", , hsa_ven_amd_pcs_start(pcs)); S("handle 1", pcs.handle = 1, hsa_ven_amd_pcs_start(pcs)); BA( , hsa_ven_amd_pcs_stop(pcs)); S("handle 0", , hsa_ven_amd_pcs_stop(pcs)); S("handle 1", pcs.handle = 1, hsa_ven_amd_pcs_stop(pcs)); BA( , hsa_ven_amd_pcs_flush(pcs)); S("handle 0", , hsa_ven_amd_pcs_flush(pcs)); S("handle 1", pcs.handle = 1, hsa_ven_amd_pcs_flush(pcs));
}

int main(void) {
  only = getenv("STATUS_ONLY"); read_crowd(); setvbuf(stdout, 0, _IOLBF, 0);
  t_agents(); t_copies(); t_queues(); t_signals(); t_memory(); t_extensions();
  fprintf(stderr, "%d cases\n", n_cases); return 0;
}
