/* Whose end it is that a host tells of (cli/process/hosts.h). The other end of its socket and ring is the test's. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <cli/process/host_ring.h>
#include <cli/process/launch.h>
#include <common/forkserver.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PID = 4711, OTHER = 4712 };

/* A host of worker 0 that is asked for its second run. */
struct fixture {
    struct pct_launch launch;
    struct pct_host *host;
    struct pct_process first, second;
    struct pct_host_ring ring;
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
    *f->host = (struct pct_host){ .pid = PID, .socket = ends[0], .ring = &f->ring, .number = 1, .asked = 2 };
    f->ring.asked = 2;
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
    f->ring.entry[f->ring.over % PCT_HOST_QUEUE].reply = (struct pct_host_reply){ PCT_HOST_VERSION, .status = status };
    f->ring.over++;
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

/* Until the command knows the process, it awaits no end of a run there, so nothing else would wake it. */
static void which_process_a_host_is_comes_with_a_signal(void **unused)
{
    (void)unused;
    struct pct_launch *launch = calloc(1, sizeof *launch);
    const struct pct_forkserver_reply reply = { .version = PCT_FORKSERVER_VERSION, .pid = PID };
    const struct timespec none = { 0 };
    sigset_t io;
    int ends[2];
    assert_non_null(launch);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    sigemptyset(&io);
    sigaddset(&io, SIGIO);
    sigprocmask(SIG_BLOCK, &io, NULL);
    struct pct_forkserver *server = &launch->forks.servers[0];
    *server = (struct pct_forkserver){ .pid = PID, .socket = ends[0] };
    launch->forks.state = PCT_FORKING_YES;
    launch->restore.wanted = true;
    for (int hosts = 1; hosts >= 0; hosts--) {
        struct pct_process process = { .launch = launch, .trace_path = "/trace", .trace = 0, .output = 1 };
        launch->restore.on = hosts;
        assert_int_equal(pct_forkserver_ask(launch, &process, -1), 0);
        assert_int_equal(process.hosting, hosts ? PCT_HOSTING_FIRST : PCT_HOSTING_NO);
        assert_int_equal(sigtimedwait(&io, NULL, &none), -1);
        assert_int_equal(send(ends[1], &reply, sizeof reply, 0), sizeof reply);
        assert_int_equal(sigtimedwait(&io, NULL, &none), hosts ? SIGIO : -1);
        assert_int_equal(pct_forkserver_read_pid(launch, &process, 0), 0);
        assert_int_equal(process.pid, PID);
    }
    sigprocmask(SIG_UNBLOCK, &io, NULL);
    launch->restore.hosts[0].pid = 0; /* nobody's */
    pct_hosts_end(launch);
    close(ends[0]);
    close(ends[1]);
    free(launch);
}

/* Each takes a while: those that are over in 4 ms are looked at together, and half of the short ones. */
static void runs_are_awaited_by_what_they_take(void **unused)
{
    (void)unused;
    static const struct {
        uint64_t taken, some;
    } known[] = { { 0, 8 }, { 100000, 8 }, { 500000, 8 }, { 1000000, 4 }, { 3000000, 1 }, { 70000000, 1 } };
    struct fixture f;
    set_up(&f);
    say(&f, 0);
    assert_true(pct_hosts_over(&f.launch, &f.first));
    f.host->asked = 17;
    f.second.running = true;
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++) {
        f.host->taken = known[i].taken;
        assert_true(pct_hosts_await(&f.launch, &f.second, 1));
        assert_int_equal(f.ring.awaits, 1 + known[i].some);
    }
    f.host->taken = 0;
    f.host->spoiled = true;
    assert_true(pct_hosts_await(&f.launch, &f.second, 1));
    assert_int_equal(f.ring.awaits, 2);
    tear_down(&f);
}

/* Runs are asked for one behind the other, over the end of the ring, too; the host is woken where it sleeps, or gets
 * files. */
