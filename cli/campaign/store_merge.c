/* Making one campaign file of several: see store.h. All goes through the interface of the store, from readers to one
 * writer. */
#include <cli/base/cli.h>
#include "iroot_sets.h"
#include "recorder.h"
#include "store_sqlite.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A finding of one of the files; of those with the same signature the one with the first run stays. */
struct candidate {
    size_t from;
    int64_t id; /* there */
    uint64_t signature, seed;
    int64_t merged; /* its id in the new file */
    bool has_runs;  /* there */
};

struct merge {
    struct pct_store **from;
    const struct pct_store_source *sources;
    size_t count;
    struct pct_store *to; /* NULL: the file is not there yet */
    struct candidate *candidates;
    size_t candidate_count;
    size_t now;                /* which file is being read */
    bool looked, directed;     /* for iRoots; and by what these were: see directed.h */
    const char *verdict;       /* of explorations; NULL: they are none */
    bool copied;               /* a single one */
    uint64_t offset;           /* of explorations: the number of the first run of the file that is being read */
    uint64_t differing, added; /* the runs that other files have differently; that this file has brought */
    bool alike;                /* all have begun with the same runs, and so know the same; */
    bool varies;               /* and went another way all the same */
    char *error;
    size_t error_size;
};

static int complain(struct merge *m, const char *text)
{
    snprintf(m->error, m->error_size, "%s", text);
    return -EINVAL;
}

/* --- Do they belong together? ------------------------------------------------------------------------------------- */

/* The specification with k masked, if that was measured: it is the only thing in which shards may differ. */
static void mask(char *to, size_t size, struct pct_store *store)
{
    const char *spec = pct_store_fact(store, "spec"), *k = strstr(spec, ",k=");
    if (!k || !pct_store_number(store, "learned"))
        snprintf(to, size, "%s", spec);
    else
        snprintf(to, size, "%.*s%s", (int)(k - spec), spec, k + 3 + strspn(k + 3, "0123456789"));
}

/* Campaigns with other seeds have a time of day each, shards of one have the same. */
static bool are_shards_apart(struct pct_store *one, struct pct_store *other)
{
    return (pct_store_number(one, "of") > 1 || pct_store_number(other, "of") > 1) &&
           pct_store_number(one, "seed") == pct_store_number(other, "seed") &&
           pct_store_number(one, "epoch") != pct_store_number(other, "epoch");
}

static int compare_facts(struct merge *m, size_t which)
{
    static const char *const keys[] = { "command",      "binary", "options", "judging", "reference", "sites",
                                        "suppressions", "bound",  "code",    "seed",    "epoch" };
    enum { ALL = sizeof keys / sizeof *keys, CAMPAIGNS = ALL - 4 };
    char one[1024], other[1024], text[512];
    if (!m->verdict && *pct_store_fact(m->from[which], "bound")) {
        snprintf(text, sizeof text, "%.150s: it is an exploration, and the first file is a campaign",
                 m->sources[which].path);
        return complain(m, text);
    }
    for (size_t i = 0; i < (m->verdict ? ALL : CAMPAIGNS); i++)
        if (strcmp(pct_store_fact(m->from[0], keys[i]), pct_store_fact(m->from[which], keys[i]))) {
            snprintf(text, sizeof text, "%.150s and %.150s are of different campaigns (%s)", m->sources[0].path,
                     m->sources[which].path, keys[i]);
            return complain(m, text);
        }
    if (are_shards_apart(m->from[0], m->from[which])) {
        snprintf(text, sizeof text, "%.150s and %.150s are shards with another --epoch each", m->sources[0].path,
                 m->sources[which].path);
        return complain(m, text);
    }
    mask(one, sizeof one, m->from[0]);
    mask(other, sizeof other, m->from[which]);
    if (!strcmp(one, other))
        return 0;
    snprintf(text, sizeof text, "%.150s and %.150s have different strategies", m->sources[0].path,
             m->sources[which].path);
    return complain(m, text);
}

