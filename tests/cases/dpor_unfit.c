// With --ok-unfit, a program that fails behind a script that did not fit has failed. pct script --all=dpor, which makes
// the run again to report it, said that it went another way then, and reported no failure.
//
// BUILD: pct-cc -g -pthread -o %p %s
// RUN: echo 'run(thread "nothing", locks)' > %t/s.lua;
//     pct script --all=dpor --ok-unfit %t/s.lua -- %p > %t/out 2>&1; [ $? = 1 ] &&
//     grep 'without the script from there on: assertion' %t/out && ! grep 'went another way' %t/out
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static void *nothing(void *unused)
{
    return unused;
}

int main(void)
{
    pthread_t thread;
    int failed = pthread_create(&thread, NULL, nothing, NULL);
    assert(!failed && pthread_join(thread, NULL));
    return 0;
}
