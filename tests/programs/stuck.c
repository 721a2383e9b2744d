/* A program whose threads get stuck with the baton in the way that its first argument says: in system calls that nobody
 * intercepts, and in loops without any call. Run by tests/programs/watchdog, which says what must come of each. A
 * program that gets through ends with status 0. */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_int flag, turn;
static volatile int plain;
static volatile int pending[4];
static char word[8] = "not";
static int ends[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* A system call that no library function makes. */
static long inline_call(long number, long a, long b, long c, long d)
{
    long result;
    register long r10 __asm__("r10") = d;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
    return result;
}

static void wait_inline(atomic_int *word, int value)
{
    inline_call(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, value, 0);
}

static void wake_inline(atomic_int *word)
{
    inline_call(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, 1, 0);
}

static void start(pthread_t *thread, void *(*function)(void *))
{
    if (pthread_create(thread, NULL, function, NULL))
        exit(99);
}

/* Some steps, so that a run has something to schedule. */
static void work(void)
{
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
}

static int against(void *(*function)(void *), int (*wait)(void))
{
    pthread_t thread;
    start(&thread, function);
    int result = wait();
    pthread_join(thread, NULL);
    return result;
}

static void *set(void *unused)
{
    work();
    plain = 1;
    flag = 1;
    work();
    return unused;
}

static int spin_plain(void)
{
    work();
    while (!plain)
        ;
    work();
    return 0;
}

/* All of the loop is in libc, but for some instructions. */
static int spin_strings(void)
{
    work();
    while (strcmp(word, "ready") || !strchr(word, 'y'))
        __asm__ volatile("" : : : "memory");
    work();
    return 0;
}

static void *set_strings(void *unused)
{
    work();
    strcpy(word, "ready");
    work();
    return unused;
}

/* Not one place with one state: the registers say which variable is next. */
static int spin_several(void)
{
    long sum = 0;
    work();
    for (int left = 1; left; left = sum < 4 * 1000)
        for (int i = sum = 0; i < 4; i++)
            sum += pending[i];
    work();
    return 0;
}

static void *set_several(void *unused)
{
    for (int i = 0; i < 4; i++) {
        work();
        pending[i] = 1000;
    }
    return unused;
}

static int spin_pause(void)
{
    work();
    while (!flag)
        __builtin_ia32_pause();
    return 0;
}

/* It counts its rounds, and waits longer and longer. */
static int spin_backoff(void)
{
    for (unsigned turns = 1; !flag; turns = turns < 1 << 12 ? 2 * turns : turns)
        for (unsigned i = 0; i < turns; i++)
            __builtin_ia32_pause();
    return 0;
}

/* From one look to the next it pauses for longer than the watchdog waits. */
static int spin_long(void)
{
    while (!flag)
        for (unsigned i = 0; i < 1 << 16; i++)
            __builtin_ia32_pause();
    return 0;
}

/* Whom it waits for sleeps in virtual time, and nobody else can run. */
static void *sleep_and_set(void *unused)
{
    nanosleep(&(struct timespec){ .tv_sec = 3600 }, NULL);
    return set(unused);
}

/* A lock without any call: taken under a mutex, so that its holder is preempted while it has it. */
static atomic_flag spinlock = ATOMIC_FLAG_INIT;
static int counter;

static void *count(void *unused)
{
    for (int i = 0; i < 3; i++) {
        while (atomic_flag_test_and_set(&spinlock))
            ;
        counter++;
        work();
        atomic_flag_clear(&spinlock);
    }
    return unused;
}

static int spin_lock(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        start(&threads[i], count);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return counter == 9 ? 0 : 1;
}

/* A ring that goes round by futexes that the compiler put in line, as in libgomp. */
static void pass_turns(int mine)
{
    for (int i = 0; i < 20; i++) {
        int seen;
        while ((seen = turn) % 2 != mine)
            wait_inline(&turn, seen);
        turn++;
        wake_inline(&turn);
        work();
    }
}

static void *odd(void *unused)
{
    pass_turns(1);
    return unused;
}

static int even(void)
{
    pass_turns(0);
    return turn >= 39 ? 0 : 1;
}

static void *write_pipe(void *unused)
{
    work();
    inline_call(SYS_write, ends[1], (long)"x", 1, 0);
    return unused;
}

static int read_pipe(void)
{
    char c = 0;
    long got = inline_call(SYS_read, ends[0], (long)&c, 1, 0);
    work();
    return got == 1 && c == 'x' ? 0 : 1;
}

/* A thread that waits for what never comes, while the others have enough to do. */
static void *read_for_ever(void *unused)
{
    flag = 1;
    read_pipe();
    return unused;
}

static int leave_daemon(void)
{
    pthread_t thread;
    start(&thread, read_for_ever);
    while (!flag)
        work();
    work();
    return 0;
}

/* Asynchronous cancellation ends a loop that makes no call. */
static void *loop(void *unused)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    flag = 1;
    for (;;)
        plain = 2;
    return unused;
}