static bool began_alike(struct pct_store *one, struct pct_store *other)
{
    return !strcmp(pct_store_fact(one, "first_token"), pct_store_fact(other, "first_token"));
}

/* Whether the run that both began with went another way: on another machine, or with another library. */
static bool took_other_steps(struct pct_store *one, struct pct_store *other)
{
    return began_alike(one, other) && strcmp(pct_store_fact(one, "first_hash"), pct_store_fact(other, "first_hash"));
}

/* --- The new file ------------------------------------------------------------------------------------------------- */

static int create(struct merge *m, const char *path)
{
    const char *shard = m->copied ? pct_store_fact(m->from[0], "shard") : "0";
    uint64_t seed = UINT64_MAX, end = 0, created = UINT64_MAX, idioms = UINT64_MAX;
#define NAME(name) #name,
    static const char *const most[] = { PCT_RECORDER_MOST(NAME) "cycles",
                                        "systematic",
                                        "systematic_below",
                                        "addresses_random",
                                        "explored_found",
                                        "explored_unrepeated" };
#undef NAME
    enum { MOST = sizeof most / sizeof *most };
    uint64_t value[MOST] = { 0 };
    bool learned = false, differs = false;
    struct pct_store *verified = m->from[0]; /* one of them was, else the first */
    for (size_t i = 0; i < m->count; i++) {
        struct pct_store *from = m->from[i];
        uint64_t first = pct_store_number(from, "seed"), behind = first + pct_store_number(from, "runs");
        uint64_t when = pct_store_number(from, "created");
        seed = first < seed ? first : seed;
        end = behind > end ? behind : end;
        created = when < created ? when : created;
        verified = *pct_store_fact(from, "verdict") ? from : verified;
        learned |= pct_store_number(from, "learned") != 0;
        differs |= pct_store_number(from, "differs") != 0;
        for (size_t j = 0; j < i && !differs; j++)
            differs = took_other_steps(m->from[j], from);
        m->alike = (!i || m->alike) && *pct_store_fact(from, "first_token") && began_alike(m->from[0], from);
        if (pct_store_has_iroots(from) && pct_store_number(from, "idioms") < idioms)
            idioms = pct_store_number(from, "idioms");
        for (unsigned j = 0; j < MOST; j++)
            if (pct_store_number(from, most[j]) > value[j])
                value[j] = pct_store_number(from, most[j]);
    }
    const char *failing = "";
    for (size_t i = 0; i < m->count && !*failing; i++)
        failing = pct_store_fact(m->from[i], "failing");
    char seed_text[32], runs_text[32], created_text[32], idioms_text[32], text[MOST][32];
    snprintf(idioms_text, sizeof idioms_text, "%llu", (unsigned long long)(m->looked ? idioms : 0));
    snprintf(seed_text, sizeof seed_text, "%llu", (unsigned long long)seed);
    snprintf(runs_text, sizeof runs_text, "%llu", (unsigned long long)(end - seed));
    snprintf(created_text, sizeof created_text, "%llu", (unsigned long long)created);
    for (unsigned j = 0; j < MOST; j++)
        snprintf(text[j], sizeof text[j], "%llu", (unsigned long long)value[j]);
    struct pct_store *first = m->from[0];
    const struct pct_store_fact common[] = {
        { "pct", PCT_CLI_VERSION },
        { "created", created_text },
        { "command", pct_store_fact(first, "command") },
        { "program", pct_store_fact(first, "program") },
        { "binary", pct_store_fact(first, "binary") },
        { "options", pct_store_fact(first, "options") },
        { "judging", pct_store_fact(first, "judging") },
        { "reference", pct_store_fact(first, "reference") },
        { "sites", pct_store_fact(first, "sites") },
        { "suppressions", pct_store_fact(first, "suppressions") },
        { "spec", pct_store_fact(first, "spec") },
        { "seed", seed_text },
        { "runs", runs_text },
        { "epoch", pct_store_fact(first, "epoch") },
        { "shard", shard },
        { "of", "1" },
        { "learned", learned ? "1" : "0" },
        { "objects", pct_store_fact(first, "objects") },
        { "differs", differs ? "1" : "0" },
        { "first_token", pct_store_fact(first, "first_token") },
        { "first_hash", pct_store_fact(first, "first_hash") },
        { "memo", pct_store_fact(first, "memo") },
        { "failing", failing },
        { "idioms", idioms_text },
        { "directed", m->count == 1 ? pct_store_fact(first, "directed") : "" },
        { "tries", m->count == 1 ? pct_store_fact(first, "tries") : "" },
    };
    const struct pct_store_fact explored[] = { { "bound", pct_store_fact(first, "bound") },
                                               { "code", pct_store_fact(first, "code") },
                                               { "verdict", m->verdict } };
    const struct pct_store_fact verdict[] = { { "verdict", pct_store_fact(verified, "verdict") },
                                              { "verdict_whole", pct_store_fact(verified, "verdict_whole") } };
    enum { COMMON = sizeof common / sizeof *common, EXPLORED = sizeof explored / sizeof *explored };
    struct pct_store_fact facts[COMMON + MOST + EXPLORED + 1] = { { NULL, NULL } };
    memcpy(facts, common, sizeof common);
    for (unsigned j = 0; j < MOST; j++)
        facts[COMMON + j] = (struct pct_store_fact){ most[j], text[j] };
    if (m->verdict)
        memcpy(facts + COMMON + MOST, explored, sizeof explored);
    else
        memcpy(facts + COMMON + MOST, verdict, sizeof verdict);
    if (m->to)
        return pct_store_add_part(m->to, facts);
    int failed = pct_store_create(path, facts, m->error, m->error_size);
    if (failed)
        return failed;
    m->to = pct_store_open(path, true, m->error, m->error_size);
    return m->to ? 0 : -EIO;
}

