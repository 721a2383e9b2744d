// What processes of one family share in anonymous memory waits in the family's time: nobody else could end the wait.
// Its deadlines come in their order with the sleeps of the others, and take no real time: the waits of a run are 400 s
// long, so the runs of all that follow would take hours. A process that is killed gives up its robust mutex, a handler
// runs in the midst of a wait, and a wait goes on when nobody is left.
//
// RUN: LD_PRELOAD=$LIBPCT PCT_SEED=1 %p && LD_PRELOAD=$LIBPCT PCT_SEED=2 %p
// RUN: for s in pct pos random-walk round-robin; do pct run -q -s 1 -n 2 -S $s -- %p || exit; done
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct shared {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    pthread_rwlock_t lock;
    pthread_barrier_t barrier;
    sem_t ready, never;
    unsigned word;
    int go;
} * shared;
static volatile sig_atomic_t handled;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static const struct timespec *in(int seconds)
{
    static _Thread_local struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_sec += seconds;
    return &t;
}

static void about(double from, double seconds)
{
    double took = now() - from;
    assert(took > seconds - 0.5 && took < seconds + 0.5);
}

static void on_signal(int signal)
{
    (void)signal;
    handled = 1;
}

static void init(void)
{
    pthread_mutexattr_t mutex;
    pthread_condattr_t cond;
    pthread_rwlockattr_t lock;
    pthread_barrierattr_t barrier;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert(shared != MAP_FAILED);
    pthread_mutexattr_init(&mutex);
    pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&mutex, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&shared->mutex, &mutex);
    pthread_condattr_init(&cond);
    pthread_condattr_setpshared(&cond, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&shared->cond, &cond);
    pthread_rwlockattr_init(&lock);
    pthread_rwlockattr_setpshared(&lock, PTHREAD_PROCESS_SHARED);
    pthread_rwlock_init(&shared->lock, &lock);
    pthread_barrierattr_init(&barrier);
    pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&shared->barrier, &barrier, 2);
    sem_init(&shared->ready, 1, 0);
    sem_init(&shared->never, 1, 0);
}

static void *conditions(void *unused)
{
    int error = 0;
    double from = now();
    pthread_mutex_lock(&shared->mutex);
    while (!shared->go && !error)
        error = pthread_cond_timedwait(&shared->cond, &shared->mutex, in(40));
    assert(!error);
    about(from, 20);
    from = now();
    while (error != ETIMEDOUT)
        error = pthread_cond_timedwait(&shared->cond, &shared->mutex, in(50));
    about(from, 50);
    pthread_mutex_unlock(&shared->mutex);
    return unused;
}

static void *futexes(void *unused)
{
    struct timespec limit = { .tv_sec = 30 };
    double from = now();
    assert(syscall(SYS_futex, &shared->word, FUTEX_WAIT, 0, &limit) == -1 && errno == ETIMEDOUT);
    about(from, 30);
    return unused;
}

/* Holds the lock for 60 s, wakes after 20, and is killed with the mutex. */
static void child(void)
{
    pthread_rwlock_wrlock(&shared->lock);
    sem_post(&shared->ready);
    sleep(20);
    pthread_mutex_lock(&shared->mutex);
    shared->go = 1;
    pthread_cond_broadcast(&shared->cond);
    pthread_mutex_unlock(&shared->mutex);
    sleep(40);
    pthread_rwlock_unlock(&shared->lock);
    sleep(20);
    kill(getppid(), SIGUSR1);
    sleep(10);
    pthread_barrier_wait(&shared->barrier);
    pthread_mutex_lock(&shared->mutex);
    sem_post(&shared->ready);
    pause();
}

int main(void)
{
    struct sigaction action = { .sa_handler = on_signal };
    pthread_t threads[2];
    sigaction(SIGUSR1, &action, NULL);
    init();
    pid_t pid = fork();
    if (pid == 0)
        child();
    sem_wait(&shared->ready);
    double from = now();
    pthread_create(&threads[0], NULL, conditions, NULL);
    pthread_create(&threads[1], NULL, futexes, NULL);
    assert(pthread_rwlock_timedrdlock(&shared->lock, in(10)) == ETIMEDOUT);
    about(from, 10);
    assert(!pthread_rwlock_timedrdlock(&shared->lock, in(100)));
    about(from, 60);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    about(from, 70);
    while (!handled)
        assert(sem_timedwait(&shared->never, in(100)) && errno == EINTR);
    about(from, 80);
    pthread_barrier_wait(&shared->barrier);
    about(from, 90);
    sem_wait(&shared->ready);
    assert(pthread_mutex_timedlock(&shared->mutex, in(5)) == ETIMEDOUT);
    kill(pid, SIGKILL);
    assert(pthread_mutex_timedlock(&shared->mutex, in(5)) == EOWNERDEAD);
    assert(waitpid(pid, NULL, 0) == pid);
    from = now();
    assert(sem_timedwait(&shared->never, in(300)) && errno == ETIMEDOUT);
    about(from, 300);
    return 0;
}
