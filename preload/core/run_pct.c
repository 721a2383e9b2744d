/* Running the command: see run_pct.h. */
#include "run_pct.h"
#include "maps.h"
#include "sys.h"
#include <common/text.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sys/mman.h>
#include <sys/wait.h>

/* The folder that libpct.so came from, by the memory map: the loader may not be asked now. */
static void find_library(char *folder, size_t size)
{
    struct pct_mapping mapping;
    if (!pct_maps_find((const void *)find_library, &mapping, folder, size))
        *folder = 0;
    char *end = folder;
    for (char *c = folder; *c; c++)
        if (*c == '/')
            end = c;
    *end = 0;
}

struct names {
    char path[1100], folder[1024];
};

__attribute__((noreturn)) static void become(struct names *names, char *const arguments[], int output, int keep)
{
    static const char *const places[] = { "/pct", "/../bin/pct", "/../../bin/pct", "/../../../bin/pct" };
    struct pct_text text;
    /* Not under pct itself, and not in the target's environment. */
    char *const environment[] = { NULL };
    if (output != 1)
        PCT_SYS2(SYS_dup2, output, 1);
    else
        PCT_SYS3(SYS_fcntl, 1, F_SETFD, 0);
    if (keep >= 0)
        PCT_SYS3(SYS_fcntl, keep, F_SETFD, 0);
    for (unsigned i = 0; i < sizeof places / sizeof *places; i++) {
        pct_text_init(&text, names->path, sizeof names->path);
        pct_text_add(&text, names->folder);
        pct_text_add(&text, places[i]);
        PCT_SYS3(SYS_execve, names->path, arguments, environment);
    }
    PCT_SYS1(SYS_exit_group, 127);
    __builtin_unreachable();
}

bool pct_run_pct_run(char *const arguments[], int output, int keep)
{
    /* Memory for the names is no part of the stack: that of a signal handler may be small. */
    long at = PCT_SYS6(SYS_mmap, 0, sizeof(struct names), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at < 0 && at > -4096)
        return false;
    struct names *names = (void *)at;
    find_library(names->folder, sizeof names->folder);
    int status = -1;
    /* Without a signal at its end; a debugger of the target would take it for a thread of the target. */
    long pid = PCT_SYS4(SYS_clone, CLONE_UNTRACED, 0, 0, 0);
    if (!pid)
        become(names, arguments, output, keep);
    if (pid > 0)
        while (PCT_SYS4(SYS_wait4, pid, &status, (int)__WALL, 0) == -EINTR)
            ;
    PCT_SYS2(SYS_munmap, at, sizeof(struct names));
    return pid > 0 && !status;
}
