/* A handler with SA_RESTART interrupts connect() while a connection is being made: Linux goes on waiting (signal(7)).
 * Under pct it failed with EINTR.
 *
 * RUN: pct run -q -n 6 -s 1 --timeout 60 --state none -- %p
 */
#include <arpa/inet.h>
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in address = { .sin_family = AF_INET };
static sem_t begun, handled;

static void handle(int number)
{
    (void)number;
    sem_post(&handled);
}

static int ask(void)
{
    return connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof address);
}

static void *asks(void *unused)
{
    sem_post(&begun);
    assert(!ask());
    return unused;
}

int main(void)
{
    struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART };
    socklen_t size = sizeof address;
    pthread_t thread;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert(!bind(listener, (struct sockaddr *)&address, size) && !listen(listener, 0));
    assert(!getsockname(listener, (struct sockaddr *)&address, &size) && !sigaction(SIGUSR1, &action, NULL));
    sem_init(&begun, 0, 0);
    sem_init(&handled, 0, 0);
    assert(!ask()); /* there is room for this one alone */
    pthread_create(&thread, NULL, asks, NULL);
    sem_wait(&begun);
    pthread_kill(thread, SIGUSR1);
    while (sem_wait(&handled))
        ;
    assert(accept(listener, NULL, NULL) >= 0 && accept(listener, NULL, NULL) >= 0);
    pthread_join(thread, NULL);
    return 0;
}
