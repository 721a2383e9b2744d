/* Signals: things to wait for that are signals, and events with handlers and timers. */
#include "random.h"
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/time.h>

/* --- Things ------------------------------------------------------------------------------------------------------ */

static void set_of(const struct thing *t, sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, t->signal);
}

static bool wait_signal(struct thing *t, int64_t us, unsigned way)
{
    sigset_t set;
    siginfo_t info;
    int number;
    struct timespec limit = interval_of(us < 0 ? FAR * INT64_C(1000000) : us);
    set_of(t, &set);
    if (us < 0 && way & 1) {
        CHECK_OK(sigwait(&set, &number));
    } else {
        number = us < 0 && way & 2 ? ANYHOW(sigwaitinfo(&set, &info)) : ANYHOW(sigtimedwait(&set, &info, &limit));
        if (number < 0) {
            CHECK_EQ(errno, EAGAIN);
            return false;
        }
        CHECK_EQ(info.si_signo, number);
        if (info.si_code == SI_QUEUE)
            CHECK_EQ(info.si_value.sival_int, t->signal + 1000);
    }
    CHECK_EQ(number, t->signal);
    return true;
}

static void wake_signal(struct thing *t, unsigned way)
{
    CHECK_OK(way & 1 ? kill(t->owner, t->signal)
                     : sigqueue(t->owner, t->signal, (union sigval){ .sival_int = t->signal + 1000 }));
}

static void handle_thing(int number, siginfo_t *info, void *context)
{
    (void)info, (void)context;
    atomic_fetch_add(&thing_of_signal(number)->word, 1);
}

static void make_suspended(struct thing *t)
{
    struct sigaction action = { .sa_sigaction = handle_thing, .sa_flags = SA_SIGINFO };
    CHECK_OK(sigaction(t->signal, &action, NULL));
}

static bool wait_suspended(struct thing *t, int64_t us, unsigned way)
{
    sigset_t mask;
    struct timespec far = interval_of(FAR * INT64_C(1000000));
    (void)us;
    CHECK_OK(pthread_sigmask(SIG_SETMASK, NULL, &mask));
    sigdelset(&mask, t->signal);
    while (!atomic_load(&t->word)) {
        if (way % 3 == 0)
            CHECK_EQ(sigsuspend(&mask), -1);
        else if (way % 3 == 1)
            CHECK_EQ(ppoll(NULL, 0, way & 4 ? &far : NULL, &mask), -1);
        else
            CHECK_EQ(pselect(0, NULL, NULL, NULL, way & 4 ? &far : NULL, &mask), -1);
        CHECK_EQ(errno, EINTR);
    }
    atomic_fetch_sub(&t->word, 1);
    return true;
}

static void make_signalfd(struct thing *t)
{
    sigset_t set;
    set_of(t, &set);
    t->fd[0] = signalfd(-1, &set, SFD_CLOEXEC);
    CHECK(t->fd[0] >= 0);
}

static void drop_signalfd(struct thing *t)
{
    CHECK_OK(close(t->fd[0]));
}

static bool wait_signalfd(struct thing *t, int64_t us, unsigned way)
{
    struct signalfd_siginfo info;
    (void)us, (void)way;
    CHECK_EQ(RESTARTED(read(t->fd[0], &info, sizeof info)), sizeof info);
    CHECK_EQ(info.ssi_signo, t->signal);
    return true;
}

const struct kind signal_kinds[] = {
    { "sigwait", OUTSIDE | TIMED | CANCEL | HANDLER | PROCESS | SIGNALS, NULL, NULL, wait_signal, wake_signal },
    { "sigsuspend", OUTSIDE | CANCEL | HANDLER | PROCESS | SIGNALS | HANDLES | SINGLE, make_suspended, NULL,
      wait_suspended, wake_signal },
    { "signalfd", OUTSIDE | CANCEL | HANDLER | PROCESS | SIGNALS, make_signalfd, drop_signalfd, wait_signalfd,
      wake_signal },
    { NULL, 0, NULL, NULL, NULL, NULL },
};

/* --- Events ------------------------------------------------------------------------------------------------------ */

static void send_one(struct event *event, unsigned to, uint64_t *place)
{
    union sigval value = { .sival_int = event->signal };
    switch (draw(place, 4)) {
    case 0:
        CHECK_OK(pthread_kill(event->thread[to], event->signal));
        break;
    case 1:
        CHECK_OK(pthread_sigqueue(event->thread[to], event->signal, value));
        break;
    case 2: /* nobody else lets it in */
        CHECK_OK(kill(getpid(), event->signal));
        break;
    case 3:
        CHECK_OK(sigqueue(getpid(), event->signal, value));
        break;
    }
}

static void handle_event(int number, siginfo_t *info, void *context)
{
    struct event *event = event_of_signal(number);
    int saved = errno;
    (void)context;
    if (info->si_code == SI_QUEUE)
        CHECK_EQ(info->si_value.sival_int, number);
    atomic_fetch_add(&event->handled, 1);
    CHECK_OK(sem_post(&event->sem));
    errno = saved;
}

