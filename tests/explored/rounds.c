/* A thread that looks at memory in a few rounds, and then waits for it by a futex, as the atomics of libstdc++ and the
 * mutexes of Rust do: `rounds ROUNDS OUTCOME` fails if it ends like that. Outcomes 0 to ROUNDS - 1: it has seen the
 * write in this round, so what comes of it depends on the number of rounds; ROUNDS: the write came behind the last
 * round, before the wait; ROUNDS + 1: it was woken. For tests/explored/awaits. */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Alignas(16) atomic_int word; /* pct tells accesses apart by eight aligned bytes */
static _Alignas(16) int rounds, outcome;

static void *wait_for_word(void *unused)
{
    for (int i = 0; i < rounds; i++) {
        if (atomic_load(&word)) {
            outcome = i;
            return unused;
        }
        sched_yield();
    }
    int failed = syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0) && errno == EAGAIN;
    outcome = failed ? rounds : rounds + 1;
    return unused;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    pthread_t thread;
    rounds = atoi(argv[1]);
    pthread_create(&thread, NULL, wait_for_word, NULL);
    atomic_store(&word, 1);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    pthread_join(thread, NULL);
    return outcome == atoi(argv[2]) ? 3 : 0;
}
