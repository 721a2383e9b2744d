/* What runs have as their standard input: see input.h. */
#include "input.h"
#include "launch.h"
#include <cli/base/cli.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* How long a pipe may say nothing before its reader takes it for one that nobody means: CI services and supervisors
 * give their jobs a pipe that never ends. */
#define SILENCE_MS 1000

static bool is_pipe(const struct stat *status)
{
    return S_ISFIFO(status->st_mode) || S_ISSOCK(status->st_mode);
}

/* A description of its own of the file that this descriptor is open for, which begins at the start; -1: none. */
static int open_again(int fd)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* All that comes, in a file without a name; returns it, or a negative errno. silence: -ETIME if nothing comes for so
 * many milliseconds, -1: for ever; most: -EFBIG if more comes, 0: any length. */
static int keep_some(int from, int silence, size_t most)
{
    char block[1 << 16];
    struct pollfd wait = { .fd = from, .events = POLLIN };
    size_t size = 0;
    ssize_t got;
    int kept = memfd_create("pct-input", MFD_CLOEXEC), failed = kept < 0 ? -errno : 0;
    while (!failed) {
        if (silence >= 0 && !poll(&wait, 1, silence))
            failed = -ETIME;
        else if (!(got = read(from, block, sizeof block)))
            break;
        else if (got > 0)
            failed = most && (size += (size_t)got) > most ? -EFBIG : pct_cli_write_all(kept, block, (size_t)got);
        else if (errno != EINTR)
            failed = -errno;
    }
    if (failed && kept >= 0)
        close(kept);
    return failed ? failed : kept;
}

static int keep(int from)
{
    return keep_some(from, -1, 0);
}

static bool ends_with(const char *from, const char *to, const char *with)
{
    const size_t length = strlen(with);
    return (size_t)(to - from) >= length && !strncmp(to - length, with, length);
}

/* The next pipe that this argument names, as a shell's <(COMMAND) does; -1: there is none. *rest: where to go on. */
static int next_pipe(const char *argument, const char **rest)
{
    static const char folder[] = "/fd/";
    for (const char *at; (at = strstr(*rest, folder));) {
        struct stat status;
        const char *digits = *rest = at + strlen(folder);
        const long fd = *digits >= '0' && *digits <= '9' ? strtol(digits, NULL, 10) : -1;
        if ((ends_with(argument, at, "/dev") || ends_with(argument, at, "/proc/self")) && fd > STDERR_FILENO &&
            fd <= INT_MAX && !fstat((int)fd, &status) && S_ISFIFO(status.st_mode) &&
            (fcntl((int)fd, F_GETFL) & O_ACCMODE) == O_RDONLY)
            return (int)fd;
    }
    return -1;
}

/* Put a file of what comes in the place of each pipe that an argument of the target names: one run alone could read it.
 * What opens the descriptor by that name reads the file from its start. */
static int keep_arguments(struct pct_launch *launch)
{
    enum { MOST = 64 << 20 };
    const char *rest = *launch->command;
    for (char **at = launch->command; *at;) {
        const int fd = next_pipe(*at, &rest), kept = fd < 0 ? -1 : keep_some(fd, 5 * SILENCE_MS, MOST);
        if (fd < 0) {
            rest = *++at;
            continue;
        }
        if (kept < 0 || dup2(kept, fd) < 0)
            return pct_cli_usage("%s is a pipe, which one run alone can read, and it cannot be kept for the others: "
                                 "%s: write it to a file first",
                                 *at,
                                 kept == -ETIME   ? "it has not ended, and nothing came for 5 s"
                                 : kept == -EFBIG ? "it has more than 64 MiB"
                                                  : strerror(kept < 0 ? -kept : errno));
        close(kept);
        launch->arguments_kept = true;
    }
    return 0;
}

/* Have this as our standard input: we read nothing else there, and what we start (`pct explore` before a campaign) gets
 * the same. */
static int become_input(int fd)
{
    if (fd < 0 || dup2(fd, STDIN_FILENO) < 0) {
        pct_cli_say("standard input cannot be kept for the runs: %s", strerror(fd < 0 ? -fd : errno));
        return PCT_EXIT_INTERNAL;
    }
    close(fd);
    return 0;
}

