/* An entry that stands for all schedules: see explored_entry.h. */
#include "explored_entry.h"
#include <cli/base/cli.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include "subcommand.h"
#include <unistd.h>
#include <wordexp.h>

static const char word[] = "explore";

bool pct_explored_entry_is(const char *schedule)
{
    size_t length = sizeof word - 1;
    return !strncmp(schedule, word, length) && (!schedule[length] || strchr(" \t", schedule[length]));
}

/* The last line, to be freed; NULL: no memory. */
static char *find_last(const char *text)
{
    size_t length = strlen(text), end;
    while (length && text[length - 1] == '\n')
        length--;
    for (end = length; length && text[length - 1] != '\n';)
        length--;
    size_t skipped = strncmp(text + length, "pct: ", 5) ? 0 : 5;
    return strndup(text + length + skipped, end - length - skipped);
}

static int explore(struct pct_explored_entry *result, char *const *words)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return pct_cli_usage("pct explore: %s", strerror(errno));
    pid_t pid = pct_subcommand_start(PCT_SUBCOMMAND_SELF, words, -1, ends[1]);
    close(ends[1]);
    result->said = pid < 0 ? NULL : pct_cli_read_all(ends[0]);
    close(ends[0]);
    result->status = pid < 0 ? 0 : pct_subcommand_wait(pid);
    if (pid < 0)
        return pct_cli_usage("pct explore: %s", strerror(-pid));
    result->last = result->said ? find_last(result->said) : NULL;
    return result->last ? 0 : pct_cli_no_memory("");
}

int pct_explored_entry_run(struct pct_explored_entry *result, const struct pct_entry *entry, const char *place,
                           unsigned jobs)
{
    wordexp_t part[3] = { 0 };
    const char *const text[] = { entry->schedule, entry->options ? entry->options : "", entry->command };
    static const char *const names[] = { "Schedule", "Options", "Command" };
    size_t count = 0;
    char number[24];
    int status = 0;
    *result = (struct pct_explored_entry){ 0 };
    for (unsigned i = 0; i < 3 && !status; i++) {
        status = pct_entry_split(place, names[i], text[i], &part[i]);
        count += status ? 0 : part[i].we_wordc;
    }
    if (status)
        return status;
    char **words = calloc(count + 8, sizeof *words);
    if (!words)
        return pct_cli_no_memory("");
    snprintf(number, sizeof number, "--jobs=%u", jobs);
    char *const begin[] = { (char *)(uintptr_t)pct_cli_program, (char *)(uintptr_t)word, (char *)(uintptr_t) "-q",
                            number };
    memcpy(words, begin, sizeof begin);
    count = sizeof begin / sizeof *begin;
    for (unsigned i = 0; i < 3; i++) {
        if (i == 2)
            words[count++] = (char *)(uintptr_t) "--";
        for (size_t k = i == 0; k < part[i].we_wordc; k++)
            words[count++] = part[i].we_wordv[part[i].we_offs + k];
    }
    status = explore(result, words);
    free(words);
    for (unsigned i = 0; i < 3; i++)
        wordfree(&part[i]);
    return status;
}
