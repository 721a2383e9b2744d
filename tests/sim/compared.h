/* A random program by brute force, all schedules, and by the search: what each met. */
#ifndef PCT_TESTS_COMPARED_H
#define PCT_TESTS_COMPARED_H

#include "made.h"
#include <errno.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* --- Both ways ---------------------------------------------------------------------------------------------------- */

static struct hashes classes, behaviours, found_classes, found_behaviours;

/* By class, and by behaviour: the fewest preemptions of a schedule. */
struct least {
    size_t count;
    struct {
        uint64_t hash;
        unsigned fewest;
    } at[MOST_SCHEDULES];
};
static struct least least_of_class, least_of_behaviour;

static unsigned preemptions_of(const struct pct_execution *x)
{
    unsigned count = 0;
    for (uint32_t i = 1; i < x->count; i++)
        count += x->event[i].thread != x->event[i - 1].thread && x->event[i - 1].op != PCT_OP_YIELD &&
                 x->ready[i] >> x->event[i - 1].thread & 1;
    return count;
}

/* By a list of switches, a crash is made once, whatever other threads have done before that has nothing to do with
 * it. */
static bool crashes_alike;

/* The class of the run that was made; or which crash it is: of whom, who had found what. */
static uint64_t kind_of(const struct pct_order *order)
{
    uint32_t culprit = explored_result.culprit;
    if (!crashes_alike || explored_result.verdict != PCT_VERDICT_ASSERTION)
        return pct_order_class(order);
    return explored_mix(explored_mix(explored_result.verdict, culprit), sim.thread[culprit].story);
}

static void note_preemptions(struct least *least, uint64_t hash, unsigned count)
{
    size_t i = 0;
    while (i < least->count && least->at[i].hash != hash)
        i++;
    if (i == MOST_SCHEDULES)
        return;
    if (i == least->count) {
        least->at[i].hash = hash;
        least->at[least->count++].fewest = count;
    } else if (least->at[i].fewest > count) {
        least->at[i].fewest = count;
    }
}

/* Add those with so few preemptions that were not found, and return their number. *within: that of all with so few. */
static inline uint64_t add_missed(struct hashes *found, const struct least *least, unsigned bound, uint64_t *within)
{
    uint64_t missed = 0;
    for (size_t i = 0; i < least->count; i++) {
        *within += least->at[i].fewest <= bound;
        missed += least->at[i].fewest <= bound && hashes_add(found, least->at[i].hash);
    }
    return missed;
}

/* False: there are too many schedules. */
static bool brute_force(const struct sim_program *program)
{
    static struct chosen chosen[EXPLORED_PLAN];
    static uint32_t plan[EXPLORED_PLAN];
    uint32_t count = 0, made = 0;
    hashes_clear(&classes);
    hashes_clear(&behaviours);
    least_of_class.count = least_of_behaviour.count = 0;
    explored_by_force = true;
    do {
        struct pct_execution x;
        struct pct_order order;
        explored_run(program, plan, count);
        explored_read(&x);
        assert_int_equal(x.doubts, 0);
        assert_int_equal(pct_order_make(&order, &x), 0);
        hashes_add(&classes, pct_order_class(&order));
        note_preemptions(&least_of_class, kind_of(&order), preemptions_of(&x));
        note_preemptions(&least_of_behaviour, explored_behaviour(), preemptions_of(&x));
        hashes_add(&behaviours, explored_behaviour());
        pct_order_free(&order);
        pct_execution_free(&x);
        count = explored_after(plan, chosen, explored_choices(chosen, count));
        if (++made > MOST_SCHEDULES)
            return false;
    } while (count);
    return true;
}

static struct pct_search_facts facts;
static uint64_t twice;

static enum pct_search_order search_order;

/* What is named ahead of time is asked for later, once. */
enum { MOST_AHEAD = 4096 };
static uint64_t ahead[MOST_AHEAD];
static size_t aheads;

static void name_ahead(struct pct_search *search, const uint32_t *wanted, uint32_t wanted_count)
{
    const uint32_t *plan;
    uint32_t count;
    for (size_t n = 0; n < 2 && aheads < MOST_AHEAD && pct_search_ahead(search, &plan, &count); n++) {
        uint64_t hash = XXH3_64bits(plan, count * sizeof *plan);
        assert_int_not_equal(hash, XXH3_64bits(wanted, wanted_count * sizeof *wanted));
        for (size_t i = 0; i < aheads; i++)
            assert_int_not_equal(hash, ahead[i]);
        ahead[aheads++] = hash;
    }
}

