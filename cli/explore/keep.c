/* The file of an exploration: see keep.h. */
#include "keep.h"
#include <cli/binary/elf_facts.h>
#include <cli/binary/libraries.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- Opening ------------------------------------------------------------------------------------------------------ */

static int match_bound(struct pct_explorer_keep *k)
{
    const char *there = pct_store_fact(k->recorder.store, "bound");
    if (!strcmp(there, k->bound))
        return 0;
    return pct_cli_usage("%s is of an exploration with %s%s, not %s%s: name another file with --db, or begin anew with "
                         "--fresh",
                         k->plan.path, strcmp(there, "no") ? "--bound=" : "no bound", strcmp(there, "no") ? there : "",
                         strcmp(k->bound, "no") ? "--bound=" : "none", strcmp(k->bound, "no") ? k->bound : "");
}

static int add_file(void *data, const char *path)
{
    uint64_t *hash = data;
    *hash = (*hash ^ pct_state_hash_file(path)) * UINT64_C(0x9e3779b97f4a7c15);
    *hash ^= *hash >> 29;
    return 0;
}

void pct_explorer_hash_code(char *text, size_t size, const struct pct_launch *launch)
{
    char paths[sizeof launch->library_path], *rest = paths, *path;
    char buffer[PATH_MAX];
    const char *program = pct_elf_program(launch->program, buffer);
    uint64_t hash = 0;
    if (program != launch->program)
        add_file(&hash, program);
    strcpy(paths, launch->library_path);
    while ((path = strsep(&rest, ":")))
        add_file(&hash, path);
    pct_libraries_each(launch->program, add_file, &hash);
    snprintf(text, size, "%016llx", (unsigned long long)hash);
}

static int match_code(struct pct_explorer_keep *k)
{
    if (!strcmp(pct_store_fact(k->recorder.store, "code"), k->code))
        return 0;
    return pct_cli_usage(
        "%s: a library that the program loads, its interpreter (#!), or pct, was rebuilt since its runs were made: "
        "begin anew with --fresh, or name another file with --db",
        k->plan.path);
}

static int take_finding(void *data, const struct pct_store_finding *row)
{
    struct pct_finding *finding = pct_explorer_finding(data, row->signature);
    if (!finding)
        return -ENOMEM;
    snprintf(finding->title, sizeof finding->title, "%s", row->title);
    snprintf(finding->token, sizeof finding->token, "%s", row->token);
    finding->too_long = !*row->token;
    finding->replayed = row->same > 0;
    return 0;
}

static int take_uncontrolled(void *data, unsigned kind, const char *name, uint64_t count)
{
    struct pct_explorer *e = data;
    (void)name;
    if (kind < PCT_UNCONTROLLED_COUNT)
        e->uncontrolled[kind] += count;
    return 0;
}

static int begin(struct pct_explorer_keep *k, struct pct_explorer *e, struct pct_campaign *c)
{
    struct pct_store *store = k->recorder.store;
    int failed = pct_campaign_file_match(store, c, &k->plan, &k->oracle);
    if (!failed)
        failed = match_bound(k);
    if (!failed)
        failed = match_code(k);
    if (!failed)
        failed = pct_recorder_attach(&k->recorder, c);
    if (failed)
        return failed;
    failed = pct_store_begin_explored(store);
    e->differs = pct_store_number(store, "differs");
    if (!failed)
        failed = pct_store_each_finding(store, take_finding, e);
    if (!failed)
        failed = pct_store_each_uncontrolled(store, take_uncontrolled, e);
    /* Nothing is written before the first new run: the file may turn out not to be of this program. */
    return failed ? pct_recorder_fail(&k->recorder, failed) : 0;
}

/* A file that is there already: the exploration of this input goes on, or is added. */
static int choose(struct pct_explorer_keep *k, const struct pct_explorer *e, const struct pct_campaign *c)
{
    struct pct_store *store = k->recorder.store;
    if (!*pct_store_fact(store, "bound")) /* a campaign's: begin() says so */
        return 0;
    int failed = pct_campaign_file_choose(store, c, &k->plan, &k->there);
    if (failed || k->there)
        return failed;
    if (k->resumes)
        return pct_cli_usage(
            "--resume: %s has no exploration of this command with these options; `pct campaign report` "
            "lists those that it has (one of an earlier pct does not go on: begin anew with --fresh)",
            k->plan.path);
    failed = pct_campaign_file_add(store, c, &k->plan, &k->oracle);
    if (!failed && !e->quiet)
        pct_cli_say("%s: this is its exploration %u", k->plan.path, pct_store_part(store));
    return failed;
}

