/* The base of the GS segment, which a program may set without a system call; 0, and nothing, where it may not. */
#ifndef PCT_TESTS_GS_BASE_H
#define PCT_TESTS_GS_BASE_H

#include <stdint.h>
#include <sys/auxv.h>

enum { FSGSBASE = 2 };

static uint64_t read_gs(void)
{
    uint64_t base = 0;
    if (getauxval(AT_HWCAP2) & FSGSBASE)
        __asm__ volatile("rdgsbase %0" : "=r"(base));
    return base;
}

static void write_gs(uint64_t base)
{
    if (getauxval(AT_HWCAP2) & FSGSBASE)
        __asm__ volatile("wrgsbase %0" : : "r"(base));
}

#endif
