/* Threads that use each other's local and thread-local variables, for tests/explored/awaits: locals PROGRAM. Those that
 * begin with "bad-" fail in some schedules. */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local volatile int box;

static void *add(void *number)
{
    volatile int *at = number;
    *at = *at + 1;
    return NULL;
}

static void *add_with_lock(void *number)
{
    pthread_mutex_lock(&mutex);
    add(number);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

/* Results of two threads. */
static void results(void)
{
    int result[2] = { 1, 2 };
    pthread_t thread[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, add, &result[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    assert(result[0] == 2 && result[1] == 3);
}

/* Of one thread, before it is joined. */
static void early(void)
{
    int result = 1;
    pthread_t thread;
    pthread_create(&thread, NULL, add, &result);
    const int seen = result;
    pthread_join(thread, NULL);
    assert(seen == 1);
}

static void count(volatile int *number, void *(*how)(void *))
{
    pthread_t thread;
    const int before = *number;
    pthread_create(&thread, NULL, how, (void *)number);
    how((void *)number);
    pthread_join(thread, NULL);
    assert(*number == before + 2);
}

/* By the thread pointer here, by a pointer there. */
static void count_own(int locks)
{
    pthread_t thread;
    pthread_create(&thread, NULL, locks ? add_with_lock : add, (void *)&box);
    if (locks)
        pthread_mutex_lock(&mutex);
    box = box + 1;
    if (locks)
        pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    assert(box == 2);
}

/* Its function has returned by then. */
static pthread_t left;
static __attribute__((noinline)) void leave(void)
{
    int gone = 0;
    pthread_create(&left, NULL, add, &gone);
}

/* With all signals blocked, as programs have it whose signals one thread waits for. */
static void *add_blocked(void *number)
{
    sigset_t all, now;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    add(number);
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    assert(sigismember(&now, SIGTRAP) && sigismember(&now, SIGTERM));
    return NULL;
}

/* A handler that blocks all, and accesses memory. */
static volatile sig_atomic_t handled;
static int *volatile place;
static void handle(int number)
{
    *place = number;
    handled = 1;
}
static void *raise_one(void *unused)
{
    raise(SIGUSR1);
    return unused;
}
static void handlers(void)
{
    struct sigaction action = { .sa_handler = handle }, set;
    int number = 0;
    pthread_t thread;
    place = &number;
    sigfillset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&thread, NULL, raise_one, NULL);
    pthread_join(thread, NULL);
    assert(handled && number == SIGUSR1);
    sigaction(SIGUSR1, NULL, &set);
    assert(sigismember(&set.sa_mask, SIGTRAP));
}

int main(int argc, char **argv)
{
    const char *program = argc > 1 ? argv[1] : "";
    volatile int local = 0;
    if (!strcmp(program, "results"))
        results();
    else if (!strcmp(program, "bad-early"))
        early();
    else if (!strcmp(program, "counted"))
        count(&local, add_with_lock);
    else if (!strcmp(program, "bad-counted"))
        count(&local, add);
    else if (!strcmp(program, "own"))
        count_own(1);
    else if (!strcmp(program, "bad-own"))
        count_own(0);
    else if (!strcmp(program, "blocked"))
        add_blocked((void *)&local), count(&local, add_with_lock);
    else if (!strcmp(program, "handlers"))
        handlers();
    else if (!strcmp(program, "left")) {
        leave();
        pthread_join(left, NULL);
    } else
        return 2;
    return 0;
}
