// A library that is preloaded behind libpct.so replaces functions of libc, and has locks and sleeps of its own: it is
// called as often as natively, and its own calls are points. Locks, sleeps, clocks and signals, which pct keeps itself,
// are not asked for there: a crash while another thread had the library's lock hung in its sigaction().
//
// BUILD: gcc -g -fPIC -shared -DLIBRARY -o %p.so %s && gcc -g -o %p %s
// RUN: LD_PRELOAD=%p.so %p
// RUN: LD_PRELOAD=$LIBPCT:%p.so PCT_SEED=1 %p
// RUN: LD_PRELOAD=%p.so pct run -q -n 50 -s 1 --state none -- %p
// RUN: ulimit -c 0; for seed in 1 2 3 4 5 6 7 8; do
//     LD_PRELOAD=$LIBPCT:%p.so PCT_SEED=$seed timeout 60 %p crashes 2> /dev/null; [ $? = 134 ] || exit 1; done
// RUN: LD_PRELOAD=%p.so pct run -q -s 1 --state none -t %t/trace -- %p && LD_PRELOAD=%p.so pct replay -q %t/trace -- %p
#define _GNU_SOURCE
#include <assert.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { TIMES = 5, WRITERS = 2 };

#ifdef LIBRARY
int calls_behind;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void note(void)
{
    const struct timespec moment = { .tv_nsec = 1000 };
    assert(!pthread_mutex_lock(&mutex));
    calls_behind++;
    nanosleep(&moment, NULL);
    assert(!pthread_mutex_unlock(&mutex));
}

#define NEXT(name) (note(), (__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

ssize_t read(int fd, void *buffer, size_t size)
{
    return NEXT(read)(fd, buffer, size);
}

ssize_t write(int fd, const void *buffer, size_t size)
{
    return NEXT(write)(fd, buffer, size);
}

int open(const char *path, int flags, ...)
{
    return NEXT(open)(path[0] == '!' ? "/dev/null" : path, flags);
}

int sigaction(int signal, const struct sigaction *action, struct sigaction *before)
{
    return NEXT(sigaction)(signal, action, before);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    return NEXT(pthread_create)(thread, attributes, run, argument);
}
#else
extern int calls_behind __attribute__((weak));
static int ends[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *write_some(void *unused)
{
    for (int i = 0; i < TIMES; i++) {
        assert(!pthread_mutex_lock(&mutex));
        const int file = open("!", O_RDONLY);
        assert(file >= 0 && !close(file));
        assert(!pthread_mutex_unlock(&mutex) && write(ends[1], "x", 1) == 1);
    }
    return unused;
}

int main(int count, char **arguments)
{
    (void)arguments;
    pthread_t threads[WRITERS];
    char byte;
    assert(&calls_behind && !pipe(ends));
    for (int i = 0; i < WRITERS; i++)
        assert(!pthread_create(&threads[i], NULL, write_some, NULL));
    for (int i = 0; i < WRITERS * TIMES; i++) {
        if (count > 1 && i == TIMES)
            abort();
        assert(read(ends[0], &byte, 1) == 1);
    }
    for (int i = 0; i < WRITERS; i++)
        assert(!pthread_join(threads[i], NULL));
    return calls_behind != WRITERS * (1 + 2 * TIMES) + WRITERS * TIMES;
}
#endif
