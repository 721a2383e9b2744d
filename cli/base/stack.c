/* See pct_cli_reserve_stack() in cli.h. */
#include "cli.h"
#include <sys/mman.h>
#include <sys/resource.h>

/* libdw has frames of 150 KB, what calls it of 50; in bytes. */
enum { RESERVED = 1 << 20 };

/* The kernel grows the stack down to the first byte; only the pages that the compiler probes are used. */
__attribute__((noinline)) static void touch(void)
{
    volatile char room[RESERVED];
    room[0] = 0;
    (void)room[0];
}

bool pct_cli_reserve_stack(void)
{
    struct rlimit limit;
    if (!getrlimit(RLIMIT_STACK, &limit) && limit.rlim_cur < 2 * RESERVED)
        return true;
    void *room = mmap(NULL, RESERVED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
        return false;
    munmap(room, RESERVED);
    touch();
    return true;
}
