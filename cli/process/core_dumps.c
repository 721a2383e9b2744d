/* Keeping core dumps: see core_dumps.h. Where a core goes is the kernel's setting; what it writes into names besides
 * the process id is not worked out again here but matched, and the newest such file is the one. */
#include "core_dumps.h"
#include <cli/base/cli.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

static bool read_line(const char *path, char *line, size_t size)
{
    FILE *file = fopen(path, "re");
    bool got = file && fgets(line, (int)size, file);
    if (file)
        fclose(file);
    if (got)
        line[strcspn(line, "\n")] = 0;
    return got;
}

/* core(5): the pattern as one for glob(). */
static void expand(const char *pattern, pid_t pid, char *out, size_t size)
{
    bool named = false;
    size_t used = strlen(out);
    for (const char *c = pattern; *c && used + 24 < size; c++) {
        if (*c != '%') {
            out[used++] = *c;
            continue;
        }
        if (!*++c)
            break;
        if (strchr("pPiI", *c)) {
            used += (size_t)snprintf(out + used, size - used, "%ld", (long)pid);
            named = true;
        } else
            out[used++] = *c == '%' ? '%' : '*';
    }
    out[used] = 0;
    char flag[8];
    if (!named && read_line("/proc/sys/kernel/core_uses_pid", flag, sizeof flag) && flag[0] != '0')
        snprintf(out + used, size - used, ".%ld", (long)pid);
}

static bool newest(const char *pattern, char *path, size_t size)
{
    glob_t found;
    time_t best = 0;
    bool any = false;
    if (glob(pattern, 0, NULL, &found))
        return false;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct stat status;
        if (lstat(found.gl_pathv[i], &status) || !S_ISREG(status.st_mode) || (any && status.st_mtime < best))
            continue;
        best = status.st_mtime;
        snprintf(path, size, "%s", found.gl_pathv[i]);
        any = true;
    }
    globfree(&found);
    return any;
}

/* To another file system. Returns 0 or a negative errno. */
static int copy(const char *from, const char *to)
{
    int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ssize_t got = in < 0 || out < 0 ? -1 : 1;
    while (got > 0)
        got = sendfile(out, in, NULL, 1 << 24);
    int failed = got < 0 ? -errno : 0;
    if (in >= 0)
        close(in);
    if (out >= 0 && close(out) && !failed)
        failed = -errno;
    unlink(failed ? to : from);
    return failed;
}

bool pct_core_dumps_keep(pid_t pid, const char *directory, const char *path, char *why, size_t size)
{
    char pattern[PATH_MAX], wanted[PATH_MAX + 64] = "", core[PATH_MAX];
    if (!read_line("/proc/sys/kernel/core_pattern", pattern, sizeof pattern)) {
        snprintf(why, size, "where cores go is not known: /proc/sys/kernel/core_pattern cannot be read");
        return false;
    }
    if (pattern[0] == '|') {
        snprintf(why, size, "the kernel gives cores to `%s`: ask it for the core of process %ld", pattern + 1,
                 (long)pid);
        return false;
    }
    if (pattern[0] != '/' && directory[0])
        snprintf(wanted, sizeof wanted, "%s/", directory);
    expand(pattern, pid, wanted, sizeof wanted);
    if (!newest(wanted, core, sizeof core)) {
        snprintf(why, size, "there is no %s: the program has changed its directory", wanted);
        return false;
    }
    int failed = rename(core, path) ? -errno : 0;
    if (failed == -EXDEV)
        failed = copy(core, path);
    if (failed)
        snprintf(why, size, "%s: %s", path, strerror(-failed));
    return !failed;
}
