/* What a case is, and the objects and handles that cases use. Shared by status.c and later.c. */
#include "common.h"

static char dbuf[8][512]; static int dk;
static const char *D(const char *f, ...) { dk = (dk + 1) & 7; va_list a; va_start(a, f); vsnprintf(dbuf[dk], 512, f, a); va_end(a); return dbuf[dk]; }
static const char *only;
static int begin(const char *call, const char *desc, int init) {
  char fn[128]; size_t n = strcspn(call, "( "); if (n > 127) n = 127; memcpy(fn, call, n); fn[n] = 0;
  char pre[700]; snprintf(pre, sizeof pre, "%s | %s", fn, desc);
  if (only && !strstr(pre, only)) return 0;
  if (!strncmp(fn, "hsa_", 4) && strncmp(fn, "hsa_ven", 7) && !dlsym(RTLD_DEFAULT, fn)) { printf("%s | NO_SYMBOL\n", pre); n_cases++; return 0; }
  if (!spawn(pre)) return 0;
  if (init) discover();
  return 1;
}
static void end_status(hsa_status_t s) { char b[128]; snprintf(b, sizeof b, "%s", st_name(s)); finish(b); }
static void end_val(int64_t v) { char b[128]; snprintf(b, sizeof b, "RETURNS %lld (0x%llx)", (long long)v, (long long)v); finish(b); }
/* S: status call; SP: with a statement run after it (r_ = the status); V/W: value / void calls */
#define S_(desc, init, setup, post, ...) do { if (begin(#__VA_ARGS__, desc, init)) { setup; mark(); int64_t call_(void) { return (int64_t)(__VA_ARGS__); } if (crowd_size) crowd(call_, 1); hsa_status_t r_ = (hsa_status_t)call_(); post; end_status(r_); } } while (0)
#define S(desc, setup, ...) S_(desc, 1, setup, , __VA_ARGS__)
#define SP(desc, setup, post, ...) S_(desc, 1, setup, post, __VA_ARGS__)
#define V_(desc, init, setup, post, ...) do { if (begin(#__VA_ARGS__, desc, init)) { setup; mark(); int64_t call_(void) { return (int64_t)(__VA_ARGS__); } if (crowd_size) crowd(call_, 0); int64_t r_ = call_(); post; end_val(r_); } } while (0)
#define V(desc, setup, ...) V_(desc, 1, setup, , __VA_ARGS__)
#define VP(desc, setup, post, ...) V_(desc, 1, setup, post, __VA_ARGS__)
#define W_(desc, init, setup, post, ...) do { if (begin(#__VA_ARGS__, desc, init)) { setup; mark(); int64_t call_(void) { (__VA_ARGS__); return 0; } if (crowd_size) crowd(call_, 2); call_(); post; finish("VOID"); } } while (0)
#define WP(desc, setup, post, ...) W_(desc, 1, setup, post, __VA_ARGS__)
/* valid + before hsa_init + after the last hsa_shut_down */
#define BA(setup, ...) do { S_("before hsa_init", 0, , , __VA_ARGS__); S_("after last hsa_shut_down", 1, setup; NEED(hsa_shut_down()), , __VA_ARGS__); } while (0)
#define ALL(desc, setup, ...) do { S(desc, setup, __VA_ARGS__); BA(setup, __VA_ARGS__); } while (0)
#define ALLP(desc, setup, post, ...) do { SP(desc, setup, post, __VA_ARGS__); BA(setup, __VA_ARGS__); } while (0)

