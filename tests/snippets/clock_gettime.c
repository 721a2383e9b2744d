/* clock_gettime: no clock goes back, in one thread or from one to the next; all advance; EINVAL. */
#define _GNU_SOURCE
#include "check.h"

enum { READS = 200, THREADS = 3, ROUNDS = 10 };

static const clockid_t clocks[] = { CLOCK_MONOTONIC,         CLOCK_REALTIME,        CLOCK_BOOTTIME,
                                    CLOCK_MONOTONIC_RAW,     CLOCK_REALTIME_COARSE, CLOCK_MONOTONIC_COARSE,
                                    CLOCK_PROCESS_CPUTIME_ID };
enum { CLOCKS = sizeof(clocks) / sizeof(clocks[0]) };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t last[CLOCKS];

static void *read_in_turn(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_EQ(pthread_mutex_lock(&lock), 0);
        for (int c = 0; c < CLOCKS; c++) {
            int64_t now = check_now(clocks[c]);
            CHECK(now >= last[c]);
            last[c] = now;
        }
        CHECK_EQ(pthread_mutex_unlock(&lock), 0);
    }
    return unused;
}

int main(void)
{
    struct timespec now;
    for (int c = 0; c < CLOCKS; c++) {
        int64_t before = check_now(clocks[c]);
        for (int i = 0; i < READS; i++) {
            CHECK_OK(clock_gettime(clocks[c], &now));
            CHECK(now.tv_nsec >= 0 && now.tv_nsec < 1000000000);
            int64_t next = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
            CHECK(next >= before);
            before = next;
        }
    }
    CHECK_OK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now));
    CHECK_FAILS(clock_gettime(12345, &now), EINVAL);

    /* A loop that waits for a clock alone ends. */
    struct timespec when = check_in_ms(CLOCK_MONOTONIC, 2);
    while (!check_reached(CLOCK_MONOTONIC, &when))
        ;
    when = check_in_ms(CLOCK_REALTIME, 2);
    while (!check_reached(CLOCK_REALTIME, &when))
        ;

    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = check_spawn(read_in_turn, NULL);
    for (int i = 0; i < THREADS; i++)
        check_join(threads[i]);

    /* A time in this century, and one that agrees with the other clock of the same kind. */
    CHECK(check_now(CLOCK_REALTIME) / 1000000000 > 1600000000);
    struct timespec pause = { 0, 20000000 };
    int64_t before[CLOCKS];
    for (int c = 0; c < CLOCKS; c++)
        before[c] = check_now(clocks[c]);
    CHECK_EQ(nanosleep(&pause, NULL), 0);
    for (int c = 0; c < 4; c++)
        CHECK(check_now(clocks[c]) - before[c] >= 20000000);
    CHECK(check_now(CLOCK_REALTIME_COARSE) > before[4]); /* ticks are shorter than that sleep */
    CHECK(check_now(CLOCK_MONOTONIC_COARSE) > before[5]);
    return 0;
}
