/* The scratch files of runs: see launch.h. Those of a run that has ended by itself, without children, are used again.
 * Of any other run something may be left that still knows them. */
#include "child_failures.h"
#include <cli/base/cli.h>
#include "launch.h"
#include <cli/binary/locate.h>
#include "supervise.h"
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The shim overwrites this; if it does not, it never ran. A file that it has emptied means that there is no space.
 * Behind it the file is cleared up to this size. Returns 0 or a negative errno. */
static int write_header(int fd, int server, uint64_t most, size_t size)
{
    static union {
        struct pct_trace_header header;
        char bytes[PCT_HOST_TRACE_CLEARED];
    } head;
    head.header = (struct pct_trace_header){ .version = PCT_TRACE_FLAT,
                                             .header_size = PCT_TRACE_HEADER_SIZE,
                                             .launcher = getpid(),
                                             .supervisor = pct_supervised_by(),
                                             .server = server,
                                             .file_most = most };
    memcpy(head.header.magic, PCT_TRACE_MAGIC, sizeof head.header.magic);
    ssize_t put = pwrite(fd, &head, size, 0);
    return put == (ssize_t)size ? 0 : put < 0 ? -errno : -ENOSPC;
}

int pct_scratch_make_trace(char *path, size_t size, int server, uint64_t most)
{
    int fd = pct_locate_scratch(path, size, false);
    if (fd < 0) {
        pct_cli_say("cannot make a scratch file for the trace: %s", strerror(-fd));
        *path = 0;
        return -PCT_EXIT_INTERNAL;
    }
    int failed = write_header(fd, server, most, PCT_TRACE_HEADER_SIZE);
    if (!failed)
        return fd;
    pct_cli_say("cannot write to %s: %s", path, strerror(-failed));
    close(fd);
    unlink(path);
    *path = 0;
    return -PCT_EXIT_INTERNAL;
}

static int make_output(void)
{
    int fd = pct_locate_nameless();
    if (fd < 0) {
        pct_cli_say("cannot make a scratch file for the output: %s", strerror(-fd));
        return -PCT_EXIT_INTERNAL;
    }
    /* Standard output and standard error share it: each write goes to the end. */
    fcntl(fd, F_SETFL, O_APPEND);
    return fd;
}

static void remove_files(const struct pct_scratch *files)
{
    if (files->trace >= 0) {
        unlink(files->trace_path);
        close(files->trace);
    }
    if (files->output >= 0)
        close(files->output);
}

/* As if it were new, but for its length, if the run has left it as long as it was. False: it is not. */
static bool renew_trace(int fd, uint64_t most)
{
    struct stat status;
    uint64_t used = 0;
    if (fstat(fd, &status) || !status.st_nlink ||
        pread(fd, &used, sizeof used, offsetof(struct pct_trace_header, file_size)) != sizeof used)
        return false;
    size_t size = pct_host_trace_stays(used) ? (used + 4095) & ~(size_t)4095 : 0;
    if (!size || (off_t)size > status.st_size) {
        size = PCT_TRACE_HEADER_SIZE;
        if (ftruncate(fd, PCT_TRACE_HEADER_SIZE) || ftruncate(fd, status.st_size)) /* a host has it mapped */
            return false;
    }
    return !write_header(fd, 0, most, size);
}

/* As if they were new. False: they are not. */
static bool renew(const struct pct_scratch *files, uint64_t most)
{
    struct stat status;
    if (!renew_trace(files->trace, most))
        return false;
    if (files->output < 0)
        return true;
    /* The target had the same open file. */
    return !fstat(files->output, &status) && !(status.st_size && ftruncate(files->output, 0)) &&
           !lseek(files->output, 0, SEEK_SET) && !fcntl(files->output, F_SETFL, O_APPEND) &&
           !flock(files->output, LOCK_UN);
}

bool pct_scratch_renew(const struct pct_process *process)
{
    struct pct_scratch files = { .trace = process->trace, .output = process->output };
    return renew(&files, process->launch->trace_size);
}

/* What this worker has had: its host has that mapped, and points of runs that wrote there. Where runs are restored,
 * another's is taken only if there is no room to keep one more. False: none. */
static bool take_spare(struct pct_scratches *all, unsigned worker, bool restored, struct pct_scratch *files)
{
    unsigned at = all->count;
    while (at && all->spare[at - 1].worker != worker)
        at--;
    if (!at && (!all->count || (restored && all->count < sizeof all->spare / sizeof *all->spare)))
        return false;
    all->count--;
    at = at ? at - 1 : all->count;
    *files = all->spare[at];
    if (at < all->count)
        all->spare[at] = all->spare[all->count];
    return true;
}

int pct_scratch_open(struct pct_process *process, struct pct_launch *launch, bool capture)
{
    struct pct_scratches *all = &launch->scratches;
    const bool restored = launch->restore.wanted && !launch->restore.why[0];
    for (struct pct_scratch files; take_spare(all, process->worker, restored, &files); remove_files(&files))
        if ((files.output >= 0) == capture) {
            process->trace = files.trace;
            process->output = files.output;
            strcpy(process->trace_path, files.trace_path);
            return 0;
        }
    process->trace = pct_scratch_make_trace(process->trace_path, sizeof process->trace_path, 0, launch->trace_size);
    if (process->trace < 0)
        return -process->trace;
    process->output = capture ? make_output() : -1;
    return process->output < -1 ? -process->output : 0;
}

void pct_scratch_close(struct pct_process *process)
{
    if (!process->trace_path[0])
        return;
    struct pct_scratches *all = &process->launch->scratches;
    struct pct_scratch files = { .trace = process->trace, .output = process->output, .worker = process->worker };
    strcpy(files.trace_path, process->trace_path);
    /* Made new here and not when they are needed: with several workers, the next run goes on meanwhile. */
    if (process->clean && all->count < sizeof all->spare / sizeof *all->spare &&
        renew(&files, process->launch->trace_size)) {
        all->spare[all->count++] = files;
    } else {
        if (!process->childless)
            pct_children_remove(process->trace_path);
        remove_files(&files);
    }
    process->trace_path[0] = 0;
    process->output = process->trace = -1;
}

void pct_scratches_remove(struct pct_launch *launch)
{
    while (launch->scratches.count)
        remove_files(&launch->scratches.spare[--launch->scratches.count]);
}
