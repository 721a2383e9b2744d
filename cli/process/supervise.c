/* Supervision of the command: see supervise.h.
 *
 * The worker has a process group of its own, so that what hits its whole group spares the supervisor; the terminal's
 * signals reach the supervisor's, which is the one that the shell knows. It ends with the supervisor
 * (PR_SET_PDEATHSIG), as the runs end with it. */
#include "supervise.h"
#include "child_failures.h"
#include <cli/base/cli.h>
#include "descendants.h"
#include "launch.h"
#include "options.h"
#include <cli/binary/scope.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum {
    RUNS = PCT_HOST_QUEUE * PCT_FORKSERVERS + 2, /* that can be under way */
    CONVICTS = 64,       /* the last of them: those of a calibration are needed again and again */
    SUSPECTS = 2 * RUNS, /* the last of them, too */
    STRIKES = 3,         /* deaths in a row with one run under way alone, which is charged with them then */
    FRUITLESS = 6        /* workers that were killed in a row, without anything new */
};

/* How often the worker looks whether its supervisor was stopped. */
#define FOLLOW_SECONDS 0.25

struct note {
    bool under_way;
    char token[PCT_TOKEN_MAX], trace_path[PATH_MAX];
};

struct convict {
    int signal;
    char token[PCT_TOKEN_MAX], trace_path[PATH_MAX];
};

/* What both have. The supervisor writes while there is no worker. */
static struct shared {
    uint64_t reached;  /* all runs of the campaign before this one were begun */
    uint64_t progress; /* counts what was kept */
    bool follows;      /* the worker has stopped itself, because the supervisor was stopped */
    bool renews;       /* the worker ends so that another one begins anew, */
    bool anew;         /* which this one has done, or one before it */
    unsigned deaths;
    uint64_t alone; /* runs up to this one are under way alone */
    unsigned convicts;
    struct convict convict[CONVICTS];
    struct note runs[RUNS];
    /* Of the launch whose runs these are (`pct check` has one for each schedule): that of their scratch directories,
     * "" for none; and whether there is room for what replays them, as a shell reads it. */
    char base[PATH_MAX / 2];
    bool told;
    char options[1 << 14], command[1 << 18];
} * shared; /* NULL: there is no supervisor */

/* --- The worker --------------------------------------------------------------------------------------------------- */

static struct {
    pid_t supervisor;
    double looked;
} worker;

pid_t pct_supervised_by(void)
{
    return worker.supervisor;
}

void pct_supervised_begin(struct pct_process *process)
{
    for (unsigned i = 0; shared && i < RUNS && !process->note; i++)
        if (!shared->runs[i].under_way) {
            struct note *note = &shared->runs[i];
            strcpy(note->token, process->token);
            strcpy(note->trace_path, process->trace_path);
            note->under_way = true;
            process->note = i + 1;
        }
}

void pct_supervised_end(struct pct_process *process)
{
    if (shared && process->note)
        shared->runs[process->note - 1].under_way = false;
    process->note = 0;
}

int pct_supervised_convict(struct pct_process *process)
{
    for (unsigned i = 0; shared && i < shared->convicts && i < CONVICTS; i++) {
        const struct convict *convict = &shared->convict[i];
        if (strcmp(convict->token, process->token))
            continue;
        /* It stays: the same run is wanted again for a calibration, its repetition, and the campaign. */
        int fd = open(convict->trace_path, O_RDWR | O_CLOEXEC);
        if (fd >= 0) {
            close(process->trace);
            process->trace = fd;
        }
        return convict->signal;
    }
    return 0;
}

void pct_supervised_reach(uint64_t next)
{
    if (shared && next > shared->reached)
        shared->reached = next;
}

unsigned pct_supervised_deaths(void)
{
    return shared ? shared->deaths : 0;
}

bool pct_supervised_is_alone(uint64_t index)
{
    return shared && shared->deaths && index <= shared->alone;
}

void pct_supervised_progress(void)
{
    if (shared)
        shared->progress++;
}

void pct_supervised_begin_anew(void)
{
    if (!shared)
        return;
    shared->renews = shared->anew = true;
    _exit(PCT_EXIT_INTERNAL);
}

bool pct_supervised_is_anew(void)
{
    return shared && shared->anew;
}

