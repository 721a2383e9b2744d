/* Containers, control groups and limits: see machine_limits.h. Control groups are those of version 2; of version 1 only
 * the memory is looked at. */
#include "machine_limits.h"
#include <cli/binary/locate.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { MIB = 1 << 20, LITTLE_SCRATCH = 256, LITTLE_SPACE = 4096, FEW_PROCESSES = 64 };

static const char *container_name(void)
{
    const char *set = getenv("container"); /* by systemd-nspawn, podman, lxc */
    char text[256];
    if (!access("/.dockerenv", F_OK))
        return "Docker";
    if (!access("/run/.containerenv", F_OK))
        return "Podman";
    if (set && *set)
        return set;
    if (getenv("KUBERNETES_SERVICE_HOST"))
        return "Kubernetes";
    if (pct_machine_read("/proc/sys/kernel/osrelease", text, sizeof text) && strstr(text, "microsoft"))
        return "WSL";
    return NULL;
}

void pct_machine_look_at_container(struct pct_machine *m)
{
    const char *name = container_name();
    if (name)
        pct_machine_add(m, PCT_MACHINE_NOTE, "container", "",
                        "%.60s; its defaults may refuse what pct uses, as the other lines say", name);
    else
        pct_machine_add(m, PCT_MACHINE_NOTE, "container", "", "none is seen");
}

/* A file of our own control group. */
static bool read_group(const char *name, char *text, size_t size)
{
    char line[PATH_MAX], path[2 * PATH_MAX];
    FILE *in = fopen("/proc/self/cgroup", "re");
    bool found = false;
    while (in && !found && fgets(line, sizeof line, in)) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "0::", 3))
            continue;
        /* In a container its path may be that of the host, and its own group the root. */
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/%s", line + 3, name);
        found = pct_machine_read(path, text, size);
    }
    if (in)
        fclose(in);
    snprintf(path, sizeof path, "/sys/fs/cgroup/%s", name);
    return found || pct_machine_read(path, text, size);
}

static void look_at_cpus(struct pct_machine *m)
{
    cpu_set_t set;
    char text[64];
    unsigned long quota = 0, period = 0;
    int cpus = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
    if (read_group("cpu.max", text, sizeof text) && sscanf(text, "%lu %lu", &quota, &period) == 2 && period)
        pct_machine_add(m, PCT_MACHINE_NOTE, "CPUs", "",
                        "%d, of which the control group gives %.1f: with more jobs (-j) runs do not end sooner, and "
                        "--timeout is real time",
                        cpus, (double)quota / (double)period);
    else
        pct_machine_add(m, PCT_MACHINE_OK, "CPUs", "", "%d: more runs at a time than that (-j %d) are no faster", cpus,
                        cpus);
}

static void look_at_memory(struct pct_machine *m)
{
    char text[64];
    unsigned long long bytes = 0;
    if (!read_group("memory.max", text, sizeof text) &&
        !pct_machine_read("/sys/fs/cgroup/memory/memory.limit_in_bytes", text, sizeof text))
        return;
    /* Version 1 says a number near 2^63 for none. */
    if (sscanf(text, "%llu", &bytes) == 1 && bytes < 1ULL << 60)
        pct_machine_add(m, PCT_MACHINE_NOTE, "memory",
                        "--memory-limit: then allocations fail, at the same place in each replay",
                        "the control group gives %llu MiB; what takes more is killed, which looks like a crash "
                        "(status 137)",
                        bytes / MIB);
}

static void look_at_space(struct pct_machine *m)
{
    struct rlimit limit;
    char text[16];
    if (!getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur / MIB < LITTLE_SPACE)
        pct_machine_add(m, PCT_MACHINE_LIMITED, "address space", "ulimit -v unlimited",
                        "%llu MiB for each process: traces are short, and allocations of programs fail",
                        (unsigned long long)limit.rlim_cur / MIB);
    else
        pct_machine_add(m, PCT_MACHINE_OK, "address space", "", "is not limited");
    if (pct_machine_read("/proc/sys/vm/overcommit_memory", text, sizeof text) && text[0] == '2')
        pct_machine_add(m, PCT_MACHINE_NOTE, "overcommit", "as root: sysctl vm.overcommit_memory=0",
                        "is off: what a trace may take is counted as memory, so that few runs fit at a time");
}

static void look_at_processes(struct pct_machine *m)
{
    struct rlimit limit;
    char text[64];
    unsigned long long most = ULLONG_MAX, group;
    if (!getrlimit(RLIMIT_NPROC, &limit) && limit.rlim_cur != RLIM_INFINITY && geteuid())
        most = limit.rlim_cur;
    if (read_group("pids.max", text, sizeof text) && sscanf(text, "%llu", &group) == 1 && group < most)
        most = group;
    if (most < FEW_PROCESSES)
        pct_machine_add(
            m, PCT_MACHINE_LIMITED, "threads", "ulimit -u, or the pids limit of the container (--pids-limit)",
            "at most %llu at a time: each run takes one beside the program's own, and pct two for each job", most);
}

static void look_at_scratch(struct pct_machine *m)
{
    struct statvfs status;
    char path[PATH_MAX];
    int fd = pct_locate_scratch(path, sizeof path, false);
    if (fd >= 0)
        unlink(path);
    if (fd < 0 || fstatvfs(fd, &status)) {
        pct_machine_add(m, PCT_MACHINE_NOT, "scratch files", "TMPDIR=/a/directory/with/room",
                        "there is no place for traces");
        return;
    }
    close(fd);
    unsigned long long room = (unsigned long long)status.f_bavail * status.f_frsize / MIB;
    if (room < LITTLE_SCRATCH)
        pct_machine_add(m, PCT_MACHINE_LIMITED, "scratch files",
                        "XDG_RUNTIME_DIR=/a/directory/with/room; a container: --shm-size=1g",
                        "traces have %llu MiB of room: of long runs only the first steps are recorded", room);
    else
        pct_machine_add(m, PCT_MACHINE_OK, "scratch files", "", "traces have %llu MiB of room", room);
}

static void look_at_cores(struct pct_machine *m)
{
    char pattern[256];
    struct rlimit limit;
    if (!pct_machine_read("/proc/sys/kernel/core_pattern", pattern, sizeof pattern))
        return;
    if (pattern[0] == '|')
        pct_machine_add(m, PCT_MACHINE_NOTE, "core dumps", "as root: sysctl kernel.core_pattern=core",
                        "go to a program (%.100s): run --save keeps none", pattern + 1);
    else if (!getrlimit(RLIMIT_CORE, &limit) && !limit.rlim_cur)
        pct_machine_add(m, PCT_MACHINE_NOTE, "core dumps", "ulimit -c unlimited",
                        "are off: run --save keeps traces alone");
    else
        pct_machine_add(m, PCT_MACHINE_OK, "core dumps", "", "are files: run --save keeps them");
}

void pct_machine_look_at_limits(struct pct_machine *m)
{
    look_at_cpus(m);
    look_at_memory(m);
    look_at_space(m);
    look_at_processes(m);
    look_at_scratch(m);
    look_at_cores(m);
}
