/* Time does not jump over what a thread that pct did not see start does by itself: neither while that computes, nor to
 * the end of another's patience while it sleeps.
 *
 * RUN: %p
 * RUN: pct run -q -s 1 -n 5 --timeout 20 -- %p
 * RUN: pct run -q -s 1 -n 5 --timeout 20 --strategy=random-walk -- %p
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static atomic_int flag;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static struct timespec in_ms(long ms)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += ms * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static void *compute(void *unused)
{
    struct timespec now;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while (!now.tv_sec && now.tv_nsec < 100000000);
    flag = 1;
    return unused;
}

static void *sleep_relative(void *unused)
{
    usleep(100000);
    flag = 1;
    return unused;
}

/* Its deadline is a point in time, so that shorter sleeps of others need not take real time. */
static void *sleep_absolute(void *unused)
{
    const struct timespec then = in_ms(100);
    pthread_mutex_lock(&mutex);
    while (pthread_cond_timedwait(&never, &mutex, &then) == 0)
        ;
    pthread_mutex_unlock(&mutex);
    flag = 1;
    return unused;
}

/* Patience for 2 s, in steps of 10 ms. */
static int comes(void)
{
    for (int i = 0; i < 200 && !flag; i++)
        usleep(10000);
    return flag;
}

int main(void)
{
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
        dlsym(dlopen("libc.so.6", RTLD_NOW), "pthread_create");
    void *(*const functions[])(void *) = { compute, sleep_relative, sleep_absolute };
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        flag = 0;
        create(&thread, NULL, functions[i], NULL);
        if (!comes()) {
            printf("function %d: given up\n", i);
            return 1;
        }
        pthread_join(thread, NULL);
    }
    return 0;
}