static int cancel_loop(void)
{
    pthread_t thread;
    void *value;
    start(&thread, loop);
    while (!flag)
        work();
    pthread_cancel(thread);
    pthread_join(thread, &value);
    return value == PTHREAD_CANCELED ? 0 : 1;
}

/* Naps that end just when the watchdog has found them, or a little earlier, or later. */
static int naps_done;
static sem_t posted;

static void *nap(void *unused)
{
    for (int i = 0; i < 60; i++) {
        struct timespec time = { .tv_nsec = 900000 * (i * 7 % 37) };
        inline_call(SYS_nanosleep, (long)&time, 0, 0, 0);
        pthread_mutex_lock(&mutex);
        int before = naps_done;
        sem_post(&posted);
        naps_done = before + 1;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

static int naps(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        start(&threads[i], nap);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return naps_done == 180 ? 0 : 1;
}

/* stdio's own lock: no call that can be intercepted is made for it. */
static void *print(void *unused)
{
    fprintf(stderr, "%s", "");
    return unused;
}

static int hold_file(void)
{
    work();
    flockfile(stderr);
    work();
    funlockfile(stderr);
    return 0;
}

/* Nothing but numbers, for several times as long as it takes to find a spin. */
/* Asks six times for what the other has while it computes, as threads ask an interpreter for its lock. */
enum { QUESTIONS = 3 };

static void *ask(void *unused)
{
    for (int i = 1; i <= QUESTIONS; i++) {
        usleep(50000);
        plain = i;
        while (turn != i)
            usleep(1000);
    }
    return unused;
}

static int serve(void)
{
    uint64_t x = 1;
    for (int i = 1; i <= QUESTIONS; i++) {
        while (plain != i)
            x = x * 6364136223846793005u + 1442695040888963407u;
        turn = i;
        work();
    }
    return x ? 0 : 1;
}

static int compute(void)
{
    uint64_t x = 1;
    for (int i = 0; i < 500000000; i++)
        x = x * 6364136223846793005u + 1442695040888963407u;
    work();
    return x ? 0 : 1;
}

/* A child makes a watchdog of its own; the parent sleeps in a call meanwhile. */
static int child(void)
{
    pthread_t thread;
    int status = 0;
    work();
    pthread_mutex_lock(&mutex); /* or the child may have it locked for ever */
    pid_t pid = fork();
    pthread_mutex_unlock(&mutex);
    if (!pid) {
        plain = 0;
        flag = 0;
        start(&thread, sleep_and_set);
        _exit(spin_plain());
    }
    return pid > 0 && inline_call(SYS_wait4, pid, (long)&status, 0, 0) == pid ? status : 99;
}

/* The parent's call has no part in the time of the child, which sleeps for an hour. */
static int child_sleeps(void)
{
    int status = 0;
    work();
    pid_t pid = fork();
    if (!pid) {
        nanosleep(&(struct timespec){ .tv_sec = 3600 }, NULL);
        _exit(0);
    }
    return pid > 0 && inline_call(SYS_wait4, pid, (long)&status, 0, 0) == pid ? status : 99;
}

/* Deadlocks that nobody can tell from a wait for the outside. */
static void *sleep_inline(void *unused)
{
    for (;;)
        wait_inline(&flag, 0);
    return unused;
}

static int deadlock(void)
{
    sleep_inline(NULL);
    return 0;
}

static void *nothing(void *unused)
{
    work();
    return unused;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void *(*other)(void *);
        int (*here)(void);
    } ways[] = {
        { "spin-plain", set, spin_plain },
        { "spin-several", set_several, spin_several },
        { "spin-strings", set_strings, spin_strings },
        { "spin-pause", set, spin_pause },
        { "spin-backoff", set, spin_backoff },
        { "spin-long", set, spin_long },
        { "spin-sleeper", sleep_and_set, spin_plain },
        { "spin-lock", nothing, spin_lock },
        { "futex", odd, even },
        { "read", write_pipe, read_pipe },
        { "daemon", nothing, leave_daemon },
        { "cancel", nothing, cancel_loop },
        { "stdio", print, hold_file },
        { "naps", nothing, naps },
        { "child", nothing, child },
        { "child-sleeps", nothing, child_sleeps },
        { "compute", nothing, compute },
        { "serve", ask, serve },
        { "deadlock", sleep_inline, deadlock },
    };
    if (pipe(ends))
        return 99;
    for (unsigned i = 0; argc > 1 && i < sizeof ways / sizeof *ways; i++)
        if (!strcmp(argv[1], ways[i].name))
            return against(ways[i].other, ways[i].here);
    fprintf(stderr, "stuck: there is no way %s\n", argc > 1 ? argv[1] : "");
    return 99;
}