static void prepare_interrupted(struct event *event)
{
    CHECK_OK(sem_init(&event->sem, 0, 0));
    CHECK_OK(pthread_barrier_init(&event->barrier, NULL, event->parties));
    install(event, handle_event);
}

/* Party 1 waits for the thing; party 0 sends it signals, sees that they are handled, and wakes it. */
static void run_interrupted(struct event *event, unsigned role, uint64_t *place)
{
    event->thread[role] = pthread_self();
    if (role)
        let_in(event, SIG_UNBLOCK);
    pthread_barrier_wait(&event->barrier);
    if (role) {
        event->data[0] += wait_thing(event->thing[0], FOREVER, place);
        let_in(event, SIG_BLOCK);
        return;
    }
    for (unsigned i = 0; i < event->rounds; i++) {
        send_one(event, 1, place);
        if (draw(place, 2))
            RESTARTED(sem_wait(&event->sem));
        doze(place);
    }
    wake_thing(event->thing[0], place);
}

static void finish_interrupted(struct event *event)
{
    /* A signal that came late is still to be handled. */
    let_in(event, SIG_UNBLOCK);
    let_in(event, SIG_BLOCK);
    CHECK_OK(sem_destroy(&event->sem));
    CHECK_OK(pthread_barrier_destroy(&event->barrier));
    event->result = event->data[0];
    CHECK_EQ(event->result, 1);
}

static void handle_by_waking(int number, siginfo_t *info, void *context)
{
    struct event *event = event_of_signal(number);
    int saved = errno;
    (void)info, (void)context;
    event->thing[0]->kind->wake(event->thing[0], (unsigned)(event->seed % 64));
    errno = saved;
}

static void prepare_waking(struct event *event)
{
    install(event, handle_by_waking);
}

/* The handler wakes the others: raised by its own thread. */
static void run_woken_by_handler(struct event *event, unsigned role, uint64_t *place)
{
    if (role) {
        CHECK(wait_thing(event->thing[0], FOREVER, place));
        return;
    }
    let_in(event, SIG_UNBLOCK);
    for (unsigned i = 1; i < event->parties; i++) {
        doze(place);
        CHECK_OK(draw(place, 2) ? raise(event->signal) : pthread_kill(pthread_self(), event->signal));
    }
    let_in(event, SIG_BLOCK);
}

/* The handler wakes its own thread, which waits: the signal comes from another one. */
static void run_woken_in_handler(struct event *event, unsigned role, uint64_t *place)
{
    event->thread[role] = pthread_self();
    if (role)
        let_in(event, SIG_UNBLOCK);
    pthread_barrier_wait(&event->barrier);
    if (role) {
        CHECK(wait_thing(event->thing[0], FOREVER, place));
        let_in(event, SIG_BLOCK);
    } else {
        doze(place);
        send_one(event, 1, place);
    }
}

static void prepare_woken_in_handler(struct event *event)
{
    CHECK_OK(pthread_barrier_init(&event->barrier, NULL, 2));
    install(event, handle_by_waking);
}

static void finish_woken_in_handler(struct event *event)
{
    CHECK_OK(pthread_barrier_destroy(&event->barrier));
}

/* --- Timers ------------------------------------------------------------------------------------------------------ */

static void wake_by_timer(union sigval value)
{
    struct event *event = value.sival_ptr;
    event->data[1]++; /* read when the thing was waited for */
    event->thing[0]->kind->wake(event->thing[0], (unsigned)(event->seed % 64));
    CHECK_OK(sem_post(&event->sem)); /* now the thing may go */
}

static void run_timer_thread(struct event *event, unsigned role, uint64_t *place)
{
    struct sigevent how = { .sigev_notify = SIGEV_THREAD };
    struct itimerspec once = { .it_value = interval_of(1 + draw(place, 1000)) };
    (void)role;
    how.sigev_notify_function = wake_by_timer;
    how.sigev_value.sival_ptr = event;
    CHECK_OK(sem_init(&event->sem, 0, 0));
    CHECK_OK(timer_create(draw(place, 2) ? CLOCK_MONOTONIC : CLOCK_REALTIME, &how, &event->timer));
    for (unsigned i = 0; i < event->rounds; i++) {
        CHECK_OK(timer_settime(event->timer, 0, &once, NULL));
        CHECK(wait_thing(event->thing[0], FOREVER, place));
        CHECK_EQ(event->data[1], i + 1);
        CHECK_OK(RESTARTED(sem_wait(&event->sem)));
    }
    CHECK_OK(timer_delete(event->timer));
}

