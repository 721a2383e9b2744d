/* Events with a handler that is installed, let in and called in the ways of old. */
#include "random.h"

sighandler_t bsd_signal(int signal, sighandler_t handler);
sighandler_t __sysv_signal(int signal, sighandler_t handler);

static void count_it(int number)
{
    struct event *event = event_of_signal(number);
    atomic_fetch_add(&event->handled, 1);
}

static void install_by(unsigned way, int number)
{
    sighandler_t (*const ways[])(int,
                                 sighandler_t) = { signal, bsd_signal, ssignal, sysv_signal, __sysv_signal, sigset };
    CHECK(ways[way](number, count_it) != SIG_ERR);
}

static void send_it(unsigned way, int number)
{
    if (way == 0)
        CHECK_OK(raise(number));
    else if (way == 1)
        CHECK_OK(tgkill(getpid(), gettid(), number));
    else
        CHECK_OK(pthread_kill(pthread_self(), number));
}

/* The signal is blocked when this begins, and when it ends. */
static void let_one_in(struct event *event, unsigned way)
{
    sigset_t set;
    signal_of(event, &set);
    switch (way) {
    case 0:
        CHECK_OK(sigprocmask(SIG_UNBLOCK, &set, NULL));
        break;
    case 1:
        CHECK_OK(sigrelse(event->signal));
        break;
    case 2:
        CHECK_EQ(sigpause(event->signal), -1);
        CHECK_EQ(errno, EINTR);
        break;
    }
    CHECK_OK(sighold(event->signal));
}

static void run_old(struct event *event, unsigned role, uint64_t *place)
{
    struct sigaction now;
    (void)role;
    for (unsigned i = 0; i < event->rounds; i++) {
        unsigned install = draw(place, 6);
        install_by(install, event->signal);
        CHECK_OK(sighold(event->signal)); /* sigset() has let it in */
        CHECK_OK(siginterrupt(event->signal, event->abrupt));
        send_it(draw(place, 3), event->signal);
        CHECK_EQ(atomic_load(&event->handled), i);
        let_one_in(event, draw(place, 3));
        CHECK_EQ(atomic_load(&event->handled), i + 1);
        CHECK_OK(sigaction(event->signal, NULL, &now));
        bool once = install == 3 || install == 4;
        CHECK((now.sa_handler == SIG_DFL) == once);
    }
    CHECK_OK(sigignore(event->signal));
    CHECK_OK(raise(event->signal));
    let_one_in(event, draw(place, 2));
    CHECK_EQ(atomic_load(&event->handled), event->rounds);
}

const struct pattern old_signal_patterns[] = {
    { "old signals", 1, 1, 0, 0, 0, 0, 0, NEEDS_HANDLER | NEEDS_SIGNAL, NULL, run_old, NULL },
    { NULL, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL },
};
