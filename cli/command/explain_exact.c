/* Of a small program, what `pct explore` says of a failure: see explain_exact.h. */
#include "explain_exact.h"
#include "subcommand.h"
#include <cli/base/cli.h>
#include <cli/campaign/signature.h>
#include <cli/explore/explorer.h>
#include <cli/process/options.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 100 }; /* more make a program that is not small */

/* Whether the points of this run are calls alone, as those of an exploration without options are. */
static bool has_plain_points(const char *token)
{
    struct pct_config config;
    char error[512];
    return !pct_config_parse_token(&config, token, pct_cli_find_strategy, error, sizeof error) && !config.memory &&
           !config.modules[0] && !config.focus[0] && !config.watch[0] && !config.functions[0] && !config.sample &&
           !config.races && !config.spurious && !config.real_time && config.memory_points == PCT_POINTS_SHARED;
}

static char *format_words(const struct pct_diagnosing *d, double seconds)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fprintf(out, "explore -n %d --budget=%g --jobs=%u --tell-whole ", RUNS, seconds, d->jobs ? d->jobs : 1);
    pct_options_print(out, d->launch, NULL, true);
    if (d->ok)
        pct_options_print_ok_status(out, d->ok);
    fputs("-- ", out);
    pct_cli_print_command(out, d->run.process.command ? d->run.process.command : d->launch->command);
    fclose(out);
    return text;
}

/* The lines below the finding of this title, up to those that are not of it. NULL: it is not there. *length: of them.
 */
static const char *find_finding(const char *said, const char *title, size_t *length)
{
    static const char finding[] = "pct: finding ";
    for (const char *line = said; line; line = strchr(line, '\n'), line += !!line) {
        const char *words = strncmp(line, finding, sizeof finding - 1) ? NULL : strstr(line, ": ");
        words = words ? strstr(words + 2, ": ") : NULL;
        if (!words || strncmp(words + 2, title, strlen(title)) != 0)
            continue;
        const char *first = strchr(line, '\n'), *end = first;
        while (end && !strncmp(end + 1, "  ", 2) && strchr(end + 1, '\n'))
            end = strchr(end + 1, '\n');
        *length = first ? (size_t)(end - first) : 0;
        return *length ? first + 1 : NULL;
    }
    return NULL;
}

static void print_finding(FILE *out, const struct pct_diagnosing *d, const char *said)
{
    struct pct_signature signature;
    size_t length = 0;
    if (pct_signature_make(&signature, &d->run.process, &d->run.result))
        return;
    const char *lines = find_finding(said, signature.title, &length);
    if (lines && !strncmp(lines, "  cause, exact: ", 16)) {
        struct pct_cli_narrow narrow;
        FILE *text = pct_cli_narrow_begin(&narrow, out);
        fputs("\nAll classes of schedules were explored, of which `pct explore` says:\n", text);
        fwrite(lines, 1, length, text);
        pct_cli_narrow_end(&narrow);
    }
    pct_signature_free(&signature);
}

int pct_explain_exact(FILE *out, const struct pct_diagnosing *d, double seconds)
{
    const char *token = d->run.result.trace.header.token;
    if (seconds <= 0 || !has_plain_points(token))
        return 0;
    char *words = format_words(d, seconds), *said = NULL;
    int status = 0, failed = words ? pct_subcommand_read(words, &said, &status) : -ENOMEM;
    free(words);
    if (failed == -ENOMEM)
        return pct_cli_no_memory("");
    if (!failed && status == 1)
        print_finding(out, d, said);
    free(said);
    return 0;
}
