/* What sleep() says is left when a handler has ended it are whole seconds, as glibc counts them: of 0.8 s it said one,
 * so that a loop until nothing is left slept for longer than natively.
 *
 * RUN: %p
 * RUN: pct run -q -n 4 -s 1 --state none -- %p
 */
#include <errno.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

static void nothing(int signal)
{
    (void)signal;
}

static unsigned interrupted(unsigned seconds)
{
    const struct itimerval soon = { .it_value.tv_usec = 200000 };
    setitimer(ITIMER_REAL, &soon, NULL);
    errno = 0;
    return sleep(seconds);
}

int main(void)
{
    signal(SIGALRM, nothing);
    if (interrupted(1) != 0 || errno != EINTR)
        return 1;
    if (interrupted(3) != 2 || errno != EINTR)
        return 2;
    return 0;
}
