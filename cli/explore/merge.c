/* Merging the shards of an exploration: see merge.h. */
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
    bool patched;
    char why[1024];
};

void pct_shard_format(char *text, size_t size, const struct pct_explorer *e, bool patched)
{
    const struct pct_search_facts *f = pct_search_facts(e->search);
    snprintf(text, size,
             "%016" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIx32
             " %" PRIx32 " %" PRIu32 " %d",
             f->division, f->runs, f->classes, f->redundant, f->awaited, e->passed, e->failing, e->flags, e->assumes,
             e->threads, patched);
}

/* Add what a shard says of itself. False: it is damaged, or was divided in another way. */
static bool add_shard(struct merging *m, const char *text)
{
    struct pct_search_facts f = { 0 };
    uint64_t passed, failing;
    uint32_t flags, assumes, threads;
    int patched, read = 0;
    if (sscanf(text,
               "%" SCNx64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNx32
               " %" SCNx32 " %" SCNu32 " %d%n",
               &f.division, &f.runs, &f.classes, &f.redundant, &f.awaited, &passed, &failing, &flags, &assumes,
               &threads, &patched, &read) != 11 ||
        text[read] || !f.runs || (m->facts.division && m->facts.division != f.division))
        return false;
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
    m->patched |= patched;
    return true;
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
        return pct_cli_usage("%s: it is no shard of an exploration: those are merged, and each once", path);
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
    return add_shard(m, whole)
               ? 0
               : pct_cli_usage("%s: it was divided in another way than the files before it: the program's first runs "
                               "are others there, which its libraries, environment or files make; explore its shard "
                               "anew",
                               path);
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

static int take_all(struct merging *m, char *const *from, size_t count)
{
    char error[512];
    int status = 0;
    for (size_t i = 0; i < count && !status; i++) {
        struct pct_store *store = pct_store_open(from[i], false, error, sizeof error);
        if (!store)
            return pct_cli_usage("%s: %s", from[i], error);
        status = take_store(m, from[i], store);
        pct_store_close(store);
    }
    if (!status)
        list_missing(m);
    return status;
}

int pct_explorer_merge(const char *to, char *const *from, size_t count)
{
    struct merging m = { .sum = { .bound = PCT_UNBOUNDED } };
    char error[1024], *line = NULL;
    uint64_t differing;
    bool directed;
    int verdict = 0, status = take_all(&m, from, count);
    m.sum.merged = &m.facts;
    if (!status) {
        line = pct_explorer_merged_line(&m.sum, m.patched, m.why, &verdict);
        status = line ? 0 : pct_cli_no_memory("");
    }
    int failed = status ? 0 : pct_store_merge(to, from, count, line, &differing, &directed, error, sizeof error);
    if (failed) {
        pct_cli_say("%s: not merged: %s", to, error);
        status = failed == -EINVAL || failed == -EEXIST ? PCT_EXIT_USAGE : PCT_EXIT_INTERNAL;
    }
    if (!status)
        pct_cli_say("%s", line);
    free(line);
    free(m.there);
    return status ? status : verdict;
}
