/* A pipe is written to by what pct does not see as an operation on it: a stream that is flushed, dprintf, syscall(), an
 * inline system call. Its reader was never asked again: with nobody else to run that was called a deadlock, and a sleep
 * of the writer's ended first. And a race, though the pipe orders the two.
 *
 *     RUN: for how in stream dprintf number inline; do pct run -q -n 300 -- %p $how || exit 1; done
 *     RUN: for how in stream dprintf number inline; do pct run -q -n 100 -- %p $how slow || exit 1; done
 *     RUN: pct-cc -g -O1 -pthread -o %p-races %s
 *     RUN: for how in stream dprintf number; do pct run -q -n 300 --races=fail -- %p-races $how || exit 1; done
 *
 * The reader can go on as soon as the stream is flushed, though the writer goes on, too.
 *     RUN 1: pct run -q -n 300 -d 2 --strategy pct -- %p stream early
 *
 * But for the inline one, of which pct then says so.
 *     RUN: pct run -n 20 --strategy pct -- %p inline 2>&1 | grep 'no guarantee.*left to the outside world'
 *     RUN: ! pct run -n 20 --strategy pct -- %p number 2>&1 | grep 'no guarantee'
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int ends[2], written;
static char how;
static int slow, early, behind;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void give(void)
{
    FILE *stream;
    switch (how) {
    case 's':
        stream = fdopen(ends[1], "w");
        fputs("x", stream);
        fflush(stream);
        break;
    case 'd':
        dprintf(ends[1], "x");
        break;
    case 'n':
        syscall(SYS_write, ends[1], "x", 1);
        break;
    default: {
        long result;
        __asm__ volatile("syscall"
                         : "=a"(result)
                         : "a"(SYS_write), "D"((long)ends[1]), "S"("x"), "d"(1L)
                         : "rcx", "r11", "memory");
    }
    }
}

static void *writer(void *unused)
{
    written = 1;
    give();
    if (slow)
        sleep(3600);
    pthread_mutex_lock(&mutex);
    behind = 1;
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(int count, char **arguments)
{
    pthread_t thread;
    struct timespec before, after;
    char byte;
    how = arguments[1][0];
    slow = count > 2 && !strcmp(arguments[2], "slow");
    early = count > 2 && !strcmp(arguments[2], "early");
    if (pipe(ends))
        return 2;
    clock_gettime(CLOCK_MONOTONIC, &before);
    pthread_create(&thread, NULL, writer, NULL);
    if (read(ends[0], &byte, 1) != 1 || written != 1)
        return 2;
    clock_gettime(CLOCK_MONOTONIC, &after);
    if (after.tv_sec - before.tv_sec > 1800)
        return 3;
    pthread_mutex_lock(&mutex);
    int was_first = !behind;
    pthread_mutex_unlock(&mutex);
    if (!slow)
        pthread_join(thread, NULL);
    return early && was_first;
}