static void ask_for(const uint32_t *plan, uint32_t count)
{
    uint64_t hash = XXH3_64bits(plan, count * sizeof *plan);
    size_t kept = 0;
    for (size_t i = 0; i < aheads; i++)
        if (ahead[i] != hash)
            ahead[kept++] = ahead[i];
    aheads = kept;
}

/* What is kept of a run is the run, whatever came before. */
static void keep(struct pct_explored *before)
{
    struct pct_explored run = explored_kept(), back = { 0 };
    uint8_t *bytes;
    size_t size;
    assert_int_equal(pct_explored_pack(&run, before->log ? before : NULL, &bytes, &size), 0);
    assert_int_equal(pct_explored_unpack(&back, before->log ? before : NULL, bytes, size), 0);
    assert_int_equal(back.log_count, run.log_count);
    assert_int_equal(back.record_count, run.record_count);
    for (uint32_t i = 0; i < run.log_count; i++)
        assert_memory_equal(&back.log[i], &run.log[i], sizeof run.log[i]);
    assert_memory_equal(back.records, run.records, run.record_count * sizeof *run.records);
    pct_explored_free(before);
    *before = back;
    if (size > 1) { /* less of it is none */
        assert_int_equal(pct_explored_unpack(&back, NULL, bytes, size - 1), -EINVAL);
        pct_explored_free(&back);
    }
    free(bytes);
}

/* Add what this search finds to what others have; it is freed. */
static void search_more(const struct sim_program *program, struct pct_search *search, size_t most)
{
    const uint32_t *plan;
    uint32_t count;
    assert_non_null(search);
    explored_by_force = false;
    aheads = 0;
    struct pct_explored before = { 0 };
    bool more, crashed = false;
    for (size_t runs = 0; (more = pct_search_next(search, &plan, &count)) && runs < most; runs++) {
        struct pct_execution x;
        uint64_t class_ = 0;
        ask_for(plan, count);
        name_ahead(search, plan, count);
        explored_run(program, plan, count);
        keep(&before);
        uint64_t behaviour = explored_behaviour(), redundant = pct_search_facts(search)->redundant;
        explored_read(&x);
        crashed |= x.cut; /* before all was made that was planned */
        assert_int_equal(pct_search_take(search, &x, &class_), 0);
        if (pct_search_facts(search)->redundant > redundant)
            continue;
        /* A search that begins again comes to them again. */
        twice += !hashes_add(&found_classes, class_) && !pct_search_facts(search)->begun;
        hashes_add(&found_behaviours, behaviour);
    }
    facts = *pct_search_facts(search);
    pct_explored_free(&before);
    if (!more && !facts.unrepeatable)
        assert_int_equal(facts.open, 0);
    if (!more && !facts.unplanned && !facts.unrepeatable && !crashed)
        assert_int_equal(aheads, 0);
    pct_search_free(search);
}

static void search_all(const struct sim_program *program, int bound, size_t most)
{
    hashes_clear(&found_classes);
    hashes_clear(&found_behaviours);
    twice = 0;
    search_more(program, pct_search_new(bound, search_order), most);
}

static inline void print_program(const struct sim_program *program)
{
    static const char *const names[] = { "END",    "LOCK",    "TRYLOCK",  "UNLOCK", "WAIT",   "SIGNAL",  "BROADCAST",
                                         "DOWN",   "TRYDOWN", "UP",       "SLEEP",  "YIELD",  "CLOCK",   "CREATE",
                                         "JOIN",   "BARRIER", "RDLOCK",   "WRLOCK", "TRYRD",  "TRYWR",   "RWUNLOCK",
                                         "READ",   "WRITE",   "STORE",    "FILL",   "CHECK",  "AWAY",    "SPIN",
                                         "SLEPT",  "ONCE",    "ONCEDONE", "FWAIT",  "FWAKE",  "REQUEUE", "ATOMIC",
                                         "DETACH", "TRYJOIN", "SPINLOCK", "MAKE",   "KERNEL", "LOADER",  "CONSISTENT",
                                         "EXIT",   "EXITNOW", "SET",      "ADD",    "UNLESS", "BACK",    "REPEAT",
                                         "LOADED", "CALL" };
    print_message("# sem 0: %u\n", program->sem[0]);
    for (uint32_t t = 0; t < SIM_THREADS && program->thread[t]; t++) {
        print_message("# thread %u:", t);
        for (const struct sim_op *op = program->thread[t]; op->kind; op++)
            print_message(" %s(%u,%u,%ld)", names[op->kind], op->a, op->b, (long)op->value);
        print_message("\n");
    }
}

#endif
