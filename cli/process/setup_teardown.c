/* Scratch directories and the commands around runs: see setup_teardown.h. */
#include "setup_teardown.h"
#include <cli/base/cli.h>
#include "environment.h"
#include "launch.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static bool whole; /* all was removed */

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status;
    (void)place;
    whole = !(type == FTW_DP || type == FTW_DNR ? rmdir(path) : unlink(path)) && whole;
    return 0;
}

static int remove_below(const char *path, const struct stat *status, int type, struct FTW *place)
{
    if (place->level)
        return remove_entry(path, status, type, place);
    whole = whole && type != FTW_DNR;
    if (type == FTW_DP && (status->st_mode & ACCESSPERMS) != S_IRWXU) /* an empty one may be closed, too */
        chmod(path, S_IRWXU);
    return 0;
}

enum { DIRECTORIES = 16 /* that nftw() may have open */, PATIENCE = 10 /* seconds that a last teardown may take */ };

static bool opened; /* a directory that could not be read */

static int open_up(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)place;
    if ((type == FTW_D || type == FTW_DNR) && (status->st_mode & S_IRWXU) != S_IRWXU && !chmod(path, S_IRWXU))
        opened = opened || type == FTW_DNR;
    return 0;
}

/* All that `visit` removes. Programs leave directories from which nobody may take anything (mode 555), or that nobody
 * may read: these are opened up first. False: something is left. */
static bool remove_by(const char *path, int (*visit)(const char *, const struct stat *, int, struct FTW *))
{
    whole = true;
    nftw(path, visit, DIRECTORIES, FTW_DEPTH | FTW_PHYS);
    if (whole)
        return true;
    do {
        opened = false;
        nftw(path, open_up, DIRECTORIES, FTW_PHYS);
    } while (opened);
    whole = true;
    nftw(path, visit, DIRECTORIES, FTW_DEPTH | FTW_PHYS);
    return whole;
}

static void remove_tree(const char *path)
{
    remove_by(path, remove_entry);
}

#define SCRATCH "pct-scratch-"
#define MARK "/.pct-goes-on"

/* Lock a file in the directory: who finds it there and can lock it knows that its command was killed, and that nothing
 * in it is kept. */
static void set_mark(struct pct_setup_teardown *around)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s" MARK, around->base);
    around->mark = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (around->mark >= 0)
        flock(around->mark, LOCK_EX | LOCK_NB);
}

static void remove_mark(const struct pct_setup_teardown *around)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s" MARK, around->base);
    unlink(path);
}

