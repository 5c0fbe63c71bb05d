/* A kernel with large pages (PAGE_BYTES), as far as this process can tell: `sysconf` says so, mappings begin at and last for whole
 * pages of that size, and a request about an address inside a page is refused and ends the program. To be preloaded. What the
 * C library maps for itself does not come here. */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PAGE_BYTES
#define PAGE_BYTES 65536
#endif

enum { PAGE = PAGE_BYTES, REAL = 4096 };

static size_t whole(size_t bytes)
{
    return (bytes + PAGE - 1) & ~(size_t)(PAGE - 1);
}

/* A caller that does not know the size of a page: the fault this is made to find. */
static void refuse(const char *call, uintptr_t what, const void *caller)
{
    Dl_info from = { 0 };
    dladdr(caller, &from);
    fprintf(stderr, "pages: %s with %#lx, which is inside a page, by %s+%#lx\n", call, (unsigned long)what,
            from.dli_fname ? from.dli_fname : "somebody", (unsigned long)((uintptr_t)caller - (uintptr_t)from.dli_fbase));
    abort();
}

#define NEED_PAGE(call, what)                                                                                                  \
    do {                                                                                                                       \
        if ((uintptr_t)(what) % PAGE != 0)                                                                                     \
            refuse(call, (uintptr_t)(what), __builtin_return_address(0));                                                      \
    } while (0)

long sysconf(int name)
{
    static long (*next)(int);
    if (!next)
        next = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
    if (name == _SC_PAGESIZE)
        return PAGE;
    long value = next(name);
    return name == _SC_PHYS_PAGES || name == _SC_AVPHYS_PAGES ? value / (PAGE / REAL) : value;
}

int getpagesize(void)
{
    return PAGE;
}

unsigned long getauxval(unsigned long type)
{
    static unsigned long (*next)(unsigned long);
    if (!next)
        next = (unsigned long (*)(unsigned long))dlsym(RTLD_NEXT, "getauxval");
    return type == AT_PAGESZ ? PAGE : next(type);
}

static void *system_mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset)
{
    return (void *)syscall(SYS_mmap, address, bytes, protection, flags, file, offset);
}

static void *map(void *address, size_t bytes, int protection, int flags, int file, off_t offset, const void *caller)
{
    if (offset % PAGE != 0)
        refuse("mmap of an offset", (uintptr_t)offset, caller);
    if (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) {
        if ((uintptr_t)address % PAGE != 0)
            refuse("mmap", (uintptr_t)address, caller);
        return system_mmap(address, whole(bytes), protection, flags, file, offset);
    }
    if (bytes == 0 || bytes > SIZE_MAX - 2 * PAGE || flags & MAP_HUGETLB)
        return system_mmap(address, bytes, protection, flags, file, offset);
    /* More, and then the ends go. */
    size_t all = whole(bytes) + PAGE;
    char *start = system_mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED)
        return start;
    char *place = (char *)whole((size_t)start), *end = place + whole(bytes);
    if (place != start)
        syscall(SYS_munmap, start, place - start);
    if (end != start + all)
        syscall(SYS_munmap, end, start + all - end);
    void *mapped = system_mmap(place, whole(bytes), protection, flags | MAP_FIXED, file, offset);
    if (mapped == MAP_FAILED) {
        int why = errno;
        syscall(SYS_munmap, place, whole(bytes));
        errno = why;
    }
    return mapped;
}

void *mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset)
{
    return map(address, bytes, protection, flags, file, offset, __builtin_return_address(0));
}

void *mmap64(void *address, size_t bytes, int protection, int flags, int file, off64_t offset)
{
    return map(address, bytes, protection, flags, file, offset, __builtin_return_address(0));
}

int munmap(void *address, size_t bytes)
{
    NEED_PAGE("munmap", address);
    return (int)syscall(SYS_munmap, address, whole(bytes));
}

int mprotect(void *address, size_t bytes, int protection)
{
    NEED_PAGE("mprotect", address);
    return (int)syscall(SYS_mprotect, address, whole(bytes), protection);
}

int madvise(void *address, size_t bytes, int advice)
{
    NEED_PAGE("madvise", address);
    return (int)syscall(SYS_madvise, address, whole(bytes), advice);
}

/* On this kernel a part of a large page may be missing, at the ends of what others map; one small page of it is enough. */
static int is_there(char *large)
{
    for (size_t at = 0; at < PAGE; at += REAL)
        if (syscall(SYS_msync, large + at, REAL, MS_ASYNC) == 0)
            return 1;
    return 0;
}

int msync(void *address, size_t bytes, int flags)
{
    NEED_PAGE("msync", address);
    if (syscall(SYS_msync, address, bytes, flags) == 0)
        return 0;
    for (size_t at = 0; at < bytes; at += PAGE)
        if (!is_there((char *)address + at))
            return errno = ENOMEM, -1;
    return 0;
}

int mincore(void *address, size_t bytes, unsigned char *resident)
{
    NEED_PAGE("mincore", address);
    unsigned char small[PAGE / REAL];
    for (size_t at = 0; at < bytes; at += PAGE) {
        if (syscall(SYS_mincore, (char *)address + at, PAGE, small) != 0)
            return -1;
        resident[at / PAGE] = 0;
        for (size_t i = 0; i < sizeof small; i++)
            resident[at / PAGE] |= small[i];
    }
    return 0;
}

void *mremap(void *address, size_t old, size_t bytes, int flags, ...)
{
    NEED_PAGE("mremap", address);
    va_list list;
    va_start(list, flags);
    void *to = va_arg(list, void *);
    va_end(list);
    if (flags & MREMAP_FIXED)
        NEED_PAGE("mremap", to);
    else if (bytes > old)
        refuse("mremap that would move", (uintptr_t)address, __builtin_return_address(0));
    return (void *)syscall(SYS_mremap, address, whole(old), whole(bytes), flags, to);
}
