/* Shared by status.c and info.c. Own code; needs only the public HSA headers. */
#define _GNU_SOURCE
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <hsa/hsa_ext_image.h>
#include <hsa/hsa_ext_finalize.h>
#include <hsa/hsa_ven_amd_loader.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct { unsigned v; const char *n; } st_names[] = {
#define N(x) { (unsigned)(x), #x },
  N(HSA_STATUS_SUCCESS) N(HSA_STATUS_INFO_BREAK) N(HSA_STATUS_ERROR) N(HSA_STATUS_ERROR_INVALID_ARGUMENT)
  N(HSA_STATUS_ERROR_INVALID_QUEUE_CREATION) N(HSA_STATUS_ERROR_INVALID_ALLOCATION) N(HSA_STATUS_ERROR_INVALID_AGENT)
  N(HSA_STATUS_ERROR_INVALID_REGION) N(HSA_STATUS_ERROR_INVALID_SIGNAL) N(HSA_STATUS_ERROR_INVALID_QUEUE)
  N(HSA_STATUS_ERROR_OUT_OF_RESOURCES) N(HSA_STATUS_ERROR_INVALID_PACKET_FORMAT) N(HSA_STATUS_ERROR_RESOURCE_FREE)
  N(HSA_STATUS_ERROR_NOT_INITIALIZED) N(HSA_STATUS_ERROR_REFCOUNT_OVERFLOW) N(HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS)
  N(HSA_STATUS_ERROR_INVALID_INDEX) N(HSA_STATUS_ERROR_INVALID_ISA) N(HSA_STATUS_ERROR_INVALID_ISA_NAME)
  N(HSA_STATUS_ERROR_INVALID_CODE_OBJECT) N(HSA_STATUS_ERROR_INVALID_EXECUTABLE) N(HSA_STATUS_ERROR_FROZEN_EXECUTABLE)
  N(HSA_STATUS_ERROR_INVALID_SYMBOL_NAME) N(HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED) N(HSA_STATUS_ERROR_VARIABLE_UNDEFINED)
  N(HSA_STATUS_ERROR_EXCEPTION) N(HSA_STATUS_ERROR_INVALID_CODE_SYMBOL) N(HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL)
  N(HSA_STATUS_ERROR_INVALID_FILE) N(HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER) N(HSA_STATUS_ERROR_INVALID_CACHE)
  N(HSA_STATUS_ERROR_INVALID_WAVEFRONT) N(HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP) N(HSA_STATUS_ERROR_INVALID_RUNTIME_STATE)
  N(HSA_STATUS_ERROR_FATAL) N(HSA_STATUS_ERROR_INVALID_MEMORY_POOL) N(HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION)
  N(HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION) N(HSA_STATUS_ERROR_MEMORY_FAULT) N(HSA_STATUS_CU_MASK_REDUCED)
  N(HSA_EXT_STATUS_ERROR_INVALID_PROGRAM) N(HSA_EXT_STATUS_ERROR_INVALID_MODULE) N(HSA_EXT_STATUS_ERROR_INCOMPATIBLE_MODULE)
  N(HSA_EXT_STATUS_ERROR_MODULE_ALREADY_INCLUDED) N(HSA_EXT_STATUS_ERROR_SYMBOL_MISMATCH) N(HSA_EXT_STATUS_ERROR_FINALIZATION_FAILED)
  N(HSA_EXT_STATUS_ERROR_DIRECTIVE_MISMATCH) N(HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED) N(HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED)
  N(HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED) N(HSA_EXT_STATUS_ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED)
#undef N
  { 46, "HSA_STATUS_ERROR_RESOURCE_BUSY" }, { 47, "HSA_STATUS_ERROR_NOT_SUPPORTED" }, { 48, "HSA_STATUS_ERROR_XNACK_DISABLED" },   /* newer than Debian's headers */
};
static const char *st_name(unsigned s) {
  static char b[2][96]; static int k; k ^= 1;
  for (size_t i = 0; i < sizeof st_names / sizeof *st_names; i++)
    if (st_names[i].v == s) { snprintf(b[k], 96, "%s (0x%x)", st_names[i].n, s); return b[k]; }
  if (s > 0x7fff) return "GARBAGE_STATUS (not a status code)";   /* value varies from run to run */
  snprintf(b[k], 96, "UNKNOWN_STATUS (0x%x)", s); return b[k];
}

