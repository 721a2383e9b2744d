/* Nobody whom the script lets go on can, or makes progress: what the user hears of it. */
#include "engine.h"
#include <string.h>

static void add_standing(const struct pct_engine *engine, struct pct_line *line, uint32_t thread)
{
    if (thread >= PCT_MAX_THREADS || !pct_rank_set_has(&engine->control->held, thread))
        return;
    pct_line_add(line, ", which stands since line ");
    pct_line_add_number(line, engine->since[thread]);
}

static void add_reason(const struct pct_engine *engine, struct pct_line *line, uint32_t thread)
{
    struct pct_script_look look;
    if (!engine->host->look(thread, &look))
        return;
    if (look.finished) {
        pct_line_add(line, "it has ended");
        return;
    }
    pct_line_add(line, look.ready ? "it stands before: " : "it waits for: ");
    pct_line_add_look(line, &look);
    if (look.ready)
        return;
    unsigned count = 0;
    for (uint32_t t = 0; t < engine->threads && look.holder != PCT_NO_THREAD && count < 4; t++) {
        if (!pct_look_is_held_by(&look, t))
            continue;
        pct_line_add(line, count++ ? ", and by " : ", held by ");
        pct_line_add_thread(line, t);
        add_standing(engine, line, t);
    }
}

/* What all the threads wait for that the script has not put aside, the first few of them. */
static void add_reasons(const struct pct_engine *engine, struct pct_line *line)
{
    struct pct_script_look look;
    unsigned count = 0;
    pct_line_add(line, "no thread can go on");
    for (uint32_t t = 0; t < engine->threads && count < 4; t++) {
        if (!engine->host->look(t, &look) || look.finished)
            continue;
        bool stands = pct_rank_set_has(&engine->control->held, t);
        pct_line_add(line, count++ ? ", " : ": ");
        pct_line_add_thread(line, t);
        pct_line_add(line, stands || look.ready ? " stands before: " : " waits for: ");
        pct_line_add_look(line, &look);
        if (stands) {
            pct_line_add(line, " since line ");
            pct_line_add_number(line, engine->since[t]);
        }
    }
}

/* Whether the thread waits for a lock of whose holders one, or the last in a chain of such, stands: or they wait in a
 * cycle. */
static bool waits_for_standing(const struct pct_engine *engine, uint32_t thread)
{
    struct pct_script_look look;
    for (uint32_t i = 0; i < engine->threads; i++) {
        if (!engine->host->look(thread, &look) || look.finished || look.ready || look.deadline ||
            look.holder >= engine->threads)
            return false;
        for (uint64_t others = look.readers; others; others &= others - 1)
            if (pct_rank_set_has(&engine->control->held, (uint32_t)__builtin_ctzll(others)))
                return true;
        thread = look.holder;
        if (pct_rank_set_has(&engine->control->held, thread))
            return true;
    }
    return true;
}

/* Why the script does not go on: what the thread waits for that it wants, or else all. */
static void add_why(const struct pct_engine *engine, struct pct_line *line)
{
    const struct pct_request *request = &engine->request;
    uint32_t only = request->end ? request->end - 1 : pct_rank_set_lowest(&request->set);
    if (request->end || (!request->any && pct_rank_set_highest(&request->set) == only))
        add_reason(engine, line, only);
    else
        add_reasons(engine, line);
}

/* The process waits for the outside, which may take long: the command says so. */
static void say_outside(const struct pct_engine *engine)
{
    struct pct_line line;
    struct pct_script_look look;
    if (engine->said->outside)
        return;
    pct_line_start(&line, engine->said->message, sizeof engine->said->message);
    add_why(engine, &line);
    unsigned count = 0;
    for (uint32_t t = 0; t < engine->threads && count < 4; t++) {
        bool waits = engine->host->look(t, &look) && !look.finished && !look.ready && look.op != PCT_OP_THREAD_JOIN;
        bool wanted = pct_rank_set_has(&engine->request.set, t) || t + 1 == engine->request.end;
        if (!waits || wanted || pct_rank_set_has(&engine->control->held, t))
            continue;
        pct_line_add(&line, count++ ? ", " : "; the outside may let others go on: ");
        pct_line_add_thread(&line, t);
        pct_line_add(&line, " waits for: ");
        pct_line_add_look(&line, &look);
    }
    __atomic_store_n(&engine->said->outside, 1, __ATOMIC_RELEASE);
}

