/* The allocator's functions, and those that map memory, passed on to whoever has them next: memory that changes hands
 * by free and malloc is new to its new owner, and what the last one did with it is no race. A program whose own
 * allocator comes before this library in look-up never calls these.
 *
 * Who gives memory up writes all of it: another thread's use that nothing orders with that is a race. That is said only
 * of calls from code that is compiled for us: libraries that are not may count their references, or lock, where nobody
 * sees it. */
#include "events.h"
#include "modules.h"
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <preload/core/sys.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>

/* GLIBC: its own names, for what dlsym itself may allocate. */
void *__libc_malloc(size_t size);
void __libc_free(void *memory);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void *__libc_valloc(size_t size);
void *__libc_pvalloc(size_t size);

/* C23; in <stdlib.h> since glibc 2.43. */
void free_sized(void *memory, size_t size);
void free_aligned_sized(void *memory, size_t alignment, size_t size);

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

static size_t no_size(void *memory)
{
    (void)memory;
    return 0;
}

/* The block is new; all of it, also what was not asked for. */
static void *fresh(void *memory, size_t size)
{
    if (!PCT_WATCHED || !memory)
        return memory;
    pct_memory_fresh(memory, size);
    if (PCT_CALLS_WATCHED && pct_memory_renewed)
        pct_memory_renewed(memory, NEXT(malloc_usable_size, no_size)(memory));
    return memory;
}

/* GLIBC: from this size on, a block may be a mapping of its own, which free removes. What is mapped at its addresses
 * next, by the loader for one, is another thing. */
enum { MAY_BE_MAPPED = 128 << 10 };

/* The block is about to be given up, by code at pc. */
static void give_up(void *memory, const void *pc)
{
    if (!PCT_CALLS_WATCHED || !pct_memory_gone || !memory || !pct_module_is_known(pc))
        return;
    size_t size = NEXT(malloc_usable_size, no_size)(memory);
    pct_memory_gone(memory, size, pc);
    if (size >= MAY_BE_MAPPED)
        pct_memory_renewed(memory, size);
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
    give_up(old, PCT_CALLER);
    void *memory = NEXT(realloc, __libc_realloc)(old, size);
    return (uintptr_t)memory == before ? memory : fresh(memory, size);
}

PCT_RUNTIME void *memalign(size_t alignment, size_t size)
{
    return fresh(NEXT(memalign, __libc_memalign)(alignment, size), size);
}

PCT_RUNTIME void *aligned_alloc(size_t alignment, size_t size)
{
    return fresh(NEXT(aligned_alloc, __libc_memalign)(alignment, size), size);
}

PCT_RUNTIME void *valloc(size_t size)
{
    return fresh(NEXT(valloc, __libc_valloc)(size), size);
}

