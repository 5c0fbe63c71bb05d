// Looks names up in each way that there is and says what was found: the same whatever is preloaded. Compiled twice: as
// a library that stands in front of the C library (LIBRARY), and as the program that uses it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef LIBRARY

char *strdup(const char *text)
{
    char *(*next)(const char *) = (char *(*)(const char *))dlsym(RTLD_NEXT, "strdup");
    printf("next is another: %d\n", next && next != strdup);
    return next && next != strdup ? next(text) : NULL;
}

#else

int main(void)
{
    char *copy = strdup("copied");
    printf("by next: %s\n", copy ? copy : "nothing");
    free(copy);
    printf("by default: %d\n", dlsym(RTLD_DEFAULT, "qsort") == (void *)qsort);
    void *library = dlopen("libm.so.6", RTLD_NOW);
    double (*root)(double) = library ? (double (*)(double))dlsym(library, "sqrt") : NULL;
    printf("by handle: %g\n", root ? root(4) : 0);
    void *none = dlsym(library, "amd_comgr_do_action");
    const char *error = dlerror();
    printf("not there: %d %d\n", none == NULL, error && strstr(error, "amd_comgr_do_action") != NULL);
    return 0;
}

#endif