/* ---- per-case child process ---- */
static int res_fd = -1;              /* child: pipe to the parent */
static char note_buf[4096]; static int note_len;
static void note(const char *f, ...) { va_list a; va_start(a, f); int n = vsnprintf(note_buf + note_len, sizeof note_buf - note_len, f, a); va_end(a); if (n > 0) note_len += n; if (note_len > (int)sizeof note_buf - 1) note_len = sizeof note_buf - 1; }
static void put(const char *s, size_t n) { while (n) { ssize_t k = write(res_fd, s, n); if (k <= 0) _exit(99); s += k; n -= k; } }
static void finish(const char *res) { static char b[6000]; int n = snprintf(b, sizeof b, note_len ? "R%s | %.*s" : "R%s", res, note_len, note_buf); put(b, n); _exit(0); }  /* one write: a device thread may crash the process right after */
/* report now, then stay alive for a while: the parent adds "then CRASH(..)" when the process dies in that time */
static void early(const char *res, void (*then)(void), int usec) { char b[256]; put(b, snprintf(b, sizeof b, "r%s", res)); if (then) then(); usleep(usec); put("E", 1); _exit(0); }
static void mark(void) { put("M", 1); }
static void setup_fail(const char *what, unsigned s) { char b[256]; snprintf(b, sizeof b, "SETUP_FAILED %s -> %s", what, st_name(s)); note_len = 0; finish(b); }
#define NEED(x) do { hsa_status_t s_ = (x); if (s_ != HSA_STATUS_SUCCESS && s_ != HSA_STATUS_INFO_BREAK) setup_fail(#x, s_); } while (0)

/* A live handle of another object type, given to a function whose object type the library may not check: what happens depends on
 * memory contents. Only a proper INVALID_* answer is printed as it is; everything else becomes one stable word. */
