/* Plain accesses, function entries and exits: the names that gcc 12 and clang 14 call under -fsanitize=thread. */
#include "modules.h"
#include "plain.h"

/* libpct.so's, where that was preloaded. */
PCT_RUNTIME struct pct_memory_view pct_memory_view;
PCT_RUNTIME __thread struct pct_memory_own pct_memory_own;

/* What is in this library does not go through its table of addresses. */
static inline void tell(const volatile void *address, size_t size, unsigned what, const void *pc)
{
    if (PCT_WATCHED)
        pct_memory_access(address, size, what, pc);
}

PCT_RUNTIME void pct_tsan_access(const volatile void *address, size_t size, unsigned what, const void *pc)
{
    tell(address, size, what, pc);
}

PCT_RUNTIME void pct_tsan_function(const void *pc, const void *frame)
{
    if (PCT_CALLS_WATCHED)
        pct_memory_function(pc, frame);
}

PCT_RUNTIME void pct_tsan_function_exit(void)
{
    if (PCT_CALLS_WATCHED)
        pct_memory_function_exit();
}

PCT_HANDLERS(PCT_RUNTIME, tell)
PCT_FUNCTION_HANDLERS(PCT_RUNTIME, pct_memory_function, pct_memory_function_exit)

/* clang calls one function where an expression reads and then writes: there is a moment between the two. */
#define BOTH(name, size)                                                                                               \
    PCT_RUNTIME void name(void *address);                                                                              \
    PCT_RUNTIME void name(void *address)                                                                               \
    {                                                                                                                  \
        pct_access(address, size, PCT_MEMORY_READ, PCT_CALLER);                                                        \
        pct_access(address, size, PCT_MEMORY_WRITE, PCT_CALLER);                                                       \
    }

#define WITH_PC(name, size, kind)                                                                                      \
    PCT_RUNTIME void name(void *address, void *pc);                                                                    \
    PCT_RUNTIME void name(void *address, void *pc)                                                                     \
    {                                                                                                                  \
        pct_access(address, size, kind, pc);                                                                           \
    }

#define SIZES(X) X(1) X(2) X(4) X(8) X(16)
#define OF_SIZE(n)                                                                                                     \
    BOTH(__tsan_read_write##n, n)                                                                                      \
    BOTH(__tsan_unaligned_read_write##n, n)                                                                            \
    WITH_PC(__tsan_read##n##_pc, n, PCT_MEMORY_READ)                                                                   \
    WITH_PC(__tsan_write##n##_pc, n, PCT_MEMORY_WRITE)
SIZES(OF_SIZE)

#define RANGE(name, kind)                                                                                              \
    PCT_RUNTIME void name(void *address, unsigned long size);                                                          \
    PCT_RUNTIME void name(void *address, unsigned long size)                                                           \
    {                                                                                                                  \
        if (size)                                                                                                      \
            pct_access(address, size, kind, PCT_CALLER);                                                               \
    }                                                                                                                  \
    PCT_RUNTIME void name##_pc(void *address, unsigned long size, void *pc);                                           \
    PCT_RUNTIME void name##_pc(void *address, unsigned long size, void *pc)                                            \
    {                                                                                                                  \
        if (size)                                                                                                      \
            pct_access(address, size, kind, pc);                                                                       \
    }
RANGE(__tsan_read_range, PCT_MEMORY_READ)
RANGE(__tsan_write_range, PCT_MEMORY_WRITE)

PCT_RUNTIME void __tsan_vptr_read(void **address);
PCT_RUNTIME void __tsan_vptr_read(void **address)
{
    pct_access(address, sizeof *address, PCT_MEMORY_READ, PCT_CALLER);
}

/* A destructor of a base class sets the pointer anew: mostly to what it is, then nothing is written. */
PCT_RUNTIME void __tsan_vptr_update(void **address, void *value);
PCT_RUNTIME void __tsan_vptr_update(void **address, void *value)
{
    if (*address != value)
        pct_access(address, sizeof *address, PCT_MEMORY_WRITE, PCT_CALLER);
}

PCT_RUNTIME void __tsan_init(void);
PCT_RUNTIME void __tsan_init(void)
{
    pct_module_tells(PCT_CALLER);
}
