/* A finding of a campaign, looked at again: see confirming.h. */
#include "confirming.h"
#include "batch.h"
#include "campaign.h"
#include "diagnosing.h"
#include "oracle.h"
#include "signature.h"
#include <cli/base/cli.h>
#include <stdlib.h>
#include <string.h>

enum {
    DIAGNOSED = 16, /* findings of a campaign: who has more has one bug too many to wait for the causes of all */
    /* Nobody waits for it, as before a screen: enough for all the runs that a cause may take, so that their number
     * decides what is said and not how fast the machine is. A limit for programs whose runs are slow. */
    SECONDS = 5 * PCT_DIAGNOSING_SECONDS
};

struct confirmation {
    struct pct_recorder *r;
    struct pct_campaign *c;
    struct pct_recorder_finding *finding;
    struct pct_store_finding *row;
    bool cheap;                /* all of its runs can simply be made again */
    char token[PCT_TOKEN_MAX]; /* with the hash */
};

/* The cause, before the report; and the place that it speaks of is the finding's. */
static void take_cause(struct pct_store_finding *row, const struct pct_diagnosing *d)
{
    char *text = NULL;
    size_t size;
    struct pct_frame place;
    FILE *out = d->known ? open_memstream(&text, &size) : NULL;
    if (!out)
        return;
    pct_diagnosing_print(out, d, false);
    fclose(out);
    row->report = text;
    if (pct_diagnosis_place(&d->history, &d->diagnoses.item[0], &place)) {
        row->file = strdup(place.file);
        row->line = place.line;
    }
}

/* Where no other runs can be made: what the replay alone tells. */
static void diagnose_trace(struct pct_store_finding *row, const struct pct_trace *trace)
{
    static struct pct_diagnosing d; /* large */
    pct_diagnosing_of_trace(&d, trace);
    take_cause(row, &d);
    pct_diagnosing_close(&d);
}

/* The causes of no more are asked for. */
static bool is_diagnosed(const struct confirmation *k)
{
    return k->finding - k->r->findings < DIAGNOSED;
}

static int look_at_replay(void *data, size_t index, struct pct_process *process, struct pct_result *result)
{
    struct confirmation *k = data;
    int failed = pct_oracle_run(k->r->oracle, &k->c->launch, process, result);
    if (failed)
        return failed;
    const struct pct_trace_header *header = &result->trace.header;
    k->row->replays++;
    /* A run that was killed has none. */
    k->row->identical += header->hash && header->hash == k->finding->hash;
    k->cheap = (!index || k->cheap) && pct_diagnosing_is_cheap(&k->c->launch, process, result);
    snprintf(k->token, sizeof k->token, "%s", header->token);
    for (unsigned i = 0; i < PCT_UNCONTROLLED_COUNT; i++)
        if (header->uncontrolled[i] > k->finding->uncontrolled[i])
            k->finding->uncontrolled[i] = header->uncontrolled[i];
    if (!pct_result_fails(result, k->c->ok))
        return 0;
    struct pct_signature signature;
    if (pct_signature_make(&signature, process, result))
        return pct_cli_no_memory("");
    bool same = signature.hash == k->finding->signature;
    pct_signature_free(&signature);
    if (same)
        k->row->same++;
    else
        k->row->other++;
    if (same && !k->row->report && !k->cheap && is_diagnosed(k) && pct_diagnosing_is_whole(&k->c->launch, result))
        diagnose_trace(k->row, &result->trace);
    return 0;
}

static int diagnose(const struct confirmation *k)
{
    static struct pct_diagnosing d; /* large */
    d = (struct pct_diagnosing){ .launch = &k->c->launch,
                                 .jobs = k->c->jobs,
                                 .token = k->token,
                                 .ok = k->c->ok,
                                 .others = PCT_DIAGNOSING_OTHERS,
                                 .seconds = SECONDS,
                                 .patience = PCT_DIAGNOSING_PATIENCE,
                                 .quiet = k->r->quiet };
    int failed = pct_diagnosing_run(&d);
    if (!failed)
        take_cause(k->row, &d);
    pct_diagnosing_close(&d);
    return failed;
}

int pct_confirming_run(struct pct_recorder *r, struct pct_campaign *c, struct pct_recorder_finding *finding,
                       struct pct_store_finding *row)
{
    static char tokens[PCT_RECORDER_REPLAYS][PCT_TOKEN_MAX];
    static struct confirmation k;
    *row = (struct pct_store_finding){ .id = finding->id };
    k = (struct confirmation){ .r = r, .c = c, .finding = finding, .row = row };
    for (unsigned i = 0; i < PCT_RECORDER_REPLAYS; i++)
        memcpy(tokens[i], finding->token, sizeof tokens[i]);
    int failed = pct_batch_run(&c->launch, c->jobs, tokens, PCT_RECORDER_REPLAYS, look_at_replay, &k);
    if (!failed && k.cheap && row->identical == row->replays && is_diagnosed(&k))
        failed = diagnose(&k);
    return failed;
}

void pct_confirming_close(struct pct_store_finding *row)
{
    free((char *)(uintptr_t)row->report);
    free((char *)(uintptr_t)row->file);
    row->report = row->file = NULL;
}
