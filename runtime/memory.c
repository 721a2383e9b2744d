/* The allocator's functions, passed on to whoever has them next: memory that changes hands by free and malloc is new to its new
 * owner, and what the last one did with it is no race. A program whose own allocator comes before this library in look-up never
 * calls these. */
#include "events.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

/* GLIBC: its own names, for what dlsym itself may allocate. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

/* The next function of this name, found with the first call; while it is looked for, libc's own. */
#define NEXT(name, own)                                                                                                \
    ({                                                                                                                 \
        static __typeof__(name) *found;                                                                                \
        __typeof__(name) *now = __atomic_load_n(&found, __ATOMIC_RELAXED);                                             \
        if (__builtin_expect(!now, 0)) {                                                                               \
            __atomic_store_n(&found, own, __ATOMIC_RELAXED);                                                           \
            void *symbol = dlsym(RTLD_NEXT, #name);                                                                    \
            now = symbol ? (__typeof__(name) *)symbol : own;                                                           \
            __atomic_store_n(&found, now, __ATOMIC_RELAXED);                                                           \
        }                                                                                                              \
        now;                                                                                                           \
    })

static void *fresh(void *memory, size_t size)
{
    if (PCT_WATCHED && memory)
        pct_memory_fresh(memory, size);
    return memory;
}

PCT_RUNTIME void *malloc(size_t size)
{
    return fresh(NEXT(malloc, __libc_malloc)(size), size);
}

PCT_RUNTIME void *calloc(size_t count, size_t size)
{
    return fresh(NEXT(calloc, __libc_calloc)(count, size), count * size);
}

/* What stays in its place stays what it was. */
PCT_RUNTIME void *realloc(void *old, size_t size)
{
    uintptr_t before = (uintptr_t)old;
    void *memory = NEXT(realloc, __libc_realloc)(old, size);
    return (uintptr_t)memory == before ? memory : fresh(memory, size);
}

PCT_RUNTIME void *memalign(size_t alignment, size_t size);
PCT_RUNTIME void *memalign(size_t alignment, size_t size)
{
    return fresh(NEXT(memalign, __libc_memalign)(alignment, size), size);
}

PCT_RUNTIME void *aligned_alloc(size_t alignment, size_t size)
{
    return fresh(NEXT(aligned_alloc, __libc_memalign)(alignment, size), size);
}

/* GLIBC: what it refuses. */
static int own_posix_memalign(void **result, size_t alignment, size_t size)
{
    if (alignment % sizeof(void *) || !alignment || alignment & (alignment - 1))
        return EINVAL;
    void *memory = __libc_memalign(alignment, size);
    if (!memory)
        return ENOMEM;
    *result = memory;
    return 0;
}

PCT_RUNTIME int posix_memalign(void **result, size_t alignment, size_t size)
{
    int error = NEXT(posix_memalign, own_posix_memalign)(result, alignment, size);
    if (!error)
        fresh(*result, size);
    return error;
}
