/* Writing a script and trying it: see explain_script.h. It is tried by the very command that is printed. */
#include "explain_script.h"
#include <cli/analyze/order_script.h>
#include <cli/base/replacement.h>
#include <cli/process/options.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* What makes points of the run, or its failure, and is no matter of the schedule: as options. */
static void print_config(FILE *out, const struct pct_config *config)
{
    static const char *const levels[] = PCT_MEMORY_WORDS, *const races[] = PCT_RACES_WORDS;
    char modules[sizeof config->modules], steps[24];
    snprintf(modules, sizeof modules, "%s", config->modules);
    for (char *slash = modules; (slash = strchr(slash, '/'));)
        *slash = ',';
    snprintf(steps, sizeof steps, "%llu", (unsigned long long)config->max_steps);
    pct_options_print_word(out, "--memory", config->memory ? levels[config->memory] : NULL);
    pct_options_print_word(out, "--memory-modules", *modules ? modules : NULL);
    pct_options_print_word(out, "--races", config->races ? races[config->races] : NULL);
    pct_options_print_word(out, "--max-steps", config->max_steps ? steps : NULL);
}

static void print_command(FILE *out, const struct pct_analysis *q, const char *program, const char *path)
{
    pct_cli_print_quoted(out, program);
    fputs(" script ", out);
    print_config(out, &q->shrink.runs.config);
    pct_options_print(out, &q->shrink.runs.launch, &q->run.process, false);
    pct_cli_print_quoted(out, path);
    fputs(" -- ", out);
    pct_cli_print_command(out, q->run.process.command);
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
    return status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == q->shrink.runs.failure.code;
}

/* A script with the most readable detail under which it fails, which is *detail; *text is to be freed. Returns 1: there
 * is one; 0: there is none; or a negative errno. */
static int find_best(const struct pct_analysis *q, enum pct_order_script_detail *detail, char **text)
{
    bool orders = q->depth.measured && q->depth.count;
    for (*detail = orders ? PCT_ORDER_SCRIPT_FUNCTIONS : PCT_ORDER_SCRIPT_SCHEDULE;
         *detail <= PCT_ORDER_SCRIPT_SCHEDULE; (*detail)++) {
        char path[64];
        int memory = memfd_create("pct-script", MFD_CLOEXEC);
        FILE *out = memory < 0 ? NULL : fdopen(memory, "w+");
        if (!out)
            return -errno;
        snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)getpid(), memory);
        bool good = pct_order_script_write(out, q, *detail) && !fflush(out) && fails(q, path);
        int failed = ferror(out) ? -EIO : 0;
        rewind(out);
        if (good && !failed && !(*text = pct_cli_read_all(memory)))
            failed = -ENOMEM;
        fclose(out);
        if (failed || good)
            return failed ? failed : 1;
    }
    return 0;
}

static int keep(const char *path, const char *text)
{
    struct pct_replacement file;
    int failed = pct_replacement_open(&file, path);
    if (failed)
        return failed;
    fputs(text, file.out);
    return pct_replacement_close(&file);
}

int pct_explain_script(const struct pct_analysis *q, const char *path)
{
    enum pct_order_script_detail detail;
    char *text = NULL;
    int found = find_best(q, &detail, &text), failed = found < 0 ? found : found ? keep(path, text) : 0;
    free(text);
    if (failed)
        return pct_cli_usage("--script: %s: %s", path, strerror(-failed));
    if (!found) {
        puts(
            "\nNo script was written: the program does not fail under one that keeps to these orderings, nor under one "
            "that has the schedule turn by turn.");
        return 0;
    }
    if (detail == PCT_ORDER_SCRIPT_SCHEDULE)
        puts("\nNo orderings alone make it fail, so the script has the smallest schedule, turn by turn.");
    puts("\nThis runs it by the script that was written, and tried:");
    print_command(stdout, q, pct_cli_program, path);
    putchar('\n');
    return 0;
}
