/* Memory apart: see apart.h. */
#include "apart.h"
#include "shim.h"
#include "sys.h"
#include <sys/mman.h>

enum { PAGE = 4096, REFUSED = 4095 };

/* Above what programs, their heaps and AddressSanitizer's shadow take, far below libraries and stacks. */
#define FIRST UINT64_C(0x200000000000)

/* A hint: where it is taken, or the address space is smaller, the kernel chooses. */
static void *map(size_t size, int rights, int flags, long file)
{
    static uint64_t next = FIRST;
    long at = PCT_SYS6(SYS_mmap, next, size, rights, MAP_PRIVATE | flags, file, 0);
    if (at < 0 && at >= -REFUSED)
        return NULL;
    pct_shim.space += size;
    if ((uint64_t)at == next) /* a page between any two */
        next += ((size + PAGE - 1) & ~(size_t)(PAGE - 1)) + PAGE;
    return (void *)at;
}

void *pct_apart_map(size_t size)
{
    return map(size, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_NORESERVE, -1);
}

const void *pct_apart_map_file(long file, size_t size)
{
    return map(size, PROT_READ, 0, file);
}
