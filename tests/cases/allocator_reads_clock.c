// An allocator that reads a clock when memory is given back, as AddressSanitizer's of gcc 14 does. The loader gives
// back what it said of a symbol that it did not find, and pct asked it for clock_gettime() there: the memory was given
// back twice, and every program with that sanitizer was said to fail.
//
// BUILD: gcc -g -fPIC -shared -DLIBRARY -fno-builtin -o %p.so %s && gcc -g -Wl,--no-as-needed -o %p %s %p.so
// RUN: %p
// RUN: pct run -q -n 20 -s 1 --state none -- %p
// RUN: pct run -n 5 -s 1 --state none -- %p > %t/out 2>&1; ! grep "started by exec" %t/out
// RUN: LD_PRELOAD=$LIBPCT %p
#ifdef LIBRARY
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static _Alignas(16) char heap[1 << 20];
static size_t used;
static void *given_back;

void *malloc(size_t size)
{
    size_t *block = (size_t *)(void *)(heap + used);
    used += (size + 31) & ~(size_t)15;
    if (used > sizeof heap)
        _exit(3);
    *block = size;
    return (char *)block + 16;
}

void *calloc(size_t count, size_t size)
{
    return malloc(count * size); /* never given back, so still zero */
}

void *realloc(void *old, size_t size)
{
    void *memory = malloc(size);
    if (old) {
        size_t before = *(size_t *)(void *)((char *)old - 16);
        memcpy(memory, old, before < size ? before : size);
    }
    return memory;
}

void free(void *memory)
{
    struct timespec now;
    if (memory && memory == given_back)
        _exit(4); /* twice */
    given_back = memory;
    clock_gettime(CLOCK_MONOTONIC, &now);
}

__attribute__((constructor)) static void as_a_sanitizer_does(void)
{
    if (dlsym(RTLD_DEFAULT, "nothing_is_called_so"))
        _exit(5);
}
#else
int main(void)
{
    return 0;
}
#endif
