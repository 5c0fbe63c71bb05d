/* OpenMP target regions, compiled by GCC for AMD GPUs and run through its HSA plugin. The last line is
 * `N passed, M failed`. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static int passed, failed;

static void check(int good, const char *what)
{
    if (good) {
        passed++;
    } else {
        failed++;
        printf("FAILED %s\n", what);
    }
}

#define COUNT 100000
static float a[COUNT], b[COUNT], c[COUNT];

#pragma omp declare target
static int counter = 5;

static int collatz(int n)
{
    int steps = 0;
    for (; n != 1; steps++)
        n = n % 2 ? 3 * n + 1 : n / 2;
    return steps;
}
#pragma omp end declare target

int main(void)
{
    check(omp_get_num_devices() >= 1, "a device");
    int host = 1;
#pragma omp target map(from : host)
    host = omp_is_initial_device();
    check(!host, "a region runs on the device");

    for (int i = 0; i < COUNT; i++) {
        a[i] = i;
        b[i] = 2 * i;
    }
#pragma omp target teams distribute parallel for map(to : a, b) map(from : c)
    for (int i = 0; i < COUNT; i++)
        c[i] = a[i] + b[i];
    int wrong = 0;
    for (int i = 0; i < COUNT; i++)
        wrong += c[i] != 3.0f * i;
    check(wrong == 0, "a vector sum");

    double sum = 0;
    int most = 0;
#pragma omp target teams distribute parallel for reduction(+ : sum) reduction(max : most) map(to : a)
    for (int i = 1; i < COUNT; i++) {
        int steps = collatz(i);
        sum += a[i];
        most = steps > most ? steps : most;
    }
    int expected = 0;
    for (int i = 1; i < COUNT; i++)
        expected = collatz(i) > expected ? collatz(i) : expected;
    check(sum == (double)COUNT * (COUNT - 1) / 2, "a reduction of floating-point numbers");
    check(most == expected, "a reduction of what a function computes");

#pragma omp target
    counter += 2;
#pragma omp target update from(counter)
    check(counter == 7, "a variable of the device");

    int *memory = omp_target_alloc(1000 * sizeof *memory, 0), copy[1000];
    check(memory != NULL, "memory of the device");
#pragma omp target is_device_ptr(memory)
    for (int i = 0; i < 1000; i++)
        memory[i] = i * i;
    int host_device = omp_get_initial_device();
    check(omp_target_memcpy(copy, memory, sizeof copy, 0, 0, host_device, 0) == 0, "a copy from the device");
    omp_target_free(memory, 0);
    wrong = 0;
    for (int i = 0; i < 1000; i++)
        wrong += copy[i] != i * i;
    check(wrong == 0, "what was copied");

    int ready = 0;
#pragma omp target nowait map(tofrom : ready) depend(out : ready)
    ready = 1;
#pragma omp task depend(in : ready) shared(ready)
    check(ready == 1, "a task after an asynchronous region");
#pragma omp taskwait

    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
