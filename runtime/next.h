/* The library's own functions, behind those of ours that stand in for them. */
#ifndef PCT_RUNTIME_NEXT_H
#define PCT_RUNTIME_NEXT_H

/* The function of this name that the caller of ours would have called. The loader looks for it among the program's own
 * libraries alone; one that came by dlopen() for its users (RTLD_LOCAL) is found by its name, and stays from then on,
 * or the file of the caller has the function inside. NULL: there is none. */
void *pct_next(const char *name, const char *library, const void *caller);

/* The same, in a function of ours of this name. */
#define PCT_NEXT(name, library)                                                                                        \
    ({                                                                                                                 \
        static __typeof__(name) *next;                                                                                 \
        __typeof__(name) *now = __atomic_load_n(&next, __ATOMIC_RELAXED);                                              \
        if (__builtin_expect(!now, 0)) {                                                                               \
            now = (__typeof__(name) *)pct_next(#name, library, __builtin_return_address(0));                           \
            __atomic_store_n(&next, now, __ATOMIC_RELAXED);                                                            \
        }                                                                                                              \
        now;                                                                                                           \
    })

#endif
