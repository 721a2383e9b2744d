/* For the programs of this directory: a clock that the shim does not see, and the median of repeated measurements.
 * Each program does one thing and prints one number per line; bench/run starts it with and without the shim, or once as
 * the floor, and makes the ratios. */
#ifndef PCT_BENCH_MEASURE_H
#define PCT_BENCH_MEASURE_H

#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

/* Real nanoseconds: a raw system call, because the shim's clocks are virtual. */
static inline double real_ns(void)
{
    struct timespec t;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_clock_gettime), "D"(CLOCK_MONOTONIC), "S"(&t)
                     : "rcx", "r11", "memory");
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The work of a run: this many thousand rounds, of about 1.3 ns each. Not microseconds, because it shall be the same
 * work on a CPU that others use, too. */
static inline void compute(unsigned long thousands)
{
    volatile uint64_t result;
    uint64_t x = 1;
    for (unsigned long i = 0; i < 1000 * thousands; i++)
        x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
    result = x;
    (void)result;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_doubles);
    return values[count / 2];
}

#endif
