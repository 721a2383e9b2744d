// What a guarantee takes for the same in all runs is so: the kernel's random bytes for the program, and the clocks also
// where they are read by syscall(). A process may have been another program before, if that had one thread and did
// nothing that pct does not control.
//
// RUN: for i in {1..3}; do pct run -q -s 1 --epoch 1 --exec -- %p; done > %t/out; sort -u %t/out | wc -l | grep -x 1
// RUN: pct run -s 1 -n 30 --state none -S pct -- %p 2>&1 | grep 'theorem 9'
// RUN: pct run -s 1 -n 30 --state none -S pct -- env %p 2>&1 | grep 'theorem 9'
// RUN: pct run -s 1 -n 30 --state none -S pct -- env %p again 2>&1 |
//     grep 'no guarantee.*another program before, by exec, that had threads'
// RUN: pct campaign -s 1 -n 30 -S pct --db %t/db -- %p again > %t/out; pct campaign report %t/db 2>&1 |
//     grep 'no guarantee.*by exec'
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static void *work(void *unused)
{
    return unused;
}

int main(int argc, char **argv)
{
    const unsigned char *bytes = (const void *)getauxval(AT_RANDOM);
    struct timespec by_call, by_number;
    struct timeval day;
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    assert(!clock_gettime(CLOCK_REALTIME, &by_call) && !syscall(SYS_clock_gettime, CLOCK_REALTIME, &by_number));
    assert(by_number.tv_sec - by_call.tv_sec <= 1);
    assert(!syscall(SYS_gettimeofday, &day, NULL) && day.tv_sec - by_call.tv_sec <= 1);
    assert(syscall(SYS_time, NULL) - by_call.tv_sec <= 1);
    assert(syscall(SYS_clock_gettime, CLOCK_REALTIME, 8) == -1 && errno == EFAULT);
    assert(syscall(SYS_clock_gettime, 12345, &by_number) == -1 && errno == EINVAL);
    assert(syscall(SYS_gettimeofday, NULL, NULL) == 0 && syscall(SYS_time, 8) == -1 && errno == EFAULT);
    printf("%ld.%09ld %ld.%06ld", (long)by_number.tv_sec, by_number.tv_nsec, (long)day.tv_sec, (long)day.tv_usec);
    for (int i = 0; i < 16; i++)
        printf(" %02x", bytes[i]);
    puts("");
    return argc > 1 ? execl(argv[0], argv[0], NULL) : 0;
}
