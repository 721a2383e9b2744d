/* What this machine allows: see machine.h. The kernel's limits of processes are in machine_limits.c. */
#include "machine.h"
#include "launch.h"
#include "machine_limits.h"
#include <cli/binary/locate.h>
#include <cli/binary/watch.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/userfaultfd.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

void pct_machine_add(struct pct_machine *m, enum pct_machine_kind kind, const char *what, const char *way,
                     const char *format, ...)
{
    if (m->count == PCT_MACHINE_FACTS)
        return;
    struct pct_machine_fact *fact = &m->facts[m->count++];
    *fact = (struct pct_machine_fact){ .kind = kind, .what = what, .way = way };
    va_list list;
    va_start(list, format);
    vsnprintf(fact->text, sizeof fact->text, format, list);
    va_end(list);
}

bool pct_machine_read(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, size - 1);
    if (fd >= 0)
        close(fd);
    text[got > 0 ? got : 0] = 0;
    text[strcspn(text, "\n")] = 0;
    return got > 0;
}

static void look_at_kernel(struct pct_machine *m)
{
    struct utsname system;
    if (!uname(&system))
        pct_machine_add(m, PCT_MACHINE_NOTE, "system", "", "%s %s, %s", system.sysname, system.release, system.machine);
}

/* The library lies where programs may be executed from, and can be read. */
static void look_at_library(struct pct_machine *m, const char *given)
{
    char path[PATH_MAX], error[PATH_MAX + 256];
    if (pct_locate_library(given, path, sizeof path, error, sizeof error)) {
        pct_machine_add(m, PCT_MACHINE_NOT, "library", "install pct again, or name it with --lib", "%.300s", error);
        return;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *map = fd < 0 ? MAP_FAILED : mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    int reason = errno;
    if (map != MAP_FAILED)
        munmap(map, 1);
    if (fd >= 0)
        close(fd);
    if (map == MAP_FAILED)
        pct_machine_add(m, PCT_MACHINE_NOT, "library", "put it on a file system that is mounted without noexec",
                        "%.250s cannot be loaded into programs: %s", path, strerror(reason));
    else
        pct_machine_add(m, PCT_MACHINE_OK, "library", "", "%.280s can be loaded", path);
}

static void look_at_proc(struct pct_machine *m)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
    if (access("/proc/self/exe", F_OK))
        pct_machine_add(m, PCT_MACHINE_NOT, "/proc", "mount -t proc proc /proc",
                        "is not mounted: pct does not find its library, nor threads that it did not see start");
    else if (access(path, R_OK))
        pct_machine_add(m, PCT_MACHINE_LIMITED, "/proc", "",
                        "does not list children: processes that a run leaves behind may go on after it");
    else
        pct_machine_add(m, PCT_MACHINE_OK, "/proc", "", "is there, with threads and children");
}

static void look_at_addresses(struct pct_machine *m)
{
    if (!pct_launch_is_random())
        pct_machine_add(m, PCT_MACHINE_OK, "addresses", "", "are the same in each run (personality)");
    else
        pct_machine_add(m, PCT_MACHINE_LIMITED, "addresses",
                        "a container: --security-opt seccomp=FILE with a profile that allows personality, or "
                        "seccomp=unconfined; as root: sysctl kernel.randomize_va_space=0",
                        "differ between runs, as personality is refused: replays of programs whose behaviour depends "
                        "on addresses may differ, and campaigns guarantee nothing");
}

/* As a debugger starts a program. */
static bool may_trace(void)
{
    int status = 0;
    pid_t pid = fork();
    if (!pid) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
            _exit(1);
        raise(SIGSTOP);
        _exit(0);
    }
    if (pid < 0)
        return false;
    bool stopped = waitpid(pid, &status, 0) == pid && WIFSTOPPED(status);
    if (stopped) {
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
    }
    return stopped;
}

