/* Status matrix of the HSA API. Own code.
 * build: gcc -O1 -g -w -o status status.c -lhsa-runtime64 -ldl -Wl,-z,lazy
 * run:   LD_LIBRARY_PATH=DIR ./status > out.txt 2> crashes.log      (env: STATUS_CO_DIR, STATUS_ONLY=substring, STATUS_CROWD=threads)
 * One line per case: function | case | STATUS_NAME (0x..) [| observation]. Each case runs in its own forked child. */
#include "cases.h"

/* ================================================================= core */
static void t_core(void) {
  S_("first call", 0, , , hsa_init());
  S_("second call (nested)", 0, NEED(hsa_init()), , hsa_init());
  S_("after init+shut_down", 0, NEED(hsa_init()); NEED(hsa_shut_down()), , hsa_init());
  S_("10000 nested calls", 0, hsa_status_t x; for (int i = 0; i < 9999; i++) NEED(hsa_init()), , hsa_init());
  S_("before hsa_init", 0, , , hsa_shut_down());
  S_("after one init", 0, NEED(hsa_init()), , hsa_shut_down());
  S_("one time too many", 0, NEED(hsa_init()); NEED(hsa_shut_down()), , hsa_shut_down());
  S_("2 inits, first shut_down", 0, NEED(hsa_init()); NEED(hsa_init()), , hsa_shut_down());
  S_("2 inits, second shut_down", 0, NEED(hsa_init()); NEED(hsa_init()); NEED(hsa_shut_down()), , hsa_shut_down());
  S_("2 inits, third shut_down", 0, NEED(hsa_init()); NEED(hsa_init()); NEED(hsa_shut_down()); NEED(hsa_shut_down()), , hsa_shut_down());
  S("with live signal, queue, memory, executable", need_sig(); need_q(); need_fine(); need_vram(); need_frozen("kern.co"), hsa_shut_down());

  static const unsigned codes[] = { 0, 1, 2, 40, 41, 42, 43, 44, 45, 0xfff, 0x1000, 0x1001, 0x1002, 0x1003, 0x1004, 0x1005, 0x1006, 0x1007, 0x1008, 0x1009, 0x100a, 0x100b, 0x100c, 0x100d, 0x100e, 0x100f, 0x1010, 0x1011, 0x1012, 0x1013, 0x1014, 0x1015, 0x1016, 0x1017, 0x1018, 0x1019, 0x101a, 0x1020, 0x1021, 0x1022, 0x1023, 0x1024, 0x1025, 0x1026, 0x1027, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x3000, 0x3001, 0x3002, 0x3003, 0xffffffff };
  for (unsigned i = 0; i < sizeof codes / 4; i++) { const char *s = "(unset)"; SP(D("code 0x%x", codes[i]), , if (s && s != "(unset)") note("string non-NULL length>0: %d, prefix \"%.24s\"", (int)(strlen(s) > 0), s); else note("string %s", s ? s : "NULL"), hsa_status_string(codes[i], &s)); }
  const char *s;
  S_("before hsa_init, code 0", 0, , , hsa_status_string(0, &s));
  S_("after last hsa_shut_down, code 0", 1, NEED(hsa_shut_down()), , hsa_status_string(0, &s));
  S("NULL output", , hsa_status_string(0, NULL)); S("unknown code, NULL output", , hsa_status_string(0x77777777, NULL));

  ALL("VERSION_MAJOR", , hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, out));
  S("NULL value", , hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, NULL));
  unsigned sa[] = { 8, 9, 0x1ff, 0x200, 0x201, 0x202, 0x203, 0x7fffffff, 0xffffffff };
  for (int i = 0; i < 9; i++) S(D("attribute 0x%x", sa[i]), , hsa_system_get_info(sa[i], out));
  S("unknown attribute, NULL value", , hsa_system_get_info(0x999, NULL));

  unsigned ex_[] = { 0, 1, 2, 3, 4, 0x1ff, 0x200, 0x201, 0x202, 0x203, 0xffff };
  for (int i = 0; i < 11; i++) { const char *n = 0; SP(D("extension 0x%x", ex_[i]), , note("name=%s", n ? n : "NULL"), hsa_extension_get_name(ex_[i], &n)); }
  BA( , hsa_extension_get_name(0, &s)); S("NULL output", , hsa_extension_get_name(0, NULL));
  bool b; uint16_t mn;
  for (int i = 0; i < 11; i++) { memset(&b, 9, 1); SP(D("extension 0x%x 1.0", ex_[i]), , note("result=%d", *(char *)&b), hsa_system_extension_supported(ex_[i], 1, 0, &b)); }
  unsigned vv[][2] = { {0,0},{1,0},{1,1},{1,2},{1,3},{1,4},{1,99},{2,0},{65535,65535} };
  for (int i = 0; i < 9; i++) { memset(&b, 9, 1); SP(D("AMD_LOADER %u.%u", vv[i][0], vv[i][1]), , note("result=%d", *(char *)&b), hsa_system_extension_supported(0x201, vv[i][0], vv[i][1], &b));
    memset(&b, 9, 1); SP(D("IMAGES %u.%u", vv[i][0], vv[i][1]), , note("result=%d", *(char *)&b), hsa_system_extension_supported(1, vv[i][0], vv[i][1], &b)); }
  BA( , hsa_system_extension_supported(1, 1, 0, &b)); S("NULL result", , hsa_system_extension_supported(1, 1, 0, NULL));
  for (int i = 0; i < 11; i++) { memset(&b, 9, 1); mn = 0xeeee; SP(D("extension 0x%x major 1", ex_[i]), , note("result=%d minor=0x%x", *(char *)&b, mn), hsa_system_major_extension_supported(ex_[i], 1, &mn, &b)); }
  S("major 0", , hsa_system_major_extension_supported(0x201, 0, &mn, &b)); S("major 2", , hsa_system_major_extension_supported(0x201, 2, &mn, &b));
  BA( , hsa_system_major_extension_supported(1, 1, &mn, &b)); S("NULL minor", , hsa_system_major_extension_supported(1, 1, NULL, &b)); S("NULL result", , hsa_system_major_extension_supported(1, 1, &mn, NULL));
