/* How a program differs from the one that a schedule is from: see program_changed.h. Three things know of it: the
 * file's time, against the time of day in the token, which is that of the run unless it was chosen; the hashes of
 * functions in a schedule file; and nobody but the user. */
#include "program_changed.h"
#include <cli/base/cli.h>
#include <cli/trace/schedule_file.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static const char *format_time(char *text, size_t size, time_t when)
{
    struct tm day;
    if (!localtime_r(&when, &day) || !strftime(text, size, "%F %T", &day))
        snprintf(text, size, "?");
    return text;
}

void pct_program_changed_say(const char *name, const struct pct_config *config, const char *program)
{
    struct stat status;
    char written[64], recorded[64];
    if (config->epoch && !stat(program, &status) && (uint64_t)status.st_mtime > config->epoch)
        pct_cli_say("%s was written %s, after the run that this schedule is from (%s by its clock, unless --epoch set "
                    "that): it may have "
                    "been rebuilt",
                    program, format_time(written, sizeof written, status.st_mtime),
                    format_time(recorded, sizeof recorded, (time_t)config->epoch));
    if (pct_schedule_file_is(name))
        pct_schedule_file_compare(name, program);
    else
        pct_cli_say(
            "a token or trace does not tell which functions have changed (a schedule file, `pct minimize -o`, does), "
            "nor which version of pct made it: CHANGELOG.md says which changes break schedules");
}

void pct_program_changed_offer(const char *name, const struct pct_config *config)
{
    if (!strcmp(config->strategy, "schedule") && config->list[0])
        pct_cli_say("`pct minimize` looks for the nearest schedule that fails: pct minimize '%s' -- COMMAND", name);
    else
        pct_cli_say("`pct run` finds a schedule that fails now, if there is one");
}
