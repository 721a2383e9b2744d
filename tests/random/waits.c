/* Events of threads that wait for things. */
#include "random.h"

/* --- Party 0 gives, the others take ------------------------------------------------------------------------------ */

static void run_handoff(struct event *event, unsigned role, uint64_t *place)
{
    struct thing *thing = event->thing[0];
    if (!role) {
        for (unsigned i = 1; i < event->parties; i++)
            for (unsigned j = 0; j < event->rounds; j++) {
                doze(place);
                event->data[0] = event->data[0] + 1;
                wake_thing(thing, place);
            }
        return;
    }
    for (unsigned j = 0; j < event->rounds; j++) {
        CHECK(wait_thing(thing, FOREVER, place));
        event->data[role]++;
    }
}

static void finish_handoff(struct event *event)
{
    for (unsigned i = 1; i < event->parties; i++)
        CHECK_EQ(event->data[i], event->rounds);
    event->result = event->data[0];
}

/* Party 0 takes from all others. */
static void run_gather(struct event *event, unsigned role, uint64_t *place)
{
    struct thing *thing = event->thing[0];
    for (unsigned i = 1; i < event->parties && !role; i++) {
        CHECK(wait_thing(thing, FOREVER, place));
        event->result++;
    }
    if (role) {
        doze(place);
        wake_thing(thing, place);
    }
}

/* In turn; what one writes before its turn ends the other reads. */
static void run_pingpong(struct event *event, unsigned role, uint64_t *place)
{
    for (unsigned i = 0; i < event->rounds; i++) {
        if (role) {
            CHECK(wait_thing(event->thing[0], FOREVER, place));
            CHECK_EQ(event->data[0], 2 * i + 1);
            event->data[0]++;
            wake_thing(event->thing[1], place);
        } else {
            CHECK_EQ(event->data[0], 2 * i);
            event->data[0]++;
            wake_thing(event->thing[0], place);
            CHECK(wait_thing(event->thing[1], FOREVER, place));
        }
    }
    event->result = 2 * event->rounds;
}

/* A message that nobody has waited for yet: written before, read after. */
static void run_message(struct event *event, unsigned role, uint64_t *place)
{
    if (role) {
        CHECK(wait_thing(event->thing[0], FOREVER, place));
        CHECK_EQ(event->data[0], event->seed);
    } else {
        event->data[0] = (long)event->seed;
        wake_thing(event->thing[0], place);
    }
}

/* --- Time-outs --------------------------------------------------------------------------------------------------- */

/* Nobody wakes: the time passes. */
static void run_timeout(struct event *event, unsigned role, uint64_t *place)
{
    (void)role;
    for (unsigned i = 0; i < event->rounds; i++) {
        int64_t begin = now_us(), us = draw(place, 4) ? draw(place, 2000) : 0;
        CHECK(!wait_thing(event->thing[0], us, place));
        CHECK(now_us() - begin >= us);
    }
}

/* The time may pass before somebody wakes, or not. */
static void run_maybe(struct event *event, unsigned role, uint64_t *place)
{
    if (role) {
        while (!wait_thing(event->thing[0], draw(place, 400), place))
            doze(place);
    } else {
        doze(place);
        wake_thing(event->thing[0], place);
    }
}

/* A time that never passes, as the other does not take so long. */
static void run_in_time(struct event *event, unsigned role, uint64_t *place)
{
    if (role)
        CHECK(wait_thing(event->thing[0], FAR * INT64_C(1000000), place));
    else
        wake_thing(event->thing[0], place);
}

/* --- Cancellation ------------------------------------------------------------------------------------------------ */

struct helper {
    struct event *event;
    uint64_t place;
    atomic_int cleaned;
};

static void clean(void *argument)
{
    atomic_fetch_add(&((struct helper *)argument)->cleaned, 1);
}

static void *wait_to_be_cancelled(void *argument)
{
    struct helper *helper = argument;
    pthread_cleanup_push(clean, helper);
    wait_thing(helper->event->thing[0], FOREVER, &helper->place);
    pthread_cleanup_pop(0);
    return NULL;
}

