// Children are killed at any moment: before their first step, while they compute, wait, sleep, fork, become another
// program, or have children. What they leave behind in the family's memory must keep nobody: the relatives' sleeps end,
// and their waits.
//
// Arguments: how many rounds, and a seed, which draws what the children do, and how long the machine gives them.
//
// RUN: for i in 1 2 ${FULL:+3 4 5}; do LD_PRELOAD=$LIBPCT PCT_SEED=$i %p 20 $i || exit; done
// RUN: for s in $(pct strategies | grep -x '[a-z-]*' | grep -vx schedule);
//     do pct run -q -s 1 -n 3 -S $s --timeout 120 -- %p 5 7 || exit; done
// RUN: pct run -q -s 1 -n $((FULL ? 30 : 10)) -j 2 --timeout 120 -- %p 10 8
// RUN: pct run -q -s 1 -n 3 --exec --timeout 120 -- %p 10 9
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KINDS = 8, MOST = 3 };

static sem_t *shared; /* the second one is posted by children, and taken by a thread of their parent */
static atomic_bool stop;
static uint64_t state;

static unsigned draw(unsigned below)
{
    state = state * UINT64_C(6364136223846793005) + 1;
    return (unsigned)(state >> 33) % below;
}

/* Of the machine's time: no step, so the moment is none of the schedule's. */
static void spin(unsigned rounds)
{
    for (volatile unsigned i = 0; i < rounds; i++)
        ;
}

static void *sleep_beside(void *unused)
{
    while (!stop) {
        usleep(200);
        sem_trywait(&shared[1]);
    }
    return unused;
}

static void *sleep_for_ever(void *unused)
{
    for (;;)
        usleep(100);
    return unused;
}

static pid_t reaped(pid_t pid, int *status)
{
    pid_t got;
    while ((got = waitpid(pid, status, 0)) < 0)
        assert(errno == EINTR);
    return got;
}

__attribute__((noreturn)) static void live(unsigned kind, char *self)
{
    pthread_t thread;
    pid_t child;
    for (;;)
        switch (kind) {
        case 0:
            sched_yield();
            break;
        case 1:
            usleep(7);
            break;
        case 2:
            sem_wait(&shared[0]);
            break;
        case 3:
            execl(self, self, "sleep", (char *)NULL);
            abort();
        case 4:
            sem_post(&shared[1]);
            break;
        case 5:
            child = fork();
            if (!child)
                _exit(0);
            reaped(child, NULL);
            break;
        case 6:
            assert(!pthread_create(&thread, NULL, sleep_for_ever, NULL));
            pthread_join(thread, NULL);
            break;
        case 7:
            pause();
            break;
        }
}

int main(int count, char **arguments)
{
    if (count > 1 && !strcmp(arguments[1], "sleep"))
        sleep_for_ever(NULL);
    assert(count == 3);
    state = strtoul(arguments[2], NULL, 10);
    shared = mmap(NULL, 2 * sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert(shared != MAP_FAILED && !sem_init(&shared[0], 1, 0) && !sem_init(&shared[1], 1, 0));
    pthread_t beside;
    assert(!pthread_create(&beside, NULL, sleep_beside, NULL));
    for (unsigned long left = strtoul(arguments[1], NULL, 10); left; left--) {
        pid_t child[MOST];
        unsigned children = 1 + draw(MOST);
        for (unsigned i = 0; i < children; i++) {
            unsigned kind = draw(KINDS);
            child[i] = fork();
            assert(child[i] >= 0);
            if (!child[i])
                live(kind, arguments[0]);
            spin(draw(2) * draw(100000));
        }
        for (unsigned i = 0; i < children; i++) {
            int status;
            if (draw(2))
                spin(draw(300000));
            else if (draw(2))
                usleep(draw(1000));
            assert(!kill(child[i], SIGKILL));
            assert(reaped(child[i], &status) == child[i] && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        }
    }
    stop = true;
    assert(!pthread_join(beside, NULL));
    return 0;
}