int pct_explorer_keep_open(struct pct_explorer_keep *k, struct pct_explorer *e, struct pct_campaign *c)
{
    char error[512];
    const char *path = k->plan.path;
    enum pct_store_state state = pct_store_look(path, error, sizeof error);
    if (state == PCT_STORE_FOREIGN || state == PCT_STORE_NEWER)
        return pct_cli_usage("%s: %s", path, error);
    if (state == PCT_STORE_ABSENT && k->resumes)
        return pct_cli_usage("--resume: there is no %s; --db names the file of an exploration", path);
    k->there = state != PCT_STORE_ABSENT;
    k->plan.shard = e->of > 1 ? e->shard : 1;
    k->plan.of = e->of > 1 ? e->of : 1;
    strcpy(k->bound, "no");
    if (e->bound >= 0)
        snprintf(k->bound, sizeof k->bound, "%d%s", e->bound, e->order == PCT_SEARCH_RANK ? " --order=rank" : "");
    k->plan.bound = k->bound;
    pct_explorer_hash_code(k->code, sizeof k->code, &c->launch);
    k->plan.code = k->code;
    int failed = state == PCT_STORE_ABSENT ? pct_campaign_file_create(c, &k->plan, &k->oracle, false) : 0;
    if (failed)
        return failed;
    k->recorder = (struct pct_recorder){ .path = path, .oracle = &k->oracle, .quiet = true };
    k->recorder.store = pct_store_open(path, true, error, sizeof error);
    if (!k->recorder.store)
        return pct_cli_usage("%s: %s", path, error);
    if (c->launch.restore.wanted && pct_store_remember(k->recorder.store))
        return pct_cli_usage("%s: %s", path, pct_store_error(k->recorder.store));
    failed = k->there ? choose(k, e, c) : 0;
    if (!failed)
        failed = begin(k, e, c);
    if (!failed) /* what is patched is what the file says, whatever is asked for now */
        c->locks_inline = pct_store_number(k->recorder.store, "locks_inline");
    return failed;
}

int pct_explorer_keep_recall(struct pct_explorer_keep *k)
{
    int failed = k->recorder.store ? pct_store_recall(k->recorder.store) : 0;
    return failed ? pct_recorder_fail(&k->recorder, failed) : 0;
}

void pct_explorer_keep_close(struct pct_explorer_keep *k)
{
    if (k->recorder.store) {
        pct_recorder_close(&k->recorder);
        pct_store_close(k->recorder.store);
    }
    pct_explored_free(&k->before);
    pct_oracle_close(&k->oracle);
}

/* --- Runs of the file --------------------------------------------------------------------------------------------- */

struct restoring {
    struct pct_explorer_keep *keep;
    struct pct_explorer *explorer;
    struct pct_campaign *campaign;
    const struct pct_made *made; /* the first run, as it is now */
};

static int refuse(const struct pct_explorer_keep *k, const char *why)
{
    return pct_cli_usage("%s: %s; it was left as it is; begin anew with --fresh, or name another file with --db",
                         k->plan.path, why);
}

/* The first run does the same on the same objects, and fails as it did, or does not. */
static int compare_first(const struct restoring *r, const struct pct_explored *run)
{
    struct pct_execution here, there;
    if (pct_explored_read(&r->made->run, &here))
        return refuse(r->keep, "the program's first run cannot be read now");
    if (pct_explored_read(run, &there)) {
        pct_execution_free(&here);
        return refuse(r->keep, "its first run cannot be read");
    }
    bool same = here.count == there.count && !((r->made->run.flags ^ run->flags) & PCT_EXPLORED_FAILED);
    for (uint32_t i = 0; i < here.count && same; i++) {
        const struct pct_event *a = &here.event[i], *b = &there.event[i];
        same = a->thread == b->thread && a->op == b->op && a->touches == b->touches;
        for (unsigned k = 0; k < a->touches && same; k++)
            same = a->touch[k].key == b->touch[k].key;
    }
    pct_execution_free(&here);
    pct_execution_free(&there);
    return same
               ? 0
               : refuse(r->keep, "the program's first run is another one now: libraries, the environment or files that "
                                 "it reads have changed since, or it depends on more than the schedule");
}

