// A library that is preloaded behind libpct.so replaces functions of libc, and has locks and sleeps of its own: it is
// called as often as natively, and its own calls are points. Locks, sleeps and clocks, which pct keeps itself, are not
// asked for there.
//
// BUILD: gcc -g -fPIC -shared -DLIBRARY -o %p.so %s && gcc -g -o %p %s
// RUN: LD_PRELOAD=%p.so %p
// RUN: LD_PRELOAD=$LIBPCT:%p.so PCT_SEED=1 %p
// RUN: LD_PRELOAD=%p.so pct run -q -n 50 -s 1 --state none -- %p
// RUN: LD_PRELOAD=%p.so pct run -q -s 1 --state none -t %t/trace -- %p && LD_PRELOAD=%p.so pct replay -q %t/trace -- %p
#define _GNU_SOURCE
#include <assert.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
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

int main(void)
{
    pthread_t threads[WRITERS];
    char byte;
    assert(&calls_behind && !pipe(ends));
    for (int i = 0; i < WRITERS; i++)
        assert(!pthread_create(&threads[i], NULL, write_some, NULL));
    for (int i = 0; i < WRITERS * TIMES; i++)
        assert(read(ends[0], &byte, 1) == 1);
    for (int i = 0; i < WRITERS; i++)
        assert(!pthread_join(threads[i], NULL));
    return calls_behind != WRITERS * (1 + 2 * TIMES) + WRITERS * TIMES;
}
#endif
