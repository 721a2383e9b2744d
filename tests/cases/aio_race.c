/* What a thread does before aio_read() comes before what the notification's function does: no data race.
 *
 * BUILD: pct-cc -O1 -g -pthread -o %p %s
 * RUN: pct run -q -s 1 -n 60 --races=fail -- %p
 */
#include <aio.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdlib.h>

static int value;
static sem_t told;

static void notify(union sigval unused)
{
    (void)unused;
    if (value != 5)
        abort();
    value = 7;
    sem_post(&told);
}

int main(void)
{
    static char buffer[8];
    static struct aiocb request = { .aio_buf = buffer, .aio_nbytes = sizeof buffer };
    request.aio_fildes = open("/etc/passwd", O_RDONLY);
    request.aio_sigevent.sigev_notify = SIGEV_THREAD;
    request.aio_sigevent.sigev_notify_function = notify;
    value = 5;
    aio_read(&request);
    while (sem_wait(&told))
        ;
    return value != 7;
}
