// abort() where a handler of SIGABRT returns, or the signal is ignored: the report says where it was called. It said
// that the target had ended before that could be recorded. Where an assertion has failed, the handler comes when libc
// has said which: one that ends the process would keep that from being said.
//
// RUN 134: pct run -s 1 --state none -- %p handled 2>&1 | tee %t/handled; grep -q "^handled" %t/handled &&
//     grep -q "abort_returns.c:" %t/handled && exit 134
// RUN 134: pct run -s 1 --state none -- %p ignored 2>&1 | tee %t/ignored;
//     grep -q "abort_returns.c:" %t/ignored && exit 134
// RUN: pct run -q -s 1 --state none -- %p jumps
// RUN 3: %p asserts
// RUN 3: pct run -q -s 1 --state none -- %p asserts > %t/asserts 2>&1; status=$?; cat %t/asserts;
//     grep -q 'Assertion .!asserts. failed' %t/asserts && exit $status
#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sigjmp_buf back;
static int asserts;

static void handle(int signal)
{
    (void)signal;
    (void)!write(1, "handled\n", 8);
}

static void jump(int signal)
{
    siglongjmp(back, signal);
}

static void leave(int signal)
{
    (void)signal;
    _exit(3);
}

static void *fail(void *unused)
{
    (void)unused;
    assert(!asserts);
    if (!sigsetjmp(back, 1))
        abort();
    return NULL;
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    pthread_t thread;
    asserts = !strcmp(way, "asserts");
    signal(SIGABRT, !strcmp(way, "handled") ? handle : !strcmp(way, "jumps") ? jump : asserts ? leave : SIG_IGN);
    pthread_create(&thread, NULL, fail, NULL);
    pthread_join(thread, NULL);
    return 0;
}
