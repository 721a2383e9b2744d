/* The facts of a campaign file: see campaign_file.h. */
#include "campaign_file.h"
#include "objects.h"
#include <cli/base/cli.h>
#include <cli/binary/elf_facts.h>
#include <cli/process/options.h>
#include "recorder.h"
#include "state.h"
#include <strategies/strategies.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { FACTS = 32 };

uint64_t pct_campaign_file_share(uint64_t total, uint64_t shard, uint64_t of)
{
    return total < shard ? 0 : (total - shard) / of + 1;
}

/* --- The facts as text -------------------------------------------------------------------------------------------- */

/* The facts of this campaign, all of them text. free_facts() gives them back. */
struct facts {
    struct pct_store_fact list[FACTS + 1];
    size_t count;
    bool failed;
};

static void free_facts(struct facts *facts)
{
    for (size_t i = 0; i < facts->count; i++)
        free((char *)(uintptr_t)facts->list[i].value);
}

__attribute__((format(printf, 3, 4))) static void add(struct facts *facts, const char *key, const char *format, ...)
{
    char *value = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&value, format, arguments) < 0 || facts->count == FACTS)
        facts->failed = true;
    else
        facts->list[facts->count++] = (struct pct_store_fact){ key, value };
    va_end(arguments);
}

/* What print() writes. */
static void add_printed(struct facts *facts, const char *key, const void *data,
                        void (*print)(FILE *out, const void *data))
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (out) {
        print(out, data);
        fclose(out);
    }
    if (out)
        add(facts, key, "%s", text);
    else
        facts->failed = true;
    free(text);
}

static void print_command(FILE *out, const void *data)
{
    const struct pct_campaign *c = data;
    pct_cli_print_command(out, c->launch.command);
}

static void print_options(FILE *out, const void *data)
{
    const struct pct_campaign *c = data;
    pct_options_print(out, &c->launch, NULL, true);
}

static void print_oracle(FILE *out, const void *data)
{
    pct_oracle_print(out, data);
}

static void print_objects(FILE *out, const void *data)
{
    const struct pct_campaign *c = data;
    pct_objects_print(out, c->objects);
}

/* The part of a token that names strategy and parameters. */
static void print_spec(FILE *out, const void *data)
{
    const struct pct_campaign *c = data;
    char token[PCT_TOKEN_MAX];
    pct_config_format_token(token, sizeof token, &c->config, c->strategy);
    const char *begin = strchr(token, ':');
    if (begin)
        fprintf(out, "%.*s", (int)strcspn(begin + 1, ":"), begin + 1);
}

static void print_failing(FILE *out, const void *data)
{
    const struct pct_campaign *c = data;
    for (size_t i = 0; i < c->failing_count; i++)
        fprintf(out, "%s%s", i ? "\n" : "", c->failing[i]);
}

static void add_reference(struct facts *facts, const struct pct_oracle *oracle)
{
    const struct pct_oracle_text *text = &oracle->reference;
    if (oracle->has_reference && oracle->same && text->from) /* how much of it is kept differs each time */
        add(facts, "reference", "%016llx", (unsigned long long)text->from + text->size);
    else if (oracle->has_reference)
        add(facts, "reference", "%016llx", (unsigned long long)XXH3_64bits(text->text, text->size));
    else
        add(facts, "reference", "%s", "");
}

/* Of what it is. */
static void add_input(struct facts *facts, const struct pct_campaign *c)
{
    add_printed(facts, "command", c, print_command);
    add(facts, "program", "%s", c->launch.program);
    add_printed(facts, "options", c, print_options);
}

/* The races that are no failures, by what the file has, whatever its name. Explorations know of none. */
static void add_suppressions(struct facts *facts, const struct pct_campaign *c)
{
    const char *file = c->launch.suppressions ? c->launch.suppressions : getenv("PCT_SUPPRESSIONS");
    if (c->kept && c->config.races == PCT_RACES_FAIL && file && *file)
        add(facts, "suppressions", "%016llx", (unsigned long long)pct_state_hash_file(file));
}