#define TABN(r) if (r == 0) { int k = 0; for (int j = 0; j < 64; j++) if (((void **)out)[j]) k = j + 1; note("entries=%d", k); }
  for (int i = 0; i < 11; i++) SP(D("extension 0x%x 1.0", ex_[i]), memset(out, 0, sizeof out), TABN(r_), hsa_system_get_extension_table(ex_[i], 1, 0, out));
  for (int i = 0; i < 9; i++) SP(D("AMD_LOADER %u.%u", vv[i][0], vv[i][1]), memset(out, 0, sizeof out), TABN(r_), hsa_system_get_extension_table(0x201, vv[i][0], vv[i][1], out));
  BA( , hsa_system_get_extension_table(1, 1, 0, out)); S("NULL table", , hsa_system_get_extension_table(0x201, 1, 0, NULL));
  for (int i = 0; i < 11; i++) SP(D("extension 0x%x major 1 length 512", ex_[i]), memset(out, 0, sizeof out), TABN(r_), hsa_system_get_major_extension_table(ex_[i], 1, 512, out));
  size_t tl[] = { 0, 1, 7, 8, 24, 40, 48, 56, 64, 4096 };
  for (int i = 0; i < 10; i++) SP(D("AMD_LOADER length %zu", tl[i]), memset(out, 0, sizeof out), TABN(r_), hsa_system_get_major_extension_table(0x201, 1, tl[i], out));
  S("major 0", , hsa_system_get_major_extension_table(0x201, 0, 64, out)); S("major 2", , hsa_system_get_major_extension_table(0x201, 2, 64, out));
  BA( , hsa_system_get_major_extension_table(0x201, 1, 24, out)); S("NULL table", , hsa_system_get_major_extension_table(0x201, 1, 24, NULL));

  /* agents */
  ITER( , hsa_iterate_agents(c_agent, 0)); BA( , hsa_iterate_agents(c_agent, 0)); S("NULL callback", , hsa_iterate_agents(NULL, 0));
  ALL("GPU NAME", , hsa_agent_get_info(gpu, HSA_AGENT_INFO_NAME, out)); S("NULL value", , hsa_agent_get_info(gpu, HSA_AGENT_INFO_NAME, NULL));
  BAD(BAGENT, "agent", , hsa_agent_get_info(AG, HSA_AGENT_INFO_NAME, out));
  unsigned aa[] = { 25, 26, 0x100, 0x2fff, 0x300d, 0x9fff, 0xa015, 0xa016, 0xa100, 0x7fffffff, 0xffffffff };
  for (int i = 0; i < 11; i++) { S(D("GPU attribute 0x%x", aa[i]), , hsa_agent_get_info(gpu, aa[i], out)); S(D("CPU attribute 0x%x", aa[i]), , hsa_agent_get_info(cpu, aa[i], out)); }
  uint16_t m;
  for (int i = -1; i < 4; i++) { SP(D("GPU profile %d", i), m = 0xeeee, note("mask=0x%x", m), hsa_agent_get_exception_policies(gpu, i, &m)); SP(D("CPU profile %d", i), m = 0xeeee, note("mask=0x%x", m), hsa_agent_get_exception_policies(cpu, i, &m)); }
  BA( , hsa_agent_get_exception_policies(gpu, 0, &m)); S("NULL mask", , hsa_agent_get_exception_policies(gpu, 0, NULL)); BAD(BAGENT, "agent", , hsa_agent_get_exception_policies(AG, 0, &m));
  ITER( , hsa_agent_iterate_caches(gpu, c_cache, 0)); SP("CPU", , note("callbacks=%d", ncb), hsa_agent_iterate_caches(cpu, c_cache, 0)); BA( , hsa_agent_iterate_caches(gpu, c_cache, 0)); S("NULL callback", , hsa_agent_iterate_caches(gpu, NULL, 0)); BAD(BAGENT, "agent", , hsa_agent_iterate_caches(AG, c_cache, 0));
  ITER( , hsa_agent_iterate_isas(gpu, c_isa, 0)); SP("CPU", , note("callbacks=%d", ncb), hsa_agent_iterate_isas(cpu, c_isa, 0)); BA( , hsa_agent_iterate_isas(gpu, c_isa, 0)); S("NULL callback", , hsa_agent_iterate_isas(gpu, NULL, 0)); BAD(BAGENT, "agent", , hsa_agent_iterate_isas(AG, c_isa, 0));
  ITER( , hsa_agent_iterate_regions(gpu, c_reg, 0)); SP("CPU", , note("callbacks=%d", ncb), hsa_agent_iterate_regions(cpu, c_reg, 0)); BA( , hsa_agent_iterate_regions(gpu, c_reg, 0)); S("NULL callback", , hsa_agent_iterate_regions(gpu, NULL, 0)); BAD(BAGENT, "agent", , hsa_agent_iterate_regions(AG, c_reg, 0));
  for (int i = 0; i < 11; i++) { SP(D("GPU extension 0x%x 1.0", ex_[i]), memset(&b, 9, 1), note("result=%d", *(char *)&b), hsa_agent_extension_supported(ex_[i], gpu, 1, 0, &b)); SP(D("CPU extension 0x%x 1.0", ex_[i]), memset(&b, 9, 1), note("result=%d", *(char *)&b), hsa_agent_extension_supported(ex_[i], cpu, 1, 0, &b)); }
  BA( , hsa_agent_extension_supported(1, gpu, 1, 0, &b)); S("NULL result", , hsa_agent_extension_supported(1, gpu, 1, 0, NULL)); BAD(BAGENT, "agent", , hsa_agent_extension_supported(1, AG, 1, 0, &b));
  for (int i = 0; i < 11; i++) SP(D("GPU extension 0x%x major 1", ex_[i]), memset(&b, 9, 1); mn = 0xeeee, note("result=%d minor=0x%x", *(char *)&b, mn), hsa_agent_major_extension_supported(ex_[i], gpu, 1, &mn, &b));
  BA( , hsa_agent_major_extension_supported(1, gpu, 1, &mn, &b)); S("NULL minor", , hsa_agent_major_extension_supported(1, gpu, 1, NULL, &b)); S("NULL result", , hsa_agent_major_extension_supported(1, gpu, 1, &mn, NULL)); BAD(BAGENT, "agent", , hsa_agent_major_extension_supported(1, AG, 1, &mn, &b));
  ALL("GPU cache LEVEL", , hsa_cache_get_info(cache, HSA_CACHE_INFO_LEVEL, out)); S("NULL value", , hsa_cache_get_info(cache, HSA_CACHE_INFO_LEVEL, NULL)); S("attribute 4", , hsa_cache_get_info(cache, 4, out)); S("attribute 0xffffffff", , hsa_cache_get_info(cache, -1, out));
  BAD(-1, "cache", , hsa_cache_get_info((hsa_cache_t){bad}, HSA_CACHE_INFO_LEVEL, out));

  /* isa */
  hsa_isa_t i2;
  const char *names[] = { "amdgcn-amd-amdhsa--gfx900", "amdgcn-amd-amdhsa--gfx900:xnack-", "amdgcn-amd-amdhsa--gfx900:xnack+", "amdgcn-amd-amdhsa--gfx900:sramecc+", "amdgcn-amd-amdhsa--gfx906", "amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-", "amdgcn-amd-amdhsa--gfx906:xnack-:sramecc+", "amdgcn-amd-amdhsa--gfx90a", "amdgcn-amd-amdhsa--gfx1030", "amdgcn-amd-amdhsa--gfx1100", "amdgcn-amd-amdhsa--gfx000", "amdgcn-amd-amdhsa--gfx9999", "amdgcn-amd-amdhsa--gfx900:", "amdgcn-amd-amdhsa--gfx900:foo+", "amdgcn-amd-amdhsa--gfx900:xnack", "gfx900", "AMD:AMDGPU:9:0:0", "AMDGPU:9:0:0", "amdgcn-amd-amdhsa-", "amdgcn--amdhsa--gfx900", "", " ", "HSAIL" };
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++) SP(D("\"%s\"", names[i]), char nm[128] = "", if (!r_) { hsa_isa_get_info_alt(i2, HSA_ISA_INFO_NAME, nm); note("name=%s same_as_agent_isa=%d", nm, i2.handle == isa.handle); }, hsa_isa_from_name(names[i], &i2));
  BA( , hsa_isa_from_name("amdgcn-amd-amdhsa--gfx900", &i2)); S("NULL name", , hsa_isa_from_name(NULL, &i2)); S("NULL isa", , hsa_isa_from_name("amdgcn-amd-amdhsa--gfx900", NULL));
  ALL("NAME_LENGTH", , hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME_LENGTH, out)); S("NULL value", , hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME_LENGTH, NULL)); S("attribute 10", , hsa_isa_get_info_alt(isa, 10, out)); S("attribute 15", , hsa_isa_get_info_alt(isa, 15, out)); S("attribute 18", , hsa_isa_get_info_alt(isa, 18, out)); S("attribute 0xffffffff", , hsa_isa_get_info_alt(isa, -1, out)); BAD(-1, "isa", , hsa_isa_get_info_alt((hsa_isa_t){bad}, 0, out));
  ALL("NAME_LENGTH index 0", , hsa_isa_get_info(isa, HSA_ISA_INFO_NAME_LENGTH, 0, out)); S("NULL value", , hsa_isa_get_info(isa, HSA_ISA_INFO_NAME_LENGTH, 0, NULL)); S("index 1", , hsa_isa_get_info(isa, HSA_ISA_INFO_NAME_LENGTH, 1, out));
  S("CALL_CONVENTION_INFO_WAVEFRONT_SIZE index 0", , hsa_isa_get_info(isa, 3, 0, out)); S("CALL_CONVENTION_INFO_WAVEFRONT_SIZE index 1", , hsa_isa_get_info(isa, 3, 1, out)); S("CALL_CONVENTION_INFO_WAVEFRONT_SIZE index UINT32_MAX", , hsa_isa_get_info(isa, 3, -1, out)); S("attribute 99", , hsa_isa_get_info(isa, 99, 0, out)); BAD(-1, "isa", , hsa_isa_get_info((hsa_isa_t){bad}, 0, 0, out));
  for (int i = -1; i < 4; i++) SP(D("profile %d", i), m = 0xeeee, note("mask=0x%x", m), hsa_isa_get_exception_policies(isa, i, &m));
  BA( , hsa_isa_get_exception_policies(isa, 0, &m)); S("NULL mask", , hsa_isa_get_exception_policies(isa, 0, NULL)); BAD(-1, "isa", , hsa_isa_get_exception_policies((hsa_isa_t){bad}, 0, &m));
  hsa_round_method_t rm; int fps[] = { 0, 1, 2, 3, 4, 8 }, fls[] = { 0, 1, 2, 3 };
  for (int i = 0; i < 6; i++) for (int j = 0; j < 4; j++) SP(D("fp_type %d flush_mode %d", fps[i], fls[j]), rm = 0xee, note("method=%d", rm), hsa_isa_get_round_method(isa, fps[i], fls[j], &rm));
  BA( , hsa_isa_get_round_method(isa, 2, 1, &rm)); S("NULL method", , hsa_isa_get_round_method(isa, 2, 1, NULL)); BAD(-1, "isa", , hsa_isa_get_round_method((hsa_isa_t){bad}, 2, 1, &rm));
  ITER( , hsa_isa_iterate_wavefronts(isa, c_wf, 0)); BA( , hsa_isa_iterate_wavefronts(isa, c_wf, 0)); S("NULL callback", , hsa_isa_iterate_wavefronts(isa, NULL, 0)); BAD(-1, "isa", , hsa_isa_iterate_wavefronts((hsa_isa_t){bad}, c_wf, 0));
  ALL("SIZE", , hsa_wavefront_get_info(wf, HSA_WAVEFRONT_INFO_SIZE, out)); S("NULL value", , hsa_wavefront_get_info(wf, 0, NULL)); S("attribute 1", , hsa_wavefront_get_info(wf, 1, out)); BAD(-1, "wavefront", , hsa_wavefront_get_info((hsa_wavefront_t){bad}, 0, out));