static void look_at_ptrace(struct pct_machine *m)
{
    if (may_trace())
        pct_machine_add(m, PCT_MACHINE_OK, "debuggers", "", "can start programs (ptrace): replay --gdb, --lldb");
    else
        pct_machine_add(m, PCT_MACHINE_LIMITED, "debuggers",
                        "a container: --cap-add=SYS_PTRACE; as root: sysctl kernel.yama.ptrace_scope=1; or replay the "
                        "token on another machine",
                        "cannot start programs (ptrace is refused): replay --gdb and --lldb do not work");
}

static void look_at_watchpoints(struct pct_machine *m)
{
    struct pct_watch_refusal refusal;
    if (pct_watch_try(&refusal))
        pct_machine_add(m, PCT_MACHINE_OK, "watchpoints", "", "work (perf_event_open): --watch");
    else
        pct_machine_add(m, PCT_MACHINE_LIMITED, "watchpoints",
                        *refusal.way ? refusal.way : "--memory=globals --focus=VARIABLE patches the program instead",
                        "%s: --watch does not work", refusal.why);
}

static void look_at_io_uring(struct pct_machine *m)
{
    struct io_uring_params parameters = { 0 };
    long fd = syscall(SYS_io_uring_setup, 1, &parameters);
    if (fd >= 0)
        close((int)fd);
    if (fd >= 0)
        pct_machine_add(m, PCT_MACHINE_OK, "io_uring", "",
                        "is there; pct orders what waits for it through liburing, its other users partly");
    else
        pct_machine_add(m, PCT_MACHINE_NOTE, "io_uring",
                        "if the program uses it: allow it in the container's seccomp profile; as root: sysctl "
                        "kernel.io_uring_disabled=0",
                        "is refused (%s): a program that can do without it may behave differently here",
                        strerror(errno));
}

/* pct uses none; what a program under test may do, and pct then does not see. */
static void look_at_userfaultfd(struct pct_machine *m)
{
    long fd = syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
    if (fd >= 0)
        close((int)fd);
    pct_machine_add(m, PCT_MACHINE_NOTE, "userfaultfd", "",
                    fd >= 0 ? "is there; pct needs none, and does not see a program's threads wait for page faults"
                            : "is refused (%s); pct needs none",
                    strerror(errno));
}

static void look_at_families(struct pct_machine *m)
{
    int id = shmget(IPC_PRIVATE, 1, 0600);
    if (id >= 0) {
        shmctl(id, IPC_RMID, NULL);
        pct_machine_add(m, PCT_MACHINE_OK, "processes", "", "of a run share their virtual time (System V memory)");
        return;
    }
    pct_machine_add(m, PCT_MACHINE_LIMITED, "processes",
                    errno == ENOSPC ? "remove unused segments (ipcs -m, ipcrm), or raise kernel.shmmni"
                                    : "allow shmget in the container's seccomp profile",
                    "of a run have times of their own (shmget: %s): sleeps of several processes may end in another "
                    "order than natively",
                    strerror(errno));
}

static void look_at_seccomp(struct pct_machine *m)
{
    char line[128] = "";
    int mode = 0;
    FILE *in = fopen("/proc/self/status", "re");
    while (in && fgets(line, sizeof line, in) && sscanf(line, "Seccomp: %d", &mode) != 1)
        ;
    if (in)
        fclose(in);
    if (mode)
        pct_machine_add(m, PCT_MACHINE_NOTE, "seccomp", "",
                        "a filter of system calls is in force: what it refuses "
                        "to pct stands in the other lines");
}

void pct_machine_examine(struct pct_machine *machine, const char *library)
{
    machine->count = 0;
    look_at_kernel(machine);
    pct_machine_look_at_container(machine);
    look_at_seccomp(machine);
    look_at_library(machine, library);
    look_at_proc(machine);
    look_at_addresses(machine);
    look_at_families(machine);
    look_at_ptrace(machine);
    look_at_watchpoints(machine);
    look_at_io_uring(machine);
    look_at_userfaultfd(machine);
    pct_machine_look_at_limits(machine);
}

enum pct_machine_kind pct_machine_worst(const struct pct_machine *machine)
{
    enum pct_machine_kind worst = PCT_MACHINE_OK;
    for (size_t i = 0; i < machine->count; i++)
        if (machine->facts[i].kind > worst)
            worst = machine->facts[i].kind;
    return worst;
}
