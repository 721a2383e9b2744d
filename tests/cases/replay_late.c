/* What comes from a child comes later in the replay than it did in the run: the child sleeps longer, or computes first.
 * It still comes, and the replay is the same: the child's sleep ends though the parent has a nearer deadline, and a
 * thread that meanwhile went to wait for its signal outside gets that from the process's own timer.
 *
 * RUN: pct run -q -s 2 --slack=0 --timeout 30 -t %t/trace -- %p sleep &&
 *     LATE=1 pct replay -q --timeout 30 %t/trace -- %p sleep
 * RUN: pct run -q -s 2 --slack=0 --timeout 30 -t %t/trace -- %p alarm &&
 *     LATE=1 pct replay -q --timeout 30 %t/trace -- %p alarm
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_barrier_t *barrier; /* of both processes */
static volatile int come;

static void check(int fine)
{
    if (!fine)
        abort();
}

static void compute(unsigned rounds)
{
    for (volatile unsigned i = 0; i < rounds; i++)
        ;
}

static void *sleep_longer(void *unused)
{
    usleep(100000);
    return unused;
}

static void *meet_child(void *unused)
{
    pthread_barrier_wait(barrier);
    come = 1;
    return unused;
}

/* Can run until the child has come. */
static void *stay(void *unused)
{
    while (!come) {
        compute(100000);
        sched_yield();
    }
    return unused;
}

static void *await_alarm(void *set)
{
    int signal;
    alarm(10);
    check(!sigwait(set, &signal) && signal == SIGALRM);
    return NULL;
}

int main(int argc, char **argv)
{
    int sleeps = argc > 1 && !strcmp(argv[1], "sleep"), late = getenv("LATE") != NULL, status;
    pthread_t threads[3];
    pthread_barrierattr_t shared;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    barrier = mmap(NULL, sizeof *barrier, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    check(barrier != MAP_FAILED && !pthread_barrierattr_init(&shared) &&
          !pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED) &&
          !pthread_barrier_init(barrier, &shared, 2) && !pthread_sigmask(SIG_BLOCK, &set, NULL));
    pid_t child = fork();
    if (!child) {
        if (sleeps)
            usleep(late ? 200000 : 60000);
        else if (late)
            compute(200000000);
        if (!sleeps)
            pthread_barrier_wait(barrier);
        _exit(0);
    }
    check(!pthread_create(&threads[0], NULL, sleeps ? sleep_longer : await_alarm, &set));
    if (!sleeps)
        check(!pthread_create(&threads[1], NULL, meet_child, NULL) && !pthread_create(&threads[2], NULL, stay, NULL));
    check(waitpid(child, &status, 0) == child && !status);
    for (int i = 0; i < (sleeps ? 1 : 3); i++)
        check(!pthread_join(threads[i], NULL));
    return 0;
}