#define COMPAT(a) SP("code " a " vs agent isa", NEED(hsa_isa_from_name("amdgcn-amd-amdhsa--" a, &i2)); memset(&b, 9, 1), note("result=%d", *(char *)&b), hsa_isa_compatible(i2, isa, &b))
  COMPAT("gfx900"); COMPAT("gfx900:xnack-"); COMPAT("gfx900:xnack+"); COMPAT("gfx902"); COMPAT("gfx906"); COMPAT("gfx1030");
  SP("agent isa vs itself", memset(&b, 9, 1), note("result=%d", *(char *)&b), hsa_isa_compatible(isa, isa, &b));
  BA( , hsa_isa_compatible(isa, isa, &b)); S("NULL result", , hsa_isa_compatible(isa, isa, NULL)); BAD(-1, "code_object_isa", , hsa_isa_compatible((hsa_isa_t){bad}, isa, &b)); BAD(-1, "agent_isa", , hsa_isa_compatible(isa, (hsa_isa_t){bad}, &b));
}

/* ================================================================= signals */
static void t_signal(void) {
  hsa_agent_t ag[3];
  ALL("no consumers", , hsa_signal_create(1, 0, NULL, &sg)); S("0 consumers, non-NULL list", ag[0] = gpu, hsa_signal_create(1, 0, ag, &sg)); S("1 consumer GPU", , hsa_signal_create(1, 1, &gpu, &sg)); S("1 consumer CPU", , hsa_signal_create(1, 1, &cpu, &sg)); S("2 consumers CPU+GPU", ag[0] = cpu; ag[1] = gpu, hsa_signal_create(1, 2, ag, &sg));
  S("NULL signal", , hsa_signal_create(1, 0, NULL, NULL)); S("num_consumers 1, NULL list", , hsa_signal_create(1, 1, NULL, &sg)); S("duplicate consumers", ag[0] = gpu; ag[1] = gpu, hsa_signal_create(1, 2, ag, &sg)); S("INT64_MIN value", , hsa_signal_create(INT64_MIN, 0, NULL, &sg));
  for (int k_ = 0; k_ < NBAD; k_++) if (k_ != BAGENT) S(D("consumer: %s", bn[k_]), ag[0].handle = bh(k_), hsa_signal_create(1, 1, ag, &sg));
  SP("create 10000 signals", int n = 0; for (; n < 9999; n++) if (hsa_signal_create(1, 0, 0, &sg)) break, note("created=%d", n), hsa_signal_create(1, 0, NULL, &sg));
  ALL("valid", need_sig(), hsa_signal_destroy(sg)); S("twice", need_sig(); NEED(hsa_signal_destroy(sg)), hsa_signal_destroy(sg)); S("twice, IPC signal", NEED(hsa_amd_signal_create(5, 0, 0, HSA_AMD_SIGNAL_IPC, &sg)); NEED(hsa_signal_destroy(sg)), hsa_signal_destroy(sg)); BAD(BSIG, "signal", , hsa_signal_destroy(SG)); S("doorbell signal of a queue", need_q(), hsa_signal_destroy(q->doorbell_signal));
  uint64_t at[] = { 0, 1, 2, 3, 4, 0xffffffffffffffffull };
  for (int i = 0; i < 6; i++) S(D("attributes 0x%llx", (unsigned long long)at[i]), , hsa_amd_signal_create(1, 0, NULL, at[i], &sg)); BA( , hsa_amd_signal_create(1, 0, NULL, 0, &sg)); S("NULL signal", , hsa_amd_signal_create(1, 0, NULL, 0, NULL)); S("num_consumers 1, NULL list", , hsa_amd_signal_create(1, 1, NULL, 0, &sg)); S("duplicate consumers", ag[0] = gpu; ag[1] = gpu, hsa_amd_signal_create(1, 2, ag, 0, &sg)); S("consumer CPU, AMD_GPU_ONLY", , hsa_amd_signal_create(1, 1, &cpu, 1, &sg)); S("consumer GPU, AMD_GPU_ONLY", , hsa_amd_signal_create(1, 1, &gpu, 1, &sg));
  for (int k_ = 0; k_ < NBAD; k_++) if (k_ != BAGENT) S(D("consumer: %s", bn[k_]), ag[0].handle = bh(k_), hsa_amd_signal_create(1, 1, ag, 0, &sg));
  volatile hsa_signal_value_t *vp;
  ALLP("valid", need_sig(), if (!r_) note("value=%lld", (long long)*vp), hsa_amd_signal_value_pointer(sg, &vp)); S("NULL output", need_sig(), hsa_amd_signal_value_pointer(sg, NULL)); BAD(BSIG, "signal", , hsa_amd_signal_value_pointer(SG, &vp)); S("doorbell signal", need_q(), hsa_amd_signal_value_pointer(q->doorbell_signal, &vp)); SP("AMD_GPU_ONLY signal", NEED(hsa_amd_signal_create(5, 0, 0, HSA_AMD_SIGNAL_AMD_GPU_ONLY, &sg)), if (!r_) note("value=%lld", (long long)*vp), hsa_amd_signal_value_pointer(sg, &vp)); SP("IPC signal", NEED(hsa_amd_signal_create(5, 0, 0, HSA_AMD_SIGNAL_IPC, &sg)), if (!r_) note("value=%lld", (long long)*vp), hsa_amd_signal_value_pointer(sg, &vp)); SP("signal with CPU-only consumers", NEED(hsa_signal_create(5, 1, &cpu, &sg)), if (!r_) note("value=%lld", (long long)*vp), hsa_amd_signal_value_pointer(sg, &vp)); S("destroyed signal", need_sig(); hsa_signal_destroy(sg), hsa_amd_signal_value_pointer(sg, &vp));

  /* value functions: valid (5 op 3), extremes, before init, after shut down, bad handles */
#define NOTEV note("value=%lld", (long long)hsa_signal_load_relaxed(sg))
#define RMW(f) VP("value 5, operand 3", need_sig(), NOTEV, f(sg, 3)); 
#define VOIDOP(f) WP("value 5, operand 3", need_sig(), NOTEV, f(sg, 3)); W_("before hsa_init, handle 0", 0, , , f(sg, 3)); W_("after last hsa_shut_down", 1, need_sig(); NEED(hsa_shut_down()), , f(sg, 3)); W_("handle 1", 1, sg.handle = 1, , f(sg, 3)); W_("handle -> zeroed memory", 1, sg.handle = (uint64_t)(uintptr_t)zero, , f(sg, 3)); W_("destroyed signal", 1, need_sig(); hsa_signal_destroy(sg), , f(sg, 3));
#define O7(op) VOIDOP(hsa_signal_##op##_scacq_screl) VOIDOP(hsa_signal_##op##_acq_rel) VOIDOP(hsa_signal_##op##_scacquire) VOIDOP(hsa_signal_##op##_acquire) VOIDOP(hsa_signal_##op##_relaxed) VOIDOP(hsa_signal_##op##_screlease) VOIDOP(hsa_signal_##op##_release)
  O7(add) O7(subtract) O7(and) O7(or) O7(xor)
  VOIDOP(hsa_signal_store_relaxed) VOIDOP(hsa_signal_store_screlease) VOIDOP(hsa_signal_store_release) VOIDOP(hsa_signal_silent_store_relaxed) VOIDOP(hsa_signal_silent_store_screlease)
#define VALOP(f, ...) VP("valid", need_sig(), NOTEV, f(sg __VA_ARGS__)); V_("before hsa_init, handle 0", 0, , , f(sg __VA_ARGS__)); V_("after last hsa_shut_down", 1, need_sig(); NEED(hsa_shut_down()), , f(sg __VA_ARGS__)); V_("handle 1", 1, sg.handle = 1, , f(sg __VA_ARGS__)); V_("handle -> zeroed memory", 1, sg.handle = (uint64_t)(uintptr_t)zero, , f(sg __VA_ARGS__)); V_("destroyed signal", 1, need_sig(); hsa_signal_destroy(sg), , f(sg __VA_ARGS__));
#define V7(op, ...) VALOP(hsa_signal_##op##_scacq_screl, __VA_ARGS__) VALOP(hsa_signal_##op##_acq_rel, __VA_ARGS__) VALOP(hsa_signal_##op##_scacquire, __VA_ARGS__) VALOP(hsa_signal_##op##_acquire, __VA_ARGS__) VALOP(hsa_signal_##op##_relaxed, __VA_ARGS__) VALOP(hsa_signal_##op##_screlease, __VA_ARGS__) VALOP(hsa_signal_##op##_release, __VA_ARGS__)
#define COMMA ,
  V7(exchange, COMMA 3) V7(cas, COMMA 5 COMMA 9)
  VALOP(hsa_signal_load_relaxed, ) VALOP(hsa_signal_load_scacquire, ) VALOP(hsa_signal_load_acquire, )
  VP("cas with wrong expected value", need_sig(), NOTEV, hsa_signal_cas_scacq_screl(sg, 4, 9));
  WP("overflow INT64_MAX + 1", NEED(hsa_signal_create(INT64_MAX, 0, 0, &sg)), NOTEV, hsa_signal_add_relaxed(sg, 1)); WP("underflow INT64_MIN - 1", NEED(hsa_signal_create(INT64_MIN, 0, 0, &sg)), NOTEV, hsa_signal_subtract_relaxed(sg, 1));
  W_("doorbell signal of a queue", 1, need_q(), , hsa_signal_add_relaxed(q->doorbell_signal, 1)); V_("doorbell signal of a queue", 1, need_q(), , hsa_signal_load_relaxed(q->doorbell_signal)); V_("doorbell signal of a queue", 1, need_q(), , hsa_signal_exchange_relaxed(q->doorbell_signal, 1)); V_("doorbell signal of a queue", 1, need_q(), , hsa_signal_cas_relaxed(q->doorbell_signal, 0, 1)); W_("doorbell signal of a queue", 1, need_q(), , hsa_signal_silent_store_relaxed(q->doorbell_signal, 0));
#define WAITS(f) for (int c = 0; c < 5; c++) for (int w = 0; w < 2; w++) V(D("value 5, condition %d vs 5, timeout 0, wait_state %d", c, w), need_sig(), f(sg, c, 5, 0, w)); \
  V("condition 77, timeout 0", need_sig(), f(sg, 77, 5, 0, 0)); V("wait_state 77, condition EQ 5", need_sig(), f(sg, 0, 5, 0, 77)); V("not satisfied, timeout 20 ms", need_sig(), f(sg, 0, 6, 20000000, 0)); V("not satisfied, active, timeout 20 ms", need_sig(), f(sg, 0, 6, 20000000, 1)); V("satisfied, timeout UINT64_MAX", need_sig(), f(sg, 0, 5, -1, 0)); \
  V_("before hsa_init, handle 0", 0, , , f(sg, 0, 5, 0, 0)); V_("after last hsa_shut_down", 1, need_sig(); NEED(hsa_shut_down()), , f(sg, 0, 5, 0, 0)); V("handle 1", sg.handle = 1, f(sg, 0, 5, 0, 0)); V("handle -> zeroed memory", sg.handle = (uint64_t)(uintptr_t)zero, f(sg, 0, 5, 0, 0)); V("destroyed signal", need_sig(); hsa_signal_destroy(sg), f(sg, 0, 5, 0, 0)); V("doorbell signal", need_q(), f(q->doorbell_signal, 0, 5, 0, 0));
  WAITS(hsa_signal_wait_scacquire) WAITS(hsa_signal_wait_acquire) WAITS(hsa_signal_wait_relaxed)

  /* groups */
  hsa_signal_t ss[2]; hsa_signal_condition_t cc[2] = { 0, 0 }; hsa_signal_value_t cv[2] = { 5, 7 }, sv; hsa_signal_t so;
#define GRP need_sig2(); ss[0] = sg; ss[1] = sg2
#define MKG GRP; NEED(hsa_signal_group_create(2, ss, 0, NULL, &grp))
  ALL("2 signals, no consumers", GRP, hsa_signal_group_create(2, ss, 0, NULL, &grp)); S("1 consumer GPU", GRP, hsa_signal_group_create(2, ss, 1, &gpu, &grp)); S("0 signals", GRP, hsa_signal_group_create(0, ss, 0, NULL, &grp)); S("NULL signals", , hsa_signal_group_create(2, NULL, 0, NULL, &grp)); S("NULL group", GRP, hsa_signal_group_create(2, ss, 0, NULL, NULL)); S("1 consumer, NULL list", GRP, hsa_signal_group_create(2, ss, 1, NULL, &grp)); S("0 consumers, non-NULL list", GRP, hsa_signal_group_create(2, ss, 0, &gpu, &grp)); S("signal handle 0 in list", GRP; ss[1].handle = 0, hsa_signal_group_create(2, ss, 0, NULL, &grp)); S("signal handle -> zeroed memory in list", GRP; ss[1].handle = (uint64_t)(uintptr_t)zero, hsa_signal_group_create(2, ss, 0, NULL, &grp)); S("duplicate signal", GRP; ss[1] = ss[0], hsa_signal_group_create(2, ss, 0, NULL, &grp)); S("duplicate consumers", GRP; ag[0] = ag[1] = gpu, hsa_signal_group_create(2, ss, 2, ag, &grp)); S("consumer handle 0", GRP; ag[0].handle = 0, hsa_signal_group_create(2, ss, 1, ag, &grp));
  ALL("valid", MKG, hsa_signal_group_destroy(grp)); S("twice", MKG; hsa_signal_group_destroy(grp), hsa_signal_group_destroy(grp)); BAD(-1, "group", , hsa_signal_group_destroy((hsa_signal_group_t){bad}));
#define GW(f) ALLP("first satisfied", MKG, note("signal_is_first=%d value=%lld", so.handle == sg.handle, (long long)sv), f(grp, cc, cv, 0, &so, &sv)); SP("second satisfied", MKG; cv[0] = 1, note("signal_is_second=%d value=%lld", so.handle == sg2.handle, (long long)sv), f(grp, cc, cv, 0, &so, &sv)); S("NULL conditions", MKG, f(grp, NULL, cv, 0, &so, &sv)); S("NULL compare_values", MKG, f(grp, cc, NULL, 0, &so, &sv)); S("NULL signal", MKG, f(grp, cc, cv, 0, NULL, &sv)); S("NULL value", MKG, f(grp, cc, cv, 0, &so, NULL)); S("wait_state 77", MKG, f(grp, cc, cv, 77, &so, &sv)); S("condition 77 on both", MKG; cc[0] = cc[1] = 77, f(grp, cc, cv, 0, &so, &sv)); S("destroyed group", MKG; hsa_signal_group_destroy(grp), f(grp, cc, cv, 0, &so, &sv)); BAD(-1, "group", , f((hsa_signal_group_t){bad}, cc, cv, 0, &so, &sv));
  GW(hsa_signal_group_wait_any_scacquire) GW(hsa_signal_group_wait_any_relaxed)
  /* amd wait any, async */
#define WA(n, s_, c_, v_, t_, w_, o_) hsa_amd_signal_wait_any(n, s_, c_, v_, t_, w_, o_)
  VP("first satisfied", GRP, note("value=%lld", (long long)sv), hsa_amd_signal_wait_any(2, ss, cc, cv, 0, 0, &sv)); VP("second satisfied", GRP; cv[0] = 1, note("value=%lld", (long long)sv), hsa_amd_signal_wait_any(2, ss, cc, cv, 0, 0, &sv)); V("none, timeout 0", GRP; cv[0] = cv[1] = 1, hsa_amd_signal_wait_any(2, ss, cc, cv, 0, 0, &sv)); V("none, timeout 20 ms", GRP; cv[0] = cv[1] = 1, hsa_amd_signal_wait_any(2, ss, cc, cv, 20000000, 0, &sv)); V("count 0, timeout 0", , hsa_amd_signal_wait_any(0, ss, cc, cv, 0, 0, &sv)); V("NULL signals", , hsa_amd_signal_wait_any(2, NULL, cc, cv, 0, 0, &sv)); V("NULL conds", GRP, hsa_amd_signal_wait_any(2, ss, NULL, cv, 0, 0, &sv)); V("NULL values", GRP, hsa_amd_signal_wait_any(2, ss, cc, NULL, 0, 0, &sv)); V("NULL satisfying_value", GRP, hsa_amd_signal_wait_any(2, ss, cc, cv, 0, 0, NULL)); V("condition 77, timeout 0", GRP; cc[0] = cc[1] = 77, hsa_amd_signal_wait_any(2, ss, cc, cv, 0, 0, &sv)); V("signal handle 0 in list", GRP; ss[0].handle = 0, hsa_amd_signal_wait_any(2, ss, cc, cv, 0, 0, &sv)); V("both handles 0", ss[0].handle = ss[1].handle = 0, hsa_amd_signal_wait_any(2, ss, cc, cv, 0, 0, &sv)); V("handle -> zeroed memory in list", GRP; ss[0].handle = (uint64_t)(uintptr_t)zero, hsa_amd_signal_wait_any(2, ss, cc, cv, 0, 0, &sv)); V_("before hsa_init", 0, , , hsa_amd_signal_wait_any(2, ss, cc, cv, 0, 0, &sv)); V_("after last hsa_shut_down", 1, GRP; NEED(hsa_shut_down()), , hsa_amd_signal_wait_any(2, ss, cc, cv, 0, 0, &sv)); V("duplicate signal, satisfied", GRP; ss[1] = ss[0]; cv[0] = 1; cv[1] = 5, hsa_amd_signal_wait_any(2, ss, cc, cv, 0, 0, &sv));
}
static volatile int hcount; static volatile int64_t hval;
static bool h_false(hsa_signal_value_t v, void *a) { hcount++; hval = v; return false; }
static bool h_true(hsa_signal_value_t v, void *a) { hcount++; hval = v; hsa_signal_store_relaxed(sg, 5); return true; }
static void afn(void *a) { hcount += 1 + (a != 0); }
static void dcb(void *p, void *u) { hcount++; }
static void dcb2(void *p, void *u) { hcount++; }
static volatile int faults; static hsa_status_t evcb(const hsa_amd_event_t *e, void *d) { faults++; return HSA_STATUS_SUCCESS; }
static void qcb(hsa_status_t s, hsa_queue_t *q_, void *d) { hcount++; }
static void t_async(void) {
#define SETTLE usleep(60000); note("handler_calls=%d value=%lld", hcount, (long long)hval)
  SP("condition LT 1, not yet true", need_sig(), SETTLE, hsa_amd_signal_async_handler(sg, 2, 1, h_false, 0)); SP("then store 0, handler returns false", need_sig(), hsa_signal_store_relaxed(sg, 0); usleep(50000); hsa_signal_store_relaxed(sg, 1); usleep(20000); hsa_signal_store_relaxed(sg, 0); SETTLE, hsa_amd_signal_async_handler(sg, 2, 1, h_false, 0)); SP("handler returns true, signal stored 0 twice", need_sig(), hsa_signal_store_relaxed(sg, 0); usleep(50000); hsa_signal_store_relaxed(sg, 0); SETTLE, hsa_amd_signal_async_handler(sg, 2, 1, h_true, 0)); SP("condition already true", need_sig(), SETTLE, hsa_amd_signal_async_handler(sg, 0, 5, h_false, 0));
  BA(need_sig(), hsa_amd_signal_async_handler(sg, 2, 1, h_false, 0)); S("NULL handler", need_sig(), hsa_amd_signal_async_handler(sg, 2, 1, NULL, 0)); SP("condition 77", need_sig(), SETTLE, hsa_amd_signal_async_handler(sg, 77, 1, h_false, 0)); BAD(BSIG, "signal", , hsa_amd_signal_async_handler(SG, 2, 1, h_false, 0)); S("destroyed signal", need_sig(); hsa_signal_destroy(sg), hsa_amd_signal_async_handler(sg, 2, 1, h_false, 0)); S("doorbell signal", need_q(), hsa_amd_signal_async_handler(q->doorbell_signal, 2, 1, h_false, 0));
  SP("valid", , SETTLE, hsa_amd_async_function(afn, 0)); BA( , hsa_amd_async_function(afn, 0)); S("NULL callback", , hsa_amd_async_function(NULL, 0));
  ALL("first registration", , hsa_amd_register_system_event_handler(evcb, 0)); S("second registration", NEED(hsa_amd_register_system_event_handler(evcb, 0)), hsa_amd_register_system_event_handler(evcb, 0)); S("NULL callback", , hsa_amd_register_system_event_handler(NULL, 0));
}