static int take_run(void *data, const struct pct_store_explored *row)
{
    const struct restoring *r = data;
    struct pct_explorer_keep *k = r->keep;
    struct pct_explorer *e = r->explorer;
    struct pct_made made = { .plan = row->plan, .walk = row->flags & PCT_EXPLORED_WALK };
    uint32_t walk = pct_walks_plan(e->walks.made + 1);
    int failed = pct_explored_unpack(&made.run, k->count ? &k->before : NULL, row->log, row->size);
    made.run.flags = row->flags;
    made.run.threads = row->threads;
    made.run.doubts = row->doubts;
    made.run.assumes = row->assumes;
    made.run.failure = row->failure;
    if (failed || row->number != k->count)
        failed = failed == -ENOMEM ? pct_cli_no_memory("") : refuse(k, "its runs are damaged");
    if (!failed && !k->count)
        failed = compare_first(r, &made.run);
    if (!failed && k->count && !made.walk && !pct_explorer_search_next(e))
        failed = refuse(k, "it has more runs than there are");
    uint64_t plan = made.walk ? pct_explorer_plan(&walk, 1) : pct_explorer_plan(e->plan, k->count ? e->plan_count : 0);
    if (!failed && plan != row->plan)
        failed = refuse(k, "another version of pct made its runs");
    if (!failed)
        failed = pct_explorer_take(e, r->campaign, &made);
    pct_explored_free(&made.run);
    return failed;
}

int pct_explorer_keep_resume(struct pct_explorer_keep *k, struct pct_explorer *e, struct pct_campaign *c,
                             const struct pct_made *made)
{
    struct restoring restoring = { .keep = k, .explorer = e, .campaign = c, .made = made };
    if (!k->recorder.store)
        return 0;
    k->restoring = true;
    int failed = pct_store_each_explored(k->recorder.store, take_run, &restoring);
    k->restoring = false;
    e->resumed = k->count;
    return failed < 0 && failed != PCT_RUNS_ENOUGH ? pct_recorder_fail(&k->recorder, failed) : failed;
}

/* --- New runs ----------------------------------------------------------------------------------------------------- */

int pct_explorer_keep_classify(struct pct_explorer_keep *k, struct pct_campaign *c, struct pct_process *process,
                               struct pct_result *result)
{
    return pct_oracle_run(&k->oracle, &c->launch, process, result);
}

void pct_explorer_keep_trace(const struct pct_explorer_keep *k, uint64_t number, char *path, size_t size)
{
    unsigned part = pct_store_part(k->recorder.store);
    char of[32] = "";
    if (part > 1)
        snprintf(of, sizeof of, "%u.", part);
    snprintf(path, size, "%s.%srun-%llu.trace", k->plan.path, of, (unsigned long long)number);
}

/* The schedule is too long for a token: its trace replays it. */
static int add_traced(struct pct_explorer_keep *k, struct pct_campaign *c, const struct pct_made *made,
                      struct pct_result *result, int64_t *id)
{
    char path[PATH_MAX], error[256];
    pct_explorer_keep_trace(k, made->row.seed, path, sizeof path);
    if (pct_trace_save(&result->trace, path, error, sizeof error)) {
        pct_cli_say("the trace was not saved: %s: %s", path, error);
        return PCT_EXIT_INTERNAL;
    }
    result->trace.header.token[0] = 0;
    k->recorder.trace = path;
    int status = pct_recorder_add_failure(&k->recorder, c, made->process, result, made->row.seed, id);
    k->recorder.trace = NULL;
    return status;
}

/* The finding is that of the schedule, which replays without us. */
static int add_failure(struct pct_explorer_keep *k, const struct pct_explorer *e, struct pct_campaign *c,
                       const struct pct_made *made, int64_t *id)
{
    static struct pct_result result; /* large */
    for (size_t i = 0; i < k->recorder.count; i++)
        if (k->recorder.findings[i].signature == made->run.failure) {
            *id = k->recorder.findings[i].id;
            return 0;
        }
    const char *token = "";
    for (size_t i = 0; i < e->findings; i++)
        if (e->finding[i].hash == made->run.failure)
            token = e->finding[i].token;
    result = *made->result;
    struct pct_config config = { 0 };
    char error[256];
    if (*token && !pct_config_parse_token(&config, token, pct_cli_find_strategy, error, sizeof error)) {
        config.has_hash = result.trace.header.verdict != PCT_VERDICT_RUNNING;
        config.hash = result.trace.header.hash;
        const struct pct_strategy *strategy = pct_cli_find_strategy(config.strategy, error, sizeof error);
        pct_config_format_token(result.trace.header.token, sizeof result.trace.header.token, &config, strategy);
    }
    if (!*token)
        return add_traced(k, c, made, &result, id);
    return pct_recorder_add_failure(&k->recorder, c, made->process, &result, made->row.seed, id);
}

