/* Writing a script and trying it: see explain_script.h. It is tried by the very command that is printed. */
#include "explain_script.h"
#include <cli/analyze/order_script.h>
#include <cli/process/options.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void print_command(FILE *out, const struct pct_analysis *q, const char *program, const char *path)
{
    pct_cli_print_quoted(out, program);
    fputs(" script ", out);
    pct_options_print(out, &q->shrink.trials.launch, &q->trial.process, false);
    pct_cli_print_quoted(out, path);
    fputs(" -- ", out);
    pct_cli_print_command(out, q->trial.process.command);
}

/* Whether the program fails under this script in the way that is looked for. */
static bool fails(const struct pct_analysis *q, const char *path)
{
    char program[PATH_MAX], *command = NULL;
    size_t size;
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    FILE *out = length > 0 ? open_memstream(&command, &size) : NULL;
    if (!out)
        return false;
    program[length] = 0;
    print_command(out, q, program, path);
    fputs(" > /dev/null 2>&1 < /dev/null", out);
    fflush(stdout);
    int status = fclose(out) ? -1 : system(command);
    free(command);
    return status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == q->shrink.trials.failure.code;
}

/* With the most readable detail under which it fails. Returns 1: it is there; 0: there is none; or a negative errno. */
static int write_best(const struct pct_analysis *q, const char *path)
{
    for (int detail = PCT_ORDER_SCRIPT_FUNCTIONS; detail <= PCT_ORDER_SCRIPT_NUMBERS; detail++) {
        FILE *out = fopen(path, "we");
        if (!out)
            return -errno;
        bool written = pct_order_script_write(out, q, (enum pct_order_script_detail)detail);
        int failed = ferror(out) ? -EIO : 0;
        if (fclose(out) && !failed)
            failed = -errno;
        if (failed || !written)
            return failed;
        if (fails(q, path))
            return 1;
    }
    return 0;
}

int pct_explain_script(const struct pct_analysis *q, const char *path)
{
    char temporary[PATH_MAX];
    if (!q->depth.measured || !q->depth.count) {
        puts("\nNo script was written: the orderings that the bug needs are not known.");
        return 0;
    }
    if ((size_t)snprintf(temporary, sizeof temporary, "%s.%ld.tmp", path, (long)getpid()) >= sizeof temporary)
        return pct_cli_usage("--script: the path is too long");
    int written = write_best(q, temporary);
    if (written > 0 && rename(temporary, path))
        written = -errno;
    if (written <= 0)
        unlink(temporary);
    if (written < 0)
        return pct_cli_usage("--script: %s: %s", path, strerror(-written));
    if (!written) {
        puts("\nNo script was written: the program does not fail under one that keeps to these orderings.");
        return 0;
    }
    puts("\nThis runs it by the script that was written, and tried:");
    print_command(stdout, q, pct_cli_program, path);
    putchar('\n');
    return 0;
}
