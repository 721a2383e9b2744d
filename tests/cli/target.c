/* The program that the tests of the command run: its first argument says what it does. Compiled by common.bash. */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int value;

__attribute__((noinline)) static void take_both(pthread_mutex_t *first, pthread_mutex_t *second)
{
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}

static void *forwards(void *unused)
{
    for (int i = 0; i < 5; i++)
        take_both(&a, &b);
    return unused;
}

static void *backwards(void *unused)
{
    for (int i = 0; i < 5; i++)
        take_both(&b, &a);
    return unused;
}

static void *sleeper(void *unused)
{
    pthread_mutex_lock(&a);
    pthread_cond_wait(&changed, &a);
    pthread_mutex_unlock(&a);
    return unused;
}

static void *set(void *unused)
{
    pthread_mutex_lock(&a);
    value = 1;
    pthread_mutex_unlock(&a);
    return unused;
}

/* Two threads with opposite orders of two locks: a deadlock of depth 2. */
static int abba(void)
{
    pthread_t one, two;
    puts("abba begins");
    fflush(stdout);
    pthread_create(&one, NULL, forwards, NULL);
    pthread_create(&two, NULL, backwards, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    puts("abba ends");
    return 0;
}

/* Nobody signals these. */
static int lost(int count)
{
    pthread_t threads[64];
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, sleeper, NULL);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

/* Fails, or exits with a status, if the other thread goes first. */
static int race(const char *status)
{
    pthread_t other;
    pthread_create(&other, NULL, set, NULL);
    pthread_mutex_lock(&a);
    int seen = value;
    pthread_mutex_unlock(&a);
    pthread_join(other, NULL);
    if (!status)
        assert(!seen);
    if (status && !strcmp(status, "tell"))
        return printf("seen %d\n", seen) < 0;
    return seen ? atoi(status) : 0;
}

/* Locks and unlocks so often, beside a thread that does nothing. */
static int steps(int count)
{
    pthread_t other;
    pthread_create(&other, NULL, set, NULL);
    for (int i = 0; i < count; i++) {
        pthread_mutex_lock(&a);
        pthread_mutex_unlock(&a);
    }
    return pthread_join(other, NULL);
}

/* Yields so often, likewise. */
static int yields(int count)
{
    pthread_t other;
    pthread_create(&other, NULL, set, NULL);
    for (int i = 0; i < count; i++)
        sched_yield();
    return pthread_join(other, NULL);
}

/* Count the starts in one file, by a byte each; at some of them kill the process whose id is in the other. Then fail
 * now and then. */
static int murder(char **argv)
{
    struct stat status;
    char victim[32] = "";
    int count = open(argv[0], O_WRONLY | O_CREAT | O_APPEND, 0666), file = -1;
    if (count < 0 || write(count, "x", 1) != 1 || fstat(count, &status))
        return 3;
    close(count);
    for (char **at = argv + 2; *at; at++)
        if (status.st_size == atoi(*at)) {
            while (file < 0 || read(file, victim, sizeof victim - 1) < 1)
                file = open(argv[1], O_RDONLY);
            /* By hand: kill() spares the process that started the run. */
            long result;
            __asm__ volatile("syscall"
                             : "=a"(result)
                             : "a"(SYS_kill), "D"(atoi(victim)), "S"(SIGKILL)
                             : "rcx", "r11", "memory");
            for (;;)
                pause(); /* until it takes us along */
        }
    return race(NULL);
}

static void *yield_on(void *count)
{
    for (int i = 0; i < *(int *)count; i++)
        sched_yield();
    return NULL;
}

static int turns(int count)
{
    pthread_t other;
    pthread_create(&other, NULL, yield_on, &count);
    yield_on(&count);
    return pthread_join(other, NULL);
}

static pthread_cond_t handed = PTHREAD_COND_INITIALIZER;
static int hands;

static void *hand_over(void *unused)
{
    pthread_mutex_lock(&a);
    hands++;
    pthread_cond_signal(&handed);
    pthread_mutex_unlock(&a);
    return unused;
}

/* Waits with a mutex that is not the one that it locked last. */
static int handover(void)
{
    pthread_t one, two;
    pthread_create(&one, NULL, hand_over, NULL);
    pthread_create(&two, NULL, hand_over, NULL);
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    while (hands < 2)
        pthread_cond_wait(&handed, &a);
    pthread_mutex_unlock(&a);
    return pthread_join(one, NULL) || pthread_join(two, NULL);
}

static int copy_input(void)
{
    char line[256];
    while (fgets(line, sizeof line, stdin))
        fputs(line, stdout);
    return 0;
}

/* The same in a thread that main waits for. */
static void *listener(void *unused)
{
    copy_input();
    return unused;
}

static int listen_for_input(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, listener, NULL);
    pthread_join(thread, NULL);
    return 0;
}

