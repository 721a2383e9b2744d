// A thread that pct does not know gives a mutex back while the only thread that can go on sleeps in a system call of
// its own, for one that waits for this mutex. Nobody looked whether the mutex was free, so the run hung. (Found where
// libc gave back the memory of a thread that had ended, by an allocator with a mutex.)
//
// RUN: %p
// RUN: for s in 1 2 3 4 5; do pct run -q -s $s --timeout 30 --state none -- %p || exit 1; done
// RUN: pct run -q -s 1 -S random-delay --timeout 30 -t %t/trace -- %p && pct replay %t/trace -- %p
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/syscall.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int locked, waits, done; /* futexes */

/* Nobody intercepts it. */
static void futex(int *word, int op, int value)
{
    register void *timeout __asm__("r10") = NULL;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(SYS_futex), "D"(word), "S"(op | FUTEX_PRIVATE_FLAG), "d"(value), "r"(timeout)
                     : "rcx", "r11", "memory");
}

static void set(int *word)
{
    __atomic_store_n(word, 1, __ATOMIC_SEQ_CST);
    futex(word, FUTEX_WAKE, 2);
}

static void await(int *word)
{
    while (!__atomic_load_n(word, __ATOMIC_SEQ_CST))
        futex(word, FUTEX_WAIT, 0);
}

static void *stranger(void *unused)
{
    pthread_mutex_lock(&mutex);
    set(&locked);
    await(&waits);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *waiter(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    set(&done);
    return unused;
}

int main(void)
{
    __typeof__(pthread_create) *create = dlsym(dlopen("libc.so.6", RTLD_NOW), "pthread_create");
    pthread_t one, other;
    if (!create || create(&one, NULL, stranger, NULL))
        return 1;
    await(&locked);
    pthread_create(&other, NULL, waiter, NULL);
    for (int i = 0; i < 100; i++)
        pthread_testcancel(); /* the other comes to its lock */
    set(&waits);
    await(&done);
    return pthread_join(other, NULL);
}