/* What decides what a run of the campaign does and how it is judged. */
static void add_identity(struct facts *facts, const struct pct_campaign *c, const struct pct_oracle *oracle)
{
    add_input(facts, c);
    add(facts, "binary", "%016llx", (unsigned long long)pct_state_hash_file(c->launch.program));
    add_printed(facts, "judging", oracle, print_oracle);
    add_reference(facts, oracle);
    add_suppressions(facts, c);
    /* maple says it itself, and has always done so. */
    add(facts, "sites", "%s", c->launch.sites && !pct_directed_may(c) ? c->launch.sites : "");
}

/* --- A place for it ----------------------------------------------------------------------------------------------- */

/* A damaged file and its log. */
static int move_with_log(const char *path, const char *log, const char *old)
{
    char old_log[4096];
    if ((size_t)snprintf(old_log, sizeof old_log, "%s%s", old, log + strlen(path)) >= sizeof old_log ||
        rename(log, old_log))
        return pct_cli_usage("%s: cannot be renamed: %s", log, strerror(errno));
    return 0;
}

int pct_campaign_file_move_away(const char *path)
{
    char error[512], old[4096], log[4096];
    enum pct_store_state state = pct_store_look(path, error, sizeof error);
    if (state == PCT_STORE_FOREIGN)
        return pct_cli_usage("%s: %s", path, error);
    if (state == PCT_STORE_ABSENT)
        return 0;
    /* Its log belongs to it: opened and closed, the file is alone, unless somebody has it open. */
    struct pct_store *store = pct_store_open(path, true, error, sizeof error);
    if (!store && errno == EBUSY)
        return pct_cli_usage("%s: %s", path, error);
    const bool good = store;
    if (good)
        pct_store_close(store);
    const bool logged = pct_store_has_log(path, log, sizeof log);
    if (logged && (good || state == PCT_STORE_NEWER))
        return pct_cli_usage("%s: somebody has it open, and %s belongs to it; wait until that has ended, or name "
                             "another file with --db",
                             path, log);
    if ((size_t)snprintf(old, sizeof old, "%s.old", path) >= sizeof old || (rename(path, old) && errno != ENOENT))
        return pct_cli_usage("%s: cannot be renamed: %s", path, strerror(errno));
    return logged ? move_with_log(path, log, old) : 0;
}

int pct_campaign_file_check_place(const char *path)
{
    char directory[4096], log[4096];
    const char *slash = strrchr(path, '/');
    int length = slash ? (int)(slash - path + 1) : 1;
    if ((size_t)snprintf(directory, sizeof directory, "%.*s", length, slash ? path : ".") < sizeof directory &&
        access(directory, W_OK | X_OK))
        return pct_cli_usage("--db=%s: %s: no file can be made in %s", path, strerror(errno), directory);
    if (access(path, F_OK) && pct_store_has_log(path, log, sizeof log))
        return pct_cli_usage("--db=%s: it was removed, but %s, which was a part of it, is there; remove that, too",
                             path, log);
    return 0;
}

static void add_all(struct facts *all, const struct pct_campaign *c, const struct pct_campaign_plan *plan,
                    const struct pct_oracle *oracle, bool differs)
{
    struct facts facts = { 0 };
    add(&facts, "pct", "%s", PCT_CLI_VERSION);
    add(&facts, "created", "%lld", (long long)time(NULL));
    add_identity(&facts, c, oracle);
    add_printed(&facts, "spec", c, print_spec);
    add(&facts, "seed", "%llu", (unsigned long long)c->config.run.seed);
    add(&facts, "runs", "%llu", (unsigned long long)plan->total);
    add(&facts, "epoch", "%llu", (unsigned long long)c->config.epoch);
    add(&facts, "shard", "%llu", (unsigned long long)plan->shard);
    add(&facts, "of", "%llu", (unsigned long long)plan->of);
    add(&facts, "learned", "%d", c->calibrated);
    add_printed(&facts, "objects", c, print_objects);
    add(&facts, "differs", "%d", differs);
    add(&facts, "first_token", "%s", c->origin.token);
    add(&facts, "first_hash", "%llu", (unsigned long long)c->origin.hash);
    add(&facts, "hardware", "%llu", (unsigned long long)pct_elf_reads_hardware(c->launch.program));
    add(&facts, "locks_inline", "%d", c->locks_inline != 0);
    add(&facts, "explored_found", "%d", c->found);
    add(&facts, "addresses_random", "%d", c->launch.random);
    if (c->failing_count)
        add_printed(&facts, "failing", c, print_failing);
    if (plan->memo)
        add(&facts, "memo", "%s", plan->memo);
    if (plan->bound)
        add(&facts, "bound", "%s", plan->bound);
    if (plan->code)
        add(&facts, "code", "%s", plan->code);
    add(&facts, "cycles", "%d", c->systematic.may);
    add(&facts, "directed", "%d", pct_directed_is_part(c) ? PCT_DIRECTED_PART : 0);
    add(&facts, "exploring", "%llu", (unsigned long long)c->exploring.most);
    add(&facts, "systematic", "%d", c->systematic.may ? PCT_SYSTEMATIC_MOST : 0);
    *all = facts;
}

