/* A replay under another tool: see external_checker.h. The tool's processes inherit the environment that preloads the
 * shim, so a tool that runs the program in a process of its own (valgrind, a wrapper that ends in exec) needs nothing
 * else. */
#include "external_checker.h"
#include <cli/base/cli.h>
#include <cli/binary/locate.h>
#include <stdlib.h>
#include <string.h>
#include <wordexp.h>

/* Checkers look through all memory that is mapped, the trace too: this many bytes of it, 4 million steps. */
#define TRACE_SIZE (UINT64_C(32) << 20)

/* Those that check how threads synchronise see the shim's own synchronisation, and not the program's locks, most of
 * which the shim takes without a call. */
static const char *misled(const wordexp_t *words)
{
    for (size_t i = 0; i < words->we_wordc; i++)
        if (!strcmp(words->we_wordv[i], "--tool=helgrind") || !strcmp(words->we_wordv[i], "--tool=drd"))
            return words->we_wordv[i] + strlen("--tool=");
    return NULL;
}

/* rr needs performance counters. Its first line on why it cannot work goes into why; false: it can. */
static bool rr_fails(char *why, size_t size)
{
    char folder[] = "/tmp/pct-rr-XXXXXX", command[256];
    if (!mkdtemp(folder))
        return false;
    snprintf(command, sizeof command, "_RR_TRACE_DIR=%s rr record /bin/true 2>&1", folder);
    FILE *out = popen(command, "re");
    why[0] = 0;
    if (out && fgets(why, (int)size, out))
        why[strcspn(why, "\n")] = 0;
    /* The rest, so that rr need not die of a closed pipe. */
    char rest[256];
    while (out && fgets(rest, sizeof rest, out))
        ;
    bool fails = !out || pclose(out) != 0;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command))
        pct_cli_say("%s could not be removed: remove it yourself", folder);
    return fails;
}

int pct_external_checker_prepare(struct pct_launch *launch, const char *with)
{
    wordexp_t words;
    char path[PATH_MAX], why[512];
    if (wordexp(with, &words, WRDE_NOCMD))
        return pct_cli_usage("--with: '%s' cannot be split into words", with);
    if (!words.we_wordc)
        return pct_cli_usage("--with: no command is given");
    const char *tool = words.we_wordv[0], *fooled = misled(&words);
    if (pct_locate_command(tool, path, sizeof path)) {
        bool package = !strcmp(tool, "valgrind") || !strcmp(tool, "rr");
        return pct_cli_usage("--with: %s: command not found%s", tool,
                             package ? "; Debian's package of this name has it" : "");
    }
    if (fooled)
        return pct_cli_usage("--with: %s would check pct's own synchronisation and miss the program's locks; "
                             "use memcheck, or a build with -fsanitize=address",
                             fooled);
    if (!strcmp(tool, "rr") && rr_fails(why, sizeof why))
        return pct_cli_usage("rr does not work on this machine: %s", why);
    size_t count = 0;
    while (launch->command[count])
        count++;
    /* Stays until the command ends, as do the words. */
    char **command = malloc((words.we_wordc + count + 1) * sizeof *command);
    if (!command)
        return pct_cli_no_memory("");
    memcpy(command, words.we_wordv, words.we_wordc * sizeof *command);
    memcpy(command + words.we_wordc, launch->command, (count + 1) * sizeof *command);
    launch->behind = launch->command[0];
    launch->command = command;
    launch->trace_size = TRACE_SIZE;
    return 0;
}
