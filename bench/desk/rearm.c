/* A wheel calls timers that are due; a heartbeat is a timer that sets itself again in its call. A session starts its
 * heartbeat, stops it at its end, and counts the beats that came while it was there.
 *
 * Bug: stopping a timer takes it out of the wheel, which does nothing if it is being called at the moment; that call
 * sets it again behind that.
 * Shows as: an assertion: a beat of a session that has ended.
 * FIXED: a timer that is stopped is not set again. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

enum { SESSIONS = 2, PERIOD_MS = 2, SESSION_MS = 5 };

struct timer {
    struct timer *next;
    int due_ms;
    void (*call)(struct timer *);
    bool stopped;
};

struct session {
    struct timer heartbeat; /* first */
    pthread_mutex_t lock;
    bool ended;
    int beats;
};

static pthread_mutex_t wheel_lock = PTHREAD_MUTEX_INITIALIZER;
static struct timer *wheel;
static int now_ms;
static bool wheel_stops;

static void timer_set(struct timer *timer, int in_ms)
{
    pthread_mutex_lock(&wheel_lock); /* culprit */
#ifdef FIXED
    if (!timer->stopped) {
#else
    {
#endif
        timer->due_ms = now_ms + in_ms;
        timer->next = wheel;
        wheel = timer;
    }
    pthread_mutex_unlock(&wheel_lock);
}

static void timer_stop(struct timer *timer)
{
    pthread_mutex_lock(&wheel_lock); /* culprit */
    timer->stopped = true;
    for (struct timer **at = &wheel; *at; at = &(*at)->next)
        if (*at == timer) {
            *at = timer->next;
            break;
        }
    pthread_mutex_unlock(&wheel_lock);
}

/* A timer that is due, which is in the wheel no longer. */
static struct timer *take_due(void)
{
    struct timer *due = NULL;
    pthread_mutex_lock(&wheel_lock); /* culprit */
    for (struct timer **at = &wheel; *at && !due; at = &(*at)->next)
        if ((*at)->due_ms <= now_ms) {
            due = *at;
            *at = due->next;
            break;
        }
    pthread_mutex_unlock(&wheel_lock);
    return due;
}

static bool advance(void)
{
    pthread_mutex_lock(&wheel_lock);
    now_ms++;
    bool stops = wheel_stops;
    pthread_mutex_unlock(&wheel_lock);
    return !stops;
}

static void *turn(void *arg)
{
    while (advance()) {
        struct timer *due;
        while ((due = take_due()))
            due->call(due);
        usleep(1000);
    }
    return arg;
}

static void beat(struct timer *timer)
{
    struct session *session = (struct session *)timer;
    pthread_mutex_lock(&session->lock);
    assert(!session->ended);
    session->beats++;
    pthread_mutex_unlock(&session->lock);
    timer_set(timer, PERIOD_MS); /* culprit */
}

static void *serve(void *arg)
{
    struct session *session = arg;
    timer_set(&session->heartbeat, PERIOD_MS);
    usleep(SESSION_MS * 1000);
    timer_stop(&session->heartbeat); /* culprit */
    usleep(1000);
    pthread_mutex_lock(&session->lock);
    session->ended = true;
    pthread_mutex_unlock(&session->lock);
    usleep(4 * PERIOD_MS * 1000);
    return NULL;
}

int main(void)
{
    static struct session sessions[SESSIONS];
    pthread_t wheel_thread, threads[SESSIONS];
    pthread_create(&wheel_thread, NULL, turn, NULL);
    for (int i = 0; i < SESSIONS; i++) {
        sessions[i].heartbeat.call = beat;
        pthread_mutex_init(&sessions[i].lock, NULL);
        pthread_create(&threads[i], NULL, serve, &sessions[i]);
    }
    for (int i = 0; i < SESSIONS; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_lock(&wheel_lock);
    wheel_stops = true;
    pthread_mutex_unlock(&wheel_lock);
    pthread_join(wheel_thread, NULL);
    for (int i = 0; i < SESSIONS; i++)
        printf("session %d: %d beats\n", i, sessions[i].beats);
    return 0;
}