/* --- Findings ----------------------------------------------------------------------------------------------------- */

static void begin_files(struct merge *m)
{
    m->now = 0;
    m->offset = 0;
}

/* Of a campaign, a run's number is its seed; explorations number their own. */
static void next_file(struct merge *m)
{
    if (m->verdict) {
        int64_t runs = pct_store_ask(m->from[m->now], "SELECT count(*) FROM @runs");
        m->offset += runs > 0 ? (uint64_t)runs : 0;
    }
    m->now++;
}

/* Without runs: the calibration alone has shown it (calibrate.h). */
static bool has_runs(struct pct_store *store, int64_t finding)
{
    char sql[80];
    snprintf(sql, sizeof sql, "SELECT EXISTS (SELECT 1 FROM @runs WHERE finding = %lld)", (long long)finding);
    return pct_store_ask(store, sql) > 0;
}

static int collect(void *data, const struct pct_store_finding *finding)
{
    struct merge *m = data;
    struct candidate *more = realloc(m->candidates, (m->candidate_count + 1) * sizeof *more);
    if (!more)
        return -ENOMEM;
    m->candidates = more;
    more[m->candidate_count++] = (struct candidate){ .from = m->now,
                                                     .id = finding->id,
                                                     .signature = finding->signature,
                                                     .seed = m->offset + finding->seed,
                                                     .has_runs = has_runs(m->from[m->now], finding->id) };
    return 0;
}

static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->has_runs != y->has_runs)
        return y->has_runs - x->has_runs;
    return x->seed != y->seed ? (x->seed > y->seed) - (x->seed < y->seed) : (x->from > y->from) - (x->from < y->from);
}

static struct candidate *find(struct merge *m, size_t from, int64_t id)
{
    for (size_t i = 0; i < m->candidate_count; i++)
        if (m->candidates[i].from == from && m->candidates[i].id == id)
            return &m->candidates[i];
    return NULL;
}

/* Copy the finding that m->candidates[...] is, with its frames. */
struct copying {
    struct merge *m;
    struct candidate *candidate;
};

static int copy_frame(void *data, const struct pct_store_frame *frame)
{
    const struct copying *copying = data;
    struct pct_store_frame copy = *frame;
    copy.finding = copying->candidate->merged;
    return pct_store_add_frame(copying->m->to, &copy);
}