static int add_rows(struct pct_explorer_keep *k, const struct pct_made *made)
{
    struct pct_store *store = k->recorder.store;
    struct pct_store_explored row = { .number = k->count,
                                      .plan = made->plan,
                                      .failure = made->run.failure,
                                      .flags = made->run.flags,
                                      .threads = made->run.threads,
                                      .doubts = made->run.doubts,
                                      .assumes = made->run.assumes };
    uint8_t *log;
    /* What an earlier session said is not known to be true any more. */
    int failed = *pct_store_fact(store, "verdict") ? pct_store_set_fact(store, "verdict", "") : 0;
    if (!failed && *pct_store_fact(store, "whole"))
        failed = pct_store_set_fact(store, "whole", "");
    if (failed)
        return failed;
    failed = pct_explored_pack(&made->run, k->count ? &k->before : NULL, &log, &row.size);
    if (failed)
        return failed;
    row.log = log;
    failed = pct_store_add_explored(store, &row);
    free(log);
    if (!failed)
        failed = pct_store_add_run(store, &made->row);
    for (unsigned i = 0; !failed && i < PCT_UNCONTROLLED_COUNT; i++)
        if (made->uncontrolled[i])
            failed = pct_store_add_uncontrolled(store, i, pct_name_uncontrolled(i), made->uncontrolled[i]);
    return failed;
}

/* That they do shows in runs which the file does not keep. */
static int keep_differs(struct pct_store *store, const struct pct_explorer *e)
{
    return e->differs && !pct_store_number(store, "differs") ? pct_store_set_fact(store, "differs", "1") : 0;
}

int pct_explorer_keep_add(struct pct_explorer_keep *k, struct pct_explorer *e, struct pct_campaign *c,
                          struct pct_made *made)
{
    int status = 0;
    if (!k->recorder.store)
        return 0;
    if (!k->restoring) {
        if (made->run.flags & PCT_EXPLORED_FAILED && !(made->run.flags & PCT_EXPLORED_CUT))
            status = add_failure(k, e, c, made, &made->row.finding);
        int failed = status ? 0 : add_rows(k, made);
        if (!status && !failed)
            failed = keep_differs(k->recorder.store, e);
        if (failed)
            status = failed == -ENOMEM ? pct_cli_no_memory("") : pct_recorder_fail(&k->recorder, failed);
        k->recorder.dirty = true;
    }
    if (status)
        return status;
    pct_explored_free(&k->before);
    k->before = made->run;
    made->run = (struct pct_explored){ 0 };
    k->count++;
    return k->restoring ? 0 : pct_recorder_commit(&k->recorder, e->fresh);
}

int pct_explorer_keep_commit(struct pct_explorer_keep *k, bool now)
{
    return k->recorder.store ? pct_recorder_commit(&k->recorder, now) : 0;
}

int pct_explorer_keep_confirm(struct pct_explorer_keep *k, struct pct_campaign *c)
{
    return k->recorder.store ? pct_recorder_confirm(&k->recorder, c) : 0;
}

int pct_explorer_keep_finish(struct pct_explorer_keep *k, const struct pct_explorer *e, const char *verdict,
                             const char *whole)
{
    struct pct_store *store = k->recorder.store;
    char runs[32];
    if (!store)
        return 0;
    if (k->recorder.broken)
        return PCT_EXIT_INTERNAL;
    if (k->there && !k->count) /* not even the first run was made again: the file says what it said */
        return pct_export_all(store, &k->exports);
    snprintf(runs, sizeof runs, "%llu", (unsigned long long)k->count);
    int failed = pct_store_set_fact(store, "runs", runs);
    if (!failed)
        failed = pct_store_set_fact(store, "verdict", verdict);
    if (!failed)
        failed = keep_differs(store, e);
    if (!failed && k->plan.of > 1)
        failed = pct_store_set_fact(store, "whole", whole);
    k->recorder.dirty = true;
    int status = failed ? pct_recorder_fail(&k->recorder, failed) : pct_recorder_commit(&k->recorder, true);
    return status ? status : pct_export_all(store, &k->exports);
}