/* A thread that is tried is one that may have to wait. */
bool pct_engine_is_stuck(const void *state)
{
    const struct pct_engine *engine = state;
    const struct pct_request *request = &engine->request;
    bool stuck = request->tries && engine->control->first != PCT_NO_THREAD;
    if (!stuck && request->end) {
        stuck = waits_for_standing(engine, request->end - 1);
    } else if (!stuck) {
        uint32_t t = pct_rank_set_lowest(&request->set);
        while (t != PCT_NO_RANK && (pct_engine_has_ended(engine, t) || waits_for_standing(engine, t)))
            t = pct_rank_set_above(&request->set, t);
        stuck = !request->any && t == PCT_NO_RANK;
    }
    if (!stuck)
        say_outside(engine);
    return stuck;
}

void pct_engine_give_up(struct pct_engine *engine)
{
    struct pct_line line;
    char text[sizeof engine->said->message];
    pct_line_start(&line, text, sizeof text);
    add_why(engine, &line);
    pct_engine_end(engine, PCT_SCRIPT_DID_NOT_FIT, text);
}

/* The threads that could go on, did the script not have them stand. */
static void add_kept(const struct pct_engine *engine, struct pct_line *line)
{
    struct pct_script_look look;
    unsigned count = 0;
    for (uint32_t t = 0; t < engine->threads && count < 4; t++) {
        if (!pct_rank_set_has(&engine->control->held, t) || !engine->host->look(t, &look) || look.finished)
            continue;
        pct_line_add(line, count++ ? ", " : "; meanwhile ");
        pct_line_add_thread(line, t);
        pct_line_add(line, " stands before: ");
        pct_line_add_look(line, &look);
        pct_line_add(line, " since line ");
        pct_line_add_number(line, engine->since[t]);
    }
}

static void add_loop(struct pct_line *line, const struct pct_script_spin *spin)
{
    pct_line_add_thread(line, spin->thread);
    if (!spin->where) {
        pct_line_add(line, " has only yielded, slept, and looked at what nobody changes, for a million steps");
    } else if (spin->loops) {
        pct_line_add(line, " goes round a loop at ");
        pct_line_add(line, spin->where);
        pct_line_add(line, " for ");
        pct_line_add_number(line, spin->seconds);
        pct_line_add(line, " s");
        pct_line_add(line, " that only others can end");
    } else {
        pct_line_add(line, " has run for ");
        pct_line_add_number(line, spin->seconds);
        pct_line_add(line, " s of CPU time without a scheduling point, and is at ");
        pct_line_add(line, spin->where);
    }
}

/* What the user can do. */
static void add_advice(struct pct_line *line, const struct pct_script_spin *spin)
{
    if (spin->loops)
        pct_line_add(line, "; let another go on first");
    if (spin->loops && spin->where)
        pct_line_add(line, ", or have the thread stand in its loop: reads there, with --memory=globals or pct-cc");
    if (spin->loops || !spin->ends)
        return;
    pct_line_add(line, "; if it waits for another, let that go on first; if it computes, a larger PCT_WATCHDOG "
                       "(milliseconds");
    pct_line_add(line, spin->open ? "; the script waits for six times that) gives it time" : ") gives it time");
}

void pct_engine_spins(void *state, struct pct_script_control *control, uint64_t step,
                      const struct pct_script_spin *spin)
{
    struct pct_engine *engine = state;
    struct pct_script_said *said = engine->said;
    struct pct_line line;
    char text[sizeof said->message];
    (void)control;
    engine->step = step;
    if (!spin->stays)
        said->came = step;
    pct_line_start(&line, text, sizeof text);
    add_loop(&line, spin);
    add_kept(engine, &line);
    add_advice(&line, spin);
    if (spin->ends) {
        pct_engine_end(engine, PCT_SCRIPT_DID_NOT_FIT, text);
        return;
    }
    memcpy(said->message, text, sizeof text);
    __atomic_store_n(&said->runs, (uint32_t)spin->seconds, __ATOMIC_RELEASE);
}
