/* An entry that a sub-command runs: see subcommand_entry.h. */
#include "subcommand_entry.h"
#include <cli/base/cli.h>
#include <cli/script/script.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include "subcommand.h"
#include <unistd.h>
#include <wordexp.h>

static const char *const names[] = { [PCT_ENTRY_EXPLORE] = "explore", [PCT_ENTRY_SCRIPT] = "script" };

enum pct_subcommand_entry_kind pct_subcommand_entry_kind(const char *schedule)
{
    size_t length = strcspn(schedule, " \t");
    for (enum pct_subcommand_entry_kind kind = PCT_ENTRY_EXPLORE; kind <= PCT_ENTRY_SCRIPT; kind++)
        if (strlen(names[kind]) == length && !memcmp(schedule, names[kind], length))
            return kind;
    return PCT_ENTRY_TOKEN;
}

/* --- What came of it ---------------------------------------------------------------------------------------------- */

/* The last line, without the name of the command in front, to be freed; NULL: no memory. *from: where it begins. */
static char *find_last(const char *said, size_t *from)
{
    size_t length = strlen(said), end;
    while (length && said[length - 1] == '\n')
        length--;
    for (end = length; length && said[length - 1] != '\n';)
        length--;
    *from = length;
    size_t skipped = strncmp(said + length, "pct: ", 5) ? 0 : 5;
    return strndup(said + length + skipped, end - length - skipped);
}

/* An estimate, and one of several shards, end with 0, too, and verify nothing. */
static bool is_part(const char *last)
{
    return !strncmp(last, "estimate:", 9) || !strncmp(last, "shard ", 6);
}

static void classify_exploration(struct pct_subcommand_entry *result)
{
    bool fails = result->status == 1 || result->status == PCT_EXIT_CONFIDENCE;
    if (!result->status && is_part(result->last))
        result->status = PCT_EXIT_USAGE;
    result->outcome = !result->status ? PCT_ENTRY_HOLDS : fails ? PCT_ENTRY_FAILS : PCT_ENTRY_UNABLE;
}

/* Its exit status may be the program's own, so its last line says what came of it (PCT_SCRIPT_SAYS_*). */
static void classify_script(struct pct_subcommand_entry *result, size_t last)
{
    static const struct {
        const char *text;
        enum pct_subcommand_entry_outcome outcome;
    } outcomes[] = { { PCT_SCRIPT_SAYS_PASSES, PCT_ENTRY_HOLDS },
                     { PCT_SCRIPT_SAYS_FAILS, PCT_ENTRY_FAILS },
                     { PCT_SCRIPT_SAYS_DID_NOT_FIT, PCT_ENTRY_DID_NOT_FIT } };
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++) {
        size_t length = strlen(outcomes[i].text);
        if ((outcomes[i].outcome == PCT_ENTRY_HOLDS) != !result->status ||
            strncmp(result->last, outcomes[i].text, length) != 0)
            continue;
        result->outcome = outcomes[i].outcome;
        result->said[last] = 0;
        memmove(result->last, result->last + length, strlen(result->last + length) + 1);
    }
}

/* --- The run ------------------------------------------------------------------------------------------------------ */

/* What a script's program writes is part of what was said. */
static int run(struct pct_subcommand_entry *result, enum pct_subcommand_entry_kind kind, char *const *words)
{
    int ends[2];
    size_t last = 0;
    if (pipe2(ends, O_CLOEXEC))
        return pct_cli_usage("pct %s: %s", names[kind], strerror(errno));
    pid_t pid = pct_subcommand_start(PCT_SUBCOMMAND_SELF, words, kind == PCT_ENTRY_SCRIPT ? ends[1] : -1, ends[1]);
    close(ends[1]);
    result->said = pid < 0 ? NULL : pct_cli_read_all(ends[0]);
    close(ends[0]);
    result->status = pid < 0 ? 0 : pct_subcommand_wait(pid);
    if (pid < 0)
        return pct_cli_usage("pct %s: %s", names[kind], strerror(-pid));
    result->last = result->said ? find_last(result->said, &last) : NULL;
    if (!result->last)
        return pct_cli_no_memory("");
    if (kind == PCT_ENTRY_SCRIPT)
        classify_script(result, last);
    else
        classify_exploration(result);
    return 0;
}

/* pct NAME -q (--jobs N or --outcome) REST-OF-SCHEDULE OPTIONS -- COMMAND. Returns likewise. */
static int run_words(struct pct_subcommand_entry *result, enum pct_subcommand_entry_kind kind, const wordexp_t *part,
                     unsigned jobs)
{
    char number[24];
    size_t count = part[0].we_wordc + part[1].we_wordc + part[2].we_wordc;
    char **words = calloc(count + 8, sizeof *words);
    if (!words)
        return pct_cli_no_memory("");
    snprintf(number, sizeof number, "--jobs=%u", jobs);
    char *const begin[] = { (char *)(uintptr_t)pct_cli_program, (char *)(uintptr_t)names[kind],
                            (char *)(uintptr_t) "-q",
                            kind == PCT_ENTRY_SCRIPT ? (char *)(uintptr_t)PCT_SCRIPT_OUTCOME_OPTION : number };
    memcpy(words, begin, sizeof begin);
    count = sizeof begin / sizeof *begin;
    for (unsigned i = 0; i < 3; i++) {
        if (i == 2)
            words[count++] = (char *)(uintptr_t) "--";
        for (size_t k = i == 0; k < part[i].we_wordc; k++)
            words[count++] = part[i].we_wordv[part[i].we_offs + k];
    }
    int status = run(result, kind, words);
    free(words);
    return status;
}

/* The words of Schedule, Options and Command, *count of which are to be freed. Returns likewise. */
static int split_fields(const struct pct_entry *entry, const char *place, wordexp_t part[3], unsigned *count)
{
    static const char *const fields[] = { "Schedule", "Options", "Command" };
    const char *const text[] = { entry->schedule, entry->options ? entry->options : "", entry->command };
    int status = 0;
    for (*count = 0; *count < 3; ++*count)
        if ((status = pct_entry_split(place, fields[*count], text[*count], &part[*count])))
            break;
    return status;
}

static void free_fields(wordexp_t part[3], unsigned count)
{
    while (count)
        wordfree(&part[--count]);
}

int pct_subcommand_entry_check(const struct pct_entry *entry, const char *place)
{
    wordexp_t part[3] = { 0 };
    unsigned count;
    int status = split_fields(entry, place, part, &count);
    if (!status && !part[2].we_wordc)
        status = pct_cli_usage("%s: Command: there is no program in it", place);
    free_fields(part, count);
    return status;
}

int pct_subcommand_entry_run(struct pct_subcommand_entry *result, const struct pct_entry *entry, const char *place,
                             unsigned jobs)
{
    wordexp_t part[3] = { 0 };
    unsigned count;
    *result = (struct pct_subcommand_entry){ 0 };
    int status = split_fields(entry, place, part, &count);
    if (!status)
        status = run_words(result, pct_subcommand_entry_kind(entry->schedule), part, jobs);
    free_fields(part, count);
    return status;
}
