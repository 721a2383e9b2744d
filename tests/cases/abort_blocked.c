// abort() and a failed assertion while SIGABRT is blocked, with and without a handler for it: the report is made, and
// the handler is called, or not, as this libc does (glibc up to 2.40 calls it, later ones do not).
//
// RUN 134: pct run -s 1 -- %p assert 2>&1 | tee %t/assert; grep -q "1 failed (1 assertion)" %t/assert && exit 134
// RUN 134: pct run -s 1 -- %p abort 2>&1 | tee %t/abort; grep -q "abort_blocked.c:" %t/abort && exit 134
// RUN: %p handled > %t/native; pct run -q -s 1 -- %p handled > %t/pct; cmp %t/native %t/pct
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *way;

static void handle(int signal)
{
    (void)signal;
    write(1, "handled\n", 8);
}

static void *fail(void *failing)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    if (!strcmp(way, "handled"))
        signal(SIGABRT, handle);
    if (!strcmp(way, "assert"))
        assert(failing);
    abort();
}

int main(int argc, char **argv)
{
    pthread_t thread;
    way = argc > 1 ? argv[1] : "abort";
    pthread_create(&thread, NULL, fail, NULL);
    pthread_join(thread, NULL);
    return 0;
}