static void many_are_asked_for(void **unused)
{
    (void)unused;
    struct fixture f;
    struct pct_host_reply reply;
    char message[64];
    set_up(&f);
    for (uint64_t run = 2; run < 3 * PCT_HOST_QUEUE; run++) {
        struct pct_process process = { .host_turn = run, .trace = -1, .output = -1 };
        snprintf(process.token, sizeof process.token, "token %llu", (unsigned long long)run);
        snprintf(process.trace_path, sizeof process.trace_path, "/trace");
        f.ring.sleeps = run % 2;
        assert_true(pct_host_ring_ask(&f.ring, f.host->socket, &process, 3, false));
        assert_int_equal(recv(f.end, message, sizeof message, MSG_DONTWAIT) > 0, run % 2);
        assert_int_equal(f.ring.sleeps, 0);
        assert_int_equal(f.ring.asked, run + 1);
        const struct pct_host_request *request = &f.ring.entry[run % PCT_HOST_QUEUE].request;
        assert_int_equal(request->slot, 3);
        assert_string_equal(request->text, process.token);
        assert_string_equal(request->text + strlen(request->text) + 1, "/trace");
        f.ring.over = (uint32_t)run;
        assert_int_equal(pct_host_ring_over(&f.ring, run, &reply), 0);
        assert_true(pct_host_ring_await(&f.ring, run + 1));
        say(&f, 3);
        assert_false(pct_host_ring_await(&f.ring, run + 1));
        assert_int_equal(pct_host_ring_over(&f.ring, run, &reply), 1);
        assert_int_equal(reply.status, 3);
    }
    tear_down(&f);
}

/* The files of more runs than it is asked for at once: others wait to be looked at. */
static void a_host_keeps_the_files_of_runs_that_wait(void **unused)
{
    (void)unused;
    enum { FILES = 2 * PCT_HOST_QUEUE };
    struct fixture f;
    set_up(&f);
    f.launch.forks.state = PCT_FORKING_YES;
    f.launch.restore.wanted = f.launch.restore.on = true;
    for (int run = 0; run < 3 * FILES; run++) {
        struct pct_process process = { .launch = &f.launch, .trace = 0, .output = 1 };
        char message[64];
        snprintf(process.trace_path, sizeof process.trace_path, "/trace/%d", run % FILES);
        f.host->over = f.host->asked;
        assert_true(pct_hosts_ask(&f.launch, &process));
        assert_int_equal(f.ring.entry[process.host_turn % PCT_HOST_QUEUE].request.files, run < FILES);
        assert_int_equal(recv(f.end, message, sizeof message, MSG_DONTWAIT) > 0, run < FILES);
    }
    for (int i = 0; i < PCT_HOST_SLOTS; i++)
        free(f.host->slots[i].trace);
    tear_down(&f);
}

/* A run can write anywhere, to the ring, too: its process is ended, and the run made again without it. */
static void what_makes_no_sense_ends_the_host(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < 3; kind++) {
        struct fixture f;
        int status;
        set_up(&f);
        say(&f, 0);
        f.ring.over = kind == 0 ? 1000 : kind == 1 ? (uint32_t)-1 : f.ring.over;
        f.ring.entry[0].reply.version += kind == 2;
        f.host->pid = f.first.pid = fork();
        if (!f.host->pid) {
            pause();
            _exit(0);
        }
        assert_false(pct_hosts_over(&f.launch, &f.first));
        assert_int_equal(waitpid(f.host->pid, &status, 0), f.host->pid);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        tear_down(&f);
    }
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
        f.host->ring = NULL; /* it is unmapped */
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

/* An explored run that fails, in a host that goes on: the first of its kind is made again by exec, two by fork. */
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