int pct_campaign_file_create(const struct pct_campaign *c, const struct pct_campaign_plan *plan,
                             const struct pct_oracle *oracle, bool differs)
{
    struct facts facts;
    char error[512] = "out of memory";
    add_all(&facts, c, plan, oracle, differs);
    int failed = facts.failed ? -ENOMEM : pct_store_create(plan->path, facts.list, error, sizeof error);
    free_facts(&facts);
    if (failed)
        pct_cli_say("%s: %s", plan->path, error);
    return failed == -EEXIST ? PCT_EXIT_USAGE : failed ? PCT_EXIT_INTERNAL : 0;
}

int pct_campaign_file_add(struct pct_store *store, const struct pct_campaign *c, const struct pct_campaign_plan *plan,
                          const struct pct_oracle *oracle)
{
    struct facts facts;
    add_all(&facts, c, plan, oracle, false);
    int failed = facts.failed ? -ENOMEM : pct_store_add_part(store, facts.list);
    if (!failed)
        failed = pct_store_commit(store, 0);
    if (failed)
        pct_cli_say("%s: %s", plan->path, facts.failed ? "out of memory" : pct_store_error(store));
    free_facts(&facts);
    return failed ? PCT_EXIT_INTERNAL : 0;
}

int pct_campaign_file_choose(struct pct_store *store, const struct pct_campaign *c,
                             const struct pct_campaign_plan *plan, bool *there)
{
    struct facts facts = { 0 };
    add_input(&facts, c);
    unsigned part = facts.failed ? 0 : pct_store_find_part(store, facts.list);
    bool failed = facts.failed;
    free_facts(&facts);
    *there = part;
    if (failed)
        return pct_cli_no_memory("");
    return part && pct_store_choose(store, part) ? pct_cli_usage("%s: %s", plan->path, pct_store_error(store)) : 0;
}

/* --- Is it the same campaign? ------------------------------------------------------------------------------------- */

/* Words for the facts that must be equal. */
static const struct {
    const char *key, *what;
} equal[] = { { "command", "its command is" },
              { "options", "its options are" },
              { "judging", "what it calls a failure is" },
              { "program", "its program is" },
              { "sites", "its --sites is" } };

static int refuse(const struct pct_campaign_plan *plan, const char *what, const char *there, const char *here)
{
    pct_cli_say("%s is of another campaign: %s '%s', not '%s'", plan->path, what, there, here);
    pct_cli_say("begin a new one with --db FILE, or with --fresh, which keeps the old file as %s.old", plan->path);
    return PCT_EXIT_USAGE;
}

static const char *value_of(const struct facts *facts, const char *key)
{
    for (size_t i = 0; i < facts->count; i++)
        if (!strcmp(facts->list[i].key, key))
            return facts->list[i].value;
    return "";
}

static int match_identity(struct pct_store *store, const struct facts *facts, const struct pct_campaign_plan *plan)
{
    for (size_t i = 0; i < sizeof equal / sizeof *equal; i++) {
        const char *there = pct_store_fact(store, equal[i].key), *here = value_of(facts, equal[i].key);
        if (strcmp(there, here))
            return refuse(plan, equal[i].what, there, here);
    }
    /* Hashes, which say nothing to a reader. */
    static const struct {
        const char *key, *changed;
    } hashes[] = { { "binary", "the program was rebuilt since its runs were made" },
                   { "reference", "the output that runs are compared with has changed since" },
                   { "suppressions", "the races that are no failures (--suppressions) are others since" } };
    for (size_t i = 0; i < sizeof hashes / sizeof *hashes; i++) {
        if (!strcmp(pct_store_fact(store, hashes[i].key), value_of(facts, hashes[i].key)))
            continue;
        pct_cli_say("%s: %s", plan->path, hashes[i].changed);
        pct_cli_say("begin a new one with --db FILE, or with --fresh, which keeps the old file as %s.old", plan->path);
        return PCT_EXIT_USAGE;
    }
    return 0;
}

