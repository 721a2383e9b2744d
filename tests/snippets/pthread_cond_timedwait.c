/* pthread_cond_timedwait: times out with the mutex held, or is woken before the deadline. */
/* ops: COND_WAIT COND_WAKE */
#define _GNU_SOURCE
#include "check.h"

static pthread_mutex_t lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool ready;

static void time_out(pthread_cond_t *cond, const struct timespec *when)
{
    int error;
    do
        error = pthread_cond_timedwait(cond, &lock, when);
    while (error == 0);
    CHECK_EQ(error, ETIMEDOUT);
    CHECK_RESULT(pthread_mutex_lock(&lock), EDEADLK); /* it is ours */
}

static void *make_ready(void *unused)
{
    CHECK_OK(pthread_mutex_lock(&lock));
    ready = true;
    CHECK_OK(pthread_cond_signal(&changed));
    CHECK_OK(pthread_mutex_unlock(&lock));
    return unused;
}

/* Holds the mutex beyond the deadline of the thread that waits: that one comes back only when it has the mutex. */
static void *hold_beyond(void *when)
{
    const struct timespec pause = { 0, 1000000 };
    CHECK_OK(pthread_mutex_lock(&lock));
    while (!check_reached(CLOCK_REALTIME, when))
        CHECK_EQ(nanosleep(&pause, NULL), 0);
    ready = false;
    CHECK_OK(pthread_mutex_unlock(&lock));
    return NULL;
}

int main(void)
{
    struct timespec when = check_in_ms(CLOCK_REALTIME, 20);
    CHECK_RESULT(pthread_cond_timedwait(&changed, &lock, &when), EPERM);

    CHECK_OK(pthread_mutex_lock(&lock));
    time_out(&changed, &when);
    CHECK(check_reached(CLOCK_REALTIME, &when));
    time_out(&changed, &when); /* in the past now */
    struct timespec past = { 0, 0 };
    time_out(&changed, &past);
    past.tv_sec = -1;
    time_out(&changed, &past);

    struct timespec bad = check_in_ms(CLOCK_REALTIME, 20);
    bad.tv_nsec = 1000000000;
    CHECK_RESULT(pthread_cond_timedwait(&changed, &lock, &bad), EINVAL);
    bad.tv_nsec = -1;
    CHECK_RESULT(pthread_cond_timedwait(&changed, &lock, &bad), EINVAL);
    CHECK_RESULT(pthread_mutex_lock(&lock), EDEADLK); /* still ours after an error */

    pthread_t thread = check_spawn(make_ready, NULL);
    struct timespec far = check_in_ms(CLOCK_REALTIME, 1000000);
    while (!ready)
        CHECK_OK(pthread_cond_timedwait(&changed, &lock, &far));
    check_join(thread);

    /* The signal and the deadline race: whichever wins, the mutex is held and the result is one of the two. */
    for (int i = 0; i < 5; i++) {
        ready = false;
        thread = check_spawn(make_ready, NULL);
        when = check_in_ms(CLOCK_REALTIME, 1);
        int error = 0;
        while (!ready && error == 0)
            error = pthread_cond_timedwait(&changed, &lock, &when);
        CHECK(ready || (error == ETIMEDOUT && check_reached(CLOCK_REALTIME, &when)));
        CHECK_OK(pthread_mutex_unlock(&lock));
        check_join(thread);
        CHECK_OK(pthread_mutex_lock(&lock));
        CHECK(ready);
    }

    when = check_in_ms(CLOCK_REALTIME, 5);
    thread = check_spawn(hold_beyond, &when);
    time_out(&changed, &when);
    CHECK_OK(pthread_mutex_unlock(&lock));
    check_join(thread);
    CHECK(!ready);
    return 0;
}