static int unchecked(const char *prefix, const char *res) {
  static const char *t[] = { "executable: handle of", "reader: handle of", "symbol: handle of", "code_object: handle of" }; int hit = 0;
  for (int i = 0; i < 4; i++) hit |= strstr(prefix, t[i]) != 0;
  return hit && !strstr(res, "INVALID_EXECUTABLE") && !strstr(res, "INVALID_CODE_") && !strstr(res, "NOT_INITIALIZED");
}
static int case_timeout = 4, n_cases;
/* ---- the same call from many threads at once (STATUS_CROWD=threads): the result is every answer that came, sorted ---- */
enum { CROWD_MAX = 256 };
static int crowd_size;
static int64_t crowd_answers[CROWD_MAX]; static int64_t (*crowd_call)(void); static pthread_barrier_t crowd_start;
static void read_crowd(void) { const char *n = getenv("STATUS_CROWD"); crowd_size = n ? atoi(n) : 0; if (crowd_size) case_timeout = 60; if (crowd_size < 0 || crowd_size > CROWD_MAX) { fprintf(stderr, "STATUS_CROWD is a number up to %d\n", CROWD_MAX); exit(2); } }
static void *crowd_member(void *at) { pthread_barrier_wait(&crowd_start); *(int64_t *)at = crowd_call(); return 0; }
static int crowd_order(const void *a, const void *b) { int64_t x = *(const int64_t *)a, y = *(const int64_t *)b; return (x > y) - (x < y); }
/* kind: 0 values, of which only the number of different ones can be told, 1 statuses, 2 nothing */
static void crowd(int64_t (*call)(void), int kind) {
  pthread_t t[CROWD_MAX]; crowd_call = call; pthread_barrier_init(&crowd_start, 0, crowd_size);
  for (int i = 0; i < crowd_size; i++) if (pthread_create(&t[i], 0, crowd_member, &crowd_answers[i])) setup_fail("pthread_create", 0xdead);
  for (int i = 0; i < crowd_size; i++) pthread_join(t[i], 0);
  if (kind == 2) finish("VOID");
  if (kind == 0) finish("VALUES");
  static char b[2048]; int n = 0; qsort(crowd_answers, crowd_size, sizeof *crowd_answers, crowd_order);
  for (int i = 0; i < crowd_size; i++) if (!i || crowd_answers[i] != crowd_answers[i - 1]) n += snprintf(b + n, sizeof b - n, "%s%s", n ? ", " : "", st_name((unsigned)crowd_answers[i]));
  note_len = 0; finish(b);
}
static const char *sig_name(int s) { switch (s) { case SIGSEGV: return "SIGSEGV"; case SIGABRT: return "SIGABRT"; case SIGBUS: return "SIGBUS"; case SIGFPE: return "SIGFPE"; case SIGILL: return "SIGILL"; case SIGTRAP: return "SIGTRAP"; case SIGPIPE: return "SIGPIPE"; default: return "signal"; } }
/* Forks. Returns 1 in the child. In the parent waits for the child, prints "prefix | result" and returns 0. */
static int spawn(const char *prefix) {
  int p[2]; n_cases++; fflush(stdout);
  if (pipe(p)) { perror("pipe"); exit(2); }
  pid_t pid = fork();
  if (pid < 0) { perror("fork"); exit(2); }
  if (pid == 0) { close(p[0]); res_fd = p[1]; alarm(case_timeout); return 1; }
  close(p[1]); static char buf[8192]; size_t n = 0; ssize_t k;
  while (n < sizeof buf - 1 && (k = read(p[0], buf + n, sizeof buf - 1 - n)) > 0) n += k;
  close(p[0]); buf[n] = 0; int st = 0; while (waitpid(pid, &st, 0) < 0 && errno == EINTR) ;
  char *m = buf; int marked = 0; if (*m == 'M') { marked = 1; m++; }
  if (unchecked(prefix, *m ? m : "")) printf("%s | UNCHECKED_HANDLE (crash or arbitrary status)\n", prefix);
  else if (*m == 'r') { size_t l = strlen(m); if (m[l - 1] == 'E' && WIFEXITED(st)) { m[l - 1] = 0; printf("%s | %s\n", prefix, m + 1); } else printf("%s | %s | then CRASH(%s)\n", prefix, m + 1, WIFSIGNALED(st) ? sig_name(WTERMSIG(st)) : "exit"); }
  else if (*m == 'R') printf("%s | %s\n", prefix, m + 1);
  else { const char *w = marked ? "" : "IN_SETUP ";
    if (WIFSIGNALED(st)) { if (WTERMSIG(st) == SIGALRM) printf("%s | %sTIMEOUT(%ds)\n", prefix, w, case_timeout); else printf("%s | %sCRASH(%s)\n", prefix, w, sig_name(WTERMSIG(st))); fprintf(stderr, "^^^ %s\n", prefix); }
    else printf("%s | %sEXIT(%d)\n", prefix, w, WEXITSTATUS(st)); }
  fflush(stdout); return 0;
}

/* ---- objects under test, filled in the child ---- */
static hsa_agent_t cpu, gpu;
static hsa_amd_memory_pool_t p_fine, p_karg, p_coarse, p_vram, p_group, pools[2][16]; static int n_pools[2];
static hsa_region_t r_fine, r_karg, r_coarse, r_vram, r_group, regs[2][16]; static int n_regs[2];
static hsa_isa_t isa; static hsa_wavefront_t wf; static hsa_cache_t caches[2][16], cache; static int n_caches[2];
static hsa_status_t cb_agent(hsa_agent_t a, void *d) { (void)d; hsa_device_type_t t = 9; hsa_agent_get_info(a, HSA_AGENT_INFO_DEVICE, &t); if (t == HSA_DEVICE_TYPE_GPU) { if (!gpu.handle) gpu = a; } else if (t == HSA_DEVICE_TYPE_CPU && !cpu.handle) cpu = a; return HSA_STATUS_SUCCESS; }
static hsa_status_t cb_pool(hsa_amd_memory_pool_t p, void *d) { int g = (int)(intptr_t)d; uint32_t seg = 9, fl = 0; if (n_pools[g] < 16) pools[g][n_pools[g]++] = p;
  hsa_amd_memory_pool_get_info(p, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &seg); if (seg == HSA_AMD_SEGMENT_GLOBAL) hsa_amd_memory_pool_get_info(p, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &fl);
  if (seg == HSA_AMD_SEGMENT_GROUP) p_group = p; else if (seg == HSA_AMD_SEGMENT_GLOBAL) { if (g) { if ((fl & 4) && !p_vram.handle) p_vram = p; } else if (fl & 1) p_karg = p; else if (fl & 2) p_fine = p; else if (fl & 4) p_coarse = p; } return HSA_STATUS_SUCCESS; }