/* Whether what was given is what the file has. Parameters that were not given were chosen when it was made. */
static bool is_same_spec(const struct pct_campaign *c, const struct pct_config *there)
{
    const struct pct_config *here = &c->config;
    bool same = !strcmp(there->strategy, here->strategy) && there->real_time == here->real_time &&
                there->max_steps == here->max_steps && there->memory_points == here->memory_points &&
                there->races == here->races && (there->memory == here->memory || c->may_patch) &&
                !strcmp(there->modules, here->modules) && !strcmp(there->focus, here->focus) &&
                !strcmp(there->watch, here->watch) && !strcmp(there->functions, here->functions) &&
                (there->sample == here->sample || c->may_sample) &&
                (there->ordered == here->ordered || !here->ordered) &&
                (there->end == here->end || here->end == PCT_END_DRAWN) &&
                (there->slack == here->slack || c->may_take_slack) && there->spurious == here->spurious;
    for (int i = 0; same && i < PCT_MAX_PARAMS; i++)
        same = !(here->given >> i & 1) || here->run.param[i] == there->run.param[i];
    return same;
}

/* Go on with what was chosen when the file was made. */
static void take_spec(struct pct_store *store, struct pct_campaign *c, const struct pct_config *there)
{
    memcpy(c->config.run.param, there->run.param, sizeof c->config.run.param);
    c->config.ordered = there->ordered; /* found out then, as k was */
    c->config.sample = there->sample;   /* likewise */
    c->config.end = there->end;
    c->config.memory = there->memory;
    c->config.rounds = there->rounds;
    c->config.calls = there->calls;
    c->config.strings = there->strings;
    c->config.slack = there->slack;
    c->may_sample = false;
    c->learns = false;
    c->calibrated = pct_store_number(store, "learned");
    pct_objects_free(&c->objects);
    if (*pct_store_fact(store, "objects"))
        c->objects = pct_objects_parse(pct_store_fact(store, "objects"));
}

static int match_spec(struct pct_store *store, struct pct_campaign *c, const struct pct_campaign_plan *plan)
{
    const char *spec = pct_store_fact(store, "spec");
    struct pct_config there = { 0 };
    char error[512], here[PCT_TOKEN_MAX] = "";
    if (pct_config_parse_spec(&there, spec, pct_cli_find_strategy, error, sizeof error))
        return pct_cli_usage("%s: %s", plan->path, error);
    if (is_same_spec(c, &there)) {
        take_spec(store, c, &there);
        return 0;
    }
    FILE *out = fmemopen(here, sizeof here, "w");
    if (out) {
        print_spec(out, c);
        fclose(out);
    }
    int status = refuse(plan, "its strategy is", spec, here);
    if (strcmp(there.strategy, c->config.strategy) && strcmp(there.strategy, pct_strategy_explore.name))
        pct_cli_say("or go on with it by --strategy %s, which may have been the default of an earlier version",
                    there.strategy);
    return status;
}

static int match_number(struct pct_store *store, const struct pct_campaign_plan *plan, const char *key,
                        const char *what, bool given, uint64_t here)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)here);
    return given && pct_store_number(store, key) != here ? refuse(plan, what, pct_store_fact(store, key), text) : 0;
}

