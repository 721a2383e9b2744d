/* The next recorded thread sleeps, or computes, in calls of the program's own for as long as it likes in the replay, on
 * a machine that is slower or for input that is later; another one, which came behind it in the recorded run, waits for
 * its turn by then. However long that takes, the replay has not left the recorded path: nobody may conclude so from the
 * real time that has passed.
 *
 * RUN: cd %t && pct run -q -S pos -s 1 --slack=0 --trace trace -- %p && touch late &&
 *     timeout 100 pct replay -q trace -- %p
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* In a call that is not intercepted. */
static void *come_after(void *length)
{
    const struct timespec *time = length;
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(SYS_nanosleep), "D"(time), "S"(0) : "rcx", "r11", "memory");
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void)
{
    const int late = !access("late", F_OK);
    struct timespec first = { .tv_sec = late ? 12 : 0, .tv_nsec = 200000000 };
    struct timespec second = { .tv_sec = late ? 0 : 1, .tv_nsec = 200000000 };
    pthread_t one, other;
    return pthread_create(&one, NULL, come_after, &first) || pthread_create(&other, NULL, come_after, &second) ||
           pthread_join(one, NULL) || pthread_join(other, NULL);
}
