/* exit: handlers in reverse order, streams written out, the low byte of the status; from any thread. */
/* ops: EXIT */
#define _GNU_SOURCE
#include "check.h"
#include "child.h"
#include <semaphore.h>

static char *log_;
static int logged;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void note(char mark)
{
    log_[logged++] = mark;
}

static void handler_a(void)
{
    /* Handlers may use locks. */
    CHECK_OK(pthread_mutex_lock(&lock));
    note('a');
    CHECK_OK(pthread_mutex_unlock(&lock));
}

static void handler_b(void)
{
    note('b');
    CHECK_EQ(atexit(handler_a), 0); /* runs next */
}

static void handler_status(int status, void *argument)
{
    CHECK(argument == &logged);
    note((char)('0' + status));
}

__attribute__((destructor)) static void destroy(void)
{
    if (log_)
        note('d');
}

static void exit_from_main(void *status)
{
    CHECK_EQ(atexit(handler_a), 0);
    CHECK_EQ(on_exit(handler_status, &logged), 0);
    CHECK_EQ(atexit(handler_b), 0);
    exit(*(int *)status);
}

static void *call_exit(void *status)
{
    exit_from_main(status);
    return NULL;
}

static void exit_from_thread(void *status)
{
    check_join(check_spawn(call_exit, status));
}

static sem_t never;

static void *wait_for_ever(void *unused)
{
    CHECK_OK(pthread_mutex_lock(&lock));
    CHECK_OK(pthread_mutex_unlock(&lock));
    sem_wait(&never);
    return unused;
}

static void exit_with_others(void *status)
{
    CHECK_EQ(sem_init(&never, 0, 0), 0);
    for (int i = 0; i < 3; i++)
        check_spawn(wait_for_ever, NULL);
    exit_from_main(status);
}

static void exit_again(void)
{
    note('x');
    exit(6); /* glibc goes on with the handlers that are left */
}

static void exit_twice(void *unused)
{
    (void)unused;
    CHECK_EQ(atexit(handler_a), 0);
    CHECK_EQ(atexit(exit_again), 0);
    exit(5);
}

static int pipe_ends[2];

static void write_buffered(void *unused)
{
    (void)unused;
    FILE *stream = fdopen(pipe_ends[1], "w");
    CHECK(stream != NULL);
    fputs("buffered", stream);
    exit(0);
}

static void check_log(const char *expected)
{
    CHECK(strcmp(log_, expected) == 0);
    memset(log_, 0, 64);
}

int main(void)
{
    log_ = child_shared(64);
    int four = 4;
    CHECK_EXITED(child_run(exit_from_main, &four), 4);
    check_log("ba4ad");
    CHECK_EXITED(child_run(exit_from_thread, &four), 4);
    check_log("ba4ad");
    CHECK_EXITED(child_run(exit_with_others, &four), 4);
    check_log("ba4ad");
    CHECK_EXITED(child_run(exit_twice, NULL), 6);
    check_log("xad");
    int high = 0x1203;
    CHECK_EQ(WEXITSTATUS(child_run(exit_from_main, &high)), 3);
    memset(log_, 0, 64);

    char text[32] = "";
    CHECK_EQ(pipe(pipe_ends), 0);
    CHECK_EXITED(child_run(write_buffered, NULL), 0);
    CHECK_EQ(read(pipe_ends[0], text, sizeof(text)), 8);
    CHECK(strcmp(text, "buffered") == 0);
    log_ = NULL;
    exit(0);
}