void pct_supervised_follow(double now)
{
    pid_t parent;
    if (!shared || now < worker.looked + FOLLOW_SECONDS)
        return;
    worker.looked = now;
    if (pct_process_state(worker.supervisor, &parent) != 'T')
        return;
    shared->follows = true;
    raise(SIGSTOP);
    shared->follows = false;
}

/* False: it did not fit. */
static bool close_text(FILE *text)
{
    const bool whole = text && !fflush(text) && !ferror(text);
    if (text)
        fclose(text);
    return whole;
}

/* What the supervisor is to know of this launch. */
static void tell(const struct pct_launch *launch)
{
    FILE *options = fmemopen(shared->options, sizeof shared->options, "w");
    FILE *command = fmemopen(shared->command, sizeof shared->command, "w");
    strcpy(shared->base, launch->around.base);
    if (options)
        pct_options_print(options, launch, NULL, false);
    if (command)
        pct_cli_print_command(command, launch->command);
    const bool has_options = close_text(options), has_command = close_text(command);
    shared->told = has_options && has_command;
}

static void become_worker(pid_t supervisor, const sigset_t *mask)
{
    worker.supervisor = supervisor;
    signal(SIGTTOU, SIG_IGN); /* it may write to the terminal, though not in the foreground */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    if (getppid() != supervisor)
        _exit(PCT_EXIT_INTERNAL); /* it has ended before this could be asked for */
    sigprocmask(SIG_SETMASK, mask, NULL);
}

/* --- The supervisor ----------------------------------------------------------------------------------------------- */

static struct {
    struct pct_launch *launch;
    pid_t worker;
    sigset_t signals, mask; /* those that it waits for, and those that were blocked when it began */
    int passed_on;          /* the last signal that it has passed on to the worker, which may end by it, */
    bool ends;              /* and the terminal has sent it */
    bool said_stop;
    uint64_t progress;
    unsigned fruitless;
    unsigned suspects;          /* how many there were; the last of them: */
    uint64_t suspect[SUSPECTS]; /* hashes of their tokens: the texts would be most of pct's memory */
    uint64_t struck;            /* likewise: the run that was under way alone in the last death, */
    unsigned strikes;           /* and in how many in a row */
    int trace[CONVICTS];        /* of each convict, locked: other commands would remove it; below 1: none */
} supervisor;

static void add_if_heeded(sigset_t *set, int signal)
{
    struct sigaction action;
    if (!sigaction(signal, NULL, &action) && action.sa_handler != SIG_IGN)
        sigaddset(set, signal);
}

static bool start_worker(void)
{
    pid_t own = getpid(), pid;
    fflush(NULL);
    shared->follows = shared->renews = false;
    pid = fork();
    if (!pid) {
        become_worker(own, &supervisor.mask);
        return true;
    }
    supervisor.worker = pid;
    if (pid > 0)
        setpgid(pid, pid);
    return false;
}

/* End as the worker did, so that whoever waits for this process sees the same. */
__attribute__((noreturn)) static void end_by(int number)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    signal(number, SIG_DFL);
    kill(getpid(), number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    _exit(128 + number);
}

/* What the worker has left: processes, and files. */
static void clean_up(void)
{
    const char *kept = shared->convicts ? shared->convict[(shared->convicts - 1) % CONVICTS].trace_path : "";
    pct_launch_sweep(supervisor.launch);
    for (unsigned i = 0; i < RUNS; i++) {
        struct note *note = &shared->runs[i];
        if (!note->under_way)
            continue;
        note->under_way = false;
        pct_children_remove(note->trace_path);
        if (strcmp(note->trace_path, kept))
            unlink(note->trace_path);
    }
    pct_scratch_remove_of(supervisor.worker, kept);
}

static void clean_up_all(void)
{
    struct pct_launch *launch = supervisor.launch;
    for (unsigned i = 0; i < shared->convicts && i < CONVICTS; i++)
        unlink(shared->convict[i].trace_path);
    strcpy(launch->around.base, shared->base);
    pct_scope_finish(launch);
    pct_setup_teardown_finish(launch);
}

static uint64_t hash_of(const struct note *note)
{
    return XXH3_64bits(note->token, strlen(note->token));
}

/* Whether it was under way before when pct was killed. */
static bool is_suspect(const struct note *note)
{
    for (unsigned i = 0; i < supervisor.suspects && i < SUSPECTS; i++)
        if (supervisor.suspect[i] == hash_of(note))
            return true;
    return false;
}

