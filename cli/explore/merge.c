/* Merging explorations: see merge.h. */
#include "merge.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What the shards that are there have come to. */
struct merging {
    struct pct_explorer sum;
    struct pct_search_facts facts;
    uint64_t of;
    char *there; /* by shard, from 1: 0: not; 1: not to its end; 2: it is whole */
    int patched; /* PCT_PATCH_* */
    char why[1024];
};

void pct_shard_format(char *text, size_t size, const struct pct_explorer *e, int patched)
{
    const struct pct_search_facts *f = pct_search_facts(e->search);
    snprintf(text, size,
             "%016" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIx32
             " %" PRIx32 " %" PRIu32 " memory=%d",
             f->division, f->runs, f->classes, f->redundant, f->awaited, e->passed, e->failing, e->flags, e->assumes,
             e->threads, patched);
}

/* Add what a shard says of itself. Returns NULL, or why it cannot be: a clause. */
static const char *add_shard(struct merging *m, const char *text)
{
    struct pct_search_facts f = { 0 };
    uint64_t passed, failing;
    uint32_t flags, assumes, threads;
    int patched, read = 0;
    if (sscanf(text,
               "%" SCNx64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNx32
               " %" SCNx32 " %" SCNu32 " memory=%d%n",
               &f.division, &f.runs, &f.classes, &f.redundant, &f.awaited, &passed, &failing, &flags, &assumes,
               &threads, &patched, &read) != 11 ||
        text[read] || !f.runs)
        return "it is damaged, or another version of pct made it";
    if (m->facts.division && m->facts.division != f.division)
        return "it was divided in another way than the files before it: the program's first runs are others there, "
               "which its libraries, environment or files make";
    m->facts.division = f.division;
    m->facts.runs += f.runs;
    m->facts.classes += f.classes;
    m->facts.redundant += f.redundant;
    m->facts.awaited += f.awaited;
    m->sum.passed += passed;
    m->sum.failing += failing;
    m->sum.flags |= flags;
    m->sum.assumes |= assumes;
    m->sum.threads = threads > m->sum.threads ? threads : m->sum.threads;
    m->patched = patched;
    return NULL;
}

bool pct_explorer_owns(const char *path)
{
    char error[512];
    struct pct_store *store = pct_store_open(path, false, error, sizeof error);
    bool owns = store && *pct_store_fact(store, "bound");
    if (store)
        pct_store_close(store);
    return owns;
}

static int take_store(struct merging *m, const char *path, struct pct_store *store)
{
    struct pct_store_totals totals;
    uint64_t shard = pct_store_number(store, "shard"), of = pct_store_number(store, "of");
    if (!*pct_store_fact(store, "bound") || !shard || of < 2 || of > PCT_SHARDS_MAX || shard > of)
        return pct_cli_usage("%s: it is no shard of an exploration: those of one input are merged, and each once",
                             path);
    if (!m->of) {
        m->of = of;
        m->there = calloc(of + 1, 1);
        if (!m->there)
            return pct_cli_no_memory("");
    }
    if (of != m->of)
        return pct_cli_usage("%s: it is a shard of %llu, and the first file one of %llu", path, (unsigned long long)of,
                             (unsigned long long)m->of);
    if (m->there[shard])
        return pct_cli_usage("%s: shard %llu is there already", path, (unsigned long long)shard);
    m->there[shard] = 1;
    if (pct_store_totals(store, &totals))
        return pct_cli_usage("%s: %s", path, pct_store_error(store));
    m->sum.findings += totals.findings;
    m->sum.seconds += totals.seconds;
    const char *whole = pct_store_fact(store, "whole");
    if (!*whole || !*pct_store_fact(store, "verdict"))
        return 0;
    m->there[shard] = 2;
    const char *why = add_shard(m, whole);
    return why ? pct_cli_usage("%s: %s; explore its shard anew", path, why) : 0;
}

/* Why the whole is not known. */
static void list_missing(struct merging *m)
{
    for (uint64_t shard = 1; shard <= m->of; shard++) {
        size_t used = strlen(m->why);
        if (m->there[shard] < 2 && used < sizeof m->why - 1)
            snprintf(m->why + used, sizeof m->why - used, "%sshard %llu of %llu %s", used ? "; " : "",
                     (unsigned long long)shard, (unsigned long long)m->of,
                     m->there[shard] ? "was not explored to its end, or not all of it is known" : "is missing");
    }
}

/* --- Inputs ------------------------------------------------------------------------------------------------------- */

/* The explorations of one input. */
struct input {
    struct pct_store_source *from;
    size_t count;
    char *name; /* command, program and options, a line each */
    char *line; /* what is known of it */
    int status;
    bool copied; /* there is one, which is no shard */
};

struct inputs {
    struct input *input;
    size_t count;
};

static struct pct_store *open_part(const char *path, unsigned part)
{
    char error[512];
    struct pct_store *store = pct_store_open(path, false, error, sizeof error);
    if (!store) {
        pct_cli_say("%s: %s", path, error);
        return NULL;
    }
    if (pct_store_choose(store, part)) {
        pct_cli_say("%s: %s", path, pct_store_error(store));
        pct_store_close(store);
        return NULL;
    }
    return store;
}

