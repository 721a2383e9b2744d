// A library that stands in the place of libstdc++'s guards of static variables, linked with the older kind of symbol
// table only. pct did not find the functions there, called none, and the program crashed.
//
// BUILD: gcc -g -fPIC -shared -DLIBRARY -Wl,--hash-style=sysv -o %p.so %s && gcc -g -o %p %s %p.so
// RUN: readelf -d %p.so | grep -q '(HASH)' && ! readelf -d %p.so | grep -q GNU_HASH
// RUN: %p
// RUN: LD_PRELOAD=$LIBPCT %p
// RUN: pct run -q -n 20 -s 1 --state none -- %p
#include <pthread.h>
#include <stdint.h>

int __cxa_guard_acquire(int64_t *guard);
void __cxa_guard_release(int64_t *guard);

#ifdef LIBRARY
int __cxa_guard_acquire(int64_t *guard)
{
    return !*guard;
}

void __cxa_guard_release(int64_t *guard)
{
    *guard = 7; /* libstdc++ writes 1 or 257 */
}
#else
static void *nothing(void *argument)
{
    return argument;
}

int main(void)
{
    pthread_t thread;
    int64_t guard = 0;
    if (pthread_create(&thread, NULL, nothing, NULL) || pthread_join(thread, NULL) || !__cxa_guard_acquire(&guard))
        return 2;
    __cxa_guard_release(&guard);
    return guard != 7 || __cxa_guard_acquire(&guard);
}
#endif
