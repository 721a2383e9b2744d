/* The findings of a campaign: see recorded_findings.h. */
#include "recorded_findings.h"
#include "outcome.h"
#include "signature.h"
#include <cli/base/cli.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct pct_recorder_finding *pct_recorded_findings_find(struct pct_recorder *r, uint64_t signature)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->findings[i].signature == signature)
            return &r->findings[i];
    return NULL;
}

static struct pct_recorder_finding *append(struct pct_recorder *r)
{
    struct pct_recorder_finding *more = realloc(r->findings, (r->count + 1) * sizeof *more);
    if (!more)
        return NULL;
    r->findings = more;
    memset(&more[r->count], 0, sizeof *more);
    return &more[r->count++];
}

/* A token as the target gets it: without the hash. */
void pct_recorded_findings_strip(char *to, const char *token)
{
    struct pct_config config;
    char error[512];
    snprintf(to, PCT_TOKEN_MAX, "%s", token);
    if (pct_config_parse_token(&config, token, pct_cli_find_strategy, error, sizeof error))
        return;
    config.has_hash = false;
    const struct pct_strategy *strategy = pct_cli_find_strategy(config.strategy, error, sizeof error);
    if (strategy)
        pct_config_format_token(to, PCT_TOKEN_MAX, &config, strategy);
}

/* What a function writes, as a string that the caller frees; NULL: out of memory. */
struct text {
    char *text;
    size_t size;
    FILE *out;
};

static bool begin_text(struct text *t)
{
    t->text = NULL;
    t->out = open_memstream(&t->text, &t->size);
    return t->out;
}

static char *end_text(struct text *t)
{
    fclose(t->out);
    return t->text;
}

static void print_count(FILE *out, unsigned kind, uint64_t count)
{
    char *text = pct_name_uncontrolled_count(kind, count);
    fprintf(out, "%s\n", text ? text : "");
    free(text);
}

char *pct_recorded_findings_uncontrolled(const uint64_t *counts)
{
    struct text t;
    if (!begin_text(&t))
        return NULL;
    for (unsigned i = 0; i < PCT_UNCONTROLLED_COUNT; i++)
        if (counts[i])
            print_count(t.out, i, counts[i]);
    return end_text(&t);
}

static char *write_report(const struct pct_process *process, const struct pct_result *result)
{
    struct text t;
    if (!begin_text(&t))
        return NULL;
    if (result->complaint[0])
        fprintf(t.out, "%s: %s\n", pct_ending_name(result->ending), result->complaint);
    pct_outcome_write_report(t.out, process, result);
    return end_text(&t);
}

static char *write_replay(const struct pct_recorder *r, const struct pct_campaign *c, const struct pct_process *process,
                          const struct pct_result *result)
{
    struct text t;
    if (!begin_text(&t))
        return NULL;
    if (r->trace) {
        fputs("replay ", t.out);
        pct_cli_print_quoted(t.out, r->trace);
        fputs(" -- ", t.out);
        pct_cli_print_command(t.out, process->command);
    } else
        pct_outcome_write_replay(t.out, &c->launch, process, result, result->trace.header.token);
    return end_text(&t);
}

static char *write_output(const struct pct_process *process, size_t *size)
{
    struct text t;
    if (!begin_text(&t))
        return NULL;
    pct_output_copy(process->output, t.out);
    char *text = end_text(&t);
    *size = t.size;
    return text;
}

static int store_frames(struct pct_recorder *r, int64_t id, const struct pct_signature *signature)
{
    int failed = 0;
    for (unsigned i = 0; !failed && i < signature->count; i++) {
        const struct pct_signature_stack *stack = &signature->stacks[i];
        for (unsigned level = 0; !failed && level < stack->frames.count; level++) {
            const struct pct_frame *frame = &stack->frames.frames[level];
            const struct pct_store_frame row = { .finding = id,
                                                 .stack = i,
                                                 .level = level,
                                                 .thread = stack->thread,
                                                 .doing = stack->doing,
                                                 .function = frame->function,
                                                 .file = frame->file,
                                                 .line = frame->line,
                                                 .module = frame->module,
                                                 .offset = frame->offset };
            failed = pct_store_add_frame(r->store, &row);
        }
    }
    return failed;
}

static bool is_late(const struct pct_store_finding *finding)
{
    return !strcmp(finding->verdict, pct_ending_name(PCT_ENDING_TIMEOUT));
}

int pct_recorded_findings_add(struct pct_recorder *r, struct pct_campaign *c, const struct pct_process *process,
                              const struct pct_result *result, const struct pct_signature *signature, uint64_t seed,
                              int64_t *id)
{
    const struct pct_trace_header *header = &result->trace.header;
    struct pct_store_finding row = { .signature = signature->hash,
                                     .verdict = signature->verdict,
                                     .code = signature->code,
                                     .title = signature->title,
                                     .message = signature->message,
                                     .seed = seed,
                                     .token = header->token,
                                     .file = signature->file,
                                     .line = signature->line };
    char *report = write_report(process, result), *replay = write_replay(r, c, process, result);
    char *output = write_output(process, &row.output_size);
    char *uncontrolled = pct_recorded_findings_uncontrolled(header->uncontrolled);
    struct pct_recorder_finding *finding = append(r);
    int failed = report && replay && output && uncontrolled && finding ? 0 : -ENOMEM;
    if (!failed) {
        row.report = report;
        row.replay = replay;
        row.output = output;
        row.uncontrolled = uncontrolled;
        failed = pct_store_add_finding(r->store, &row);
    }
    if (!failed) {
        *id = finding->id = row.id;
        finding->signature = signature->hash;
        finding->hash = header->hash;
        finding->confirmed = pct_recorder_never_replays(&row);
        finding->late = is_late(&row);
        memcpy(finding->uncontrolled, header->uncontrolled,
               sizeof finding->uncontrolled); /* the header has room for more */
        pct_recorded_findings_strip(finding->token, header->token);
        failed = store_frames(r, row.id, signature);
    }
    free(report);
    free(replay);
    free(output);
    free(uncontrolled);
    return failed;
}

bool pct_recorder_never_replays(const struct pct_store_finding *finding)
{
    return !*finding->token || !strcmp(finding->verdict, pct_ending_name(PCT_ENDING_KILLED_PCT));
}

int pct_recorded_findings_restore(void *data, const struct pct_store_finding *finding)
{
    struct pct_recorder_finding *to = append(data);
    if (!to)
        return -ENOMEM;
    struct pct_config config;
    char error[512];
    to->id = finding->id;
    to->signature = finding->signature;
    to->late = is_late(finding);
    to->confirmed = finding->replays || pct_recorder_never_replays(finding);
    if (!pct_config_parse_token(&config, finding->token, pct_cli_find_strategy, error, sizeof error))
        to->hash = config.hash;
    pct_recorded_findings_strip(to->token, finding->token);
    return 0;
}
