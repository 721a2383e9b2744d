/* Threads that end by SYS_exit, as an instruction of the program's: one that had its turn never gave it on, and one
 * that was left in a sleep of the same kind was waited for until the run was over its time. What each does is still
 * decided by the schedule alone, so that there is a claim, and a token replays it.
 *
 * BUILD: gcc -O1 -g -pthread -o %p %s
 * RUN: for how in turn main; do
 *     pct run -s 1 -n 4 -S pct -d 2 --timeout 20 -- %p $how > %t/log 2>&1; test $? = 0 || exit 1;
 *     grep -q 'missed with probability' %t/log || exit 1; done
 * RUN: pct run -s 1 -n 1 -t %t/trace --timeout 20 -- %p outside && pct replay %t/trace -- %p outside
 * RUN: pct run -s 1 -n 1 --timeout 20 -- %p held > %t/log 2>&1; test $? = 120 || exit 1;
 *     grep -q 'held by thread 1' %t/log || exit 1;
 *     pct replay "$(grep -o 'pct1:[^'"'"']*' %t/log | tail -1)" -- %p held > %t/again 2>&1; test $? = 120 || exit 1;
 *     grep -q 'identical' %t/again
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, robust;
static int count, sleeps, died;

static long call(long number, const void *argument)
{
    long result = number;
    __asm__ volatile("syscall" : "+a"(result) : "D"(argument), "S"(0) : "rcx", "r11", "memory");
    return result;
}

static void *run(void *unused)
{
    const struct {
        long seconds, nanoseconds;
    } moment = { 0, 30000000 };
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&mutex);
        count++;
        pthread_mutex_unlock(&mutex);
    }
    if (pthread_mutex_lock(&robust) == EOWNERDEAD) {
        died++;
        pthread_mutex_consistent(&robust);
    }
    if (sleeps)
        call(SYS_nanosleep, &moment);
    call(SYS_exit, NULL);
    return unused;
}

static void *hold(void *unused)
{
    pthread_mutex_lock(&mutex);
    call(SYS_exit, NULL);
    return unused;
}

static void *go_on(void *first)
{
    pthread_t thread;
    void *value;
    pthread_join(*(pthread_t *)first, &value);
    pthread_create(&thread, NULL, run, NULL);
    pthread_join(thread, NULL);
    _exit(count != 3);
}

int main(int argc, char **argv)
{
    pthread_t thread[3], first = pthread_self();
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &attributes);
    if (argc > 1 && !strcmp(argv[1], "main")) {
        pthread_create(&thread[0], NULL, go_on, &first);
        call(SYS_exit, NULL);
    }
    if (argc > 1 && !strcmp(argv[1], "held")) {
        pthread_create(&thread[0], NULL, hold, NULL);
        pthread_join(thread[0], NULL);
        pthread_mutex_lock(&mutex);
    }
    sleeps = argc > 1 && !strcmp(argv[1], "outside");
    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, run, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    return count != 9 || died != 2;
}