/* Whether its target has come as far as its first call, or a command of --setup was under way: otherwise, somebody else
 * has killed pct. */
static bool has_begun(const struct note *note)
{
    int32_t pid = 0;
    if (supervisor.launch->around.setup)
        return true;
    const int fd = open(note->trace_path, O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd < 0 ? 0 : pread(fd, &pid, sizeof pid, offsetof(struct pct_trace_header, pid));
    if (fd >= 0)
        close(fd);
    return got == sizeof pid && pid;
}

/* The run was under way alone. Whether it has been so often enough: others kill pct, too, at any time, but hardly in
 * the same run again and again. */
static bool strike(const struct note *note)
{
    const uint64_t hash = hash_of(note);
    if (!has_begun(note))
        return false;
    supervisor.strikes = supervisor.struck == hash ? supervisor.strikes + 1 : 1;
    supervisor.struck = hash;
    return supervisor.strikes >= STRIKES;
}

static void convict(const struct note *note, int signal)
{
    int *trace = &supervisor.trace[shared->convicts % CONVICTS];
    struct convict *new = &shared->convict[shared->convicts++ % CONVICTS];
    unlink(new->trace_path); /* of one that nobody needs any more */
    if (*trace > 0)
        close(*trace);
    new->signal = signal;
    strcpy(new->token, note->token);
    strcpy(new->trace_path, note->trace_path);
    *trace = open(new->trace_path, O_RDONLY | O_CLOEXEC);
    if (*trace > 0)
        flock(*trace, LOCK_SH | LOCK_NB);
}

/* Charge the run that did it, if that is clear by now. Returns whether this worker has brought us further. */
static bool charge(int signal)
{
    bool further = shared->progress != supervisor.progress;
    const struct note *last = NULL;
    unsigned count = 0;
    supervisor.progress = shared->progress;
    for (unsigned i = 0; i < RUNS; i++)
        if (shared->runs[i].under_way) {
            last = &shared->runs[i];
            count++;
        }
    if (count == 1 && strike(last)) {
        convict(last, signal);
        return true;
    }
    for (unsigned i = 0; i < RUNS; i++)
        if (shared->runs[i].under_way && !is_suspect(&shared->runs[i])) {
            supervisor.suspect[supervisor.suspects++ % SUSPECTS] = hash_of(&shared->runs[i]);
            further = true;
        }
    return further;
}

/* The runs that were under way, with the commands that replay them. */
static void print_runs(void)
{
    for (unsigned i = 0; i < RUNS; i++) {
        if (!shared->runs[i].under_way || !shared->told)
            continue;
        pct_cli_print_quoted(stderr, pct_cli_program);
        fprintf(stderr, " replay %s", shared->options);
        pct_cli_print_quoted(stderr, shared->runs[i].token);
        fprintf(stderr, " -- %s\n", shared->command);
    }
}

static void say_death(int signal)
{
    unsigned count = 0;
    for (unsigned i = 0; i < RUNS; i++)
        count += shared->runs[i].under_way;
    pct_cli_say("pct itself was ended by signal %d (%s), which a target can send by a system call of its own; %u run%s "
                "under way",
                signal, sigdescr_np(signal) ? sigdescr_np(signal) : "unknown", count, count == 1 ? " was" : "s were");
    print_runs();
}

/* Where the user, or the system, means pct itself. */
static bool is_meant(int signal)
{
    return signal == supervisor.passed_on || signal == SIGPIPE || signal == SIGXCPU;
}

/* The worker was killed. Returns whether another one shall go on; otherwise it does not return. */
static bool recover(int signal)
{
    struct pct_launch *launch = supervisor.launch;
    bool meant = is_meant(signal), goes_on = launch->resumes && !meant && !supervisor.ends;
    if (!meant && (!shared->deaths || !goes_on))
        say_death(signal);
    if (goes_on) {
        supervisor.fruitless = charge(signal) ? 0 : supervisor.fruitless + 1;
        shared->alone = shared->reached;
    }
    if (!shared->deaths++ && goes_on)
        pct_cli_say("going on, with these runs again, one at a time");
    clean_up();
    if (goes_on && supervisor.fruitless < FRUITLESS) {
        pct_setup_teardown_renew(launch);
        return true;
    }
    clean_up_all();
    if (meant)
        end_by(signal);
    if (goes_on)
        pct_cli_say("this has happened %u times in a row without progress: giving up", FRUITLESS);
    _exit(128 + signal);
}

/* The worker wants another one to begin anew. */
static void renew(void)
{
    supervisor.progress = shared->progress;
    clean_up();
}

/* The worker has ended by itself. */
__attribute__((noreturn)) static void finish(int status)
{
    if (shared->deaths > 1)
        pct_cli_say("pct was ended by signals %u times in all, and went on each time", shared->deaths);
    if (shared->deaths)
        clean_up_all();
    _exit(status);
}

/* Look at the worker. Returns true in another one that goes on in its place. */
static bool look(void)
{
    int status;
    pid_t pid = waitpid(supervisor.worker, &status, WNOHANG | WUNTRACED);
    if (pid != supervisor.worker)
        return false;
    if (WIFSTOPPED(status)) {
        if (!shared->follows && !supervisor.said_stop) {
            pct_cli_say("pct itself was stopped by signal %d (%s), which a target can send by a system call of its "
                        "own; it goes on",
                        WSTOPSIG(status), sigdescr_np(WSTOPSIG(status)));
            supervisor.said_stop = true;
        }
        kill(supervisor.worker, SIGCONT);
        return false;
    }
    if (WIFEXITED(status) && shared->renews)
        renew();
    else if (WIFEXITED(status))
        finish(WEXITSTATUS(status));
    else if (!recover(WTERMSIG(status)))
        return false;
    if (start_worker())
        return true;
    if (supervisor.worker < 0) {
        pct_cli_say("fork: %s", strerror(errno));
        clean_up_all();
        _exit(PCT_EXIT_INTERNAL);
    }
    return false;
}

/* Ctrl-Z: stop as the default is, with the worker and its helpers. (A shell may have left us without anybody who could
 * continue us; then the kernel does not stop us.) */
static void hold(void)
{
    sigset_t stop;
    siginfo_t info;
    kill(-supervisor.worker, SIGSTOP);
    waitid(P_PID, (id_t)supervisor.worker, &info, WEXITED | WSTOPPED | WNOWAIT);
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    kill(getpid(), SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &stop, NULL);
    sigprocmask(SIG_BLOCK, &stop, NULL);
    kill(-supervisor.worker, SIGCONT);
}

/* The worker must see who has sent it, because runs send signals, too. The terminal's are for its helpers as well. */
static void pass_on(siginfo_t *info)
{
    supervisor.passed_on = info->si_signo;
    if (info->si_code > 0) {
        supervisor.ends = true;
        kill(-supervisor.worker, info->si_signo);
        return;
    }
    info->si_code = SI_QUEUE;
    syscall(SYS_rt_sigqueueinfo, supervisor.worker, info->si_signo, info);
}

void pct_supervise(struct pct_launch *launch)
{
    static const int awaited[] = { SIGQUIT, SIGTSTP };
    if (launch->alone)
        return;
    /* It does the work of this launch, too: with a worker of its own, each would be a process more. */
    if (worker.supervisor) {
        tell(launch);
        return;
    }
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (shared == MAP_FAILED) {
        shared = NULL;
        return;
    }
    supervisor.launch = launch;
    pct_signals_of_ours(&supervisor.signals);
    for (size_t i = 0; i < sizeof awaited / sizeof *awaited; i++)
        add_if_heeded(&supervisor.signals, awaited[i]);
    sigaddset(&supervisor.signals, SIGCONT);
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_BLOCK, &supervisor.signals, &supervisor.mask);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    tell(launch);
    if (start_worker())
        return;
    if (supervisor.worker < 0) {
        sigprocmask(SIG_SETMASK, &supervisor.mask, NULL);
        shared = NULL;
        return;
    }
    for (;;) {
        siginfo_t info;
        if (sigwaitinfo(&supervisor.signals, &info) < 0)
            continue;
        if (info.si_signo == SIGCHLD) {
            if (look())
                return;
        } else if (info.si_signo == SIGTSTP) {
            hold();
        } else if (info.si_signo == SIGCONT) {
            kill(-supervisor.worker, SIGCONT);
        } else {
            pass_on(&info);
        }
    }
}
