/* A process has used a robust mutex, and its child uses one: there, too, the end of the thread that has it lets the
 * next one go on. Of the two, only the process that was started says how it ended.
 *
 * RUN: %p
 * RUN: pct run -q -s 1 --slack=0 --timeout 30 -- %p
 * RUN: pct run -q -s 1 -n 20 --timeout 30 -- %p
 * RUN: LD_PRELOAD=$LIBPCT %p 2> %t/said; cat %t/said; [ $(grep -c '^pct: exit 0' %t/said) = 1 ]
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex;

static void check(int fine)
{
    if (!fine)
        abort();
}

static void *die_with_it(void *unused)
{
    check(!pthread_mutex_lock(&mutex));
    usleep(20000);
    return unused;
}

static void inherit(void)
{
    pthread_t thread;
    pthread_mutexattr_t attributes;
    check(!pthread_mutexattr_init(&attributes));
    check(!pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) && !pthread_mutex_init(&mutex, &attributes));
    check(!pthread_create(&thread, NULL, die_with_it, NULL));
    usleep(10000); /* natively it has it by now */
    int error = pthread_mutex_lock(&mutex);
    check(!error || error == EOWNERDEAD);
    if (error)
        check(!pthread_mutex_consistent(&mutex));
    check(!pthread_mutex_unlock(&mutex) && !pthread_join(thread, NULL));
}

int main(void)
{
    int status;
    inherit();
    pid_t child = fork();
    if (!child) {
        inherit();
        _exit(0);
    }
    check(waitpid(child, &status, 0) == child);
    return status != 0;
}