static int copy_finding(void *data, const struct pct_store_finding *finding)
{
    struct copying *copying = data;
    if (finding->id != copying->candidate->id)
        return 0;
    struct pct_store_finding copy = *finding;
    copy.seed = copying->candidate->seed;
    int failed = pct_store_add_finding(copying->m->to, &copy);
    copying->candidate->merged = copy.id;
    return failed;
}

/* In the order of their first runs, in which one campaign would have found them; those without runs come last, as
 * there. One stays where its runs ended differently in an earlier file, and count as there: it was found. */
static int merge_findings(struct merge *m)
{
    int failed = 0;
    for (begin_files(m); !failed && m->now < m->count; next_file(m))
        failed = pct_store_each_finding(m->from[m->now], collect, m);
    if (m->candidate_count)
        qsort(m->candidates, m->candidate_count, sizeof *m->candidates, compare_candidates);
    for (size_t i = 0; !failed && i < m->candidate_count; i++) {
        struct candidate *candidate = &m->candidates[i];
        for (size_t j = 0; j < i && !candidate->merged; j++)
            if (m->candidates[j].signature == candidate->signature)
                candidate->merged = m->candidates[j].merged;
        if (candidate->merged)
            continue;
        struct copying copying = { .m = m, .candidate = candidate };
        failed = pct_store_each_finding(m->from[candidate->from], copy_finding, &copying);
        if (!failed)
            failed = pct_store_each_frame(m->from[candidate->from], candidate->id, copy_frame, &copying);
    }
    return failed;
}

/* --- The rest ----------------------------------------------------------------------------------------------------- */

/* *varies: it is not, though its seed and what is known decide it, which may be the same. */
static bool is_same(struct pct_store *store, const struct pct_store_run *run, bool *varies)
{
    sqlite3_stmt *s = pct_store_statement(store, PCT_STORE_RUN);
    sqlite3_bind_int64(s, 1, (int64_t)run->seed);
    bool there = sqlite3_step(s) == SQLITE_ROW;
    bool same = there && sqlite3_column_int(s, 0) == run->code && (uint64_t)sqlite3_column_int64(s, 1) == run->hash;
    bool drawn = !run->other && !run->systematic && !run->forced && !run->directed && !sqlite3_column_int(s, 4);
    *varies = there && !same && drawn && (uint64_t)sqlite3_column_int64(s, 2) == run->k &&
              (uint64_t)sqlite3_column_int64(s, 3) == run->depth;
    sqlite3_reset(s);
    return same;
}

static int copy_run(void *data, const struct pct_store_run *run)
{
    struct merge *m = data;
    struct pct_store_run copy = *run;
    copy.seed += m->offset;
    const struct candidate *finding = run->finding ? find(m, m->now, run->finding) : NULL;
    if (run->finding && !finding) { /* or a failure would be none */
        snprintf(m->to->error, sizeof m->to->error, "a campaign has begun to write to %.200s; wait until it has ended",
                 m->sources[m->now].path);
        return -EBUSY;
    }
    copy.finding = finding ? finding->merged : 0;
    int failed = pct_store_add_run(m->to, &copy);
    m->added += !failed;
    if (failed != -EEXIST)
        return failed;
    bool varies = false;
    m->differing += !is_same(m->to, run, &varies);
    m->varies |= varies && m->alike && !m->directed;
    return 0;
}

static int copy_pair(void *data, uint64_t pair, uint64_t seed)
{
    return pct_store_add_pair(((struct merge *)data)->to, pair, seed);
}

static int copy_uncontrolled(void *data, unsigned kind, const char *name, uint64_t count)
{
    return pct_store_add_uncontrolled(((struct merge *)data)->to, kind, name, count);
}

/* 1: it is this one. */
static int compare_session(void *data, const struct pct_store_session *session)
{
    const struct pct_store_session *other = data;
    return session->started == other->started && session->runs == other->runs && session->jobs == other->jobs &&
           session->seconds == other->seconds;
}

