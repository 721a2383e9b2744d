/* Objects by their use: see objects.h.
 *
 * Objects are numbered by their first use in a run, so that a number may mean another one in another schedule. In
 * most programs it means the same one in most runs; what is drawn is a number, and a token says which. */
#include "objects.h"
#include <cli/base/cli.h>
#include <errno.h>
#include <inttypes.h>
#include <pct/operations.h>
#include <stdlib.h>
#include <strategies/one_object.h>
#include <strategies/strategies.h>
#include <strategies/weights.h>
#include <string.h>

enum { MOST = 1024, NAMED = PCT_NAMED_COUNTS, OTHERS = NAMED };

struct use {
    uint64_t takes, gives;  /* in all runs */
    uint64_t by[NAMED + 1]; /* in a run, at most: thread, or all others */
};

struct pct_object_counts {
    uint64_t runs, threads; /* the most of a run */
    unsigned used;          /* of these, all behind have no use */
    struct use use[MOST];   /* by number - 1 */
};

/* The number of the object that an operation is a use of, 1 to MOST; 0: none. */
static uint32_t number_of(uint64_t record)
{
    uint32_t number = PCT_RECORD_OBJECT(record);
    unsigned class_ = pct_name_op_class(PCT_RECORD_OP(record));
    bool numbered = class_ != PCT_CLASS_NONE && class_ != PCT_CLASS_THREAD && class_ != PCT_CLASS_FD;
    return numbered && number <= MOST ? number : 0;
}

/* The counts of one more run. */
static void merge(struct use *all, const struct use *run)
{
    all->takes += run->takes;
    all->gives += run->gives;
    for (unsigned i = 0; i <= NAMED; i++)
        all->by[i] = all->by[i] < run->by[i] ? run->by[i] : all->by[i];
}

int pct_objects_add(struct pct_object_counts **counts, const struct pct_trace *trace)
{
    if (!*counts)
        *counts = calloc(1, sizeof **counts);
    if (!*counts)
        return -ENOMEM;
    unsigned used = 0; /* of this run */
    for (uint64_t i = 0; i < trace->count; i++) {
        uint32_t number = number_of(trace->records[i]);
        used = used < number ? number : used;
    }
    struct use *run = calloc(used + 1, sizeof *run);
    if (!run)
        return -ENOMEM;
    (*counts)->runs++;
    for (uint64_t i = 0; i < trace->count; i++) {
        uint64_t record = trace->records[i], thread = PCT_RECORD_THREAD(record);
        uint32_t number = number_of(record);
        if ((*counts)->threads <= thread)
            (*counts)->threads = thread + 1;
        if (!number)
            continue;
        struct use *use = &run[number - 1];
        use->by[thread < NAMED ? thread : OTHERS]++;
        *(pct_operation_gives(PCT_RECORD_OP(record)) ? &use->gives : &use->takes) += 1;
    }
    for (unsigned i = 0; i < used; i++)
        merge(&(*counts)->use[i], &run[i]);
    (*counts)->used = (*counts)->used > used ? (*counts)->used : used;
    free(run);
    return 0;
}

struct pct_object_counts *pct_objects_copy(const struct pct_object_counts *counts)
{
    struct pct_object_counts *copy = calloc(1, sizeof *copy);
    if (copy) /* not what has no use: it is large */
        memcpy(copy, counts, sizeof *copy - (MOST - counts->used) * sizeof copy->use[0]);
    return copy;
}

void pct_objects_free(struct pct_object_counts **counts)
{
    free(*counts);
    *counts = NULL;
}

/* Used by several threads: where only one comes, nothing can be held back. */
static bool is_shared(const struct use *use)
{
    unsigned users = 0;
    for (unsigned i = 0; i <= NAMED; i++)
        users += use->by[i] ? 1 + (i == OTHERS) : 0;
    return users > 1;
}

static uint64_t weight_of(const struct use *use, bool alike)
{
    uint64_t uses = use->takes + use->gives;
    return is_shared(use) ? alike ? 1 : uses : 0;
}

/* An object by chance: in proportion to its uses, or all alike. NULL: none is shared. */
static const struct use *draw(const struct pct_object_counts *counts, uint64_t seed, bool alike)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < counts->used; i++)
        sum += weight_of(&counts->use[i], alike);
    if (!sum)
        return NULL;
    uint64_t at = pct_object_draw(seed, PCT_OBJECT_COUNTED, sum);
    const struct use *use = counts->use;
    for (; at >= weight_of(use, alike); use++)
        at -= weight_of(use, alike);
    return use;
}

