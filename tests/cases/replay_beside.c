/* A thread that sleeps in a call of the program's own (an inline futex, as libgomp has it) waits for one that runs
 * beside it, and comes to an intercepted call only in the replay: there it has to wait for its turn, which never comes,
 * as the next recorded step is the sleeper's. Where the helper of a parallel loop comes a little earlier than it did in
 * the recorded run, and gets an iteration, that is so. The replay has left the recorded path, and says so: it must not
 * hang.
 *
 * RUN: cd %t && pct run -q -S pos -s 1 --slack=0 --trace trace -- %p && touch early && timeout 100 pct replay trace --
 *     %p 2> said; [ $? = 122 ] && grep 'did NOT replay.*came that thread sleeps outside' said
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_NS = 50000000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int begun, done, items = 1;

static long inline_call(long number, const void *a, long b, long c, const void *d)
{
    register const void *fourth __asm__("r10") = d;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                     : "rcx", "r11", "memory");
    return result;
}

static void await(atomic_int *word)
{
    while (!*word)
        inline_call(SYS_futex, word, FUTEX_WAIT_PRIVATE, 0, NULL);
}

static void tell(atomic_int *word)
{
    *word = 1;
    inline_call(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL);
}

static void pause_inline(void)
{
    const struct timespec length = { .tv_nsec = WAIT_NS };
    inline_call(SYS_nanosleep, &length, 0, 0, NULL);
}

static void take(void)
{
    if (atomic_fetch_sub(&items, 1) > 0) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
}

static void *help(void *early)
{
    await(&begun);
    if (!early)
        pause_inline();
    take();
    tell(&done);
    return NULL;
}

int main(void)
{
    char *early = access("early", F_OK) ? NULL : "early";
    pthread_t helper;
    pthread_create(&helper, NULL, help, early);
    pause_inline(); /* the helper is in its wait */
    tell(&begun);
    if (early)
        pause_inline();
    take();
    await(&done);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return pthread_join(helper, NULL);
}