/* Threads that write to a copy of the standard output, and to it, then close it. */
static void *speak(void *copy)
{
    for (int i = 0; i < 10; i++)
        if (write(i % 2 ? 1 : *(int *)copy, "spoken\n", 7) != 7)
            exit(3);
    return NULL;
}

static int speakers(void)
{
    pthread_t threads[3];
    int copy = dup(1);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, speak, &copy);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return close(copy) || close(1);
}

static long first;

static void *be_first(void *number)
{
    pthread_mutex_lock(&a);
    first = first ? first : (long)(intptr_t)number;
    pthread_mutex_unlock(&a);
    return NULL;
}

/* Of three threads, the first one decides: it passes, hangs where nobody but the kernel knows of it, or fails. */
static int thirds(void)
{
    long number = SYS_pause;
    pthread_t threads[3];
    for (intptr_t i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, be_first, (void *)(i + 1));
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    if (first == 2)
        __asm__ volatile("syscall" : "+a"(number) : : "rcx", "r11", "memory");
    assert(first != 3);
    return 0;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    const char *argument = argc > 2 ? argv[2] : NULL;
    if (!strcmp(mode, "exit") && argument)
        return atoi(argument);
    if (!strcmp(mode, "abba"))
        return abba();
    if (!strcmp(mode, "lost"))
        return lost(argument ? atoi(argument) : 1);
    if (!strcmp(mode, "race"))
        return race(argument);
    if (!strcmp(mode, "steps") && argument)
        return steps(atoi(argument));
    if (!strcmp(mode, "yields") && argument)
        return yields(atoi(argument));
    if (!strcmp(mode, "murder") && argc > 3)
        return murder(argv + 2);
    if (!strcmp(mode, "turns") && argument)
        return turns(atoi(argument));
    if (!strcmp(mode, "thirds"))
        return thirds();
    if (!strcmp(mode, "speakers"))
        return speakers();
    if (!strcmp(mode, "handover"))
        return handover();
    if (!strcmp(mode, "input"))
        return copy_input();
    if (!strcmp(mode, "listener"))
        return listen_for_input();
    if (!strcmp(mode, "shell") && argument)
        return system(argument) != 0;
    if (!strcmp(mode, "crash"))
        *(volatile int *)16 = 1;
    if (!strcmp(mode, "kill")) {
        yields(argument ? atoi(argument) : 0);
        kill(getpid(), SIGKILL);
    }
    /* Where nobody but the kernel knows of it, and no CPU is used. */
    long number = SYS_pause;
    const int once = !strcmp(mode, "snag-once") && argument;
    if ((once || !strcmp(mode, "snag")) && race("1") && (!once || open(argument, O_CREAT | O_EXCL, 0600) >= 0))
        __asm__ volatile("syscall" : "+a"(number) : : "rcx", "r11", "memory");
    while (!strcmp(mode, "hang"))
        getppid();
    if (!strcmp(mode, "output")) {
        puts("to standard output");
        fputs("to standard error\n", stderr);
        return argument ? atoi(argument) : 0;
    }
    return 0;
}
