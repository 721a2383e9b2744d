// What a thread is asked once it has ended is answered otherwise: its name, its clock, its policy. `pct explore` took
// such questions to commute with the end, so it never asked behind it, and said "verified". A thread that asks of
// itself has not ended.
//
// RUN 1: pct explore -q -- %p name
// RUN 1: pct explore -q -- %p rename
// RUN 1: pct explore -q -- %p clock
// RUN 1: pct explore -q -- %p policy
// RUN 1: pct explore -q -- %p number
// RUN: pct explore -q -- %p self 2>%t/said && grep 'the only class' %t/said && ! grep 'come in between' %t/said
// RUN: pct explore -q -- %p at-once 2>%t/said && grep 'come in between' %t/said
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static pid_t number;
static const char *asked = "";

static void *run(void *unused)
{
    if (!strcmp(asked, "self"))
        assert(!pthread_setname_np(pthread_self(), "itself"));
    if (strcmp(asked, "number") != 0)
        return unused;
    number = gettid();
    pthread_barrier_wait(&both);
    return unused;
}

int main(int argc, char **argv)
{
    struct sched_param param;
    struct timespec time;
    char name[16];
    clockid_t clock;
    pthread_t thread;
    int policy;
    asked = argc > 1 ? argv[1] : asked;
    pthread_barrier_init(&both, NULL, 2);
    assert(!pthread_create(&thread, NULL, run, NULL));
    if (!strcmp(asked, "at-once"))
        assert(!pthread_getname_np(thread, name, sizeof name));
    pthread_mutex_lock(&lock); // a scheduling point, behind which it may have ended
    if (!strcmp(asked, "name"))
        assert(!pthread_getname_np(thread, name, sizeof name));
    if (!strcmp(asked, "rename"))
        assert(!pthread_setname_np(thread, "other"));
    if (!strcmp(asked, "clock"))
        assert(!pthread_getcpuclockid(thread, &clock) && !clock_gettime(clock, &time));
    if (!strcmp(asked, "policy"))
        assert(!pthread_getschedparam(thread, &policy, &param) && !pthread_setschedparam(thread, policy, &param));
    if (!strcmp(asked, "number")) {
        pthread_barrier_wait(&both);
        assert(sched_getscheduler(number) == SCHED_OTHER);
    }
    pthread_mutex_unlock(&lock);
    assert(!pthread_join(thread, NULL));
    return 0;
}
