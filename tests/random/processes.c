/* Child processes: things to wait for, and events. */
#include "random.h"
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

/* --- The end of a child ------------------------------------------------------------------------------------------ */

static void make_child(struct thing *t)
{
    char byte;
    CHECK_OK(pipe2(t->fd, O_CLOEXEC));
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        /* Nor may it hold the other ends of other things. */
        close_range(3, (unsigned)t->fd[0] - 1, 0);
        close_range((unsigned)t->fd[0] + 1, ~0U, 0);
        _exit(RESTARTED(read(t->fd[0], &byte, 1)) == 1 ? 42 : 99);
    }
    t->child = child; /* which both would write: things are in shared memory */
}

static void drop_child(struct thing *t)
{
    CHECK_OK(close(t->fd[0]));
    CHECK_OK(close(t->fd[1]));
    if (!t->count)
        RESTARTED(waitpid(t->child, NULL, 0));
}

static bool wait_child(struct thing *t, int64_t us, unsigned way)
{
    siginfo_t info;
    int status = 0;
    (void)us;
    switch (way % 4) {
    case 0:
        CHECK_EQ(RESTARTED(waitpid(t->child, &status, 0)), t->child);
        break;
    case 1:
        CHECK_EQ(RESTARTED(wait4(t->child, &status, 0, NULL)), t->child);
        break;
    case 2:
        CHECK_OK(RESTARTED(waitid(P_PID, (id_t)t->child, &info, WEXITED)));
        CHECK_EQ(info.si_pid, t->child);
        status = info.si_status << 8;
        break;
    case 3:
        while (!RESTARTED(waitpid(t->child, &status, WNOHANG)))
            usleep(500);
        break;
    }
    t->count = 1;
    CHECK(WIFEXITED(status));
    CHECK_EQ(WEXITSTATUS(status), 42);
    return true;
}

static void wake_child(struct thing *t, unsigned way)
{
    (void)way;
    CHECK_EQ(RESTARTED(write(t->fd[1], "e", 1)), 1);
}

const struct kind process_kinds[] = {
    { "end of a child", CANCEL | HANDLER | ONCE | SINGLE | OUTSIDE, make_child, drop_child, wait_child, wake_child },
    { NULL, 0, NULL, NULL, NULL, NULL },
};

/* --- Events ------------------------------------------------------------------------------------------------------ */

/* Neither by exit() nor by quick_exit(): where another thread of the parent was loading a library, libc's lock of the
 * list of handlers is held in the child for ever (natively 11 of 304 runs of a program hung). */
static void end_child(int status, unsigned way)
{
    if (way & 1)
        _Exit(status);
    _exit(status);
}

static void reap(pid_t child, int status)
{
    int got;
    CHECK_EQ(RESTARTED(waitpid(child, &got, 0)), child);
    CHECK(WIFEXITED(got));
    CHECK_EQ(WEXITSTATUS(got), status);
}

/* The child wakes its parent. */
static void run_woken_by_child(struct event *event, unsigned role, uint64_t *place)
{
    (void)role;
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        doze(place);
        for (unsigned i = 0; i < event->rounds; i++)
            wake_thing(event->thing[0], place);
        end_child(7, draw(place, 2));
    }
    if (draw(place, 2))
        doze(place);
    for (unsigned i = 0; i < event->rounds; i++)
        CHECK(wait_thing(event->thing[0], FOREVER, place));
    reap(child, 7);
}

/* The parent wakes its child. Signals would have to go to the child. */
static void run_wakes_child(struct event *event, unsigned role, uint64_t *place)
{
    (void)role;
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        for (unsigned i = 0; i < event->rounds; i++)
            CHECK(wait_thing(event->thing[0], FOREVER, place));
        end_child(8, draw(place, 2));
    }
    for (unsigned i = 0; i < event->rounds; i++) {
        doze(place);
        wake_thing(event->thing[0], place);
    }
    reap(child, 8);
}

/* Two threads of a child, and one thing that belongs to it. */
struct within {
    struct thing *thing;
    uint64_t place;
    unsigned rounds;
};

static void *wake_within(void *argument)
{
    struct within *within = argument;
    for (unsigned i = 0; i < within->rounds; i++) {
        doze(&within->place);
        wake_thing(within->thing, &within->place);
    }
    return within;
}

static void run_child_with_threads(struct event *event, unsigned role, uint64_t *place)
{
    (void)role;
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        struct within within = { .thing = another_thing(event->thing[0]), .place = *place, .rounds = event->rounds };
        pthread_t thread = start_thread(wake_within, &within);
        for (unsigned i = 0; i < event->rounds; i++)
            CHECK(wait_thing(within.thing, FOREVER, place));
        CHECK_OK(pthread_join(thread, NULL));
        end_thing(within.thing);
        end_child(9, draw(place, 2));
    }
    doze(place);
    reap(child, 9);
}

/* A thing is waited for while its process forks, and the child does something else. */
static void run_fork_beside(struct event *event, unsigned role, uint64_t *place)
{
    if (role) {
        for (unsigned i = 0; i < event->rounds; i++)
            CHECK(wait_thing(event->thing[0], FOREVER, place));
        return;
    }
    for (unsigned i = 0; i < event->rounds; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            doze(place);
            end_child(10, draw(place, 2));
        }
        wake_thing(event->thing[0], place);
        reap(child, 10);
    }
}

static void run_spawn(struct event *event, unsigned role, uint64_t *place)
{
    char *arguments[] = { (char *)"sh", (char *)"-c", (char *)"exit 11", NULL };
    pid_t child;
    FILE *stream;
    int c = 0;
    (void)event, (void)role;
    switch (draw(place, 3)) {
    case 0:
        CHECK_OK(posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ));
        reap(child, 11);
        break;
    case 1:
        CHECK_EQ(system("exit 12"), 12 << 8);
        break;
    case 2:
        stream = popen("echo x", "r");
        CHECK(stream);
        do
            c = getc(stream);
        while (c == EOF && ferror(stream) && (clearerr(stream), again(true)));
        CHECK_EQ(c, 'x');
        CHECK_OK(pclose(stream));
        break;
    }
}

/* A child that its parent could wake is killed. */
static void run_killed_child(struct event *event, unsigned role, uint64_t *place)
{
    int status;
    (void)role;
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        wait_thing(event->thing[0], FOREVER, place);
        _exit(13);
    }
    doze(place);
    CHECK_OK(kill(child, SIGKILL));
    CHECK_EQ(RESTARTED(waitpid(child, &status, 0)), child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

const struct pattern process_patterns[] = {
    { "woken by a child", 1, 1, 1, PROCESS, ONCE, 0, 0, FOREIGN, NULL, run_woken_by_child, NULL },
    { "wakes a child", 1, 1, 1, PROCESS, ONCE | SIGNALS, 0, 0, FOREIGN, NULL, run_wakes_child, NULL },
    { "child with threads", 1, 1, 1, 0, ONCE, 0, 0, FOREIGN, NULL, run_child_with_threads, NULL },
    { "fork beside", 2, 2, 1, 0, ONCE, 0, 0, FOREIGN, NULL, run_fork_beside, NULL },
    { "spawn", 1, 1, 0, 0, 0, 0, 0, FOREIGN, NULL, run_spawn, NULL },
    { "killed child", 1, 1, 1, PROCESS | HANDLER, ONCE | SIGNALS, 0, 0, FOREIGN, NULL, run_killed_child, NULL },
    { NULL, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL },
};
