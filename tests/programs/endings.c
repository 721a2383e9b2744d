/* A program that ends in the way that its first argument says: every verdict that pct knows, and endings that look like
 * one and are none. Run by tests/programs/verdicts, which says what must come of each. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <sys/time.h>
#include <unistd.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int value; /* under a */

static pthread_t start(void *(*function)(void *), void *argument)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, function, argument)) {
        fputs("endings: no thread\n", stderr);
        exit(99);
    }
    return thread;
}

static int get(void)
{
    pthread_mutex_lock(&a);
    int seen = value;
    pthread_mutex_unlock(&a);
    return seen;
}

static void *set(void *unused)
{
    pthread_mutex_lock(&a);
    value = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&a);
    return unused;
}

static void *wait_for_value(void *unused)
{
    pthread_mutex_lock(&a);
    while (!value)
        pthread_cond_wait(&changed, &a);
    pthread_mutex_unlock(&a);
    return unused;
}

/* --- Deadlocks --- */

static int relock(void)
{
    pthread_mutex_lock(&a);
    return pthread_mutex_lock(&a);
}

static pthread_t ring[3];

static void *join_next(void *argument)
{
    pthread_t *next = argument;
    pthread_mutex_lock(&a); /* all of the ring is known */
    pthread_mutex_unlock(&a);
    pthread_join(*next, NULL);
    return NULL;
}

static int join_ring(void)
{
    pthread_mutex_lock(&a);
    for (int i = 0; i < 3; i++)
        ring[i] = start(join_next, &ring[(i + 1) % 3]);
    pthread_mutex_unlock(&a);
    pthread_exit(NULL);
}

/* The main thread ends; the other waits for ever. */
static int abandon(void)
{
    start(wait_for_value, NULL);
    pthread_exit(NULL);
}

static pthread_barrier_t both;

static void *lock_crosswise(void *first)
{
    pthread_mutex_lock(first);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(first == &a ? &b : &a);
    return NULL;
}

static void *wait_for_signal(void *unused)
{
    int signal;
    sigset_t set;
    (void)unused;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigwait(&set, &signal);
    return NULL;
}

/* Two wait for each other, while one waits for a signal from outside, and the main thread polls. */
static int cycle(void)
{
    struct timespec second = { .tv_sec = 1 };
    pthread_barrier_init(&both, NULL, 2);
    start(wait_for_signal, NULL);
    start(lock_crosswise, &a);
    start(lock_crosswise, &b);
    while (!nanosleep(&second, NULL))
        ;
    return 99;
}

/* The same; but an alarm may end it. */
static int cycle_alarmed(void)
{
    const struct itimerval soon = { .it_value.tv_usec = 20000 };
    setitimer(ITIMER_REAL, &soon, NULL);
    return cycle();
}

/* A child that deadlocks: its own scheduler ends it, and its parent gets the status. */
static int child_deadlock(void)
{
    pid_t child = fork();
    if (!child)
        _exit(relock());
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return 99;
    return WEXITSTATUS(status);
}

/* --- Livelocks: waits that nobody ends --- */

static volatile int
    never; /* no lock around it: with an operation that succeeds in the loop, only a step bound ends it */

static int yield_for_ever(void)
{
    while (!never)
        sched_yield();
    return 0;
}

static void *try_for_ever(void *unused)
{
    while (pthread_mutex_trylock(&b) == EBUSY)
        ;
    return unused;
}

static int trylock_for_ever(void)
{
    pthread_mutex_lock(&b);
    pthread_join(start(try_for_ever, NULL), NULL);
    return 0;
}

static int sleep_for_ever(void)
{
    while (!never)
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    return 0;
}

static int poll_for_ever(void)
{
    while (!get())
        sched_yield();
    return 0;
}

/* --- Neither: they look like it, and end --- */

/* All threads wait, and time passes. */
static int timed(void)
{
    sem_t semaphore;
    struct timespec until;
    sem_init(&semaphore, 0, 0);
    pthread_t other = start(wait_for_value, NULL);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 3600;
    if (sem_timedwait(&semaphore, &until) != -1 || errno != ETIMEDOUT)
        return 99;
    set(NULL);
    pthread_join(other, NULL);
    return 0;
}

/* All threads wait, one of them for another process. */
static int outside(void)
{
    int ends[2];
    char byte = 0;
    pthread_t other = start(wait_for_value, NULL);
    if (pipe(ends))
        return 99;
    pid_t child = fork();
    if (!child) {
        nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
        _exit(write(ends[1], "x", 1) != 1);
    }
    if (child < 0 || read(ends[0], &byte, 1) != 1 || byte != 'x' || waitpid(child, NULL, 0) != child)
        return 99;
    set(NULL);
    pthread_join(other, NULL);
    return 0;
}

/* The main thread ends before the others, who then end the process. */
static int leave(void)
{
    start(wait_for_value, NULL);
    start(set, NULL);
    pthread_exit(NULL);
}

