/* A file that is replaced at once or not at all: see replacement.h. */
#include "replacement.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int pct_replacement_aside(char *aside, size_t size, const char *path, mode_t mode)
{
    if ((size_t)snprintf(aside, size, "%s.XXXXXX", path) >= size)
        return -ENAMETOOLONG;
    int fd = mkostemp(aside, O_CLOEXEC);
    int failed = fd < 0 ? -errno : 0;
    if (!failed && fchmod(fd, mode))
        failed = -errno;
    if (failed && fd >= 0) {
        close(fd);
        unlink(aside);
    }
    return failed ? failed : fd;
}

mode_t pct_replacement_mode(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

int pct_replacement_open(struct pct_replacement *file, const char *path)
{
    struct stat status;
    bool there = !stat(path, &status);
    *file = (struct pct_replacement){ 0 };
    /* Of a name that leads nowhere, that name. */
    if (!there || !realpath(path, file->path))
        snprintf(file->path, sizeof file->path, "%s", path);
    if (strlen(path) >= sizeof file->path)
        return -ENAMETOOLONG;
    if (there && access(file->path, W_OK))
        return -errno;
    if (!there || S_ISREG(status.st_mode)) {
        int fd = pct_replacement_aside(file->aside, sizeof file->aside, file->path,
                                       there ? status.st_mode & 0777 : pct_replacement_mode());
        if (fd < 0)
            return fd;
        file->out = fdopen(fd, "w");
    } else {
        file->out = fopen(file->path, "we");
    }
    return file->out ? 0 : -errno;
}

int pct_replacement_close(struct pct_replacement *file)
{
    int failed = ferror(file->out) ? -EIO : 0;
    if (fclose(file->out) && !failed)
        failed = -errno;
    if (!failed && file->aside[0] && rename(file->aside, file->path))
        failed = -errno;
    if (failed && file->aside[0])
        unlink(file->aside);
    return failed;
}

void pct_replacement_drop(struct pct_replacement *file)
{
    fclose(file->out);
    if (file->aside[0])
        unlink(file->aside);
}

int pct_replacement_check(const char *path)
{
    struct pct_replacement file;
    struct stat status;
    /* To open a pipe is to be its writer. */
    if (!stat(path, &status) && !S_ISREG(status.st_mode))
        return S_ISDIR(status.st_mode) ? -EISDIR : access(path, W_OK) ? -errno : 0;
    int failed = pct_replacement_open(&file, path);
    if (!failed)
        pct_replacement_drop(&file);
    return failed;
}