/* The later runs that end well: one in 256 is made again, by fork, and if that is another run, nothing counts. */
static void one_in_many_is_made_again(void **unused)
{
    (void)unused;
    enum { RUNS = 5120 };
    struct fixture f;
    char path[] = "/tmp/pct-test-hosts-XXXXXX";
    const int trace = mkstemp(path);
    struct pct_trace_header header = { .hash = 7 };
    unsigned again = 0;
    assert_true(trace >= 0 && !unlink(path));
    set_up(&f);
    f.host->pid = 0; /* nobody's, where all are ended */
    f.launch.restore.restored = 1000;
    struct pct_process drawn = f.second;
    for (int i = 0; i < RUNS; i++) {
        struct pct_process process = f.second;
        bool exec;
        process.output = process.trace = -1;
        process.host_said = true;
        process.host_reply.hash = 7;
        if (pct_hosts_again(&f.launch, &process, &exec)) {
            assert_false(exec);
            again++;
            drawn = process;
        }
    }
    assert_in_range(again, RUNS / 512, RUNS / 128);
    assert_int_equal(f.launch.restore.unchecked, RUNS - again);
    drawn.trace = trace;
    drawn.forked = true;
    pct_hosts_remember(&drawn);
    assert_int_equal(pwrite(trace, &header, sizeof header, 0), sizeof header);
    pct_hosts_compare(&f.launch, &drawn);
    assert_int_equal(f.launch.restore.compared, 1);
    assert_false(f.launch.restore.broken);
    header.hash++;
    assert_int_equal(pwrite(trace, &header, sizeof header, 0), sizeof header);
    pct_hosts_compare(&f.launch, &drawn);
    assert_true(f.launch.restore.broken);
    assert_string_equal(f.launch.restore.why, "a restored run differed");
    assert_null(f.launch.restore.hosts);
    close(f.end);
    close(trace);
}

/* Its host has them mapped. */
static void a_worker_has_the_files_again_that_it_had(void **unused)
{
    (void)unused;
    enum { WORKERS = 3 };
    struct pct_launch *launch = calloc(1, sizeof *launch);
    char had[WORKERS][PATH_MAX];
    assert_non_null(launch);
    launch->trace_size = 1 << 20;
    for (int round = 0; round < 4; round++) {
        struct pct_process runs[WORKERS];
        for (unsigned i = 0; i < WORKERS; i++) {
            const unsigned worker = round & 1 ? i : WORKERS - 1 - i;
            runs[i] = (struct pct_process){ .launch = launch, .worker = worker, .clean = true, .childless = true };
            assert_int_equal(pct_scratch_open(&runs[i], launch, true), 0);
            if (round)
                assert_string_equal(runs[i].trace_path, had[worker]);
            strcpy(had[worker], runs[i].trace_path);
        }
        assert_string_not_equal(had[0], had[1]);
        for (unsigned i = 0; i < WORKERS; i++)
            pct_scratch_close(&runs[i]);
    }
    /* One that has none takes those of another; where hosts may have them mapped, it has its own. */
    for (int restored = 0; restored < 2; restored++) {
        struct pct_process fourth = { .launch = launch, .worker = WORKERS + restored };
        launch->restore.wanted = restored;
        assert_int_equal(pct_scratch_open(&fourth, launch, true), 0);
        assert_int_equal(launch->scratches.count, WORKERS - 1);
        pct_scratch_close(&fourth);
    }
    pct_scratches_remove(launch);
    free(launch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_end_waits_until_its_process_is_known),
        cmocka_unit_test(each_hears_of_its_own_end_alone),
        cmocka_unit_test(another_process_is_none_of_it),
        cmocka_unit_test(which_process_a_host_is_comes_with_a_signal),
        cmocka_unit_test(runs_are_awaited_by_what_they_take),
        cmocka_unit_test(many_are_asked_for),
        cmocka_unit_test(a_host_keeps_the_files_of_runs_that_wait),
        cmocka_unit_test(what_makes_no_sense_ends_the_host),
        cmocka_unit_test(contexts_are_given_up),
        cmocka_unit_test(the_first_of_a_kind_that_fails_is_made_again_by_exec),
        cmocka_unit_test(the_first_from_the_middle_are_made_again),
        cmocka_unit_test(one_in_many_is_made_again),
        cmocka_unit_test(a_worker_has_the_files_again_that_it_had),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
