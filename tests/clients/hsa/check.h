/* Counting checks. A check that fails says where, what and why, and the program goes on; NEED ends the program, for what
 * everything after it depends on. Safe to use from several threads. */
#ifndef CHECK_H
#define CHECK_H

#include <hsa/hsa.h>

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_int checks_passed, checks_failed;

static inline const char *status_text(hsa_status_t status)
{
    const char *text = NULL;
    return hsa_status_string(status, &text) == HSA_STATUS_SUCCESS && text ? text : "a status without a name";
}

__attribute__((format(printf, 5, 6))) static inline bool check_at(const char *file, int line, bool good, const char *what,
                                                                  const char *format, ...)
{
    if (good) {
        checks_passed++;
        return true;
    }
    checks_failed++;
    char why[512];
    va_list list;
    va_start(list, format);
    vsnprintf(why, sizeof why, format, list);
    va_end(list);
    printf("FAILED %s:%d: %s%s%s\n", file, line, what, why[0] ? ": " : "", why);
    fflush(stdout);
    return false;
}

/* CHECK(condition, "format", ...): the format tells the values that matter. */
#define CHECK(condition, ...) check_at(__FILE__, __LINE__, (condition), #condition, __VA_ARGS__)

static inline bool check_status_at(const char *file, int line, hsa_status_t got, hsa_status_t want, const char *what)
{
    return check_at(file, line, got == want, what, "status %#x (%s), expected %#x (%s)", got, status_text(got), want,
                    status_text(want));
}
#define CHECK_STATUS(call, status) check_status_at(__FILE__, __LINE__, (call), (status), #call)
#define CHECK_OK(call) CHECK_STATUS(call, HSA_STATUS_SUCCESS)

/* The last line of every program, and its exit status. A program that checked nothing has failed. */
static inline int check_summary(void)
{
    printf("%d passed, %d failed\n", checks_passed, checks_failed);
    fflush(stdout);
    return checks_failed == 0 && checks_passed > 0 ? 0 : 1;
}

static inline void need_at(const char *file, int line, bool good, const char *what)
{
    if (good)
        return;
    printf("FAILED %s:%d: cannot go on without %s\n", file, line, what);
    checks_failed++;
    check_summary();
    _Exit(2);
}
#define NEED(condition) need_at(__FILE__, __LINE__, (condition), #condition)
#define NEED_OK(call) need_at(__FILE__, __LINE__, check_status_at(__FILE__, __LINE__, (call), HSA_STATUS_SUCCESS, #call), #call)

#endif
