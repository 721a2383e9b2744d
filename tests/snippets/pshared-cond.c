/* Process-shared condition variables between a parent and a child. */
/* tests: pthread_cond_init pthread_cond_wait pthread_cond_timedwait pthread_cond_signal pthread_cond_broadcast */
/* tests: pthread_cond_destroy */
/* outside: when the child takes and gives is not a matter of this schedule */
#define _GNU_SOURCE
#include "check.h"
#include "child.h"

enum { ROUNDS = 20 };

struct shared {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int turn;
    int through;
    bool open;
};

static void take_turns(struct shared *shared, int me)
{
    CHECK_OK(pthread_mutex_lock(&shared->lock));
    for (int i = 0; i < ROUNDS; i++) {
        while (shared->turn % 2 != me)
            CHECK_OK(pthread_cond_wait(&shared->changed, &shared->lock));
        shared->turn++;
        CHECK_OK(pthread_cond_signal(&shared->changed));
    }
    CHECK_OK(pthread_mutex_unlock(&shared->lock));
}

static void *pass(void *object)
{
    struct shared *shared = object;
    CHECK_OK(pthread_mutex_lock(&shared->lock));
    while (!shared->open)
        CHECK_OK(pthread_cond_wait(&shared->changed, &shared->lock));
    shared->through++;
    CHECK_OK(pthread_mutex_unlock(&shared->lock));
    return NULL;
}

static void child_part(void *object)
{
    take_turns(object, 1);
    pthread_t thread = check_spawn(pass, object);
    pass(object);
    check_join(thread);
    _exit(0);
}

static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;

static void *pass_alone(void *object)
{
    struct shared *shared = object;
    CHECK_OK(pthread_mutex_lock(&own));
    while (!shared->open)
        CHECK_OK(pthread_cond_wait(&shared->changed, &own));
    CHECK_OK(pthread_mutex_unlock(&own));
    return NULL;
}

/* With a mutex of this process's own: only its threads meet there. */
static void meet_alone(struct shared *shared)
{
    shared->open = false;
    pthread_t one = check_spawn(pass_alone, shared), other = check_spawn(pass_alone, shared);
    CHECK_OK(pthread_mutex_lock(&own));
    shared->open = true;
    CHECK_OK(pthread_cond_broadcast(&shared->changed));
    CHECK_OK(pthread_mutex_unlock(&own));
    check_join(one);
    check_join(other);
}

int main(void)
{
    struct shared *shared = child_shared(sizeof(*shared));
    pthread_mutexattr_t mutex_attr;
    pthread_condattr_t attr;
    CHECK_EQ(pthread_mutexattr_init(&mutex_attr), 0);
    CHECK_EQ(pthread_mutexattr_setpshared(&mutex_attr, PTHREAD_PROCESS_SHARED), 0);
    CHECK_OK(pthread_mutex_init(&shared->lock, &mutex_attr));
    CHECK_EQ(pthread_condattr_init(&attr), 0);
    CHECK_EQ(pthread_condattr_setpshared(&attr, PTHREAD_PROCESS_SHARED), 0);
    CHECK_OK(pthread_cond_init(&shared->changed, &attr));

    pid_t child = child_start(child_part, shared);
    take_turns(shared, 0);
    pthread_t thread = check_spawn(pass, shared);
    CHECK_OK(pthread_mutex_lock(&shared->lock));
    CHECK_EQ(shared->through, 0);
    shared->open = true;
    CHECK_OK(pthread_cond_broadcast(&shared->changed));
    CHECK_OK(pthread_mutex_unlock(&shared->lock));
    check_join(thread);
    CHECK_EXITED(child_wait(child), 0);
    CHECK_EQ(shared->turn, 2 * ROUNDS);
    CHECK_EQ(shared->through, 3);

    meet_alone(shared);

    struct timespec when = check_in_ms(CLOCK_REALTIME, 10);
    CHECK_OK(pthread_mutex_lock(&shared->lock));
    int error;
    do
        error = pthread_cond_timedwait(&shared->changed, &shared->lock, &when);
    while (error == 0);
    CHECK_EQ(error, ETIMEDOUT);
    CHECK(check_reached(CLOCK_REALTIME, &when));
    CHECK_OK(pthread_mutex_unlock(&shared->lock));
    CHECK_OK(pthread_cond_destroy(&shared->changed));
    CHECK_OK(pthread_mutex_destroy(&shared->lock));
    return 0;
}
