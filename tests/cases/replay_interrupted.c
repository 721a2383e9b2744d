/* A call that is tried, and then waits, is interrupted by a signal that comes while its thread stands at its scheduling
 * point as by one that comes while it waits: where of the two it was is not in the trace, and a replay of that stands
 * at the point.
 * RUN: for call in flock ofd semop; do for s in 1 2 3 4 5 6 7 8;
 *     do pct run -q -s $s --timeout 20 -S random-walk -t %t/trace -- %p $call &&
 *     pct replay -q --timeout 20 %t/trace -- %p $call || exit 1; done; done
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int held, wanted, set;
static const char *call;

static void handle(int signal)
{
    (void)signal;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}

static int take(void)
{
    struct flock whole = { .l_type = F_WRLCK };
    struct sembuf down = { 0, -1, 0 };
    if (!strcmp(call, "flock"))
        return flock(wanted, LOCK_EX);
    return !strcmp(call, "ofd") ? fcntl(wanted, F_OFD_SETLKW, &whole) : semop(set, &down, 1);
}

static void *wait_for_it(void *unused)
{
    while (take())
        sched_yield();
    return unused;
}

int main(int argc, char **argv)
{
    struct sigaction action = { .sa_handler = handle };
    struct flock lock = { .l_type = F_WRLCK };
    const struct timespec a_moment = { .tv_nsec = 1000 };
    char name[64];
    pthread_t thread;
    call = argv[argc - 1];
    sigaction(SIGUSR1, &action, NULL);
    held = memfd_create("lock", 0);
    snprintf(name, sizeof name, "/proc/self/fd/%d", held);
    wanted = open(name, O_RDWR);
    set = semget(IPC_PRIVATE, 1, 0600);
    if (wanted < 0 || set < 0 || flock(held, LOCK_EX) || fcntl(held, F_OFD_SETLK, &lock))
        return 1;
    pthread_create(&thread, NULL, wait_for_it, NULL);
    for (int i = 0; i < 4; i++) {
        pthread_kill(thread, SIGUSR1);
        if (i % 2)
            nanosleep(&a_moment, NULL);
    }
    lock.l_type = F_UNLCK;
    flock(held, LOCK_UN);
    fcntl(held, F_OFD_SETLK, &lock);
    semctl(set, 0, SETVAL, 1);
    pthread_join(thread, NULL);
    return semctl(set, 0, IPC_RMID) != 0;
}
