// A library loaded by dlmopen() has a libc of its own, whose threads and locks pct does not see: "n = 1 thread, nothing
// was missed".
//
// BUILD: gcc -O1 -g -pthread -o %p %s && gcc -O1 -g -pthread -shared -fPIC -DLIBRARY -o %p.so %s
// RUN: pct run -s 1 -n 20 --state none -- %p %p.so > %t/out 2>&1; grep 'no guarantee.*not all was controlled' %t/out &&
//     grep '20 libraries loaded apart' %t/out
#define _GNU_SOURCE
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

#ifdef LIBRARY
static void *run(void *unused)
{
    return unused;
}

void work(void)
{
    pthread_t thread;
    assert(!pthread_create(&thread, NULL, run, NULL) && !pthread_join(thread, NULL));
}
#else
int main(int argc, char **argv)
{
    void *library = dlmopen(LM_ID_NEWLM, argv[argc - 1], RTLD_NOW);
    assert(library);
    void (*work)(void) = (void (*)(void))dlsym(library, "work");
    work();
    return 0;
}
#endif
