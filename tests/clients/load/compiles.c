// Compiles a kernel with AMD's code object manager and says what came out. The manager works in a directory whose name
// is another every time and stands in the code, so that code is the same only if it was kept. As a program or a library
// that is linked with the manager, or (OPENS) as a program that opens that library for itself alone.
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// From amd_comgr.h, whose package is not needed for this.
typedef struct { uint64_t handle; } handle_t;
int amd_comgr_create_data(int kind, handle_t *data);
int amd_comgr_set_data(handle_t data, size_t size, const char *bytes);
int amd_comgr_set_data_name(handle_t data, const char *name);
int amd_comgr_get_data(handle_t data, size_t *size, char *bytes);
int amd_comgr_create_data_set(handle_t *set);
int amd_comgr_data_set_add(handle_t set, handle_t data);
int amd_comgr_action_data_count(handle_t set, int kind, size_t *count);
int amd_comgr_action_data_get_data(handle_t set, int kind, size_t index, handle_t *data);
int amd_comgr_create_action_info(handle_t *info);
int amd_comgr_destroy_action_info(handle_t info);
int amd_comgr_action_info_set_isa_name(handle_t info, const char *name);
int amd_comgr_action_info_set_language(handle_t info, int language);
int amd_comgr_action_info_set_working_directory_path(handle_t info, const char *path);
int amd_comgr_do_action(int kind, handle_t info, handle_t input, handle_t result);

enum { SOURCE = 1, BITCODE = 6, OPENCL_1_2 = 1, COMPILE_SOURCE_TO_BC = 2 };

#define OK(call)                                                                                                       \
    do {                                                                                                               \
        int status = (call);                                                                                           \
        if (status != 0) {                                                                                             \
            fprintf(stderr, "%s: %d\n", #call, status);                                                                \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

#ifdef OPENS

int main(int count, char **arguments)
{
    void *library = dlopen(OPENS, RTLD_NOW | RTLD_LOCAL);
    int (*compile)(const char *, const char *) =
        library ? (int (*)(const char *, const char *))dlsym(library, "compile") : NULL;
    if (!compile) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    return compile(arguments[1], count > 2 ? arguments[2] : NULL);
}

#else

int compile(const char *source, const char *directory)
{
    handle_t info, input, result, data;
    OK(amd_comgr_create_data(SOURCE, &data));
    OK(amd_comgr_set_data(data, strlen(source), source));
    OK(amd_comgr_set_data_name(data, "source.cl"));
    OK(amd_comgr_create_data_set(&input));
    OK(amd_comgr_data_set_add(input, data));
    OK(amd_comgr_create_data_set(&result));
    OK(amd_comgr_create_action_info(&info));
    OK(amd_comgr_action_info_set_isa_name(info, "amdgcn-amd-amdhsa--gfx900"));
    OK(amd_comgr_action_info_set_language(info, OPENCL_1_2));
    if (directory)
        OK(amd_comgr_action_info_set_working_directory_path(info, directory));
    OK(amd_comgr_do_action(COMPILE_SOURCE_TO_BC, info, input, result));
    OK(amd_comgr_destroy_action_info(info));
    size_t objects, size;
    OK(amd_comgr_action_data_count(result, BITCODE, &objects));
    OK(amd_comgr_action_data_get_data(result, BITCODE, 0, &data));
    OK(amd_comgr_get_data(data, &size, NULL));
    unsigned char *bytes = malloc(size);
    if (!bytes)
        return 1;
    OK(amd_comgr_get_data(data, &size, (char *)bytes));
    uint64_t sum = 0;
    for (size_t i = 0; i < size; i++)
        sum = sum * 31 + bytes[i];
    printf("%zu object, %zu bytes, %016llx\n", objects, size, (unsigned long long)sum);
    free(bytes);
    return 0;
}

int main(int count, char **arguments) { return compile(arguments[1], count > 2 ? arguments[2] : NULL); }

#endif