/* objects */
static hsa_signal_t sg, sg2; static hsa_queue_t *q, *q2; static void *fine, *vram, *reg, *p0; static hsa_signal_group_t grp;
static char zero[65536] __attribute__((aligned(4096))); static char out[4096] __attribute__((aligned(64))); static char stackish[65536] __attribute__((aligned(4096)));
static void need_sig(void) { NEED(hsa_signal_create(5, 0, 0, &sg)); }
static void need_sig2(void) { need_sig(); NEED(hsa_signal_create(7, 0, 0, &sg2)); }
static void need_q(void) { NEED(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_MULTI, 0, 0, UINT32_MAX, UINT32_MAX, &q)); usleep(5000); /* let the async thread settle: the shim loses a wake-up when two threads wait on one auto-reset event */ }
static void need_fine(void) { NEED(hsa_amd_memory_pool_allocate(p_fine, 65536, 0, &fine)); NEED(hsa_amd_agents_allow_access(1, &gpu, 0, fine)); memset(fine, 0x11, 65536); }
static void need_vram(void) { NEED(hsa_amd_memory_pool_allocate(p_vram, 65536, 0, &vram)); }
static void need_reg(void) { NEED(hsa_memory_allocate(r_fine, 4096, &reg)); }
static void need_soft(void) { need_sig(); NEED(hsa_soft_queue_create(r_fine, 64, HSA_QUEUE_TYPE_MULTI, HSA_QUEUE_FEATURE_AGENT_DISPATCH, sg, &q)); }
static void need_sym(void) { need_symbol("kern.co", "vadd.kd"); }
static uint64_t af(uint64_t v) { return v; }

/* bad handles, evaluated in the child */
enum { BZ, B1, BZERO, BAGENT, BSIG, BREG, BEXE, NBAD };
static const char *bn[NBAD] = { "handle 0", "handle 1", "handle -> zeroed memory", "handle of an agent", "handle of a signal", "handle of a region", "handle of an executable" };
static uint64_t bh(int k) { switch (k) { case BZ: return 0; case B1: return 1; case BZERO: return (uint64_t)(uintptr_t)zero; case BAGENT: return gpu.handle; case BSIG: need_sig(); return sg.handle; case BREG: return r_fine.handle; case BEXE: { hsa_executable_t e; NEED(hsa_executable_create_alt(HSA_PROFILE_BASE, 0, 0, &e)); return e.handle; } } return 0; }
#define BAD(skip, what, setup, ...) do { for (int k_ = 0; k_ < NBAD; k_++) if (k_ != (skip)) S(D("%s: %s", what, bn[k_]), setup; uint64_t bad = bh(k_), __VA_ARGS__); } while (0)
#define AG ((hsa_agent_t){bad})
#define SG ((hsa_signal_t){bad})
#define BADV(skip, what, setup, ...) do { for (int k_ = 0; k_ < NBAD; k_++) if (k_ != (skip)) V(D("%s: %s", what, bn[k_]), setup; uint64_t bad = bh(k_), __VA_ARGS__); } while (0)

/* callbacks */
static int ncb, cb_stop; static hsa_status_t cb_ret;
static hsa_status_t cbv(void) { ncb++; return cb_ret; }
static hsa_status_t c_agent(hsa_agent_t a, void *d) { return cbv(); }
static hsa_status_t c_reg(hsa_region_t a, void *d) { return cbv(); }
static hsa_status_t c_pool(hsa_amd_memory_pool_t a, void *d) { return cbv(); }
static hsa_status_t c_isa(hsa_isa_t a, void *d) { return cbv(); }
static hsa_status_t c_wf(hsa_wavefront_t a, void *d) { return cbv(); }
static hsa_status_t c_cache(hsa_cache_t a, void *d) { return cbv(); }
static hsa_status_t c_esym(hsa_executable_t e, hsa_executable_symbol_t s, void *d) { return cbv(); }
static hsa_status_t c_easym(hsa_executable_t e, hsa_agent_t a, hsa_executable_symbol_t s, void *d) { return cbv(); }
static hsa_status_t c_cosym(hsa_code_object_t e, hsa_code_symbol_t s, void *d) { return cbv(); }
static hsa_status_t c_lco(hsa_executable_t e, hsa_loaded_code_object_t l, void *d) { lco = l; return cbv(); }
static hsa_status_t c_exe(hsa_executable_t e, void *d) { return cbv(); }
static const unsigned cbrs[] = { 0, 1, 0x1000, 0x1008, 0x77 };
#define ITER(setup, ...) do { for (int i_ = 0; i_ < 5; i_++) SP(D("callback returns 0x%x", cbrs[i_]), setup; cb_ret = cbrs[i_], note("callbacks=%d", ncb), __VA_ARGS__); } while (0)

static void wait_done(hsa_signal_t s) { for (int i = 0; i < 300 && hsa_signal_load_scacquire(s) >= 1; i++) usleep(1000); note("signal=%lld", (long long)hsa_signal_load_scacquire(s)); }

