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

/* With this limit, in seconds; 0: none. */
static void print_command(FILE *out, const struct pct_script_trial *trial, const char *program, const char *path,
                          double limit)
{
    pct_cli_print_quoted(out, program);
    fputs(" script ", out);
    if (limit > 0)
        fprintf(out, "--timeout %g ", limit);
    print_config(out, &trial->runs->config);
    pct_options_print(out, &trial->runs->launch, trial->process, false);
    pct_cli_print_quoted(out, path);
    fputs(" -- ", out);
    pct_cli_print_command(out, trial->process->command);
}

/* Whether the program fails under this script in the way that is looked for, and in the time that is left. */
static bool fails(const struct pct_script_trial *trial, const char *path)
{
    char program[PATH_MAX], *command = NULL;
    size_t size;
    double left = trial->runs->launch.ends - pct_cli_now(), given = trial->runs->launch.timeout;
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    FILE *out = length > 0 && left > 0 ? open_memstream(&command, &size) : NULL;
    if (!out)
        return false;
    program[length] = 0;
    print_command(out, trial, program, path, given > 0 && given < left ? given : left);
    fputs(" > /dev/null 2>&1 < /dev/null", out);
    fflush(stdout);
    int status = fclose(out) ? -1 : system(command);
    free(command);
    return status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == trial->runs->failure.code;
}

int pct_explain_script_try(const struct pct_script_trial *trial, char **text)
{
    char path[64];
    int memory = memfd_create("pct-script", MFD_CLOEXEC);
    FILE *out = memory < 0 ? NULL : fdopen(memory, "w+");
    if (!out)
        return -errno;
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)getpid(), memory);
    bool good = trial->write(out, trial->context) && !fflush(out) && fails(trial, path);
    int failed = ferror(out) ? -EIO : 0;
    rewind(out);
    if (good && !failed && !(*text = pct_cli_read_all(memory)))
        failed = -ENOMEM;
    fclose(out);
    return failed ? failed : good;
}

static int say_why_not(const char *path, int failed)
{
    return pct_cli_usage("--script: %s: %s", path, strerror(-failed));
}

int pct_explain_script_keep(const struct pct_script_trial *trial, const char *path, const char *text, const char *note)
{
    struct pct_replacement file;
    int failed = pct_replacement_open(&file, path);
    if (!failed) {
        fputs(text, file.out);
        failed = pct_replacement_close(&file);
    }
    if (failed)
        return say_why_not(path, failed);
    if (note)
        printf("\n%s\n", note);
    puts("\nThis runs it by the script that was written, and tried:");
    print_command(stdout, trial, pct_cli_program, path, 0);
    putchar('\n');
    return 0;
}

/* A script with this detail. */
struct detailed {
    const struct pct_analysis *analysis;
    enum pct_order_script_detail detail;
};

static bool write_detailed(FILE *out, void *context)
{
    const struct detailed *d = context;
    return pct_order_script_write(out, d->analysis, d->detail);
}

int pct_explain_script(const struct pct_analysis *q, const char *path, bool *found)
{
    const bool orders = q->depth.measured && q->depth.count;
    struct detailed d = { q, orders ? PCT_ORDER_SCRIPT_FUNCTIONS : PCT_ORDER_SCRIPT_SCHEDULE };
    const struct pct_script_trial trial = {
        .runs = &q->shrink.runs, .process = &q->run.process, .write = write_detailed, .context = &d
    };
    char *text = NULL;
    int good = 0;
    /* The most readable detail under which it fails. */
    while (!(good = pct_explain_script_try(&trial, &text)) && d.detail < PCT_ORDER_SCRIPT_SCHEDULE)
        d.detail++;
    *found = good > 0;
    int failed = good < 0 ? say_why_not(path, good) : 0;
    if (*found)
        failed = pct_explain_script_keep(
            &trial, path, text,
            d.detail < PCT_ORDER_SCRIPT_SCHEDULE
                ? NULL
                : "No orderings alone make it fail, so the script has the smallest schedule, turn by turn.");
    free(text);
    return failed;
}
