/* Runs of given tokens: see batch.h. */
#include "batch.h"
#include <cli/base/cli.h>
#include <cli/process/supervise.h>

struct batch {
    struct pct_run_source source; /* the first member */
    char (*tokens)[PCT_TOKEN_MAX];
    size_t count, next;
    pct_batch_each *each;
    void *data;
};

static int next(struct pct_run_source *source, struct pct_run_spec *spec)
{
    struct batch *b = (struct batch *)source;
    char error[512];
    if (b->next == b->count)
        return PCT_RUNS_WAIT;
    spec->index = b->next++;
    return pct_run_spec_parse(spec, b->tokens[spec->index], error, sizeof error) ? pct_cli_usage("%s", error) : 0;
}

static int ended(struct pct_run_source *source, struct pct_ended_run *run)
{
    struct batch *b = (struct batch *)source;
    return b->each(b->data, run->process.index, &run->process, &run->result);
}

int pct_batch_run(struct pct_launch *launch, unsigned jobs, char (*tokens)[PCT_TOKEN_MAX], size_t count,
                  pct_batch_each *each, void *data)
{
    struct batch batch = {
        .source = { .next = next, .ended = ended }, .tokens = tokens, .count = count, .each = each, .data = data
    };
    /* As `pct replay` will start them. After pct was killed one at a time: one of them may have done it, and should be
     * known. */
    struct pct_engine engine = { .launch = launch,
                                 .jobs = pct_supervised_deaths() ? 1
                                         : jobs > count          ? (unsigned)count
                                                                 : jobs,
                                 .width = 1,
                                 .exec = true,
                                 .quiet = true };
    return pct_engine_run(&engine, &batch.source);
}
