/* Words that the kernel hands from owner to owner (FUTEX_LOCK_PI), locked and unlocked by atomics while nobody waits: a
 * thread that has tried, and got one for which others wait, gives it back by a call. It was not told of the others,
 * which waited for ever.
 *
 * RUN: pct run -q -n 300 -s 1 -S random-walk --state none -- %p
 * RUN: pct run -q -n 100 -s 1 -S random-walk --memory=atomics --state none -- %p
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 3 };

static atomic_uint word; /* 0: free, else the owner, and whether others wait */
static int inside;

static long futex(int op)
{
    return syscall(SYS_futex, &word, op | FUTEX_PRIVATE_FLAG, 0, NULL, NULL, 0);
}

static bool take(bool tries)
{
    unsigned none = 0;
    if (atomic_compare_exchange_strong(&word, &none, (unsigned)gettid()))
        return true;
    if (!tries)
        assert(!futex(FUTEX_LOCK_PI));
    else if (futex(FUTEX_TRYLOCK_PI)) {
        assert(errno == EAGAIN);
        return false;
    }
    return true;
}

static void give(void)
{
    unsigned own = (unsigned)gettid();
    if (!atomic_compare_exchange_strong(&word, &own, 0))
        assert(!futex(FUTEX_UNLOCK_PI));
}

static void *use(void *tries)
{
    for (int i = 0; i < ROUNDS; i++) {
        while (!take(tries != NULL))
            sched_yield();
        assert(!inside++);
        sched_yield();
        inside--;
        give();
    }
    return NULL;
}

int main(void)
{
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert(!pthread_create(&thread[i], NULL, use, i % 2 ? &word : NULL));
    for (int i = 0; i < THREADS; i++)
        assert(!pthread_join(thread[i], NULL));
    assert(!word);
    return 0;
}
