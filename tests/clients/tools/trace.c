/* A tool that sees every call: each member of every table is replaced by a small piece of code that counts, writes a line,
 * and goes on to the function that was there, with all arguments as they were. It knows the names of the members from a list
 * that the tests generate (MEMBERS), and nothing of their types. x86-64.
 *
 * TOOL_LOG names the file for the lines: `call NAME` for each call, and `total NAME COUNT` at the end. */
#include MEMBERS /* struct member { const char *name; }; core_members[], amd_members[], ... */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct version {
    uint32_t major, minor, step, reserved;
};
struct table {
    struct version version;
    void *members[];
};
struct root {
    struct version version;
    struct table *tables[];
};

enum { MOST = 256 };
static void *originals[MOST];
static const char *names[MOST];
static atomic_ulong counts[MOST];
static unsigned used;
static FILE *log_file;

/* Piece number i pushes i and goes to `enter`, which saves everything that may hold an argument. */
extern char pieces[];
enum { PIECE_BYTES = 16 };
__asm__(".text\n"
        ".balign 16\n"
        "pieces:\n"
        ".set i, 0\n"
        ".rept 256\n"
        "  .balign 16\n"
        "  pushq $i\n"
        "  jmp enter\n"
        "  .set i, i + 1\n"
        ".endr\n"
        "enter:\n"
        "  push %rax; push %rdi; push %rsi; push %rdx; push %rcx; push %r8; push %r9\n"
        "  sub $136, %rsp\n"
        "  movups %xmm0, (%rsp);   movups %xmm1, 16(%rsp); movups %xmm2, 32(%rsp); movups %xmm3, 48(%rsp)\n"
        "  movups %xmm4, 64(%rsp); movups %xmm5, 80(%rsp); movups %xmm6, 96(%rsp); movups %xmm7, 112(%rsp)\n"
        "  mov 192(%rsp), %rdi\n"
        "  call entered\n"
        "  mov %rax, %r11\n"
        "  movups (%rsp), %xmm0;   movups 16(%rsp), %xmm1; movups 32(%rsp), %xmm2; movups 48(%rsp), %xmm3\n"
        "  movups 64(%rsp), %xmm4; movups 80(%rsp), %xmm5; movups 96(%rsp), %xmm6; movups 112(%rsp), %xmm7\n"
        "  add $136, %rsp\n"
        "  pop %r9; pop %r8; pop %rcx; pop %rdx; pop %rsi; pop %rdi; pop %rax\n"
        "  add $8, %rsp\n"
        "  jmp *%r11\n");

/* Called with the number of the piece; gives the function to go on to. */
__attribute__((used, visibility("hidden"))) void *entered(uint64_t piece)
{
    counts[piece]++;
    if (log_file)
        fprintf(log_file, "call %s\n", names[piece]);
    return originals[piece];
}

static void wrap(struct table *table, const struct member *members, unsigned known)
{
    if (!table || table->version.major == 0)
        return;
    unsigned count = (table->version.minor - sizeof(struct version)) / sizeof(void *);
    for (unsigned i = 0; i < count && i < known && used < MOST; i++, used++) {
        originals[used] = table->members[i];
        names[used] = members[i].name;
        table->members[i] = pieces + used * PIECE_BYTES;
    }
}

__attribute__((visibility("default"))) bool OnLoad(struct root *root, uint64_t version, uint64_t failed,
                                                    const char *const *failed_names)
{
    (void)failed_names;
    if (root->version.major != version || failed != 0)
        return false;
    const char *path = getenv("TOOL_LOG");
    log_file = path ? fopen(path, "a") : NULL;
    if (log_file)
        setvbuf(log_file, NULL, _IOLBF, 0);
    used = 0;
#define WRAP(index, list) wrap(root->tables[index], list, sizeof list / sizeof *list)
    WRAP(0, core_members);
    WRAP(1, amd_members);
    WRAP(2, finalizer_members);
    WRAP(3, image_members);
    WRAP(5, pc_sampling_members);
    return true;
}

__attribute__((visibility("default"))) void OnUnload(void)
{
    if (!log_file)
        return;
    for (unsigned i = 0; i < used; i++)
        fprintf(log_file, "total %s %lu\n", names[i], (unsigned long)counts[i]);
    /* The file stays open: the call that ends the runtime is under way in another thread at worst. */
    fflush(log_file);
}