/* Whether this directory is one of ours, of a command that was killed, and not just being made. */
static bool is_abandoned(const char *path)
{
    enum { YOUNG = 60 /* seconds: it may be about to be locked */ };
    char mark[PATH_MAX];
    struct stat directory, file;
    if ((size_t)snprintf(mark, sizeof mark, "%s" MARK, path) >= sizeof mark || lstat(path, &directory) ||
        !S_ISDIR(directory.st_mode) || directory.st_uid != geteuid())
        return false;
    int fd = open(mark, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool abandoned = fd >= 0 && !fstat(fd, &file) && S_ISREG(file.st_mode) && time(NULL) - file.st_mtime > YOUNG &&
                     !flock(fd, LOCK_EX | LOCK_NB);
    if (fd >= 0)
        close(fd);
    return abandoned;
}

/* Those of commands that were killed, which nobody has removed. */
static void remove_abandoned(const char *temporary)
{
    char path[PATH_MAX];
    DIR *directory = opendir(temporary);
    for (const struct dirent *entry; directory && (entry = readdir(directory));)
        if (!strncmp(entry->d_name, SCRATCH, sizeof SCRATCH - 1) &&
            (size_t)snprintf(path, sizeof path, "%s/%s", temporary, entry->d_name) < sizeof path && is_abandoned(path))
            remove_tree(path);
    if (directory)
        closedir(directory);
}

int pct_setup_teardown_prepare(struct pct_launch *launch)
{
    struct pct_setup_teardown *around = &launch->around;
    const char *temporary = getenv("TMPDIR");
    if (!around->scratch)
        return 0;
    temporary = temporary && *temporary == '/' ? temporary : "/tmp";
    remove_abandoned(temporary);
    if ((size_t)snprintf(around->base, sizeof around->base, "%s/" SCRATCH "XXXXXX", temporary) >= sizeof around->base ||
        !mkdtemp(around->base)) {
        pct_cli_say("cannot make a scratch directory %s: %s", around->base, strerror(errno));
        around->base[0] = 0;
        return PCT_EXIT_INTERNAL;
    }
    set_mark(around);
    /* The target is started from another place. */
    char here[PATH_MAX / 2], program[PATH_MAX];
    if (around->enter && launch->program[0] != '/' && getcwd(here, sizeof here) &&
        (size_t)snprintf(program, sizeof program, "%s/%s", here, launch->program) < sizeof program)
        strcpy(launch->program, program);
    return 0;
}

void pct_setup_teardown_finish(struct pct_launch *launch)
{
    char path[PATH_MAX];
    if (!launch->around.base[0])
        return;
    for (unsigned worker = 0; worker < PCT_FORKSERVERS; worker++)
        remove_tree(pct_setup_teardown_directory(launch, worker, path, sizeof path));
    remove_mark(&launch->around);
    rmdir(launch->around.base); /* unless something is kept */
    if (launch->around.mark > 0)
        close(launch->around.mark);
    launch->around.mark = 0;
}

static int remove_but_mark(const char *path, const struct stat *status, int type, struct FTW *place)
{
    return strcmp(path + place->base, &MARK[1]) ? remove_below(path, status, type, place) : 0;
}

void pct_setup_teardown_renew(const struct pct_launch *launch)
{
    if (launch->around.base[0])
        remove_by(launch->around.base, remove_but_mark);
}

const char *pct_setup_teardown_directory(const struct pct_launch *launch, unsigned worker, char *buffer, size_t size)
{
    buffer[0] = 0;
    if (launch->around.base[0])
        snprintf(buffer, size, "%s/%03u", launch->around.base, worker);
    return buffer;
}

int pct_setup_teardown_open(const struct pct_process *process)
{
    char path[PATH_MAX];
    if (!pct_setup_teardown_directory(process->launch, process->worker, path, sizeof path)[0] || !mkdir(path, 0700))
        return 0;
    if (errno == EEXIST) {
        remove_by(path, remove_below); /* what has come since it was emptied, of a daemon that was ended behind that */
        return 0;
    }
    pct_cli_say("cannot make a scratch directory %s: %s", path, strerror(errno));
    return PCT_EXIT_INTERNAL;
}

/* In the child. */
__attribute__((noreturn)) static void become(const struct pct_process *process, const char *command, char **environment,
                                             const char *directory)
{
    const struct pct_launch *launch = process->launch;
    pct_launch_go_aside(launch, process->output);
    if (launch->around.enter && chdir(directory))
        _exit(126);
    pct_launch_become_shell(launch, command, environment);
}

bool pct_setup_teardown_start(struct pct_process *process, enum pct_phase phase)
{
    const struct pct_launch *launch = process->launch;
    const char *command = phase == PCT_PHASE_SETUP ? launch->around.setup : launch->around.teardown;
    char directory[PATH_MAX];
    if (!command)
        return false;
    pct_setup_teardown_directory(launch, process->worker, directory, sizeof directory);
    char **environment = pct_environment_around(directory[0] ? directory : NULL);
    process->phase = phase;
    process->errand = 0;
    process->deadline = launch->timeout > 0 ? pct_cli_now() + launch->timeout : 0;
    fflush(NULL);
    pid_t pid = environment ? fork() : -1;
    if (!pid)
        become(process, command, environment, directory);
    if (pid > 0) {
        process->errand = pid;
        setpgid(pid, pid);
    } else {
        pct_cli_say("%s cannot be started: %s", command, strerror(errno));
        process->trouble = phase;
        process->errand_status = W_EXITCODE(126, 0);
    }
    free(environment);
    return true;
}

bool pct_setup_teardown_is_over(struct pct_process *process)
{
    siginfo_t info = { 0 };
    if (!process->errand)
        return true;
    if (waitid(P_PID, (id_t)process->errand, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid != process->errand)
        return false;
    /* What it has started in the background is there for the run. */
    int status = 0;
    while (waitpid(process->errand, &status, 0) < 0 && errno == EINTR)
        ;
    process->errand = 0;
    if (status) {
        process->trouble = process->phase;
        process->errand_status = status;
    }
    return true;
}

void pct_setup_teardown_kill(struct pct_process *process)
{
    if (!process->errand)
        return;
    kill(-process->errand, SIGKILL);
    kill(process->errand, SIGKILL);
    siginfo_t info;
    while (waitid(P_PID, (id_t)process->errand, &info, WEXITED | WNOWAIT) && errno == EINTR)
        ;
    pct_setup_teardown_is_over(process);
}

/* Where it is put aside. */
static void format_aside(const struct pct_process *process, char *path, size_t size)
{
    snprintf(path, size, "%s/run-%llu", process->launch->around.base, (unsigned long long)process->index);
}

void pct_setup_teardown_clear(struct pct_process *process)
{
    struct pct_launch *launch = process->launch;
    char path[PATH_MAX], aside[PATH_MAX];
    if (!pct_setup_teardown_directory(launch, process->worker, path, sizeof path)[0])
        return;
    format_aside(process, aside, sizeof aside);
    const bool passed = !process->status && process->trouble == PCT_PHASE_RUN;
    if (passed && remove_by(path, remove_below))
        return;
    remove_tree(aside); /* of an earlier run with this index: the trial of a fork server is one */
    if (rename(path, aside))
        return;
    process->aside = true;
    /* It is in that directory. */
    if (launch->around.enter)
        pct_forkserver_end(launch, process->worker);
}

void pct_setup_teardown_end(struct pct_process *process)
{
    if (process->phase == PCT_PHASE_RUN && pct_setup_teardown_start(process, PCT_PHASE_TEARDOWN)) {
        double end = pct_cli_now() + PATIENCE;
        while (!pct_setup_teardown_is_over(process) && pct_cli_now() < end)
            usleep(5000);
        pct_setup_teardown_kill(process);
    }
    process->phase = PCT_PHASE_OVER;
    pct_setup_teardown_clear(process);
}

void pct_setup_teardown_close(struct pct_process *process)
{
    char path[PATH_MAX];
    if (!process->aside)
        return;
    format_aside(process, path, sizeof path);
    remove_tree(path);
    process->aside = false;
}

void pct_setup_teardown_keep(FILE *out, struct pct_process *process)
{
    char path[PATH_MAX], kept[PATH_MAX];
    if (!process->aside)
        return;
    format_aside(process, path, sizeof path);
    if (!rmdir(path))
        return;
    /* Runs that are made to know why this one failed may have its number. */
    snprintf(kept, sizeof kept, "%s/kept-%llu", process->launch->around.base, (unsigned long long)process->index);
    if (rename(path, kept))
        return;
    process->aside = false;
    remove_mark(&process->launch->around); /* from now on, somebody wants it */
    fputs("pct: what it left in its scratch directory is kept in ", out);
    pct_cli_print_quoted(out, kept);
    fputc('\n', out);
}
