/* A signal that one thread sends to another, which waits for it at a signalfd: poll() by any other thread does not tell
 * of it, so the wait never ended.
 *
 * RUN: for kind in read poll select; do
 *      pct run -q -s 1 -n 10 -S random-walk --timeout 20 --state none -- %p $kind || exit; done
 */
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <unistd.h>

static int fd;

static void *wait_for_it(void *kind)
{
    struct signalfd_siginfo info;
    struct pollfd asked = { .fd = fd, .events = POLLIN };
    fd_set set;
    FD_ZERO(&set);
    FD_SET(fd, &set);
    if (!strcmp(kind, "poll"))
        assert(poll(&asked, 1, -1) == 1);
    else if (!strcmp(kind, "select"))
        assert(select(fd + 1, &set, NULL, NULL, NULL) == 1);
    assert(read(fd, &info, sizeof info) == sizeof info && info.ssi_signo == SIGUSR1);
    return NULL;
}

int main(int argc, char **argv)
{
    sigset_t one;
    pthread_t thread;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    assert(argc == 2 && !pthread_sigmask(SIG_BLOCK, &one, NULL));
    fd = signalfd(-1, &one, 0);
    assert(fd >= 0 && !pthread_create(&thread, NULL, wait_for_it, argv[1]));
    assert(!pthread_kill(thread, SIGUSR1) && !pthread_join(thread, NULL));
    return 0;
}
