/* Which process is which run, of those that wait in a fork server (cli/process/forkserver.h), when the kernel lets a
 * later copy go first. The test traces the server, and holds the first copy at its first instruction. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "launched.h"
#include <cli/base/cli.h>
#include <cli/process/launch.h>
#include <common/config.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIRST, SECOND, BOTH, SECONDS = 300 };

static char *command[] = { "true", NULL };

static int set_up(void **unused)
{
    (void)unused;
    launch.forks.state = PCT_FORKING_YES;
    return launch_set_up(command);
}

static void start(struct pct_process *process, uint64_t seed)
{
    static const struct pct_run_extras none = { .points = 0 };
    struct pct_config config = { .slack = 0 };
    char token[PCT_TOKEN_MAX], error[256];
    assert_int_equal(pct_config_parse_spec(&config, "pct,depth=2", pct_cli_find_strategy, error, sizeof error), 0);
    config.run.seed = seed;
    pct_config_format_token(token, sizeof token, &config, pct_cli_find_strategy("pct", error, sizeof error));
    assert_int_equal(pct_process_start(process, &launch, token, &none, -1, true), 0);
}

static void end(struct pct_process *processes, int count)
{
    for (int left = count, ended = -1; left; left--) {
        assert_int_equal(pct_launch_wait(&launch, processes, count, pct_cli_now() + SECONDS, &ended), 0);
        assert_in_range(ended, 0, count - 1);
        assert_int_equal(processes[ended].status, 0);
        pct_process_close(&processes[ended]);
    }
}

/* The next copy that the traced server makes, which stands still. */
static pid_t next_copy(pid_t server)
{
    unsigned long copy = 0;
    int status;
    assert_int_equal(waitpid(server, &status, __WALL), server);
    assert_int_equal(status >> 8, SIGTRAP | PTRACE_EVENT_FORK << 8);
    assert_int_equal(ptrace(PTRACE_GETEVENTMSG, server, NULL, &copy), 0);
    assert_int_equal(waitpid((pid_t)copy, &status, __WALL), (pid_t)copy);
    return (pid_t)copy;
}

/* A run that becomes a host, and one that does not, asked for at once. */
static void an_answer_is_for_the_run_that_was_asked_for(void **unused)
{
    struct pct_process runs[BOTH] = { { .index = FIRST }, { .index = SECOND } };
    (void)unused;
    if (!launch.library)
        skip();
    start(&runs[FIRST], 1);
    end(runs, 1);
    const pid_t server = launch.forks.servers[0].pid;
    assert_true(server > 0);
    if (ptrace(PTRACE_SEIZE, server, NULL, PTRACE_O_TRACEFORK))
        skip(); /* as in a container that forbids it */
    launch.restore.wanted = launch.restore.on = true;
    start(&runs[FIRST], 2);
    start(&runs[SECOND], 3);
    assert_int_equal(runs[FIRST].hosting, PCT_HOSTING_FIRST);
    assert_int_equal(runs[SECOND].hosting, PCT_HOSTING_NO);
    const pid_t first = next_copy(server);
    ptrace(PTRACE_CONT, server, NULL, NULL);
    const pid_t second = next_copy(server);
    ptrace(PTRACE_DETACH, second, NULL, NULL);
    ptrace(PTRACE_DETACH, server, NULL, NULL);
    assert_int_equal(pct_forkserver_read_pid(&launch, &runs[FIRST], SECONDS), 0);
    assert_int_equal(runs[FIRST].pid, first);
    ptrace(PTRACE_DETACH, first, NULL, NULL);
    assert_int_equal(pct_forkserver_read_pid(&launch, &runs[SECOND], SECONDS), 0);
    assert_int_equal(runs[SECOND].pid, second);
    end(runs, BOTH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_is_for_the_run_that_was_asked_for),
    };
    return cmocka_run_group_tests(tests, set_up, launch_tear_down);
}
