/* Whose end it is that a host tells of (cli/process/hosts.h). The other end of its socket is the test's. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <cli/process/launch.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PID = 4711, OTHER = 4712 };

/* A host of worker 0 that is asked for its second run. */
struct fixture {
    struct pct_launch launch;
    struct pct_host *host;
    struct pct_process first, second;
    int end;
};

static void set_up(struct fixture *f)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    *f = (struct fixture){ .end = ends[1] };
    f->launch.restore.hosts = calloc(PCT_FORKSERVERS, sizeof *f->launch.restore.hosts);
    assert_non_null(f->launch.restore.hosts);
    f->host = &f->launch.restore.hosts[0];
    *f->host = (struct pct_host){ .pid = PID, .socket = ends[0], .number = 1, .asked = 2 };
    f->first = (struct pct_process){ .pid = PID, .hosting = PCT_HOSTING_FIRST, .host_number = 1 };
    f->second = (struct pct_process){ .pid = PID, .hosting = PCT_HOSTING_RESTORED, .host_number = 1, .host_turn = 1 };
}

static void tear_down(struct fixture *f)
{
    close(f->host->socket);
    close(f->end);
    free(f->launch.restore.hosts);
}

static void say(struct fixture *f, int status)
{
    struct pct_host_reply reply = { .version = PCT_HOST_VERSION, .status = status };
    assert_int_equal(send(f->end, &reply, sizeof reply, 0), sizeof reply);
}

/* The host may be faster than what says which process it is. */
static void an_end_waits_until_its_process_is_known(void **unused)
{
    (void)unused;
    struct fixture f;
    set_up(&f);
    f.host->pid = f.first.pid = 0;
    say(&f, 3);
    assert_false(pct_hosts_over(&f.launch, &f.first));
    assert_int_equal(f.host->over, 0);
    f.first.pid = PID;
    pct_hosts_began(&f.launch, &f.first);
    assert_int_equal(f.host->pid, PID);
    assert_true(pct_hosts_over(&f.launch, &f.first));
    assert_int_equal(WEXITSTATUS(f.first.status), 3);
    assert_int_equal(f.host->over, 1);
    tear_down(&f);
}

static void each_hears_of_its_own_end_alone(void **unused)
{
    (void)unused;
    struct fixture f;
    set_up(&f);
    say(&f, 3);
    say(&f, 4);
    assert_false(pct_hosts_over(&f.launch, &f.second));
    assert_true(pct_hosts_over(&f.launch, &f.first));
    assert_false(pct_hosts_over(&f.launch, &f.first));
    assert_true(pct_hosts_over(&f.launch, &f.second));
    assert_int_equal(WEXITSTATUS(f.first.status), 3);
    assert_int_equal(WEXITSTATUS(f.second.status), 4);
    assert_int_equal(f.host->over, 2);
    tear_down(&f);
}

static void another_process_is_none_of_it(void **unused)
{
    (void)unused;
    struct fixture f;
    set_up(&f);
    say(&f, 3);
    f.first.pid = OTHER;
    assert_false(pct_hosts_over(&f.launch, &f.first));
    f.first.pid = PID;
    f.first.host_number = 2; /* of another host, which this one has followed */
    assert_false(pct_hosts_over(&f.launch, &f.first));
    assert_int_equal(f.host->over, 0);
    tear_down(&f);
}

/* A host whose threads cannot be contexts says so, or can say nothing; the next one's are none. That is no failure of
 * hosts. */
static void contexts_are_given_up(void **unused)
{
    (void)unused;
    for (int says = 0; says < 2; says++) {
        struct fixture f;
        const struct pct_host_reply reply = { .version = PCT_HOST_VERSION, .reason = PCT_HOST_CONTEXT };
        set_up(&f);
        f.host->contexts = true;
        if (says)
            assert_int_equal(send(f.end, &reply, sizeof reply, 0), sizeof reply);
        close(f.end);
        f.end = -1;
        f.first.hosting = PCT_HOSTING_FIRST;
        pct_hosts_ended(&f.launch, &f.first);
        assert_true(f.launch.restore.kernel_threads);
        assert_int_equal(f.launch.restore.ended + f.launch.restore.fruitless, 0);
        assert_true(f.first.host_ended);
        f.host->socket = -1; /* it is closed */
        tear_down(&f);
    }
}

/* The first that go on from a point are compared, though others were restored before. */
static void the_first_from_the_middle_are_made_again(void **unused)
{
    (void)unused;
    struct fixture f;
    bool exec;
    unsigned again = 0;
    set_up(&f);
    f.launch.restore.restored = 1000;
    for (int i = 0; i < 3; i++) {
        struct pct_process process = f.second;
        process.host_said = true;
        process.host_reply = (struct pct_host_reply){ .from = 7 };
        assert_true(pct_hosts_again(&f.launch, &process, &exec));
        assert_false(exec);
    }
    assert_int_equal(f.launch.restore.branched, 3);
    for (int i = 0; i < 20; i++) {
        struct pct_process process = f.second;
        process.host_said = true;
        process.output = -1;
        process.host_reply = (struct pct_host_reply){ .from = 7 };
        again += pct_hosts_again(&f.launch, &process, &exec);
    }
    assert_in_range(again, 0, 3);
    tear_down(&f);
}

/* An explored run that fails, in a host that goes on: the first of its kind is made again by exec, two others by fork. */
static void the_first_of_a_kind_that_fails_is_made_again_by_exec(void **unused)
{
    (void)unused;
    struct fixture f;
    char path[] = "/tmp/pct-test-hosts-XXXXXX";
    int trace = mkstemp(path), execs = 0, forks = 0;
    struct pct_trace_header header = { .message = "a" };
    assert_true(trace >= 0 && !unlink(path));
    set_up(&f);
    f.launch.restore.restored = 1000;
    for (int i = 0; i < 40; i++) {
        struct pct_process process = f.second;
        bool exec;
        snprintf(header.message, sizeof header.message, "%s", i < 20 ? "a" : "b");
        assert_int_equal(pwrite(trace, &header, sizeof header, 0), sizeof header);
        process.trace = trace;
        process.output = -1;
        process.extras.channel = "channel";
        process.host_said = true;
        process.host_reply = (struct pct_host_reply){ .status = -SIGABRT, .verdict = PCT_VERDICT_ASSERTION };
        process.status = W_EXITCODE(0, SIGABRT);
        const bool again = pct_hosts_again(&f.launch, &process, &exec);
        assert_int_equal(exec, !(i % 20));
        assert_true(again || i % 20 > 2);
        execs += again && exec;
        forks += again && !exec;
    }
    assert_int_equal(execs, 2);
    assert_in_range(forks, 4, 6);
    /* Of a run that nobody replays, each is. */
    struct pct_process drawn = f.second;
    bool exec;
    drawn.trace = trace;
    drawn.host_said = true;
    drawn.host_reply = (struct pct_host_reply){ .status = -SIGABRT, .verdict = PCT_VERDICT_ASSERTION };
    drawn.status = W_EXITCODE(0, SIGABRT);
    assert_true(pct_hosts_again(&f.launch, &drawn, &exec) && exec);
    close(trace);
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_end_waits_until_its_process_is_known),
        cmocka_unit_test(each_hears_of_its_own_end_alone),
        cmocka_unit_test(another_process_is_none_of_it),
        cmocka_unit_test(contexts_are_given_up),
        cmocka_unit_test(the_first_of_a_kind_that_fails_is_made_again_by_exec),
        cmocka_unit_test(the_first_from_the_middle_are_made_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
