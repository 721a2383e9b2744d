// A thread that computes, and then waits in a call for what another process might do: the signal by which the watchdog
// asks what it does could come when it was in that call, which ended with EINTR though no handler had run. Seen in one
// of some thousand waits on a machine under load.
//
// RUN: pct run -q -s 1 -n 3 -S pct --memory=off --state none -- %p
// RUN: pct run -q -s 1 -n 3 -S random-walk --memory=off --state none -- %p
#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { WAITS = 100 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int done;

static void compute(unsigned rounds)
{
    for (volatile unsigned i = 0; i < rounds; i++)
        ;
}

static void *other(void *unused)
{
    while (!__atomic_load_n(&done, __ATOMIC_SEQ_CST)) {
        assert(!pthread_mutex_lock(&mutex) && !pthread_mutex_unlock(&mutex));
        compute(2000);
    }
    return unused;
}

int main(void)
{
    pthread_t thread;
    uint32_t *word = mmap(NULL, sizeof *word, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert(word != MAP_FAILED && !pthread_create(&thread, NULL, other, NULL));
    for (unsigned i = 0; i < WAITS; i++) {
        const struct timespec limit = { .tv_nsec = 300000 };
        compute(300000 + (unsigned)rand() % 900000);
        assert(syscall(SYS_futex, word, FUTEX_WAIT, 0, &limit, NULL, 0) == -1 && errno == ETIMEDOUT);
    }
    __atomic_store_n(&done, 1, __ATOMIC_SEQ_CST);
    assert(!pthread_join(thread, NULL));
    return 0;
}