/* The thread that waits is cancelled; then the thing works as before. */
static void run_cancelled(struct event *event, unsigned role, uint64_t *place)
{
    (void)role;
    for (unsigned i = 0; i < event->rounds; i++) {
        struct helper helper = { .event = event, .place = *place };
        pthread_t thread = start_thread(wait_to_be_cancelled, &helper);
        void *value;
        doze(place);
        CHECK_OK(pthread_cancel(thread));
        CHECK_OK(pthread_join(thread, &value));
        CHECK(value == PTHREAD_CANCELED);
        CHECK_EQ(atomic_load(&helper.cleaned), 1);
    }
    wake_thing(event->thing[0], place);
    CHECK(wait_thing(event->thing[0], FOREVER, place));
}

/* A cancellation that is put off. */
static void *wait_uncancelled(void *argument)
{
    struct helper *helper = argument;
    int old;
    CHECK_OK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old));
    CHECK_OK(sem_post(&helper->event->sem));
    CHECK(wait_thing(helper->event->thing[0], FOREVER, &helper->place));
    helper->event->data[1]++;
    pthread_cleanup_push(clean, helper);
    CHECK_OK(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old));
    for (;;)
        if (helper->place & 1)
            pthread_testcancel();
        else
            sleep(1);
    pthread_cleanup_pop(1);
    return NULL;
}

static void run_put_off(struct event *event, unsigned role, uint64_t *place)
{
    (void)role;
    CHECK_OK(sem_init(&event->sem, 0, 0));
    for (unsigned i = 0; i < event->rounds; i++) {
        struct helper helper = { .event = event, .place = *place };
        pthread_t thread = start_thread(wait_uncancelled, &helper);
        void *value;
        CHECK_OK(RESTARTED(sem_wait(&event->sem)));
        CHECK_OK(pthread_cancel(thread));
        doze(place);
        wake_thing(event->thing[0], place);
        CHECK_OK(pthread_join(thread, &value));
        CHECK(value == PTHREAD_CANCELED);
        CHECK_EQ(atomic_load(&helper.cleaned), 1);
    }
    CHECK_EQ(event->data[1], event->rounds);
    CHECK_OK(sem_destroy(&event->sem));
}

/* Sleeps that are cancelled: the thread does not sleep to the end. */
static void *sleep_long(void *argument)
{
    struct timespec long_time = { .tv_sec = 100000 };
    struct helper *helper = argument;
    pthread_cleanup_push(clean, helper);
    for (;;) /* the C library's own signals may interrupt it */
        switch (helper->place % 5) {
        case 0:
            sleep(100000);
            break;
        case 1:
            nanosleep(&long_time, NULL);
            break;
        case 2:
            clock_nanosleep(CLOCK_MONOTONIC, 0, &long_time, NULL);
            break;
        case 3:
            pause();
            break;
        case 4:
            usleep(900000);
        }
    pthread_cleanup_pop(0);
    return NULL;
}

static void run_sleep_cancelled(struct event *event, unsigned role, uint64_t *place)
{
    (void)role;
    for (unsigned i = 0; i < event->rounds; i++) {
        struct helper helper = { .event = event, .place = draw(place, 1000) };
        pthread_t thread = start_thread(sleep_long, &helper);
        void *value;
        doze(place);
        CHECK_OK(pthread_cancel(thread));
        CHECK_OK(pthread_join(thread, &value));
        CHECK(value == PTHREAD_CANCELED);
        CHECK_EQ(atomic_load(&helper.cleaned), 1);
    }
}

/* --- Threads ----------------------------------------------------------------------------------------------------- */

static void destruct(void *argument)
{
    struct helper *helper = argument;
    atomic_fetch_add(&helper->cleaned, 1);
    wake_thing(helper->event->thing[0], &helper->place);
}

static void *end_with_destructor(void *argument)
{
    struct helper *helper = argument;
    doze(&helper->place);
    CHECK_OK(pthread_setspecific(helper->event->key, helper));
    if (helper->place & 1)
        pthread_exit(helper);
    return helper;
}