int pct_input_settle(struct pct_launch *launch)
{
    struct stat status;
    struct pollfd wait = { .fd = STDIN_FILENO, .events = POLLIN };
    bool ours = !launch->stdin_file, all = !ours && !strcmp(launch->stdin_file, "-");
    int failed = launch->alone ? 0 : keep_arguments(launch);
    if (failed)
        return failed;
    if (!ours && !all) {
        int fd = open(launch->stdin_file, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &status))
            failed = pct_cli_usage("--stdin=%s: %s", launch->stdin_file, strerror(errno));
        else if (S_ISDIR(status.st_mode))
            failed = pct_cli_usage("--stdin=%s: it is a directory", launch->stdin_file);
        else if (is_pipe(&status) && !(failed = become_input(keep(fd))))
            launch->stdin_file = NULL; /* nothing that could be read again */
        if (fd >= 0)
            close(fd);
        return failed;
    }
    launch->stdin_file = NULL;
    if (fstat(STDIN_FILENO, &status) || !is_pipe(&status))
        return 0;
    if (all || poll(&wait, 1, SILENCE_MS) != 0)
        return become_input(keep(STDIN_FILENO));
    pct_cli_say("standard input is a pipe from which nothing came for a second: the runs read /dev/null "
                "(`--stdin -` waits for it)");
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return become_input(null < 0 ? -errno : null);
}

/* Find the name of the file that standard input was redirected from, for the line that replays a run; relative to the
 * current directory if it lies in there. False: it has none, or is no file. */
static bool find_name(const char **found)
{
    static char name[PATH_MAX];
    char here[PATH_MAX];
    struct stat status, named;
    ssize_t length = readlink("/proc/self/fd/0", name, sizeof name - 1);
    if (length <= 0 || fstat(STDIN_FILENO, &status) || !S_ISREG(status.st_mode))
        return false;
    name[length] = 0;
    if (stat(name, &named) || named.st_dev != status.st_dev || named.st_ino != status.st_ino)
        return false;
    size_t above = getcwd(here, sizeof here) ? strlen(here) : 0;
    *found = above > 1 && !strncmp(name, here, above) && name[above] == '/' ? name + above + 1 : name;
    return true;
}

/* Files other than standard input that a shell, say, has opened for the target to read. One without content may be
 * there for its lock, which a descriptor of its own would not have. */
static void find_inherited(struct pct_launch *launch)
{
    enum { MOST = 256 };
    struct stat status;
    for (int fd = STDERR_FILENO + 1; fd < MOST && launch->inherited_count < PCT_INHERITED; fd++) {
        const int flags = fcntl(fd, F_GETFL);
        const off_t place = flags < 0 || fcntl(fd, F_GETFD) & FD_CLOEXEC ? -1 : lseek(fd, 0, SEEK_CUR);
        if (place < 0 || (flags & (O_ACCMODE | O_PATH)) != O_RDONLY || fstat(fd, &status) || !S_ISREG(status.st_mode) ||
            !status.st_size)
            continue;
        struct pct_inherited *found = &launch->inherited[launch->inherited_count++];
        *found = (struct pct_inherited){ .fd = fd, .place = place };
        snprintf(found->path, sizeof found->path, "/proc/self/fd/%d", fd);
    }
}

int pct_input_prepare(struct pct_launch *launch)
{
    struct stat status;
    if (!launch->alone)
        find_inherited(launch);
    int failed = launch->alone && !launch->stdin_file ? 0 : pct_input_settle(launch);
    launch->input = -1;
    if (failed)
        return failed;
    if (launch->stdin_file) {
        launch->input = open(launch->stdin_file, O_RDONLY | O_CLOEXEC);
        launch->input_is_file = launch->input >= 0;
        return launch->input_is_file ? 0 : pct_cli_usage("--stdin=%s: %s", launch->stdin_file, strerror(errno));
    }
    if (!fstat(STDIN_FILENO, &status) && S_ISREG(status.st_mode)) {
        launch->input_is_file = true;
        launch->input_kept = !find_name(&launch->stdin_file);
        launch->input = launch->alone && !launch->input_kept ? -1 : open_again(STDIN_FILENO);
        /* Who may not open it was given it open, by another user. */
        if (launch->input < 0 && !launch->alone) {
            launch->stdin_file = NULL;
            launch->input_kept = true;
            failed = become_input(keep(STDIN_FILENO));
            launch->input = failed ? -1 : open_again(STDIN_FILENO);
        }
    }
    if (failed)
        return failed;
    if (!launch->alone && launch->input < 0)
        launch->input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return 0;
}

int pct_input_open(const struct pct_launch *launch)
{
    return launch->input < 0 ? -1 : open_again(launch->input);
}

void pct_input_close(struct pct_launch *launch)
{
    if (launch->input >= 0)
        close(launch->input);
    launch->input = -1;
}