int pct_campaign_file_match(struct pct_store *store, struct pct_campaign *c, struct pct_campaign_plan *plan,
                            const struct pct_oracle *oracle)
{
    if (!pct_store_number(store, "shard") && pct_store_is_directed(store))
        return pct_cli_usage(
            "%s was merged from campaigns that have each directed their runs by what they knew: it can "
            "be reported and merged, but not resumed; name another file with --db",
            plan->path);
    if (!pct_store_number(store, "shard") && *pct_store_fact(store, "bound"))
        return pct_cli_usage(
            "%s was merged from the shards of an exploration, each of which goes on in its own file: it "
            "can be reported, but not resumed; name another file with --db",
            plan->path);
    if (!pct_store_number(store, "shard"))
        return pct_cli_usage("%s was merged from files that do not have all runs of their campaign: it can be reported "
                             "and merged, but not resumed; name another file with --db",
                             plan->path);
    struct facts facts = { 0 };
    add_identity(&facts, c, oracle);
    int failed = facts.failed ? pct_cli_no_memory("") : match_identity(store, &facts, plan);
    free_facts(&facts);
    if (!failed)
        failed = match_spec(store, c, plan);
    if (!failed && plan->memo && strcmp(pct_store_fact(store, "memo"), plan->memo) != 0)
        failed = refuse(plan, "its --memo is", pct_store_fact(store, "memo"), plan->memo);
    if (!failed)
        failed = match_number(store, plan, "seed", "its seed is", !plan->drawn, c->config.run.seed);
    if (!failed)
        failed = match_number(store, plan, "epoch", "its epoch is", plan->has_epoch, c->config.epoch);
    if (!failed)
        failed = match_number(store, plan, "shard", "its shard is", true, plan->shard);
    if (!failed)
        failed = match_number(store, plan, "of", "its number of shards is", true, plan->of);
    if (failed)
        return failed;
    c->config.run.seed = pct_store_number(store, "seed");
    c->config.epoch = pct_store_number(store, "epoch");
    if (!plan->counted)
        plan->total = pct_store_number(store, "runs");
    return 0;
}

int pct_campaign_file_adopt(struct pct_campaign *c, const struct pct_campaign_plan *plan)
{
    char error[512];
    struct pct_store *store = pct_store_open(plan->path, false, error, sizeof error);
    if (!store)
        return pct_cli_usage("%s: %s", plan->path, error);
    if (plan->drawn)
        c->config.run.seed = pct_store_number(store, "seed");
    if (!plan->has_epoch)
        c->config.epoch = pct_store_number(store, "epoch");
    pct_store_close(store);
    return 0;
}

bool pct_campaign_file_has_runs(const char *path)
{
    char error[512];
    struct pct_store_totals totals = { .runs = 0 };
    if (pct_store_look(path, error, sizeof error) == PCT_STORE_ABSENT)
        return false;
    struct pct_store *store = pct_store_open(path, false, error, sizeof error);
    bool has = !store || pct_store_totals(store, &totals) || totals.runs;
    if (store)
        pct_store_close(store);
    return has;
}

struct checking {
    const struct pct_campaign *c;
    uint64_t index;
};

static int check_run(void *data, const struct pct_store_run *run)
{
    struct checking *checking = data;
    return run->seed != pct_campaign_seed(checking->c, checking->index++);
}

int pct_campaign_file_check_runs(struct pct_store *store, const struct pct_campaign *c,
                                 const struct pct_campaign_plan *plan)
{
    struct checking checking = { .c = c };
    if (!pct_store_each_run(store, check_run, &checking))
        return 0;
    return pct_cli_usage("%s: its runs are not the first ones of its campaign, without a gap; it was left as it is, "
                         "and can be reported and merged, but not resumed; name another file with --db",
                         plan->path);
}

/* --- For reports -------------------------------------------------------------------------------------------------- */

bool pct_campaign_file_restore(struct pct_store *store, struct pct_campaign *c)
{
    char error[512];
    struct pct_store_totals totals;
    if (pct_config_parse_spec(&c->config, pct_store_fact(store, "spec"), pct_cli_find_strategy, error, sizeof error))
        return false;
    c->strategy = pct_cli_find_strategy(c->config.strategy, error, sizeof error);
    if (!c->strategy)
        return false;
    c->k = pct_cli_strategy_parameter(c->strategy, "k");
    c->depth = pct_cli_strategy_parameter(c->strategy, "depth");
    c->config.run.seed = pct_store_number(store, "seed");
    c->launch.aslr = strstr(pct_store_fact(store, "options"), "--aslr ");
    c->kept = true;
    c->runs = pct_store_number(store, "runs");
    if (pct_store_totals(store, &totals) || pct_recorder_restore(store, c))
        return false;
    c->seconds = totals.seconds;
    return true;
}