/* Destructors wake. */
static void run_destructor(struct event *event, unsigned role, uint64_t *place)
{
    (void)role;
    CHECK_OK(pthread_key_create(&event->key, destruct));
    for (unsigned i = 0; i < event->rounds; i++) {
        struct helper helper = { .event = event, .place = *place };
        pthread_t thread = start_thread(end_with_destructor, &helper);
        void *value;
        CHECK(wait_thing(event->thing[0], FOREVER, place));
        CHECK_OK(pthread_join(thread, &value));
        CHECK(value == &helper);
        CHECK_EQ(atomic_load(&helper.cleaned), 1);
    }
    CHECK_OK(pthread_key_delete(event->key));
}

static void *wake_and_end(void *argument)
{
    struct event *event = argument;
    uint64_t place = event->seed;
    doze(&place);
    wake_thing(event->thing[0], &place);
    CHECK_OK(sem_post(&event->sem)); /* now the thing may go */
    return NULL;
}

/* Detached threads wake. */
static void run_detached(struct event *event, unsigned role, uint64_t *place)
{
    (void)role;
    CHECK_OK(sem_init(&event->sem, 0, 0));
    for (unsigned i = 0; i < event->rounds; i++) {
        pthread_attr_t detached;
        CHECK_OK(pthread_attr_init(&detached));
        pthread_t thread;
        if (draw(place, 2)) {
            CHECK_OK(pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED));
            CHECK_OK(pthread_create(&thread, &detached, wake_and_end, event));
        } else {
            CHECK_OK(pthread_create(&thread, &detached, wake_and_end, event));
            CHECK_OK(pthread_detach(thread));
        }
        CHECK_OK(pthread_attr_destroy(&detached));
    }
    for (unsigned i = 0; i < event->rounds; i++) {
        CHECK(wait_thing(event->thing[0], FOREVER, place));
        CHECK_OK(RESTARTED(sem_wait(&event->sem)));
    }
}

/* Sleeps and clocks: a sleep is not shorter than it says. */
static void run_sleep(struct event *event, unsigned role, uint64_t *place)
{
    (void)role;
    for (unsigned i = 0; i < event->rounds; i++) {
        int64_t begin = now_us(), us = draw(place, 1500);
        struct timespec interval = interval_of(us), until = deadline_of(CLOCK_REALTIME, us);
        switch (draw(place, 5)) {
        case 0:
            while (nanosleep(&interval, &interval))
                CHECK(again(false));
            break;
        case 1:
            while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL))
                continue;
            break;
        case 2:
            while (thrd_sleep(&interval, &interval) == -1)
                continue;
            break;
        case 3:
            us = usleep((useconds_t)us) ? 0 : us;
            break;
        case 4:
            while (now_us() - begin < us) /* reads the clock, and nothing else */
                continue;
            break;
        }
        CHECK(now_us() - begin >= us);
    }
}

const struct pattern wait_patterns[] = {
    { "handoff", 2, MOST_THREADS, 1, 0, ONCE | SINGLE, 0, 0, 0, NULL, run_handoff, finish_handoff },
    { "gather", 2, MOST_THREADS, 1, 0, ONCE, 0, 0, 0, NULL, run_gather, NULL },
    { "ping-pong", 2, 2, 2, 0, ONCE, 0, 0, 0, NULL, run_pingpong, NULL },
    { "message", 2, 2, 1, 0, 0, 0, 0, 0, NULL, run_message, NULL },
    { "time-out", 1, 1, 1, TIMED, 0, 0, 0, 0, NULL, run_timeout, NULL },
    { "maybe", 2, 2, 1, TIMED, 0, 0, 0, 0, NULL, run_maybe, NULL },
    { "in time", 2, 2, 1, TIMED, 0, 0, 0, 0, NULL, run_in_time, NULL },
    { "cancelled", 1, 1, 1, CANCEL, ONCE, 0, 0, 0, NULL, run_cancelled, NULL },
    { "put off", 1, 1, 1, 0, ONCE, 0, 0, 0, NULL, run_put_off, NULL },
    { "sleep cancelled", 1, 1, 0, 0, 0, 0, 0, 0, NULL, run_sleep_cancelled, NULL },
    { "destructor", 1, 1, 1, 0, ONCE, 0, 0, 0, NULL, run_destructor, NULL },
    { "detached", 1, 1, 1, 0, ONCE, 0, 0, 0, NULL, run_detached, NULL },
    { "sleep", 1, 1, 0, 0, 0, 0, 0, 0, NULL, run_sleep, NULL },
    { NULL, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL },
};
