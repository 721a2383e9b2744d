/* The waits of std::atomic, std::latch and std::semaphore from gcc 16 on. They are made inside libstdc++, which is not
 * compiled for us: so is the load that ends one of them, and that orders what comes after it. */
#include "events.h"
#include "next.h"

/* As <bits/atomic_wait.h> has them, in version 0 of their interface. */
struct arguments {
    uint32_t flags; /* the version is in the highest byte */
    int32_t order;  /* of the library's loads, in the compiler's numbers */
    uint64_t old;
    void *state;
    const volatile void
        *object; /* what it waits on: not the program's own object where that is too small or too large */
};
struct result {
    uint64_t value;
    unsigned char flags;
};
enum { HAS_VALUE = 1 };

/* Where the library has read the program's object last, and not the program. */
static void ended(const volatile void *address, const struct arguments *arguments, const struct result *result)
{
    bool acquires = arguments->order != __ATOMIC_RELAXED;
    if (PCT_WATCHED && acquires && !(arguments->flags >> 24) && result->flags & HAS_VALUE &&
        arguments->object == address)
        pct_memory_order(address, PCT_MEMORY_ACQUIRE);
}

/* A function and its parameters, and what the library's own one is called with. */
#define WAIT(name, parameters, with)                                                                                   \
    PCT_RUNTIME struct result name parameters;                                                                         \
    PCT_RUNTIME struct result name parameters {                                                                        \
        struct result result = PCT_NEXT(name, "libstdc++.so.6") with;                                                  \
        ended(address, arguments, &result);                                                                            \
        return result;                                                                                                 \
    }

/* std::__detail::__wait_impl(), __wait_until_impl() */
WAIT(_ZNSt8__detail11__wait_implEPKvRNS_16__wait_args_baseE, (const void *address, struct arguments *arguments),
     (address, arguments))
WAIT(_ZNSt8__detail17__wait_until_implEPKvRNS_16__wait_args_baseERKNSt6chrono8durationIlSt5ratioILl1ELl1000000000EEEE,
     (const void *address, struct arguments *arguments, const int64_t *deadline), (address, arguments, deadline))