/* The main thread returns though another one waits. */
static int walk_out(void)
{
    start(wait_for_value, NULL);
    return 5;
}

/* A polling loop that ends when the other thread has had its turn. */
static int poll_a_while(void)
{
    pthread_t other = start(set, NULL);
    while (!get())
        sched_yield();
    pthread_join(other, NULL);
    return 0;
}

/* --- Signals --- */

static void *crash(void *unused)
{
    *(volatile int *)16 = 1;
    return unused;
}

static void *assert_false(void *unused)
{
    assert(get() == 1 && "the value was set");
    return unused;
}

static void *abort_here(void *unused)
{
    abort();
    return unused;
}

static void *terminate(void *unused)
{
    raise(SIGTERM);
    return unused;
}

/* A handler is the only hope of all threads. */
static sem_t hope;

static void post(int number)
{
    (void)number;
    sem_post(&hope);
}

static void *wait_for_hope(void *unused)
{
    while (sem_wait(&hope))
        continue;
    return unused;
}

static int alarm_hope(void)
{
    sem_init(&hope, 0, 0);
    signal(SIGALRM, post);
    pthread_t other = start(wait_for_hope, NULL);
    alarm(3600);
    pthread_join(other, NULL);
    return 0;
}

/* Nobody handles it. */
static int alarmed(void)
{
    alarm(3600);
    return pause();
}

/* A timer whose signal is ignored wakes nobody. */
static int timer_idle(void)
{
    const struct itimerval often = { { 1, 0 }, { 1, 0 } };
    signal(SIGALRM, SIG_IGN);
    setitimer(ITIMER_REAL, &often, NULL);
    sem_init(&hope, 0, 0);
    return sem_wait(&hope);
}

static void crash_here(int number)
{
    (void)number;
    crash(NULL);
}

static void *wait_to_crash(void *unused)
{
    sem_wait(&hope);
    return unused;
}

static int handler_crash(void)
{
    sem_init(&hope, 0, 0);
    signal(SIGUSR1, crash_here);
    pthread_t other = start(wait_to_crash, NULL);
    pthread_kill(other, SIGUSR1);
    pthread_join(other, NULL);
    return 0;
}

/* The handler of a crash says what it has to say, and dies of the signal itself. */
static void die_of_it(int number)
{
    signal(number, SIG_DFL);
    raise(number);
}

static int own_handler(void)
{
    signal(SIGSEGV, die_of_it);
    pthread_join(start(crash, NULL), NULL);
    return 0;
}

static int in_a_thread(void *(*function)(void *))
{
    pthread_join(start(function, NULL), NULL);
    return 0;
}

/* --- By the schedule: a deadlock, status 3 or status 0, each in some of the schedules --- */

static void *lock_both(void *unused)
{
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    value++;
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return unused;
}

static int either(void)
{
    pthread_t other = start(lock_both, NULL);
    pthread_mutex_lock(&a);
    int seen = value;
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    pthread_join(other, NULL);
    return seen ? 3 : 0;
}

/* --- The first call of an intercepted function comes late, or never --- */

static int crash_alone(void)
{
    crash(NULL);
    return 0;
}

static void use_threads(void)
{
    pthread_join(start(set, NULL), NULL);
}

static int at_exit(void)
{
    atexit(use_threads);
    return 3;
}

static int at_quick_exit_now(void)
{
    at_quick_exit(use_threads);
    quick_exit(3);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*function)(void);
    } modes[] = {
        { "relock", relock },
        { "join-ring", join_ring },
        { "abandon", abandon },
        { "cycle", cycle },
        { "cycle-alarmed", cycle_alarmed },
        { "child", child_deadlock },
        { "yield", yield_for_ever },
        { "trylock", trylock_for_ever },
        { "sleep", sleep_for_ever },
        { "timed", timed },
        { "alarm-hope", alarm_hope },
        { "alarmed", alarmed },
        { "timer-idle", timer_idle },
        { "handler-crash", handler_crash },
        { "own-handler", own_handler },
        { "outside", outside },
        { "leave", leave },
        { "walk-out", walk_out },
        { "poll", poll_a_while },
        { "poll-for-ever", poll_for_ever },
        { "either", either },
        { "crash-alone", crash_alone },
        { "at-exit", at_exit },
        { "at-quick-exit", at_quick_exit_now },
    };
    static const struct {
        const char *name;
        void *(*function)(void *);
    } threads[] = {
        { "crash", crash }, { "assert", assert_false }, { "abort", abort_here }, { "terminate", terminate }
    };
    const char *mode = argc > 1 ? argv[1] : "";
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (!strcmp(mode, modes[i].name))
            return modes[i].function();
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++)
        if (!strcmp(mode, threads[i].name))
            return in_a_thread(threads[i].function);
    if (!strcmp(mode, "status") && argc > 2)
        return atoi(argv[2]);
    while (!strcmp(mode, "hang"))
        getppid();
    puts("no such ending");
    return 98;
}
