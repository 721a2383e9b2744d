/* Failures that are not counted yet: see ahead.h. */
#include "ahead.h"
#include "outcome.h"
#include <cli/base/cli.h>
#include <cli/base/status_line.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static char *write_replay(const struct pct_launch *launch, const struct pct_process *process,
                          const struct pct_result *result)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    pct_outcome_write_replay(out, launch, process, result, result->trace.header.token);
    fclose(out);
    return text;
}

static void close_failure(struct pct_ahead_failure *failure)
{
    free(failure->title);
    free(failure->replay);
}

int pct_ahead_add(struct pct_ahead *ahead, const struct pct_launch *launch, const struct pct_process *process,
                  const struct pct_result *result, uint64_t signature, const char *title, uint64_t seed, bool quiet)
{
    for (size_t i = 0; i < ahead->count; i++)
        if (ahead->failure[i].signature == signature)
            return 0;
    struct pct_ahead_failure *more = realloc(ahead->failure, (ahead->count + 1) * sizeof *more);
    if (!more)
        return -ENOMEM;
    ahead->failure = more;
    struct pct_ahead_failure *failure = &more[ahead->count];
    *failure = (struct pct_ahead_failure){
        .signature = signature, .seed = seed, .title = strdup(title), .replay = write_replay(launch, process, result)
    };
    if (!failure->title || !failure->replay) {
        close_failure(failure);
        return -ENOMEM;
    }
    ahead->count++;
    if (!quiet) {
        pct_status_line_clear(quiet);
        pct_cli_say("seed %llu fails, which counts when the run before it that was cut has been made again: %s",
                    (unsigned long long)seed, title);
    }
    return 0;
}

void pct_ahead_remove(struct pct_ahead *ahead, uint64_t signature)
{
    for (size_t i = 0; i < ahead->count; i++)
        if (ahead->failure[i].signature == signature) {
            close_failure(&ahead->failure[i]);
            memmove(&ahead->failure[i], &ahead->failure[i + 1], (--ahead->count - i) * sizeof *ahead->failure);
            return;
        }
}

void pct_ahead_print(const struct pct_ahead *ahead)
{
    for (size_t i = 0; i < ahead->count; i++) {
        const struct pct_ahead_failure *failure = &ahead->failure[i];
        pct_cli_say("seed %llu failed, too, behind all runs counted above, and is not counted yet: %s",
                    (unsigned long long)failure->seed, failure->title);
        pct_cli_say("this replays it:");
        pct_cli_print_quoted(stderr, pct_cli_program);
        fprintf(stderr, " %s\n", failure->replay);
    }
}

void pct_ahead_free(struct pct_ahead *ahead)
{
    for (size_t i = 0; i < ahead->count; i++)
        close_failure(&ahead->failure[i]);
    free(ahead->failure);
}