/* Of whole pages. */
PCT_RUNTIME void *pvalloc(size_t size)
{
    enum { PAGE = 4096 };
    return fresh(NEXT(pvalloc, __libc_pvalloc)(size), (size + PAGE - 1) & ~(size_t)(PAGE - 1));
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

static void release(void *memory, const void *caller)
{
    give_up(memory, caller);
    NEXT(free, __libc_free)(memory);
}

PCT_RUNTIME void free(void *memory)
{
    release(memory, PCT_CALLER);
}

PCT_RUNTIME void free_sized(void *memory, size_t size)
{
    (void)size;
    release(memory, PCT_CALLER);
}

PCT_RUNTIME void free_aligned_sized(void *memory, size_t alignment, size_t size)
{
    (void)alignment;
    (void)size;
    release(memory, PCT_CALLER);
}

/* C++: operator delete, in all its forms. libstdc++'s call free, but it is not compiled for us. */
#define DELETE(name, arguments, ...)                                                                                   \
    PCT_RUNTIME void name arguments;                                                                                   \
    PCT_RUNTIME void name arguments                                                                                    \
    {                                                                                                                  \
        static __typeof__(name) *found;                                                                                \
        __typeof__(name) *now = __atomic_load_n(&found, __ATOMIC_RELAXED);                                             \
        give_up(memory, PCT_CALLER);                                                                                   \
        if (!now)                                                                                                      \
            __atomic_store_n(&found, now = (__typeof__(name) *)dlsym(RTLD_NEXT, #name), __ATOMIC_RELAXED);             \
        if (now)                                                                                                       \
            now(__VA_ARGS__);                                                                                          \
    }
DELETE(_ZdlPv, (void *memory), memory)
DELETE(_ZdaPv, (void *memory), memory)
DELETE(_ZdlPvm, (void *memory, size_t size), memory, size)
DELETE(_ZdaPvm, (void *memory, size_t size), memory, size)
DELETE(_ZdlPvSt11align_val_t, (void *memory, size_t alignment), memory, alignment)
DELETE(_ZdaPvSt11align_val_t, (void *memory, size_t alignment), memory, alignment)
DELETE(_ZdlPvmSt11align_val_t, (void *memory, size_t size, size_t alignment), memory, size, alignment)
DELETE(_ZdaPvmSt11align_val_t, (void *memory, size_t size, size_t alignment), memory, size, alignment)
DELETE(_ZdlPvRKSt9nothrow_t, (void *memory, const void *nothrow), memory, nothrow)
DELETE(_ZdaPvRKSt9nothrow_t, (void *memory, const void *nothrow), memory, nothrow)

/* Mappings. What the kernel says, as libc says it. */

static long result_of(long result)
{
    if (result < 0 && result > -4096) {
        errno = (int)-result;
        return -1;
    }
    return result;
}

static void *own_mmap(void *where, size_t size, int protection, int flags, int fd, off_t offset)
{
    return (void *)result_of(PCT_SYS6(SYS_mmap, where, size, protection, flags, fd, offset));
}

static int own_munmap(void *memory, size_t size)
{
    return (int)result_of(PCT_SYS2(SYS_munmap, memory, size));
}

static void *own_mremap(void *old, size_t before, size_t size, int flags, ...)
{
    (void)flags; /* nobody calls it before it is found */
    return (void *)result_of(PCT_SYS6(SYS_mremap, old, before, size, 0, NULL, 0));
}

static void *mapped(void *memory, size_t size)
{
    if (PCT_CALLS_WATCHED && pct_memory_renewed && memory != MAP_FAILED)
        pct_memory_renewed(memory, size);
    return memory;
}

PCT_RUNTIME void *mmap(void *where, size_t size, int protection, int flags, int fd, off_t offset)
{
    return mapped(NEXT(mmap, own_mmap)(where, size, protection, flags, fd, offset), size);
}

PCT_RUNTIME void *mmap64(void *where, size_t size, int protection, int flags, int fd, off64_t offset)
{
    return mapped(NEXT(mmap64, own_mmap)(where, size, protection, flags, fd, offset), size);
}

static void unmap(void *memory, size_t size, const void *pc)
{
    if (!PCT_CALLS_WATCHED || !pct_memory_gone || !pct_module_is_known(pc))
        return;
    pct_memory_gone(memory, size, pc);
    pct_memory_renewed(memory, size);
}

PCT_RUNTIME int munmap(void *memory, size_t size)
{
    unmap(memory, size, PCT_CALLER);
    return NEXT(munmap, own_munmap)(memory, size);
}

/* The fifth argument is there only with MREMAP_FIXED; to read it where there is none is harmless on this ABI. */
PCT_RUNTIME void *mremap(void *old, size_t before, size_t size, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    void *where = va_arg(arguments, void *);
    va_end(arguments);
    void *memory = NEXT(mremap, own_mremap)(old, before, size, flags, where);
    if (memory != old && memory != MAP_FAILED) {
        unmap(old, before, PCT_CALLER);
        mapped(memory, size);
    }
    return memory;
}
