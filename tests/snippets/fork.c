/* fork: the child has one thread and a copy of everything; handlers of pthread_atfork run; both go on with threads. */
/* ops: FORK */
#define _GNU_SOURCE
#include "check.h"
#include "child.h"
#include <sched.h>
#include <semaphore.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;
static char order[16];
static int ordered;

static void note(char mark)
{
    order[ordered++ % 16] = mark;
}

static void prepare(void)
{
    note('p');
    CHECK_OK(pthread_mutex_lock(&lock));
}

static void parent(void)
{
    CHECK_OK(pthread_mutex_unlock(&lock));
    note('P');
}

static void child_handler(void)
{
    CHECK_OK(pthread_mutex_unlock(&lock));
    note('C');
}

static void *count(void *rounds)
{
    for (int i = 0; i < *(int *)rounds; i++) {
        CHECK_OK(pthread_mutex_lock(&lock));
        int seen = counter;
        if (i % 4 == 0)
            sched_yield();
        counter = seen + 1;
        CHECK_OK(pthread_mutex_unlock(&lock));
    }
    return NULL;
}

static void use_threads(void)
{
    static int rounds = 10;
    pthread_t threads[3];
    counter = 0;
    for (int i = 0; i < 3; i++)
        threads[i] = check_spawn(count, &rounds);
    for (int i = 0; i < 3; i++)
        check_join(threads[i]);
    CHECK_EQ(counter, 30);
}

static void check_child(pid_t parent_pid)
{
    CHECK_EQ(getppid(), parent_pid);
    CHECK(getpid() != parent_pid);
    CHECK_EQ(gettid(), getpid());
    use_threads();
    /* A child of the child. */
    pid_t grandchild = fork();
    CHECK(grandchild >= 0);
    if (grandchild == 0) {
        use_threads();
        exit(3);
    }
    CHECK_EXITED(child_wait(grandchild), 3);
    struct timespec pause = { 0, 1000000 };
    CHECK_EQ(nanosleep(&pause, NULL), 0);
    exit(4);
}

static sem_t gate, forked;

/* The parent has other threads, which wait and run; the child has none of them. */
static void *wait_gate(void *unused)
{
    CHECK_EQ(sem_wait(&gate), 0);
    return unused;
}

static void *fork_in_thread(void *unused)
{
    pid_t pid = getpid();
    pthread_t self = pthread_self();
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(pthread_equal(pthread_self(), self));
        check_child(pid);
    }
    CHECK_EXITED(child_wait(child), 4);
    CHECK_EQ(sem_post(&forked), 0);
    return unused;
}

int main(void)
{
    pid_t pid = getpid();
    CHECK_EQ(sem_init(&gate, 0, 0), 0);
    CHECK_EQ(sem_init(&forked, 0, 0), 0);

    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        check_child(pid);
    CHECK_EXITED(child_wait(child), 4);

    CHECK_EQ(pthread_atfork(prepare, parent, child_handler), 0);
    pthread_t waiter = check_spawn(wait_gate, NULL);
    int rounds = 30;
    pthread_t worker = check_spawn(count, &rounds);
    for (int i = 0; i < 2; i++) {
        memset(order, 0, sizeof(order));
        ordered = 0;
        child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            CHECK(strcmp(order, "pC") == 0);
            check_child(pid);
        }
        CHECK(strcmp(order, "pP") == 0);
        CHECK_EXITED(child_wait(child), 4);
    }
    check_join(worker);
    CHECK_EQ(counter, rounds);

    pthread_t forker = check_spawn(fork_in_thread, NULL);
    CHECK_EQ(sem_wait(&forked), 0);
    check_join(forker);
    CHECK_EQ(sem_post(&gate), 0);
    check_join(waiter);
    use_threads();
    return 0;
}