/* The input of this name, new or not. NULL: no memory. */
static struct input *find_input(struct inputs *all, char *name)
{
    for (size_t i = 0; i < all->count; i++)
        if (!strcmp(all->input[i].name, name)) {
            free(name);
            return &all->input[i];
        }
    struct input *more = realloc(all->input, (all->count + 1) * sizeof *more);
    if (!more) {
        free(name);
        return NULL;
    }
    all->input = more;
    more[all->count] = (struct input){ .name = name };
    return &more[all->count++];
}

static int add_part(struct inputs *all, const char *path, struct pct_store *store)
{
    char *name;
    if (asprintf(&name, "%s\n%s\n%s", pct_store_fact(store, "command"), pct_store_fact(store, "program"),
                 pct_store_fact(store, "options")) < 0)
        return pct_cli_no_memory("");
    struct input *input = find_input(all, name);
    struct pct_store_source *more = input ? realloc(input->from, (input->count + 1) * sizeof *more) : NULL;
    if (!more)
        return pct_cli_no_memory("");
    input->from = more;
    more[input->count++] = (struct pct_store_source){ path, pct_store_part(store) };
    return 0;
}

static int list_inputs(struct inputs *all, const char *path)
{
    struct pct_store *store = open_part(path, 1);
    int status = store ? 0 : PCT_EXIT_USAGE;
    unsigned parts = store ? pct_store_parts(store) : 0;
    for (unsigned part = 1; part <= parts && !status; part++) {
        status = pct_store_choose(store, part) ? pct_cli_usage("%s: %s", path, pct_store_error(store)) : 0;
        if (!status)
            status = add_part(all, path, store);
    }
    if (store)
        pct_store_close(store);
    return status;
}

/* A single one that is no shard is what it was. */
static int keep_one(struct input *input, struct pct_store *store)
{
    struct pct_store_totals totals;
    const char *verdict = pct_store_fact(store, "verdict");
    if (pct_store_totals(store, &totals))
        return pct_cli_usage("%s: %s", input->from->path, pct_store_error(store));
    input->copied = true;
    input->line = strdup(verdict);
    input->status = totals.findings ? 1 : strncmp(verdict, "verified", 8) ? PCT_EXIT_CONFIDENCE : 0;
    return input->line ? 0 : pct_cli_no_memory("");
}

static int join_shards(struct input *input, struct merging *m)
{
    int status = 0;
    for (size_t i = 0; i < input->count && !status; i++) {
        struct pct_store *store = open_part(input->from[i].path, input->from[i].part);
        if (!store)
            return PCT_EXIT_USAGE;
        bool one = input->count == 1 && *pct_store_fact(store, "bound") && pct_store_number(store, "of") < 2;
        status = one ? keep_one(input, store) : take_store(m, input->from[i].path, store);
        pct_store_close(store);
    }
    if (status || input->copied)
        return status;
    list_missing(m);
    m->sum.merged = &m->facts;
    input->line = pct_explorer_merged_line(&m->sum, m->patched, m->why, &input->status);
    return input->line ? 0 : pct_cli_no_memory("");
}

static int join(struct input *input)
{
    struct merging *m = calloc(1, sizeof *m);
    if (!m)
        return pct_cli_no_memory("");
    m->sum.bound = PCT_UNBOUNDED;
    int status = join_shards(input, m);
    free(m->there);
    free(m);
    return status;
}

static int write_all(const char *to, const struct inputs *all)
{
    char error[1024] = "out of memory";
    uint64_t differing;
    bool directed;
    struct pct_store_group *groups = calloc(all->count, sizeof *groups);
    for (size_t i = 0; i < all->count && groups; i++) {
        const struct input *input = &all->input[i];
        groups[i] = (struct pct_store_group){ input->from, input->count, input->line, input->copied };
    }
    int failed = groups ? pct_store_merge(to, groups, all->count, &differing, &directed, error, sizeof error) : -ENOMEM;
    free(groups);
    if (!failed)
        return 0;
    pct_cli_say("%s: not merged: %s", to, error);
    return failed == -EINVAL || failed == -EEXIST ? PCT_EXIT_USAGE : PCT_EXIT_INTERNAL;
}

/* What is known of each; the exit status is that of all: what was found first, then what is not known. */
static int say_all(const struct inputs *all)
{
    int status = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct input *input = &all->input[i];
        size_t length = strcspn(input->name, "\n");
        const char *line = *input->line ? input->line : "not over: pct explore --resume goes on";
        if (all->count > 1)
            pct_cli_say("%.*s: %s", (int)length, input->name, line);
        else
            pct_cli_say("%s", line);
        status = status == 1 || !input->status ? status : input->status;
    }
    return status;
}

int pct_explorer_merge(const char *to, char *const *from, size_t count)
{
    struct inputs all = { 0 };
    int status = 0;
    for (size_t i = 0; i < count && !status; i++)
        status = list_inputs(&all, from[i]);
    for (size_t i = 0; i < all.count && !status; i++)
        status = join(&all.input[i]);
    if (!status)
        status = write_all(to, &all);
    if (!status)
        status = say_all(&all);
    for (size_t i = 0; i < all.count; i++) {
        free(all.input[i].from);
        free(all.input[i].name);
        free(all.input[i].line);
    }
    free(all.input);
    return status;
}