/* The parameter of this name, if it may be set; else NULL. */
static uint64_t *open_parameter(struct pct_config *config, const struct pct_strategy *strategy, const char *name)
{
    int i = pct_cli_strategy_parameter(strategy, name);
    return i < 0 || (config->given >> i & 1) ? NULL : &config->run.param[i];
}

/* What each thread will do to it; 0 would mean that nobody knows. The most of any run: a thread that does more than was
 * expected would have to wait for all others, and where they leave it little to do it matters least. */
static void estimate(const struct pct_object_counts *counts, const struct use *use, struct pct_config *config,
                     const struct pct_strategy *strategy)
{
    for (uint64_t i = 0; i < NAMED && i < counts->threads; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%u", (unsigned)i);
        uint64_t *count = open_parameter(config, strategy, name);
        if (count)
            *count = use->by[i] ? use->by[i] : 1;
    }
    uint64_t *rest = open_parameter(config, strategy, "n"), others = counts->threads - NAMED;
    if (rest)
        *rest = counts->threads > NAMED ? 1 + use->by[OTHERS] / others : 1;
}

static void settle_object(const struct pct_object_counts *counts, struct pct_config *config,
                          const struct pct_strategy *strategy)
{
    uint64_t *object = open_parameter(config, strategy, "object"), *kind = open_parameter(config, strategy, "kind");
    if (!object || strchr(config->strategy, '/') || strategy == &pct_strategy_surw)
        return;
    /* Which object is to be held: of one that is used most, there may be little to see. */
    bool alike = strategy == &pct_strategy_hold && pct_object_draw(config->run.seed, PCT_OBJECT_WEIGH, 2);
    const struct use *use = draw(counts, config->run.seed, alike);
    if (!use)
        return;
    *object = (uint64_t)(use - counts->use) + 1;
    if (kind && (!use->takes || !use->gives))
        *kind = use->gives ? 2 : 1;
    if (!kind)
        estimate(counts, use, config, strategy);
}

void pct_objects_settle(const struct pct_object_counts *counts, struct pct_config *config,
                        const struct pct_strategy **strategy)
{
    if (*strategy == &pct_strategy_mixture)
        pct_config_become(config, strategy, pct_mixture_member(config->run.seed));
    if (counts)
        settle_object(counts, config, *strategy);
}

/* --- As text ------------------------------------------------------------------------------------------------------ */

/* RUNS THREADS, and for each object NUMBER TAKES GIVES and the uses of each thread and of the others. */
void pct_objects_print(FILE *out, const struct pct_object_counts *counts)
{
    if (!counts)
        return;
    fprintf(out, "%" PRIu64 " %" PRIu64, counts->runs, counts->threads);
    for (unsigned i = 0; i < MOST; i++) {
        const struct use *use = &counts->use[i];
        if (!use->takes && !use->gives)
            continue;
        fprintf(out, " %u %" PRIu64 " %" PRIu64, i + 1, use->takes, use->gives);
        for (unsigned j = 0; j <= NAMED; j++)
            fprintf(out, " %" PRIu64, use->by[j]);
    }
}

/* The next number of the text, or false. */
static bool take(const char **text, uint64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoull(*text, &end, 10);
    bool taken = end != *text && !errno;
    *text = end;
    return taken;
}

static bool take_use(const char **text, struct pct_object_counts *counts)
{
    uint64_t number;
    struct use use;
    bool good = take(text, &number) && number && number <= MOST && take(text, &use.takes) && take(text, &use.gives);
    for (unsigned i = 0; good && i <= NAMED; i++)
        good = take(text, &use.by[i]);
    if (good) {
        counts->use[number - 1] = use;
        counts->used = counts->used > number ? counts->used : (unsigned)number;
    }
    return good;
}

struct pct_object_counts *pct_objects_parse(const char *text)
{
    struct pct_object_counts *counts = calloc(1, sizeof *counts);
    bool good = counts && take(&text, &counts->runs) && counts->runs && take(&text, &counts->threads);
    while (good && *text)
        good = take_use(&text, counts);
    if (!good)
        pct_objects_free(&counts);
    return counts;
}