/* ================================================================= queues */
static void t_queue(void) {
  unsigned sz[] = { 0, 1, 2, 4, 16, 32, 63, 64, 65, 100, 128, 1024, 131072, 131073, 262144, 1u << 31, UINT32_MAX };
  for (unsigned i = 0; i < sizeof sz / 4; i++) SP(D("GPU size %u", sz[i]), q = 0, if (!r_) note("size=%u type=%u features=%u queue=%s base=%s", q->size, q->type, q->features, q ? "set" : "NULL", q->base_address ? "set" : "NULL"), hsa_queue_create(gpu, sz[i], 0, 0, 0, UINT32_MAX, UINT32_MAX, &q));
  for (int t = -1; t < 5; t++) SP(D("GPU size 64 type %d", t), , if (!r_) note("type=%u", q->type), hsa_queue_create(gpu, 64, t, 0, 0, 0, 0, &q));
  S("type 100, size 0", , hsa_queue_create(gpu, 0, 100, 0, 0, 0, 0, &q)); BA( , hsa_queue_create(gpu, 64, 0, 0, 0, 0, 0, &q)); S("NULL queue", , hsa_queue_create(gpu, 64, 0, 0, 0, 0, 0, NULL)); S("CPU agent", , hsa_queue_create(cpu, 64, 0, 0, 0, 0, 0, &q)); S("CPU agent, size 0", , hsa_queue_create(cpu, 0, 0, 0, 0, 0, 0, &q)); S("with callback", , hsa_queue_create(gpu, 64, 0, qcb, 0, 0, 0, &q)); BAD(BAGENT, "agent", , hsa_queue_create(AG, 64, 0, 0, 0, 0, 0, &q));
  unsigned pv[] = { 1, 64, 1024, 65536, 1u << 20, 1u << 24, 1u << 31, UINT32_MAX }; for (int i = 0; i < 8; i++) S(D("private_segment_size %u", pv[i]), , hsa_queue_create(gpu, 64, 0, 0, 0, pv[i], 0, &q)); unsigned gv[] = { 1, 65536, 65537, 1u << 31, UINT32_MAX }; for (int i = 0; i < 5; i++) S(D("group_segment_size %u", gv[i]), , hsa_queue_create(gpu, 64, 0, 0, 0, 0, gv[i], &q));
  int limit_ = case_timeout; case_timeout = 60; SP("create until failure, at most 140", int n = 0; for (; n < 139; n++) if (hsa_queue_create(gpu, 64, 0, 0, 0, UINT32_MAX, UINT32_MAX, &q)) break, note("before=%d", n), hsa_queue_create(gpu, 64, 0, 0, 0, UINT32_MAX, UINT32_MAX, &q)); case_timeout = limit_;
  /* soft queues */
#define SQ(n, t, f) hsa_soft_queue_create(r_fine, n, t, f, sg, &q)
  ALLP("fine region, 64, MULTI, AGENT_DISPATCH", need_sig(), if (!r_) note("size=%u type=%u features=%u doorbell_is_given=%d id_set=%d", q->size, q->type, q->features, q->doorbell_signal.handle == sg.handle, q->id != 0), hsa_soft_queue_create(r_fine, 64, 0, 2, sg, &q)); unsigned s2[] = { 0, 1, 2, 63, 65, 100, 1u << 20, 1u << 30, UINT32_MAX }; for (int i = 0; i < 9; i++) S(D("size %u", s2[i]), need_sig(), hsa_soft_queue_create(r_fine, s2[i], 0, 2, sg, &q)); for (int t = -1; t < 5; t++) S(D("type %d", t), need_sig(), hsa_soft_queue_create(r_fine, 64, t, 2, sg, &q)); for (int f = 0; f < 5; f++) S(D("features %d", f), need_sig(), hsa_soft_queue_create(r_fine, 64, 0, f, sg, &q)); S("features 0xffffffff", need_sig(), hsa_soft_queue_create(r_fine, 64, 0, -1, sg, &q));
  S("NULL queue", need_sig(), hsa_soft_queue_create(r_fine, 64, 0, 2, sg, NULL)); S("kernarg region", need_sig(), hsa_soft_queue_create(r_karg, 64, 0, 2, sg, &q)); S("coarse region", need_sig(), hsa_soft_queue_create(r_coarse, 64, 0, 2, sg, &q)); S("VRAM region", need_sig(), hsa_soft_queue_create(r_vram, 64, 0, 2, sg, &q)); S("group region", need_sig(), hsa_soft_queue_create(r_group, 64, 0, 2, sg, &q)); BAD(BREG, "region", if (k_ != BSIG) need_sig(), hsa_soft_queue_create((hsa_region_t){bad}, 64, 0, 2, sg, &q)); BAD(BSIG, "doorbell_signal", , hsa_soft_queue_create(r_fine, 64, 0, 2, SG, &q)); S("doorbell = hardware doorbell", need_q(), hsa_soft_queue_create(r_fine, 64, 0, 2, q->doorbell_signal, &q2));
#define QF(f, valid) do { ALL(valid, need_q(), f); } while (0)
  ALL("hardware queue", need_q(), hsa_queue_destroy(q)); S("soft queue", need_soft(), hsa_queue_destroy(q)); S("NULL", , hsa_queue_destroy(NULL)); S("twice", need_q(); NEED(hsa_queue_destroy(q)), hsa_queue_destroy(q)); S("soft queue twice", need_soft(); NEED(hsa_queue_destroy(q)), hsa_queue_destroy(q)); S("pointer to zeroed memory", , hsa_queue_destroy((hsa_queue_t *)zero)); S("copy of the queue struct", need_q(); memcpy(out, q, sizeof *q), hsa_queue_destroy((hsa_queue_t *)out)); S("pointer 1", , hsa_queue_destroy((hsa_queue_t *)1));
  ALL("hardware queue", need_q(), hsa_queue_inactivate(q)); S("soft queue", need_soft(), hsa_queue_inactivate(q)); S("NULL", , hsa_queue_inactivate(NULL)); S("twice", need_q(); NEED(hsa_queue_inactivate(q)), hsa_queue_inactivate(q)); S("destroyed", need_q(); NEED(hsa_queue_destroy(q)), hsa_queue_inactivate(q)); S("pointer to zeroed memory", , hsa_queue_inactivate((hsa_queue_t *)zero));
#define QI note("write_index=%llu read_index=%llu", (unsigned long long)hsa_queue_load_write_index_relaxed(q), (unsigned long long)hsa_queue_load_read_index_relaxed(q))
#define QV(f, ...) VP("hardware queue", need_q(), QI, f(q __VA_ARGS__)); VP("soft queue", need_soft(), QI, f(q __VA_ARGS__)); V("NULL", , f(NULL __VA_ARGS__)); V("pointer to zeroed memory", , f((void *)zero __VA_ARGS__)); V_("before hsa_init, NULL", 0, , , f(q __VA_ARGS__)); V_("after last hsa_shut_down", 1, need_q(); NEED(hsa_shut_down()), , f(q __VA_ARGS__)); V("destroyed", need_q(); hsa_queue_destroy(q), f(q __VA_ARGS__));
#define QW(f, ...) WP("hardware queue", need_q(), QI, f(q __VA_ARGS__)); WP("soft queue", need_soft(), QI, f(q __VA_ARGS__)); W_("NULL", 1, , , f(NULL __VA_ARGS__)); W_("pointer to zeroed memory", 1, , , f((void *)zero __VA_ARGS__)); W_("before hsa_init, NULL", 0, , , f(q __VA_ARGS__)); W_("after last hsa_shut_down", 1, need_q(); NEED(hsa_shut_down()), , f(q __VA_ARGS__)); W_("destroyed", 1, need_q(); hsa_queue_destroy(q), , f(q __VA_ARGS__));
  QV(hsa_queue_load_read_index_acquire, ) QV(hsa_queue_load_read_index_scacquire, ) QV(hsa_queue_load_read_index_relaxed, ) QV(hsa_queue_load_write_index_acquire, ) QV(hsa_queue_load_write_index_scacquire, ) QV(hsa_queue_load_write_index_relaxed, )
  QW(hsa_queue_store_write_index_relaxed, COMMA 9) QW(hsa_queue_store_write_index_release, COMMA 9) QW(hsa_queue_store_write_index_screlease, COMMA 9) QW(hsa_queue_store_read_index_relaxed, COMMA 9) QW(hsa_queue_store_read_index_release, COMMA 9) QW(hsa_queue_store_read_index_screlease, COMMA 9)
#define Q7(op, ...) QV(hsa_queue_##op##_acq_rel, __VA_ARGS__) QV(hsa_queue_##op##_scacq_screl, __VA_ARGS__) QV(hsa_queue_##op##_acquire, __VA_ARGS__) QV(hsa_queue_##op##_scacquire, __VA_ARGS__) QV(hsa_queue_##op##_relaxed, __VA_ARGS__) QV(hsa_queue_##op##_release, __VA_ARGS__) QV(hsa_queue_##op##_screlease, __VA_ARGS__)
  Q7(add_write_index, COMMA 2) Q7(cas_write_index, COMMA 0 COMMA 4)
  VP("wrong expected value", need_q(), QI, hsa_queue_cas_write_index_relaxed(q, 3, 4));
  /* amd queue functions */
  uint32_t cu[4] = { 0xffffffff, 0xffffffff, 0, 0 }, cz[4] = { 0 }, c1[4] = { 0xf, 0, 0, 0 };
  ALL("64 bits all ones", need_q(), hsa_amd_queue_cu_set_mask(q, 64, cu)); S("32 bits 0xf", need_q(), hsa_amd_queue_cu_set_mask(q, 32, c1)); S("64 bits 0xf", need_q(), hsa_amd_queue_cu_set_mask(q, 64, c1)); S("128 bits all ones in 64", need_q(), hsa_amd_queue_cu_set_mask(q, 128, cu)); S("128 bits all ones in 128", need_q(); cu[2] = cu[3] = -1, hsa_amd_queue_cu_set_mask(q, 128, cu)); S("count 0, NULL mask", need_q(), hsa_amd_queue_cu_set_mask(q, 0, NULL)); S("count 0, mask given", need_q(), hsa_amd_queue_cu_set_mask(q, 0, cu)); S("count 33", need_q(), hsa_amd_queue_cu_set_mask(q, 33, cu)); S("count 1", need_q(), hsa_amd_queue_cu_set_mask(q, 1, cu)); S("NULL mask count 64", need_q(), hsa_amd_queue_cu_set_mask(q, 64, NULL)); S("all zero mask", need_q(), hsa_amd_queue_cu_set_mask(q, 64, cz)); S("NULL queue", , hsa_amd_queue_cu_set_mask(NULL, 64, cu)); S("soft queue", need_soft(), hsa_amd_queue_cu_set_mask(q, 64, cu)); S("destroyed queue", need_q(); hsa_queue_destroy(q), hsa_amd_queue_cu_set_mask(q, 64, cu)); S("pointer to zeroed memory", , hsa_amd_queue_cu_set_mask((void *)zero, 64, cu));
#define MASKN note("mask=%08x %08x %08x %08x", cz[0], cz[1], cz[2], cz[3])
  ALLP("64 bits", need_q(), MASKN, hsa_amd_queue_cu_get_mask(q, 64, cz)); SP("after set 0xf", need_q(); hsa_amd_queue_cu_set_mask(q, 64, c1), MASKN, hsa_amd_queue_cu_get_mask(q, 64, cz)); SP("32 bits", need_q(), MASKN, hsa_amd_queue_cu_get_mask(q, 32, cz)); SP("128 bits", need_q(), MASKN, hsa_amd_queue_cu_get_mask(q, 128, cz)); S("count 0", need_q(), hsa_amd_queue_cu_get_mask(q, 0, cz)); S("count 33", need_q(), hsa_amd_queue_cu_get_mask(q, 33, cz)); S("NULL mask", need_q(), hsa_amd_queue_cu_get_mask(q, 64, NULL)); S("NULL queue", , hsa_amd_queue_cu_get_mask(NULL, 64, cz)); S("soft queue", need_soft(), hsa_amd_queue_cu_get_mask(q, 64, cz)); S("destroyed queue", need_q(); hsa_queue_destroy(q), hsa_amd_queue_cu_get_mask(q, 64, cz)); S("pointer to zeroed memory", , hsa_amd_queue_cu_get_mask((void *)zero, 64, cz));
  for (int p = -1; p < 5; p++) S(D("priority %d", p), need_q(), hsa_amd_queue_set_priority(q, p)); BA(need_q(), hsa_amd_queue_set_priority(q, 1)); S("NULL queue", , hsa_amd_queue_set_priority(NULL, 1)); S("soft queue", need_soft(), hsa_amd_queue_set_priority(q, 1)); S("destroyed queue", need_q(); hsa_queue_destroy(q), hsa_amd_queue_set_priority(q, 1)); S("pointer to zeroed memory", , hsa_amd_queue_set_priority((void *)zero, 1));
  ALL("enable", need_q(), hsa_amd_profiling_set_profiler_enabled(q, 1)); S("disable", need_q(), hsa_amd_profiling_set_profiler_enabled(q, 0)); S("enable 77", need_q(), hsa_amd_profiling_set_profiler_enabled(q, 77)); S("NULL queue", , hsa_amd_profiling_set_profiler_enabled(NULL, 1)); S("soft queue", need_soft(), hsa_amd_profiling_set_profiler_enabled(q, 1)); S("destroyed queue", need_q(); hsa_queue_destroy(q), hsa_amd_profiling_set_profiler_enabled(q, 1)); S("pointer to zeroed memory", , hsa_amd_profiling_set_profiler_enabled((void *)zero, 1));
  ALL("true", , hsa_amd_profiling_async_copy_enable(true)); S("false", , hsa_amd_profiling_async_copy_enable(false)); S("true twice", hsa_amd_profiling_async_copy_enable(true), hsa_amd_profiling_async_copy_enable(true));
  hsa_amd_profiling_dispatch_time_t dt; hsa_amd_profiling_async_copy_time_t ct; uint64_t tk;
  ALL("signal never used in a dispatch", need_sig(), hsa_amd_profiling_get_dispatch_time(gpu, sg, &dt)); S("NULL time", need_sig(), hsa_amd_profiling_get_dispatch_time(gpu, sg, NULL)); S("CPU agent", need_sig(), hsa_amd_profiling_get_dispatch_time(cpu, sg, &dt)); BAD(BAGENT, "agent", if (k_ != BSIG) need_sig(), hsa_amd_profiling_get_dispatch_time(AG, sg, &dt)); BAD(BSIG, "signal", , hsa_amd_profiling_get_dispatch_time(gpu, SG, &dt)); S("destroyed signal", need_sig(); hsa_signal_destroy(sg), hsa_amd_profiling_get_dispatch_time(gpu, sg, &dt));
  ALL("signal never used in a copy", need_sig(), hsa_amd_profiling_get_async_copy_time(sg, &ct)); S("NULL time", need_sig(), hsa_amd_profiling_get_async_copy_time(sg, NULL)); BAD(BSIG, "signal", , hsa_amd_profiling_get_async_copy_time(SG, &ct)); S("destroyed signal", need_sig(); hsa_signal_destroy(sg), hsa_amd_profiling_get_async_copy_time(sg, &ct));
#define CP NEED(hsa_amd_profiling_async_copy_enable(true)); need_fine(); need_vram(); NEED(hsa_signal_create(1, 0, 0, &sg)); NEED(hsa_amd_memory_async_copy(vram, gpu, fine, cpu, 4096, 0, 0, sg)); wait_done(sg)
  SP("after a profiled copy", CP, note(" start<=end=%d start!=0=%d", ct.start <= ct.end, ct.start != 0), hsa_amd_profiling_get_async_copy_time(sg, &ct));
  ALL("GPU tick 1000", , hsa_amd_profiling_convert_tick_to_system_domain(gpu, 1000, &tk)); S("tick 0", , hsa_amd_profiling_convert_tick_to_system_domain(gpu, 0, &tk)); S("tick UINT64_MAX", , hsa_amd_profiling_convert_tick_to_system_domain(gpu, -1, &tk)); S("NULL output", , hsa_amd_profiling_convert_tick_to_system_domain(gpu, 1000, NULL)); S("CPU agent", , hsa_amd_profiling_convert_tick_to_system_domain(cpu, 1000, &tk)); BAD(BAGENT, "agent", , hsa_amd_profiling_convert_tick_to_system_domain(AG, 1000, &tk));
}

#include "status_mem.h"
#include "status_code.h"

int main(void) {
  only = getenv("STATUS_ONLY"); read_crowd(); setvbuf(stdout, 0, _IOLBF, 0);
  printf("_amdgpu_r_debug | data symbol | %s\n", dlsym(RTLD_DEFAULT, "_amdgpu_r_debug") ? "PRESENT" : "NO_SYMBOL");
  t_core(); t_signal(); t_async(); t_queue(); t_mem(); t_amdmem(); t_code(); t_codeobj(); t_ext();
  fprintf(stderr, "%d cases\n", n_cases); return 0;
}