static int copy_explored(void *data, const struct pct_store_explored *run)
{
    return pct_store_add_explored(((struct merge *)data)->to, run);
}

/* Files may overlap: a shard, and what it was merged into. */
static int copy_session(void *data, const struct pct_store_session *session)
{
    struct pct_store *to = ((struct merge *)data)->to;
    struct pct_store_session copy = *session;
    int known = pct_store_each_session(to, compare_session, &copy);
    if (known)
        return known < 0 ? known : 0;
    return pct_store_add_session(to, session);
}

static int merge_rows(struct merge *m)
{
    int failed = 0;
    for (begin_files(m); !failed && m->now < m->count; next_file(m)) {
        struct pct_store *from = m->from[m->now];
        m->added = 0;
        failed = pct_store_each_run(from, copy_run, m);
        if (!failed)
            failed = pct_store_each_pair(from, copy_pair, m);
        if (!failed && m->added)
            failed = pct_store_each_uncontrolled(from, copy_uncontrolled, m);
        if (!failed)
            failed = pct_store_each_session(from, copy_session, m);
    }
    if (!failed && m->copied && pct_store_has_explored(m->from[0])) {
        failed = pct_store_begin_explored(m->to);
        if (!failed)
            failed = pct_store_each_explored(m->from[0], copy_explored, m);
    }
    return failed || !m->looked ? failed : pct_iroot_sets_merge(m->to, m->from, m->count);
}

/* Where each ended as saturated, the whole is: what one has predicted was exposed, or tried as often as it may be,
 * there; and behind the last new one of each are as many of its runs as --until-saturated asked for. */
static int keep_saturated(struct merge *m)
{
    struct pct_store_iroot_totals totals = { .saturated = true };
    int failed = 0;
    for (size_t i = 0; i < m->count && !failed && totals.saturated; i++)
        failed = pct_store_iroot_totals(m->from[i], &totals);
    return failed || !totals.saturated
               ? failed
               : pct_store_execute(m->to, "INSERT INTO @facts (key, value) SELECT 'saturated', count(*) FROM @runs;");
}

/* Something besides the schedule decides: what one of them has verified, it has not for the others. */
static int keep_differing(struct merge *m)
{
    int failed = m->varies ? pct_store_execute(m->to, "UPDATE @facts SET value = '1' WHERE key = 'differs';") : 0;
    return failed || m->count < 2
               ? failed
               : pct_store_execute(m->to, "UPDATE @facts SET value = '' WHERE key IN ('verdict', 'verdict_whole') AND "
                                          "EXISTS (SELECT 1 FROM @facts WHERE key = 'differs' AND value = '1');");
}

/* What is left when all rows are there; and whether the whole is the beginning of one campaign, which can go on.
 * Several that were directed are not: one campaign would have directed these runs in another way. */
static int tidy(struct merge *m)
{
    int failed = m->verdict ? 0 : keep_differing(m);
    bool mixed = m->directed && m->count > 1;
    return failed || mixed || m->verdict
               ? failed
               : pct_store_execute(
                     m->to, "UPDATE @facts SET value = '1' WHERE key = 'shard' AND (SELECT min(seed) = (SELECT "
                            "CAST(value AS INTEGER)"
                            " FROM @facts WHERE key = 'seed') AND max(seed) - min(seed) + 1 = count(*) FROM @runs);");
}

/* Of the runs that a file does not have yet, and of which it knows that some failed or were cut: whether another has
 * them. A file that does not go on stays open. */
