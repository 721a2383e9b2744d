/* Hand-made runs for the tests of the rules of diagnosis, and what the rules find in them. Included by test programs,
 * behind cmocka.h, each of which has one run at a time. */
#ifndef PCT_TEST_MADE_RUN_H
#define PCT_TEST_MADE_RUN_H

#include <cli/diagnose/evidence.h>
#include <cli/diagnose/print.h>
#include <pct/strategy.h>
#include <string.h>

enum { STEPS = 64, PENDING = 8, OBJECT_AT = 0x10000 };

/* A run that is being made. */
struct made {
    uint64_t records[STEPS];
    struct pct_site sites[STEPS];
    unsigned count;
    struct pct_snap_thread pending[PENDING];
    unsigned pending_count;
    struct pct_snap_object left; /* of which there is no step; number 0: there is none */
    unsigned char snapshot[16384] __attribute__((aligned(8)));
    struct pct_trace trace;
    struct pct_history history;
    struct pct_diagnoses diagnoses;
};

static inline void step_at(struct made *run, unsigned thread, unsigned op, unsigned argument, unsigned object,
                           uint64_t place)
{
    assert_true(run->count < STEPS);
    run->records[run->count] = PCT_RECORD(thread, op, argument, object);
    run->sites[run->count++] = (struct pct_site){ .call = place, .object = object ? OBJECT_AT + 64 * object : 0 };
}

/* Each step stands at a place of its own. */
#define STEP(run, thread, op, object) step_at(run, thread, PCT_OP_##op, 0, object, 1000 + (run)->count)
#define STEP_ARG(run, thread, op, argument, object)                                                                    \
    step_at(run, thread, PCT_OP_##op, argument, object, 1000 + (run)->count)

/* What a thread was about to do at the end. */
static inline void pending(struct made *run, unsigned thread, unsigned op, unsigned object)
{
    run->pending[run->pending_count++] = (struct pct_snap_thread){
        .id = thread, .state = PCT_SNAP_BLOCKED, .op = op, .object = object, .holder = PCT_NO_THREAD
    };
}

static inline size_t add_section(struct made *run, size_t at, uint32_t type, const void *data, size_t size)
{
    struct pct_snap_section head = { .type = type, .size = size };
    assert_true(at + sizeof head + size + 8 < sizeof run->snapshot);
    memcpy(run->snapshot + at, &head, sizeof head);
    memcpy(run->snapshot + at + sizeof head, data, size);
    return at + sizeof head + (size + 7) / 8 * 8;
}

static inline void look(struct made *run, unsigned verdict, const struct pct_evidence *evidence)
{
    size_t size = add_section(run, 0, PCT_SNAP_SITES, run->sites, run->count * sizeof *run->sites);
    for (unsigned i = 0; i < run->pending_count; i++)
        size = add_section(run, size, PCT_SNAP_THREAD, &run->pending[i], sizeof run->pending[i]);
    if (run->left.number)
        size = add_section(run, size, PCT_SNAP_OBJECT, &run->left, sizeof run->left);
    run->trace = (struct pct_trace){
        .records = run->records, .count = run->count, .complete = true, .snapshot = run->snapshot, .snapshot_size = size
    };
    run->trace.header.verdict = verdict;
    run->trace.header.culprit = PCT_NO_THREAD;
    assert_int_equal(pct_history_open(&run->history, &run->trace), 0);
    pct_diagnoses_find(&run->diagnoses, &run->history, evidence);
}

static inline void done(struct made *run)
{
    pct_diagnoses_free(&run->diagnoses);
    pct_history_close(&run->history);
    memset(run, 0, sizeof *run);
}

static inline const struct pct_diagnosis *found(const struct made *run, enum pct_rule rule)
{
    for (size_t i = 0; i < run->diagnoses.count; i++)
        if (run->diagnoses.item[i].rule == rule)
            return &run->diagnoses.item[i];
    return NULL;
}

/* Look at it, and expect this of the rule; then it is empty again. */
static inline void expect(struct made *run, unsigned verdict, enum pct_rule rule, bool fires)
{
    look(run, verdict, NULL);
    if (!!found(run, rule) != fires)
        fail_msg("%s: %s", pct_rule_words(rule), fires ? "not found" : "found");
    done(run);
}

static struct made run;

static inline void begin(unsigned threads)
{
    for (unsigned i = 1; i <= threads; i++)
        STEP(&run, 0, THREAD_CREATE, i);
    for (unsigned i = 1; i <= threads; i++)
        STEP(&run, i, THREAD_START, i);
}

#endif
