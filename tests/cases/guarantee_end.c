/* What a clean campaign guarantees where threads live on when the process ends: only runs without a final wait count,
 * also where a handler of exit has made the threads. Where all were joined, and with _exit(), which never waits, all
 * runs count. And one thread has one schedule only as long as no timer interrupts it; and who takes a signal to the
 * process is a choice where several can.
 *
 * RUN: pct run -s 1 -n 30 --state none -S pct -- %p joined > %t/out 2>&1;
 *     ! grep 'lived on when the process ended' %t/out && grep 'theorem 9' %t/out
 * RUN: pct run -s 1 -n 30 --state none -S pct -- %p exit 2>&1 | grep 'lived on when the process ended: .* one in 4'
 * RUN: pct run -s 1 -n 30 --state none -S pct -- %p _exit > %t/out 2>&1;
 *     ! grep 'lived on when the process ended' %t/out && grep 'theorem 9' %t/out
 * RUN: pct run -s 1 -n 30 --state none -S pct -- %p handler 2>&1 | grep 'lived on when the process ended: .* one in 4'
 * RUN: pct run -s 1 -n 30 --state none -S pct -- %p timer > %t/out 2>&1;
 *     grep 'n = 1 thread, which has one schedule$' %t/out && grep 'a timer was set' %t/out
 * RUN: pct run -s 1 -n 30 --state none -S pct -- %p alone 2>&1 |
 *     grep 'n = 1 thread, which has one schedule: nothing was missed'
 * RUN: pct run -s 1 -n 30 --state none -S pct -- %p signal 2>&1 |
 *     grep 'several waiters to choose from, or .* up to 1 times'
 * RUN: pct run -s 1 -n 30 --state none -S pct -- %p main > %t/out 2>&1; ! grep 'several waiters' %t/out &&
 *     grep 'theorem 9' %t/out
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_t thread;

static void take(void)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}

static void *take_twice(void *unused)
{
    take();
    take();
    return unused;
}

static void create(void)
{
    pthread_create(&thread, NULL, take_twice, NULL);
    take();
}

static void handle(int unused)
{
    (void)unused;
}

/* A signal to the process: the first thread blocks it, or does not. */
static void send_signal(int blocks)
{
    sigset_t set;
    pthread_t other;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    signal(SIGUSR1, handle);
    pthread_mutex_lock(&mutex);
    pthread_create(&thread, NULL, take_twice, NULL);
    pthread_create(&other, NULL, take_twice, NULL);
    if (blocks)
        pthread_sigmask(SIG_BLOCK, &set, NULL);
    kill(getpid(), SIGUSR1);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    pthread_join(other, NULL);
}

int main(int count, char **arguments)
{
    const char *how = count > 1 ? arguments[1] : "joined";
    const struct itimerval soon = { .it_value.tv_usec = 50 };
    if (!strcmp(how, "alone"))
        return 0;
    if (!strcmp(how, "signal") || !strcmp(how, "main")) {
        send_signal(!strcmp(how, "signal"));
    } else if (!strcmp(how, "timer")) {
        signal(SIGALRM, handle);
        setitimer(ITIMER_REAL, &soon, NULL);
        usleep(100);
    } else if (!strcmp(how, "handler")) {
        atexit(create);
    } else {
        create();
    }
    if (!strcmp(how, "joined"))
        pthread_join(thread, NULL);
    if (!strcmp(how, "_exit"))
        _exit(0);
    return 0;
}
