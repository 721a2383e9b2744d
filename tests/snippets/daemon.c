/* daemon: the parent ends, the child goes on in a session of its own, with its threads; what it does with directory and
 * standard streams. */
/* ops: FORK */
/* outside: it waits for children, and for what they tell */
#define _GNU_SOURCE
#include "check.h"
#include <sys/wait.h>

static void *nothing(void *unused)
{
    sched_yield();
    return unused;
}

/* In a child of the test, which becomes a daemon, and tells. */
static void become(int out, int here, int keep)
{
    struct {
        pid_t session, self;
        int root, null, threads;
    } told = { 0 };
    char path[64], link[64] = "";
    if (daemon(here, keep))
        _exit(1);
    told.session = getsid(0);
    told.self = getpid();
    CHECK(getcwd(path, sizeof path));
    told.root = !strcmp(path, "/");
    CHECK(readlink("/proc/self/fd/2", link, sizeof link - 1) > 0);
    told.null = !strcmp(link, "/dev/null");
    check_join(check_spawn(nothing, NULL));
    told.threads = 1;
    CHECK_EQ(write(out, &told, sizeof told), sizeof told);
    _exit(0);
}

static void test(int here, int keep)
{
    struct {
        pid_t session, self;
        int root, null, threads;
    } told;
    int ends[2], status;
    CHECK_OK(pipe(ends));
    pid_t child = fork();
    if (!child)
        become(ends[1], here, keep);
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    CHECK_OK(close(ends[1]));
    CHECK_EQ(read(ends[0], &told, sizeof told), sizeof told);
    CHECK(told.self != child && told.session == told.self);
    CHECK_EQ(told.threads, 1);
    if (!here)
        CHECK_EQ(told.root, 1);
    if (!keep)
        CHECK_EQ(told.null, 1);
    CHECK_OK(close(ends[0]));
}

int main(void)
{
    CHECK_OK(chdir("/proc"));
    test(1, 1);
    test(0, 0);
    test(1, 0);
    return 0;
}
