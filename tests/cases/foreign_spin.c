/* While a thread that pct did not see start sleeps, another one that waits for it by yielding is no livelock.
 *
 * RUN: pct run -q -s 1 -n 2 --timeout 20 -- %p
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int flag;

static void *set_late(void *unused)
{
    usleep(2000000);
    flag = 1;
    return unused;
}

int main(void)
{
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
        dlsym(dlopen("libc.so.6", RTLD_NOW), "pthread_create");
    pthread_t thread;
    create(&thread, NULL, set_late, NULL);
    while (!flag)
        sched_yield();
    return pthread_join(thread, NULL);
}
