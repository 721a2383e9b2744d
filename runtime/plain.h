/* What most of a program's events are: plain accesses, function entries and exits. These are in libpct-tsan.so
 * (plain.c), and again, with hidden names, in each program that a compiler of ours links (handlers.c). */
#ifndef PCT_RUNTIME_PLAIN_H
#define PCT_RUNTIME_PLAIN_H

#include "events.h"

/* What the handlers in programs go on to. The number goes up with any change to these, and to what handlers look at
 * (preload/memory/memory.h): then the loader says that the program needs another library than it has found, and does
 * not start it. */
#define pct_tsan_access pct_tsan_access_1
#define pct_tsan_function pct_tsan_function_1
#define pct_tsan_function_exit pct_tsan_function_exit_1
PCT_RUNTIME void pct_tsan_access(const volatile void *address, size_t size, unsigned what, const void *pc);
PCT_RUNTIME void pct_tsan_function(const void *pc, const void *frame);
PCT_RUNTIME void pct_tsan_function_exit(void);

/* The handler of this name, for accesses of this size and kind. What goes on is called last, so that compilers that
 * optimise make a jump of the call: only there is the caller looked for. */
#define PCT_HANDLER(linkage, go_on, name, size, kind)                                                                  \
    linkage void name(void *address);                                                                                  \
    linkage void name(void *address)                                                                                   \
    {                                                                                                                  \
        if (!pct_own(address, size))                                                                                   \
            go_on(address, size, kind, PCT_CALLER);                                                                    \
    }
#define PCT_HANDLERS_OF_SIZE(linkage, go_on, n)                                                                        \
    PCT_HANDLER(linkage, go_on, __tsan_read##n, n, PCT_MEMORY_READ)                                                    \
    PCT_HANDLER(linkage, go_on, __tsan_write##n, n, PCT_MEMORY_WRITE)                                                  \
    PCT_HANDLER(linkage, go_on, __tsan_unaligned_read##n, n, PCT_MEMORY_READ)                                          \
    PCT_HANDLER(linkage, go_on, __tsan_unaligned_write##n, n, PCT_MEMORY_WRITE)                                        \
    PCT_HANDLER(linkage, go_on, __tsan_volatile_read##n, n, PCT_MEMORY_READ)                                           \
    PCT_HANDLER(linkage, go_on, __tsan_volatile_write##n, n, PCT_MEMORY_WRITE)                                         \
    PCT_HANDLER(linkage, go_on, __tsan_unaligned_volatile_read##n, n, PCT_MEMORY_READ)                                 \
    PCT_HANDLER(linkage, go_on, __tsan_unaligned_volatile_write##n, n, PCT_MEMORY_WRITE)
#define PCT_HANDLERS(linkage, go_on)                                                                                   \
    PCT_HANDLERS_OF_SIZE(linkage, go_on, 1)                                                                            \
    PCT_HANDLERS_OF_SIZE(linkage, go_on, 2)                                                                            \
    PCT_HANDLERS_OF_SIZE(linkage, go_on, 4)                                                                            \
    PCT_HANDLERS_OF_SIZE(linkage, go_on, 8)                                                                            \
    PCT_HANDLERS_OF_SIZE(linkage, go_on, 16)

/* Functions, for the stacks of race reports. */
#define PCT_FUNCTION_HANDLERS(linkage, go_on, go_on_exit)                                                              \
    linkage void __tsan_func_entry(void *pc);                                                                          \
    linkage void __tsan_func_entry(void *pc)                                                                           \
    {                                                                                                                  \
        if (PCT_CALLS_WATCHED)                                                                                         \
            go_on(pc, __builtin_frame_address(0));                                                                     \
    }                                                                                                                  \
    linkage void __tsan_func_exit(void *pc);                                                                           \
    linkage void __tsan_func_exit(void *pc)                                                                            \
    {                                                                                                                  \
        (void)pc;                                                                                                      \
        if (PCT_CALLS_WATCHED)                                                                                         \
            go_on_exit();                                                                                              \
    }

#endif
