/* Files that make pct run what is in them: see trust.h. */
#include "trust.h"
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

bool pct_trust_all;

bool pct_trust_file(const char *path, char *error, size_t size)
{
    struct stat status;
    if (pct_trust_all || stat(path, &status))
        return true;
    bool foreign = status.st_uid != geteuid() && status.st_uid != 0, open = status.st_mode & S_IWOTH;
    if (!foreign && !open)
        return true;
    char owner[64] = "";
    if (foreign)
        snprintf(owner, sizeof owner, "belongs to user %u%s", (unsigned)status.st_uid, open ? " and " : "");
    snprintf(error, size, "%s %s%s, and pct would run what is in it: check it, and give --trust", path, owner,
             open ? "can be written by everybody" : "");
    return false;
}
