/* Condition variables as programs linked before glibc 2.3.2 have them: a pointer and padding, all zero at first. */
/* tests: pthread_cond_init pthread_cond_destroy pthread_cond_wait pthread_cond_timedwait pthread_cond_signal */
/* tests: pthread_cond_broadcast */
/* ops: COND_INIT COND_DESTROY COND_WAIT COND_WAKE COND_SIGNAL COND_BROADCAST */
#define _GNU_SOURCE
#include "check.h"

struct old_cond {
    void *object; /* the real condition variable, allocated by the first use */
    char padding[40];
};

int old_init(struct old_cond *cond, const void *attr);
int old_destroy(struct old_cond *cond);
int old_wait(struct old_cond *cond, pthread_mutex_t *mutex);
int old_timedwait(struct old_cond *cond, pthread_mutex_t *mutex, const struct timespec *when);
int old_signal(struct old_cond *cond);
int old_broadcast(struct old_cond *cond);
__asm__(".symver old_init, pthread_cond_init@GLIBC_2.2.5");
__asm__(".symver old_destroy, pthread_cond_destroy@GLIBC_2.2.5");
__asm__(".symver old_wait, pthread_cond_wait@GLIBC_2.2.5");
__asm__(".symver old_timedwait, pthread_cond_timedwait@GLIBC_2.2.5");
__asm__(".symver old_signal, pthread_cond_signal@GLIBC_2.2.5");
__asm__(".symver old_broadcast, pthread_cond_broadcast@GLIBC_2.2.5");

enum { WAITERS = 3, ROUNDS = 6 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct old_cond turn_changed = { NULL, "" }, gate = { NULL, "" };
static int turn, through;
static bool open_;

static void *take_turns(void *me)
{
    int mine = *(int *)me;
    CHECK_OK(pthread_mutex_lock(&lock));
    for (int i = 0; i < ROUNDS; i++) {
        while (turn % 2 != mine)
            CHECK_OK(old_wait(&turn_changed, &lock));
        turn++;
        CHECK_OK(old_signal(&turn_changed));
    }
    CHECK_OK(pthread_mutex_unlock(&lock));
    return NULL;
}

static void *pass_gate(void *unused)
{
    CHECK_OK(pthread_mutex_lock(&lock));
    while (!open_)
        CHECK_OK(old_wait(&gate, &lock));
    through++;
    CHECK_OK(pthread_mutex_unlock(&lock));
    return unused;
}

static void unlock(void *unused)
{
    (void)unused;
    CHECK_OK(pthread_mutex_unlock(&lock));
}

static void *wait_until_cancelled(void *cond)
{
    CHECK_OK(pthread_mutex_lock(&lock));
    pthread_cleanup_push(unlock, NULL);
    for (;;)
        old_wait(cond, &lock);
    pthread_cleanup_pop(0);
    return NULL;
}

int main(void)
{
    int zero = 0, one = 1;
    pthread_t a = check_spawn(take_turns, &zero), b = check_spawn(take_turns, &one);
    check_join(a);
    check_join(b);
    CHECK_EQ(turn, 2 * ROUNDS);
    CHECK_OK(old_destroy(&turn_changed));

    pthread_t threads[WAITERS];
    for (int i = 0; i < WAITERS; i++)
        threads[i] = check_spawn(pass_gate, NULL);
    CHECK_OK(pthread_mutex_lock(&lock));
    CHECK_EQ(through, 0);
    open_ = true;
    CHECK_OK(old_broadcast(&gate));
    CHECK_OK(pthread_mutex_unlock(&lock));
    for (int i = 0; i < WAITERS; i++)
        check_join(threads[i]);
    CHECK_EQ(through, WAITERS);

    struct timespec when = check_in_ms(CLOCK_REALTIME, 10);
    CHECK_OK(pthread_mutex_lock(&lock));
    int error;
    do
        error = old_timedwait(&gate, &lock, &when);
    while (error == 0);
    CHECK_EQ(error, ETIMEDOUT);
    CHECK(check_reached(CLOCK_REALTIME, &when));
    CHECK_OK(pthread_mutex_unlock(&lock));

    a = check_spawn(wait_until_cancelled, &gate);
    CHECK_OK(pthread_cancel(a));
    CHECK(check_join(a) == PTHREAD_CANCELED);
    CHECK_OK(old_destroy(&gate));

    struct old_cond fresh = { &zero, "" };
    CHECK_OK(old_init(&fresh, NULL)); /* sets the pointer, whatever was there */
    CHECK_OK(old_signal(&fresh));
    CHECK_OK(old_broadcast(&fresh));
    CHECK_OK(old_destroy(&fresh));
    return 0;
}
