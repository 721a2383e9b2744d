/* Between the strategy `script` and the engine that has the user's script (runtime/script/): whom the script lets go
 * on. All is called on the turn of the thread that holds the baton, inside the scheduler. */
#ifndef PCT_STRATEGIES_SCRIPT_H
#define PCT_STRATEGIES_SCRIPT_H

#include <pct/sets.h>
#include <pct/strategy.h>

/* What the engine says, and the strategy keeps to. */
struct pct_script_control {
    struct pct_rank_set held; /* these threads stand where they are */
    uint32_t first;           /* this one goes on before all others; PCT_NO_THREAD: none does */
    bool over;                /* the script has nothing more to say */
    uint32_t let;             /* the strategy's: how often another one could have gone on than the first, which spun */
};

/* A thread goes on without progress, and the script lets no other one go on that can. */
struct pct_script_spin {
    uint32_t thread;
    bool loops;        /* it goes round a loop that only what others write can end */
    bool ends;         /* it has had its time: the script is to be over */
    bool stays;        /* nobody else can go on then: it comes to no point here */
    bool open;         /* time, or the outside world, may let others go on: it has had its time six times */
    uint64_t seconds;  /* of CPU time so far, without a point; 0: it passes points */
    const char *where; /* it is: "FILE+0xOFFSET"; NULL: before its next operation */
};

struct pct_script_engine {
    uint32_t state_size; /* bytes, zeroed and aligned to 64 */

    /* Begin: *control holds nobody. Returns 0, or a negative errno with *why set. */
    int (*start)(void *state, struct pct_script_control *control, const char **why);

    /* All threads stand before their next operations. made: the thread that made one since the last call,
     * PCT_NO_THREAD: none; step: of the run so far. Not called once it is over. */
    void (*turn)(void *state, struct pct_script_control *control, uint32_t made, uint64_t step);

    /* This thread goes on behind this many steps, where the strategy `schedule` without a list would let another one;
     * awaited: once it could, for which the process waited. */
    void (*chose)(void *state, uint32_t thread, uint64_t step, bool awaited);

    /* A thread with this id exists from now on. */
    void (*created)(void *state, uint32_t thread);

    /* This thread has made the step at which a named function begins (enters) or returns: at this place in the code,
     * with its stack there. */
    void (*passed)(void *state, uint32_t thread, bool enters, uint64_t place, uint64_t stack);

    /* In this thread the program wants a number below `ways`, at most 65,535; 0 where there are less than two. Also
     * called once the script is over. */
    uint32_t (*choose)(void *state, uint32_t thread, uint32_t ways);

    /* Behind turn(): this thread goes on. calm->is: the script waits for nothing but what threads do next, and of this
     * one only for what the rest of *calm says. It holds until the engine is called again, but for chose(). */
    void (*calm)(void *state, uint32_t thread, struct pct_calm *calm);

    /* None of those that do not stand can go on: whether what the script waits for cannot come by itself either, from
     * outside or in time. Where it may, the engine tells the command for what the process waits. */
    bool (*is_stuck)(const void *state);

    /* None of those that do not stand can go on. The engine must hold fewer, or be over. */
    void (*stuck)(void *state, struct pct_script_control *control, uint64_t step);

    /* This is so: tell the command, and end the script if the thread has had its time. */
    void (*spins)(void *state, struct pct_script_control *control, uint64_t step, const struct pct_script_spin *spin);
};

/* No thread can go on, and before the process waits for something outside, threads that stand may be what the script
 * waits for. state: of the strategy `script`; ran: steps since its last pick; step: of the run. */
void pct_strategy_script_rests(void *state, uint64_t ran, uint64_t step);

/* Whether the script is under way, and lets no other thread go on that can. state: of the strategy `script`. */
bool pct_strategy_script_is_alone(const void *state, uint32_t thread);

/* Then: as pct_script_engine.spins. Returns whether the script is over. */
bool pct_strategy_script_spins(void *state, uint64_t step, const struct pct_script_spin *spin);

/* Whether it still has something to say. */
bool pct_strategy_script_is_under_way(const void *state);

/* The thread, which runs, has come back from outside, and what it stands before next is something else, though it made
 * no step: the strategy is to be asked there. state: of the strategy `script`. */
void pct_strategy_script_returned(void *state, uint32_t thread);

/* As pct_script_engine.choose. state: of the strategy `script`. */
uint32_t pct_strategy_script_choose(void *state, uint32_t thread, uint32_t ways);

/* The steps that the strategy `script`, whose state this is, need not be asked at. Valid for the whole run. */
const struct pct_calm *pct_strategy_script_calm(const void *state);

/* The running thread has made the step at which a function begins or returns: as pct_script_engine.passed. state: of
 * the strategy `script`. */
void pct_strategy_script_passed(void *state, uint32_t thread, bool enters, uint64_t place, uint64_t stack);

#endif
