/* Who wakes one of several waiters of a futex without FUTEX_PRIVATE_FLAG, as libstdc++ 12 does for std::atomic, leaves
 * the others asleep, though the word has changed: they were woken before a deadlock was said, so that it never was.
 *
 * RUN: pct run -n 100 -s 1 --state none -- %p > %t/said 2>&1; status=$?; cat %t/said; test $status = 120
 * RUN: pct run -n 50 -s 1 --state none -- %p all
 * RUN: pct run -n 50 -s 1 --state none -- %p end
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int gate;
static char stack[65536] __attribute__((aligned(64)));
static int tid = 1;

static void *visit(void *unused)
{
    while (!atomic_load(&gate))
        syscall(SYS_futex, &gate, FUTEX_WAIT, 0, NULL);
    return unused;
}

static int end(void *unused)
{
    (void)unused;
    return 0;
}

/* The kernel clears the word, and wakes who waits for it. */
static void wait_for_end(void)
{
    const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                      CLONE_CHILD_CLEARTID | CLONE_PARENT_SETTID;
    if (clone(end, stack + sizeof stack, flags, NULL, &tid, NULL, &tid) < 0)
        abort();
    for (int now; (now = __atomic_load_n(&tid, __ATOMIC_SEQ_CST));)
        syscall(SYS_futex, &tid, FUTEX_WAIT, now, NULL);
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    if (argc > 1 && !strcmp(argv[1], "end")) {
        wait_for_end();
        return 0;
    }
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, visit, NULL);
    atomic_store(&gate, 1);
    syscall(SYS_futex, &gate, FUTEX_WAKE, argc > 1 ? INT_MAX : 1);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
