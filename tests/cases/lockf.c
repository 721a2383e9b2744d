// Locks on a file given back, and timers of processor time set: neither can wait, and both were "waits left to the
// outside world", so that there was no guarantee.
//
// RUN: cd %t && pct run -s 1 -n 5 -- %p > log 2>&1 && ! grep 'left to the outside' log
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/time.h>
#include <unistd.h>

static void *lock(void *unused)
{
    int fd = open("lockf.tmp", O_RDWR | O_CREAT, 0600);
    for (int i = 0; i < 3; i++) {
        if (lockf(fd, i ? F_LOCK : F_TLOCK, 1))
            _exit(1);
        sched_yield();
        if (lockf(fd, F_TEST, 1) || lockf(fd, F_ULOCK, 1))
            _exit(2);
    }
    return unused;
}

int main(void)
{
    const struct itimerval never = { .it_value = { .tv_sec = 3600 } };
    pthread_t threads[2];
    if (setitimer(ITIMER_VIRTUAL, &never, NULL) || setitimer(ITIMER_PROF, &never, NULL))
        return 3;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, lock, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