static hsa_status_t cb_region(hsa_region_t p, void *d) { int g = (int)(intptr_t)d; uint32_t seg = 9, fl = 0; if (n_regs[g] < 16) regs[g][n_regs[g]++] = p;
  hsa_region_get_info(p, HSA_REGION_INFO_SEGMENT, &seg); if (seg == HSA_REGION_SEGMENT_GLOBAL) hsa_region_get_info(p, HSA_REGION_INFO_GLOBAL_FLAGS, &fl);
  if (seg == HSA_REGION_SEGMENT_GROUP) r_group = p; else if (seg == HSA_REGION_SEGMENT_GLOBAL) { if (g) { if ((fl & 4) && !r_vram.handle) r_vram = p; } else if (fl & 1) r_karg = p; else if (fl & 2) r_fine = p; else if (fl & 4) r_coarse = p; } return HSA_STATUS_SUCCESS; }
static hsa_status_t cb_isa(hsa_isa_t i, void *d) { (void)d; if (!isa.handle) isa = i; return HSA_STATUS_SUCCESS; }
static hsa_status_t cb_wf(hsa_wavefront_t w, void *d) { (void)d; if (!wf.handle) wf = w; return HSA_STATUS_SUCCESS; }
static hsa_status_t cb_cache(hsa_cache_t c, void *d) { int g = (int)(intptr_t)d; if (n_caches[g] < 16) caches[g][n_caches[g]++] = c; return HSA_STATUS_SUCCESS; }
static void discover(void) {
  NEED(hsa_init()); NEED(hsa_iterate_agents(cb_agent, 0));
  hsa_amd_agent_iterate_memory_pools(cpu, cb_pool, (void *)0); hsa_amd_agent_iterate_memory_pools(gpu, cb_pool, (void *)1);
  hsa_agent_iterate_regions(cpu, cb_region, (void *)0); hsa_agent_iterate_regions(gpu, cb_region, (void *)1);
  hsa_agent_iterate_isas(gpu, cb_isa, 0); hsa_isa_iterate_wavefronts(isa, cb_wf, 0);
  hsa_agent_iterate_caches(cpu, cb_cache, (void *)0); hsa_agent_iterate_caches(gpu, cb_cache, (void *)1); if (n_caches[1]) cache = caches[1][0]; else cache = caches[0][0];
}

/* code objects: directory from STATUS_CO_DIR, default ./co */
static const char *co_path(const char *n) { static char b[512]; const char *d = getenv("STATUS_CO_DIR"); snprintf(b, sizeof b, "%s/%s", d ? d : "co", n); return b; }
static void *co_map(const char *n, size_t *sz) { int fd = open(co_path(n), O_RDONLY); struct stat s; if (fd < 0 || fstat(fd, &s)) setup_fail(n, 0xdead); void *m = malloc(s.st_size + 64); if (read(fd, m, s.st_size) != s.st_size) setup_fail(n, 0xdead); close(fd); *sz = s.st_size; return m; }
static void *co; static size_t co_sz; static hsa_code_object_reader_t rd; static hsa_executable_t ex; static hsa_executable_symbol_t sym; static hsa_loaded_code_object_t lco;
static void need_reader(const char *n) { co = co_map(n, &co_sz); NEED(hsa_code_object_reader_create_from_memory(co, co_sz, &rd)); }
static void need_exec(void) { NEED(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, 0, &ex)); }
static void need_loaded(const char *n) { need_exec(); need_reader(n); NEED(hsa_executable_load_agent_code_object(ex, gpu, rd, 0, &lco)); }
static void need_frozen(const char *n) { need_loaded(n); NEED(hsa_executable_freeze(ex, 0)); }
static void need_symbol(const char *n, const char *s) { need_frozen(n); NEED(hsa_executable_get_symbol_by_name(ex, s, &gpu, &sym)); }
