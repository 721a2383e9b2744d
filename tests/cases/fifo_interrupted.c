/* A thread that waits in open() for the other end of a named pipe is interrupted, and tries again. Who opens that end
 * while the handler runs, and closes it at once, waits for a reader in the kernel; under pct the end of the one that
 * was interrupted was still there for it, and then nobody came any more.
 *
 * BUILD: gcc -O1 -g -pthread -o %p %s
 * RUN: pct run -q -s 1 -n 300 --timeout 20 --state none -- %p
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[64];
static sem_t handled;

static void handle(int number)
{
    (void)number;
    int saved = errno;
    sem_post(&handled);
    errno = saved;
}

static void *look(void *unused)
{
    int fd;
    while ((fd = open(path, O_RDONLY)) < 0)
        assert(errno == EINTR);
    close(fd);
    return unused;
}

int main(void)
{
    struct sigaction action = { .sa_handler = handle };
    pthread_t thread;
    snprintf(path, sizeof path, "/tmp/fifo-interrupted-%d", (int)getpid());
    assert(!mkfifo(path, 0600) && !sem_init(&handled, 0, 0) && !sigaction(SIGUSR1, &action, NULL));
    pthread_create(&thread, NULL, look, NULL);
    for (int i = 0; i < 3; i++) {
        pthread_kill(thread, SIGUSR1);
        while (sem_wait(&handled))
            ;
    }
    pthread_kill(thread, SIGUSR1);
    int fd = open(path, O_WRONLY);
    assert(fd >= 0);
    close(fd);
    pthread_join(thread, NULL);
    unlink(path);
    return 0;
}
