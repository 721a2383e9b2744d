/* A library with locks of its own (futexes) that leaves the making of threads to its user, as Abseil's: `pct doctor`
 * did not name it, and nobody learned that its locks are scheduling points by --memory-modules alone. The runtime of a
 * sanitizer is no such library.
 *
 *     BUILD: gcc -O1 -pthread -DALONE -fsanitize=address -o %p %s
 *     RUN: gcc -O1 -fPIC -shared -DLIBRARY -o %t/libgate.so %s &&
 *         gcc -O1 -pthread -o %t/program %s -L%t -lgate -Wl,-rpath,%t && %t/program &&
 *         pct doctor %t/program > %t/out && grep -q 'libgate.so implements its own locks' %t/out &&
 *         grep -q -e '--memory-modules=libgate makes' %t/out
 *     RUN: pct doctor %p > %t/out && grep -q controllable %t/out && ! grep 'implements its own locks' %t/out
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef LIBRARY
void gate_pass(int *gate)
{
    while (__atomic_exchange_n(gate, 1, __ATOMIC_ACQUIRE))
        syscall(SYS_futex, gate, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
    __atomic_store_n(gate, 0, __ATOMIC_RELEASE);
    syscall(SYS_futex, gate, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
#else
#ifdef ALONE
static void gate_pass(int *gate)
{
    *gate = 0;
}
#else
void gate_pass(int *gate);
#endif

static int gate;

static void *work(void *unused)
{
    gate_pass(&gate);
    return unused;
}

int main(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, NULL))
        return 1;
    work(NULL);
    return pthread_join(thread, NULL);
}
#endif
