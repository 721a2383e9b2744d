/* Runs with libpct.so, for tests of what makes them: setup and teardown of `launch`. Included by test programs. */
#ifndef PCT_TEST_LAUNCHED_H
#define PCT_TEST_LAUNCHED_H

#include <cli/process/launch.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct pct_launch launch;

/* For runs of this command. In a build without the shim (the sanitizers') launch.library stays NULL. */
static int launch_set_up(char **command)
{
    static char library[4096];
    const char *build = getenv("PCT_BUILD");
    snprintf(library, sizeof library, "%s/libpct.so", build ? build : "build");
    if (access(library, R_OK))
        return 0;
    launch.command = command;
    launch.library = library;
    launch.alone = true; /* this process supervises nobody */
    if (pct_launch_prepare(&launch))
        return -1;
    launch.alone = launch.terminal = false;
    return 0;
}

static int launch_tear_down(void **unused)
{
    (void)unused;
    if (launch.library)
        pct_launch_finish(&launch);
    return 0;
}

#endif