static int keep_open(struct merge *m)
{
    bool goes_on = pct_store_number(m->to, "shard");
    uint64_t begin = pct_store_number(m->to, "seed"), most = 0;
    for (size_t i = 0; i < m->count; i++) {
        struct pct_store *from = m->from[i];
        uint64_t open = pct_store_number(from, "open"), shard = pct_store_number(from, "shard");
        uint64_t seed = pct_store_number(from, "seed") + (shard ? shard - 1 : 0) +
                        (open - 1) * (shard ? pct_store_number(from, "of") : 1);
        char sql[96];
        snprintf(sql, sizeof sql, "SELECT EXISTS (SELECT 1 FROM @runs WHERE seed = %lld)", (long long)seed);
        if (!open || pct_store_ask(m->to, sql) > 0)
            continue;
        uint64_t number = goes_on ? seed - begin + 1 : INT64_MAX;
        most = number > most ? number : most;
    }
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)most);
    return most ? pct_store_set_fact(m->to, "open", text) : 0;
}

static int merge_into(struct merge *m, const char *path)
{
    int failed = create(m, path);
    if (!m->to)
        return failed;
    if (!failed)
        failed = merge_findings(m);
    if (!failed)
        failed = merge_rows(m);
    if (!failed)
        failed = tidy(m);
    if (!failed && !m->verdict)
        failed = keep_open(m);
    if (!failed && m->looked)
        failed = keep_saturated(m);
    if (!failed)
        failed = pct_store_commit(m->to, 0);
    if (failed) {
        const char *why = m->to->error;
        for (size_t i = 0; !why[0] && i < m->count; i++)
            why = m->from[i]->error;
        complain(m, why[0]              ? why
                    : failed == -EINVAL ? "a file is damaged (its iRoots contradict each other)"
                                        : strerror(-failed));
    }
    return failed;
}

/* Open what this one is made of. */
static int open_source(struct merge *m)
{
    char reason[400];
    const struct pct_store_source *source = &m->sources[m->count];
    struct pct_store *store = pct_store_open(source->path, false, reason, sizeof reason);
    if (store && pct_store_choose(store, source->part)) {
        snprintf(reason, sizeof reason, "%s", pct_store_error(store));
        pct_store_close(store);
        store = NULL;
    }
    if (!store) {
        snprintf(m->error, m->error_size, "%s: %s", source->path, reason);
        return -EINVAL;
    }
    m->from[m->count++] = store;
    m->looked |= pct_store_has_iroots(store);
    m->directed |= pct_store_is_directed(store);
    return compare_facts(m, m->count - 1);
}

static int merge_group(struct merge *m, const struct pct_store_group *group, const char *path)
{
    *m = (struct merge){ .to = m->to,
                         .sources = group->from,
                         .verdict = group->verdict,
                         .copied = group->copied,
                         .error = m->error,
                         .error_size = m->error_size };
    m->from = calloc(group->count, sizeof *m->from);
    if (!m->from)
        return complain(m, "out of memory");
    int failed = 0;
    while (!failed && m->count < group->count)
        failed = open_source(m);
    if (!failed)
        failed = merge_into(m, path);
    for (size_t i = 0; i < m->count; i++)
        pct_store_close(m->from[i]);
    free(m->candidates);
    free(m->from);
    return failed;
}

/* The new file appears under its name when it is whole. */
int pct_store_merge(const char *to, const struct pct_store_group *groups, size_t count, uint64_t *differing,
                    bool *directed, char *error, size_t size)
{
    struct merge m = { .error = error, .error_size = size };
    char temporary[4096], log[4096];
    if (access(to, F_OK) && pct_store_has_log(to, log, sizeof log))
        return complain(&m, "it was removed, but its -wal or -journal, which was a part of it, is there");
    if ((size_t)snprintf(temporary, sizeof temporary, "%s.%ld.merge", to, (long)getpid()) >= sizeof temporary)
        return complain(&m, "the name is too long");
    unlink(temporary);
    int failed = 0;
    for (size_t i = 0; i < count && !failed; i++)
        failed = merge_group(&m, &groups[i], temporary);
    if (m.to)
        pct_store_close(m.to);
    if (!failed && link(temporary, to)) {
        failed = -errno;
        complain(&m,
                 failed == -EEXIST ? "there is a file of this name already; it was left as it is" : strerror(-failed));
    }
    unlink(temporary);
    *differing = m.differing;
    *directed = !m.varies;
    return failed;
}
