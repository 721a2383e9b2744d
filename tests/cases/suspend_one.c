/* A handler that ends sigsuspend(), or ppoll() and the like, returns to the mask before: a second signal that this
 * blocks waits for the next call. All that were pending were handled in the first one: of the next ones nobody came
 * back. Threads that wait so for signals to the process get one each.
 *
 * RUN: for kind in suspend ppoll pselect epoll; do
 *      pct run -q -s 1 -n 30 --timeout 20 --state none -- %p $kind || exit; done
 * RUN: for kind in suspend ppoll pselect epoll; do
 *      pct run -q -s 1 -n 30 -S random-walk --timeout 20 --state none -- %p $kind threads || exit; done
 * RUN: pct run -q -s 1 -S random-walk -t %t/trace -- %p suspend threads && pct replay %t/trace -- %p suspend threads
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>

enum { QUEUED = 12 }; /* of one signal; two more come after them */

static _Thread_local volatile sig_atomic_t count, last;
static const char *kind;
static int epoll;

static void note(int number, siginfo_t *info, void *context)
{
    (void)context;
    count++;
    last = number < SIGRTMIN ? -number : info->si_value.sival_int;
}

/* With all let in but SIGINT, until a handler has run. */
static void wait_for_one(void)
{
    sigset_t mask, now;
    int result;
    sigemptyset(&mask);
    sigaddset(&mask, SIGINT);
    if (!strcmp(kind, "suspend"))
        result = sigsuspend(&mask);
    else if (!strcmp(kind, "ppoll"))
        result = ppoll(NULL, 0, NULL, &mask);
    else if (!strcmp(kind, "pselect"))
        result = pselect(0, NULL, NULL, NULL, NULL, &mask);
    else
        result = epoll_pwait(epoll, &(struct epoll_event){ 0 }, 1, -1, &mask);
    assert(result == -1 && errno == EINTR);
    assert(!pthread_sigmask(SIG_BLOCK, NULL, &now));
    assert(sigismember(&now, SIGRTMIN) && sigismember(&now, SIGUSR1) && !sigismember(&now, SIGINT));
}

static void *wait_once(void *unused)
{
    wait_for_one();
    assert(count == 1);
    return unused;
}

int main(int argc, char **argv)
{
    struct sigaction action = { .sa_sigaction = note, .sa_flags = SA_SIGINFO };
    pthread_t thread[2];
    sigset_t set;
    kind = argv[1];
    epoll = epoll_create1(0);
    sigfillset(&action.sa_mask);
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    assert(!pthread_sigmask(SIG_BLOCK, &set, NULL));
    assert(!sigaction(SIGRTMIN, &action, NULL) && !sigaction(SIGUSR1, &action, NULL) &&
           !sigaction(SIGUSR2, &action, NULL));
    if (argc > 2) {
        for (int i = 0; i < 2; i++)
            assert(!pthread_create(&thread[i], NULL, wait_once, NULL));
        for (int i = 0; i < 2; i++)
            assert(!sigqueue(getpid(), SIGRTMIN, (union sigval){ .sival_int = i }));
        for (int i = 0; i < 2; i++)
            assert(!pthread_join(thread[i], NULL));
        return 0;
    }
    for (int i = 0; i < QUEUED; i++)
        assert(!pthread_sigqueue(pthread_self(), SIGRTMIN, (union sigval){ .sival_int = i }));
    assert(!raise(SIGUSR1) && !raise(SIGUSR2));
    wait_for_one();
    assert(count == 1 && last == -SIGUSR1); /* those with lower numbers first */
    wait_for_one();
    assert(count == 2 && last == -SIGUSR2);
    for (int i = 0; i < QUEUED; i++) {
        wait_for_one();
        assert(count == i + 3 && last == i);
    }
    return 0;
}
