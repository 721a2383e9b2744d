// A library's constructor and destructor run under the loader's lock. Threads that need the lock meanwhile slept in the
// loader, beside the schedule, and there was no guarantee. Nor does the wrapper come between: the paths of the caller's
// file count.
//
// BUILD: gcc -O1 -g -pthread -fPIC -shared -DLIBRARY -o %p.so %s &&
//     gcc -O1 -g -pthread -rdynamic -Wl,-rpath,$(dirname %p) -o %p %s
// RUN: pct run -n 100 -s 1 --state none -- %p load > %t/log 2>&1 && ! grep 'not controlled' %t/log &&
//     grep -q 'missed with probability' %t/log
// RUN: for s in pos random-walk round-robin delay-bound;
//     do pct run -q -n 50 -s 1 -S $s --state none -- %p load > %t/log 2>&1 && ! grep 'not controlled' %t/log || exit 1;
//     done
// RUN: pct run -q -n 50 -s 1 --state none -- %p ask > %t/log 2>&1 && ! grep 'not controlled' %t/log
// RUN: pct run -s 3 --state none --trace %t/trace -- %p ask && pct replay %t/trace -- %p ask
// RUN 120: pct run -q -n 200 -s 1 --state none --trace %t/trace -- %p cross && exit 1; pct report %t/trace > %t/log;
//     grep -q "waits for loader .*held by thread" %t/log && exit 120
// RUN: %p load && %p ask
#ifdef LIBRARY
#include <pthread.h>
#include <sched.h>

extern pthread_mutex_t library_lock __attribute__((weak)); /* the program's */
static pthread_t thread;

static void *work(void *unused)
{
    sched_yield();
    return unused;
}

__attribute__((constructor)) static void construct(void)
{
    pthread_create(&thread, NULL, work, NULL);
    if (&library_lock) {
        pthread_mutex_lock(&library_lock);
        pthread_mutex_unlock(&library_lock);
    }
}

__attribute__((destructor)) static void destroy(void)
{
    pthread_join(thread, NULL);
}

int in_library(void)
{
    return 42;
}
#else
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

int __cxa_thread_atexit_impl(void (*function)(void *), void *object, void *library);
extern char __dso_handle[] __attribute__((visibility("hidden")));

pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;

/* By its name alone: found in the program's run path. */
static void *load(void *unused)
{
    for (int i = 0; i < 3; i++) {
        void *library = dlopen("loader.so", RTLD_NOW);
        int (*function)(void) = library ? (int (*)(void))dlsym(library, "in_library") : NULL;
        if (!function || function() != 42)
            abort();
        dlclose(library);
    }
    return unused;
}

static void nothing(void *unused)
{
    (void)unused;
}

static void *ask(void *unused)
{
    Dl_info info;
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&library_lock);
        pthread_mutex_unlock(&library_lock);
        if (!dlsym(RTLD_DEFAULT, "abort") || !dlvsym(RTLD_DEFAULT, "dlopen", "GLIBC_2.34") ||
            !dladdr((void *)ask, &info) || __cxa_thread_atexit_impl(nothing, NULL, __dso_handle))
            abort();
    }
    return unused;
}

/* Takes its own lock and then the loader's, as the others do in the other order. */
static void *cross(void *unused)
{
    pthread_mutex_lock(&library_lock);
    void *found = dlsym(RTLD_DEFAULT, "abort");
    pthread_mutex_unlock(&library_lock);
    return found ? unused : NULL;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    void *(*work)(void *) = !strcmp(how, "ask") ? ask : !strcmp(how, "cross") ? cross : load;
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    load(NULL);
    pthread_join(thread, NULL);
    return 0;
}
#endif
