/* A child that has ended is not waited for yet, while another one lives, whose end makes the handler of SIGCHLD wake
 * the process: that was called a deadlock.
 *
 * RUN: pct run -q -s 1 -n 3 -S random-walk --timeout 60 --state none -- %p
 */
#include <assert.h>
#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static sem_t ended;

static void tell(int signal)
{
    (void)signal;
    sem_post(&ended);
}

static void wait_for_one(void)
{
    while (sem_wait(&ended))
        assert(errno == EINTR);
}

int main(void)
{
    const struct sigaction action = { .sa_handler = tell };
    int ends[2];
    char byte;
    assert(!sem_init(&ended, 0, 0) && !sigaction(SIGCHLD, &action, NULL) && !pipe(ends));
    if (!fork())
        _exit(0);
    wait_for_one();
    if (!fork()) {
        close(ends[1]);
        _exit((int)read(ends[0], &byte, 1)); /* until the parent's end is closed */
    }
    close(ends[0]);
    close(ends[1]);
    wait_for_one();
    assert(wait(NULL) > 0 && wait(NULL) > 0);
    return 0;
}
