/* A timer of CPU time goes off by the machine's clock, but the program reads a virtual one: it was set for a time of
 * that, long after which it had gone off, or long before.
 *
 * RUN: %p
 * RUN: pct run -q -n 3 -s 1 --timeout 30 --state none -- %p
 * RUN: pct run -q -n 2 -s 1 --exec -S pos --timeout 30 --state none -- %p
 */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

enum { MS = 1000000, LONG = 20 * MS };

static volatile sig_atomic_t times;
static volatile long long went_off;
static volatile unsigned computed;

static long long used(void)
{
    struct timespec now = { 0, 0 };
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void note(int signal)
{
    (void)signal;
    went_off = used();
    times++;
}

static void compute(int until)
{
    while (times < until)
        computed = computed * 69069 + 1;
}

static void *nothing(void *unused)
{
    return unused;
}

int main(void)
{
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
    pthread_t thread;
    timer_t timer;
    for (int i = 0; i < 20; i++) { /* the two clocks differ from now on */
        assert(!pthread_create(&thread, NULL, nothing, NULL));
        pthread_join(thread, NULL);
    }
    for (unsigned i = 0; i < 20000000; i++)
        computed = computed * 69069 + i;
    signal(SIGUSR1, note);
    signal(SIGVTALRM, note);
    assert(!timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer));
    for (int absolute = 0; absolute < 2; absolute++) {
        const long long wanted = used() + LONG, value = absolute ? wanted : LONG;
        const struct itimerspec spec = { .it_value = { value / 1000000000, value % 1000000000 } };
        times = 0;
        assert(!timer_settime(timer, absolute ? TIMER_ABSTIME : 0, &spec, NULL));
        compute(1);
        assert(went_off >= wanted);
    }
    const struct itimerspec past = { .it_value = { .tv_nsec = 1 } };
    times = 0;
    assert(!timer_settime(timer, TIMER_ABSTIME, &past, NULL));
    compute(1);
    assert(!timer_delete(timer));

    const long long begin = used();
    const struct itimerval rounds = { { .tv_usec = LONG / 1000 }, { .tv_usec = LONG / 1000 } };
    const struct itimerval none = { { 0, 0 }, { 0, 0 } };
    times = 0;
    assert(!setitimer(ITIMER_VIRTUAL, &rounds, NULL));
    compute(3);
    assert(!setitimer(ITIMER_VIRTUAL, &none, NULL));
    assert(went_off >= begin + 2LL * LONG);
    return 0;
}