static void run_timer_signal(struct event *event, unsigned role, uint64_t *place)
{
    struct sigevent how = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = event->signal };
    struct itimerspec once = { .it_value = interval_of(1 + draw(place, 1000)) };
    (void)role;
    let_in(event, SIG_UNBLOCK);
    CHECK_OK(timer_create(draw(place, 2) ? CLOCK_MONOTONIC : CLOCK_REALTIME, &how, &event->timer));
    for (unsigned i = 0; i < event->rounds; i++) {
        CHECK_OK(timer_settime(event->timer, 0, &once, NULL));
        CHECK(wait_thing(event->thing[0], FOREVER, place));
    }
    CHECK_OK(timer_delete(event->timer));
    let_in(event, SIG_BLOCK);
}

/* A timer of the process's that is waited for by sigwait. */
static void run_timer_waited(struct event *event, unsigned role, uint64_t *place)
{
    struct sigevent how = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = event->signal };
    struct itimerspec periodic = { .it_value = interval_of(1 + draw(place, 1000)), .it_interval = interval_of(200) };
    sigset_t set;
    siginfo_t info;
    (void)role;
    signal_of(event, &set);
    struct itimerspec left;
    int64_t begin = now_us();
    CHECK_OK(timer_create(CLOCK_MONOTONIC, &how, &event->timer));
    CHECK_OK(timer_settime(event->timer, 0, &periodic, NULL));
    CHECK_OK(timer_gettime(event->timer, &left));
    CHECK(left.it_interval.tv_nsec == periodic.it_interval.tv_nsec && (left.it_value.tv_nsec || left.it_value.tv_sec));
    for (unsigned i = 0; i < event->rounds; i += 1 + (unsigned)timer_getoverrun(event->timer)) {
        CHECK_EQ(ANYHOW(sigwaitinfo(&set, &info)), event->signal);
        CHECK_EQ(info.si_code, SI_TIMER);
    }
    CHECK(now_us() - begin >= 200 * (int64_t)(event->rounds - 1));
    CHECK_OK(timer_delete(event->timer));
    while (sigtimedwait(&set, &info, &(struct timespec){ 0, 0 }) > 0 || errno == EINTR)
        continue;
}

static void handle_alarm(int number)
{
    (void)number;
}

/* The process's one alarm: waited for by sigsuspend or sigwait. */
static void run_alarm(struct event *event, unsigned role, uint64_t *place)
{
    struct itimerval once = { .it_value = { .tv_usec = 1 + draw(place, 2000) } };
    sigset_t set, mask;
    int number;
    (void)role;
    struct sigaction action = { .sa_handler = handle_alarm };
    CHECK_OK(sigaction(SIGALRM, &action, NULL));
    for (unsigned i = 0; i < event->rounds; i++) {
        struct itimerval left;
        alarm(FAR);
        CHECK_OK(getitimer(ITIMER_REAL, &left));
        CHECK(left.it_value.tv_sec >= FAR / 2 && left.it_value.tv_sec <= FAR);
        CHECK(alarm(0) >= FAR / 2);
        int64_t begin = now_us();
        if (draw(place, 2))
            CHECK_OK(setitimer(ITIMER_REAL, &once, NULL));
        else
            ualarm((useconds_t)once.it_value.tv_usec, 0);
        if (draw(place, 2)) {
            CHECK_OK(pthread_sigmask(SIG_SETMASK, NULL, &mask));
            sigdelset(&mask, SIGALRM);
            CHECK_EQ(sigsuspend(&mask), -1); /* nothing else is let in */
        } else {
            sigemptyset(&set);
            sigaddset(&set, SIGALRM);
            CHECK_OK(sigwait(&set, &number));
            CHECK_EQ(number, SIGALRM);
        }
        CHECK(now_us() > begin);
    }
}

const struct pattern signal_patterns[] = {
    { "interrupted", 2, 2, 1, 0, 0, 0, 0, NEEDS_HANDLER | NEEDS_SIGNAL, prepare_interrupted, run_interrupted,
      finish_interrupted },
    { "woken by a handler", 2, MOST_THREADS, 1, HANDLER, ONCE | SINGLE, 0, 0, NEEDS_HANDLER | NEEDS_SIGNAL,
      prepare_waking, run_woken_by_handler, NULL },
    { "woken in a handler", 2, 2, 1, HANDLER, 0, 0, 0, NEEDS_HANDLER | NEEDS_SIGNAL, prepare_woken_in_handler,
      run_woken_in_handler, finish_woken_in_handler },
    { "timer with a thread", 1, 1, 1, 0, ONCE, 0, 0, 0, NULL, run_timer_thread, NULL },
    { "timer with a handler", 1, 1, 1, HANDLER, ONCE, 0, 0, NEEDS_HANDLER | NEEDS_SIGNAL, prepare_waking,
      run_timer_signal, NULL },
    { "timer with sigwait", 1, 1, 0, 0, 0, 0, 0, NEEDS_SIGNAL | FOREIGN, NULL, run_timer_waited, NULL },
    { "alarm", 1, 1, 0, 0, 0, 0, 0, ALONE | NEEDS_HANDLER, NULL, run_alarm, NULL },
    { NULL, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL },
};
