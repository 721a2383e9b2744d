/* _Exit: ends the process at once: no handlers, no streams, no other threads. */
/* ops: EXIT_NOW */
#define _GNU_SOURCE
#include "check.h"
#include "child.h"
#include <semaphore.h>

static char *marks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t never;
static int pipe_ends[2];

static void handler(void)
{
    marks[0] = 'h';
}

__attribute__((destructor)) static void destroy(void)
{
    marks[1] = 'd';
}

static void leave(void *status)
{
    CHECK_EQ(atexit(handler), 0);
    FILE *stream = fdopen(pipe_ends[1], "w");
    CHECK(stream != NULL);
    fputs("lost", stream);
    _Exit(*(int *)status);
}

static void *leave_from_thread(void *status)
{
    leave(status);
    return NULL;
}

static void *hold_and_wait(void *unused)
{
    CHECK_OK(pthread_mutex_lock(&lock));
    sem_wait(&never);
    return unused;
}

static void leave_others(void *status)
{
    CHECK_EQ(sem_init(&never, 0, 0), 0);
    check_spawn(hold_and_wait, NULL);
    check_spawn(hold_and_wait, NULL);
    check_join(check_spawn(leave_from_thread, status));
}

int main(void)
{
    static int statuses[] = { 0, 1, 255, 256 + 9 };
    marks = child_shared(2);
    CHECK_EQ(pipe(pipe_ends), 0);
    for (int i = 0; i < 4; i++) {
        CHECK_EXITED(child_run(leave, &statuses[i]), statuses[i] & 255);
        CHECK_EXITED(child_run(leave_others, &statuses[i]), statuses[i] & 255);
    }
    CHECK_EQ(marks[0], 0);
    CHECK_EQ(marks[1], 0);
    CHECK_EQ(close(pipe_ends[1]), 0);
    char byte;
    CHECK_EQ(read(pipe_ends[0], &byte, 1), 0);
    _Exit(0);
}
