/* What the files of libpct-script.so share: the engine of one run. Everything happens on the turn of the thread that
 * holds the baton, inside the scheduler, but on a stack of the engine's own: threads may have very small ones. */
#ifndef PCT_RUNTIME_SCRIPT_ENGINE_H
#define PCT_RUNTIME_SCRIPT_ENGINE_H

#include <common/script.h>
#include <lua.h>
#include <pct/trace.h>
#include <stdarg.h>
#include <strategies/script.h>

/* --- Memory: arena.c ---------------------------------------------------------------------------------------------- */

enum { PCT_ARENA_CLASSES = 32 };

/* Blocks of a few sizes, cut from one piece of address space; the blocks that were given back, by size. */
struct pct_arena {
    char *next, *end;
    void *free[PCT_ARENA_CLASSES];
    uint64_t given; /* bytes, so far */
};

void pct_arena_start(struct pct_arena *arena, void *at, size_t size);

/* For lua_newstate(). NULL: there is no more, which Lua makes an error of the script. */
void *pct_arena_allocate(void *arena, void *block, size_t old_size, size_t new_size);

/* --- Predicates: predicate.c, made.c ------------------------------------------------------------------------------ */

enum pct_predicate_kind {
    PCT_PREDICATE_ANY,        /* whatever it does next */
    PCT_PREDICATE_OPERATION,  /* one of these operations, on an object in one of these ranges if there are some */
    PCT_PREDICATE_PLACE,      /* called in one of these ranges of code */
    PCT_PREDICATE_START,      /* it is about to start with such a function, or, by a library, to enter it */
    PCT_PREDICATE_THREAD,     /* the thread with this id */
    PCT_PREDICATE_NAME,       /* the thread with this name */
    PCT_PREDICATE_POINT,      /* at the program's point of this name */
    PCT_PREDICATE_INSIDE,     /* the thread is between where one of these functions begins and where it returns */
    PCT_PREDICATE_BLOCKED_BY, /* it waits for what this thread holds */
    PCT_PREDICATE_AND,
    PCT_PREDICATE_OR,
    PCT_PREDICATE_NOT,
    PCT_PREDICATE_FUNCTION /* of the script's, of the event */
};

/* What beside the thread's own next step may change the answer of a predicate: any step of another thread, as it is a
 * function of the script's that looks at more than the event; names of threads; pointers on the way to what it names;
 * or who holds the object before which the thread stands. */
enum pct_predicate_moved {
    PCT_MOVED_BY_STEPS = 1,
    PCT_MOVED_BY_NAMES = 2,
    PCT_MOVED_BY_POINTERS = 4,
    PCT_MOVED_BY_HOLDERS = 8
};

struct pct_predicate {
    uint8_t kind;     /* enum pct_predicate_kind */
    uint8_t moved;    /* enum pct_predicate_moved, as bits */
    bool once;        /* the thread is to have made it */
    bool called;      /* a part of it is a function of the script's */
    bool library;     /* a part of it is a START of threads that a library starts */
    bool named;       /* it has ranges, */
    bool by_place;    /* which are where the thread stands, not what it operates on */
    bool line;        /* of a line: what begins there is code of that, no function */
    bool comes;       /* a part of it holds only where the thread comes to code of a line */
    uint32_t from;    /* its ranges in struct pct_engine, */
    uint32_t to;      /* up to this one */
    uint32_t entered; /* of START: likewise those that are entered, */
    uint32_t entered_to;
    uint32_t thread;
    uint64_t operations[2];               /* bits by enum pct_op */
    const struct pct_script_name *behind; /* what is meant is behind pointers; NULL: it is in the ranges */
    struct pct_predicate *a, *b;
    int function;     /* its reference in Lua's registry */
    const char *text; /* of a point; Lua has it as long as the predicate. Of a line: struct pct_script_name's refusal */
    char name[16];
    char label[160]; /* how messages have it */
};

struct pct_engine;

/* Whether the pending operation of this thread, which looks like this, is one that is meant. A FUNCTION may raise an
 * error in L. */
bool pct_predicate_holds(struct pct_engine *engine, lua_State *L, const struct pct_predicate *predicate,
                         uint32_t thread, const struct pct_script_look *look);

/* Whether a thread that looks like this is about to enter what some line of the script may name threads by, as a
 * library starts it. */
bool pct_predicate_enters(const struct pct_engine *engine, const struct pct_script_look *look);

/* Whether this function of C makes a predicate, and does nothing else. */
bool pct_predicate_is_made_by(lua_CFunction function);

/* Whether the word at this address is, and stays, in the program's own memory or its heap, up to the end of that. */
bool pct_predicate_stays(struct pct_engine *engine, uint64_t address);

/* Where the first pointer on the way to it stands, if it is in the program itself, which stays mapped; NULL: it is not.
 */
const uint64_t *pct_predicate_pointer(const struct pct_engine *engine, const struct pct_script_name *name);

/* Where what this name means is now, behind its pointers; 0: nowhere. */
uint64_t pct_predicate_behind(struct pct_engine *engine, const struct pct_script_name *name);

/* The words on the way to it, at most PCT_SCRIPT_POINTERS, each with what stands there; the last may be a null pointer.
 * 0: they may lie in memory that could be gone at the next step. *place: where what it means is, 0: nowhere. */
unsigned pct_predicate_way(struct pct_engine *engine, const struct pct_script_name *name, const uint64_t **words,
                           uint64_t *values, uint64_t *place);

/* While a function of the script's is asked: it asks for these words (pct_apart_note_word()). */
void pct_predicate_note_way(struct pct_engine *engine, const struct pct_script_name *name);

/* made.c: the script waits for this one: raises an error if it is to hold where code of a line begins at which threads
 * cannot stop. */
void pct_predicate_check_lines(lua_State *L, const struct pct_predicate *predicate);

/* Adds to the table on top of L the functions that make predicates. */
void pct_predicate_open(lua_State *L);

/* The one at this place of L's stack: raises an error if it is none, nor a function. */
struct pct_predicate *pct_predicate_check(lua_State *L, int at);

/* --- What a predicate need not be asked at: minds.c --------------------------------------------------------------- */

/* Operations that change nothing of an object but their own. */
bool pct_op_is_simple(uint32_t op);

/* Mind every step once this word has another value than this. False: there are too many such words. */
bool pct_calm_mind_word(struct pct_calm *calm, const uint64_t *word, uint64_t value);

/* Mind the pointers on the way to all that it names behind several. False: there is no room. */
bool pct_predicate_minds_ways(struct pct_engine *engine, const struct pct_predicate *predicate, struct pct_calm *calm);

/* What of the next steps of this thread it may hold for, as long as the thread neither begins a named function nor
 * returns from one, nor gets another name; *calm is zeroed. */
void pct_predicate_minds(struct pct_engine *engine, const struct pct_predicate *predicate, uint32_t thread,
                         struct pct_calm *calm);

/* Adds those after which it may hold for other threads, as far as the script may ask them. False: it may after any. */
bool pct_predicate_minds_others(struct pct_engine *engine, const struct pct_predicate *predicate, uint32_t thread,
                                struct pct_calm *calm);

/* Whether the script may be answered with this thread. */
bool pct_engine_may_ask(const struct pct_engine *engine, uint32_t thread);

/* --- Functions of the script's: function.c, apart.c --------------------------------------------------------------- */

/* Adds to Lua's registry which of its own functions give the same for the same arguments. */
void pct_function_open(lua_State *L);

/* Whether the Lua function at this place of the stack only reads, as far as its own code says: it assigns to nothing
 * but its own local variables. */
bool pct_function_reads_only(lua_State *L, int at);

/* Whether this function of Lua's own gives the same for the same arguments. */
bool pct_function_is_fixed(lua_State *L, int at);

/* What was asked for of a thread beside its operation, as bits: which object that is on; whether it has to wait, and
 * who holds that; its name; and what is not kept, as where in the code it stands. */
enum pct_asked { PCT_ASKED_OBJECT = 1, PCT_ASKED_HOLDER = 2, PCT_ASKED_NAME = 4, PCT_ASKED_PLACE = 8 };

enum { PCT_APART_WORDS = 6, PCT_APART_OTHERS = 8 };

/* Of what is waited for, the part that has functions of the script's and depends on how threads stand and on a few
 * variables of the program's. Without it the rest does not hold. As no line of the script runs while it waits, the
 * answer stays the same for the same event, as long as all else that was asked for does. */
struct pct_apart {
    const struct pct_predicate *predicate; /* NULL: there is none */
    /* For these it does not hold: of these objects, */
    struct pct_calm_known known[1 << PCT_CALM_KNOWN_LOG];
    uint32_t number[1 << PCT_CALM_KNOWN_LOG]; /* with these numbers, */
    bool however[1 << PCT_CALM_KNOWN_LOG];    /* also where it has to wait; */
    uint32_t epoch;                           /* and what struct pct_apart_never has of this one */
    struct pct_apart_other {
        uint32_t thread;
        uint32_t asked;
        struct pct_script_look look;
    } other[PCT_APART_OTHERS]; /* threads that others' answers depend on, and how they stood */
    unsigned others;
    uint32_t leader;                       /* one of those runs, plus 1: what is known is of all threads, where it */
                                           /* stands there; 0: none does */
    const uint64_t *word[PCT_APART_WORDS]; /* in which the variables stand that were asked for, */
    uint64_t stood[PCT_APART_WORDS];       /* and what they were */
    bool heap;                             /* some in memory that is given back from the end */
    bool names;                            /* names of threads were asked for: */
    uint32_t renamed;                      /* the host's, then */
    const void *checked[32];               /* functions that only read */
    /* While all are asked: */
    bool whole;         /* it held for none, and all that was asked for of the leader is known, */
    unsigned of_leader; /* which is this */
    /* While one is: */
    bool asking, unfit; /* it depends on more */
    unsigned asked;     /* of this one */
    uint32_t thread;
    const struct pct_script_look *look;
};

/* Of a thread: for these it does not hold: */
struct pct_apart_never {
    uint64_t ready[2];  /* these operations, on whatever object, */
    uint64_t always[2]; /* of which these also where it has to wait; */
    uint32_t number;    /* and this one, on that object, as it stood last: */
    uint8_t op;
    bool stood, however;
    uint32_t epoch; /* of the former; another: of none */
};

/* The script waits for this predicate from now on. */
void pct_apart_begin(struct pct_engine *engine, const struct pct_predicate *predicate);

/* Nothing is known any more. */
void pct_apart_forget(struct pct_apart *apart);

/* A thread was made; again: with an id that another had before. */
void pct_apart_created(struct pct_apart *apart, bool again);

/* All threads are about to be asked. True: it certainly holds for none. */
bool pct_apart_turn(struct pct_engine *engine);

/* They have been, and none was what is waited for. */
void pct_apart_end_turn(struct pct_engine *engine);

/* Whether that part of it certainly does not hold for this thread, which looks like this. It may turn out that there is
 * no such part. Calls Lua: on the engine's stack. */
bool pct_apart_excludes(struct pct_engine *engine, uint32_t thread, const struct pct_script_look *look);

/* While that is asked: this was asked for of a thread (enum pct_asked); nothing otherwise. */
void pct_apart_note(struct pct_engine *engine, uint32_t thread, unsigned asked);

/* Likewise: what stands in this word (NULL: in one that may be gone at the next step); heap: as struct pct_apart has
 * it. False: there is no room, or no word. */
bool pct_apart_note_word(struct pct_engine *engine, const uint64_t *word, bool heap);

/* Push the event of a thread that looks like this, whose fields are noted as they are asked for. */
void pct_apart_push_event(lua_State *L, uint32_t thread, const struct pct_script_look *look);

/* Add to *calm what is known of this thread; own: it may be the answer. False: that may change at any step. */
bool pct_apart_minds(struct pct_engine *engine, uint32_t thread, bool own, struct pct_calm *calm);

/* Whether it does not hold for this thread, which stands, whatever happens to what it stands before. */
bool pct_apart_stays(struct pct_engine *engine, uint32_t thread);

/* --- The functions of the core: core.c ---------------------------------------------------------------------------- */

/* Adds them to the table on top of L. */
void pct_core_open(lua_State *L);

/* Make the next choice of this process: fills in `chosen` by what the command says; it has the way to take where that
 * says nothing. False: there is no room for more. */
bool pct_core_choose(struct pct_script_channel *channel, uint32_t process, struct pct_script_choice *choice);

/* Whether this function of the core only looks at threads and variables. */
bool pct_core_only_looks(lua_CFunction function);

/* Push the event before which this thread stands: a table. */
void pct_core_push_event(lua_State *L, uint32_t thread, const struct pct_script_look *look);

/* --- The engine: engine.c ----------------------------------------------------------------------------------------- */

/* What the script waits for. */
struct pct_request {
    bool any;                /* any thread that the script has not named before; or: */
    struct pct_rank_set set; /* one of these */
    uint32_t end;            /* this one, plus 1: is to have ended; 0: none */
    struct pct_predicate *predicate;
    bool asked;   /* the threads that there were have been looked at */
    bool waiting; /* there is a request */
    bool tries;   /* none is an answer, too: where no thread can go on, and then all of them stand */
};

/* A named function that a thread has begun and not returned from. */
struct pct_inside {
    uint64_t place, stack; /* where it began; the thread's stack there, */
    uint64_t link;         /* and what stood there: where it returns to */
    uint32_t below;        /* the one in which it was called, plus 1; 0: none */
};

enum { PCT_INSIDE_MOST = 4096 };

enum { PCT_GIVEN = 1024 };

/* What pct_choose() is to return in a thread; PCT_NO_THREAD: it has. In the order of its calls. */
struct pct_given {
    uint32_t count;
    struct pct_given_item {
        uint32_t thread, way, line;
    } item[PCT_GIVEN];
};

struct pct_engine {
    const struct pct_script_host *host;
    struct pct_script_channel *channel;
    const struct pct_script_self *self;
    struct pct_script_said *said; /* of this process */
    bool waited;                  /* a line of the script has said what threads do */
    bool meant;                   /* one is for this process, which is not the first */
    uint32_t parts;               /* lines for other processes so far */
    struct pct_script_control *control;
    struct pct_arena arena;
    lua_State *lua, *script; /* the script is a coroutine */
    struct pct_request request;
    struct pct_apart apart;
    struct pct_calm calm;      /* what can answer it next, of this thread, */
    uint32_t calm_of;          /* plus 1; 0: that is not worked out */
    uint32_t renamed;          /* the host's, when it was asked last */
    struct pct_rank_set named; /* threads that the script has named */
    bool others_stand;         /* threads that it has not */
    struct pct_rank_set used;  /* threads whose pending operation has been answered with already */
    uint32_t threads;          /* that ever existed */
    uint32_t seen;             /* of these, the first this many have been looked at for the request */
    uint32_t made;             /* of this turn */
    uint64_t step;
    uint64_t went_on;                /* the step at which the script did that last */
    uint64_t instructions;           /* in units of the hook's count, since a thread went on */
    uint64_t moved;                  /* entries of tables, by Lua's own functions, so far */
    uint64_t charged;                /* as instructions: bytes and entries, up to here */
    uint32_t found;                  /* the answer to the request, plus 1; 0: there is none */
    uint32_t chosen;                 /* the thread that the last choice of threads was for, plus 1; 0: none */
    uint32_t preemptions;            /* by choices of threads */
    struct pct_given given;          /* what the program is to choose */
    uint32_t let;                    /* how often others could go on, as all of a request that tries were blocked */
    uint64_t stays_from;             /* from here to the end of the heap memory stays, where there was some: */
    uint64_t stays[16];              /* pages of which that is known, by the lowest bits of their numbers */
    struct pct_script_range *ranges; /* as the channel's, but addresses of this process; 0: not loaded */
    uint32_t since[PCT_MAX_THREADS]; /* the line that made the thread stand */
    struct pct_apart_never never[PCT_MAX_THREADS];
    uint32_t inside[PCT_MAX_THREADS]; /* the innermost function that the thread is in, plus 1; 0: none */
    struct pct_inside function[PCT_INSIDE_MOST];
    uint32_t functions, unused_function; /* those that were ever used; the first of a list of unused ones, plus 1 */
    _Alignas(64) char stack[1 << 20];    /* Lua calls itself no more than 200 deep */
};

/* The engine that this state belongs to. */
struct pct_engine *pct_engine_of(lua_State *L);

/* End the script: what it has come to, and why. Threads go on by themselves from now on. */
void pct_engine_end(struct pct_engine *engine, enum pct_script_outcome outcome, const char *message);

/* lua.c: by an error that the script has not asked for, on top of L's stack. */
void pct_engine_end_by_error(struct pct_engine *engine, lua_State *L);

/* lua.c: the hook of Lua's that bounds what scripts may do; from now on. */
void pct_engine_bound(lua_State *L, lua_Debug *at);
void pct_engine_set_bound(lua_State *L);

/* lua.c, on the engine's stack: make the engine's state of Lua, and its script. An error ends that. */
void pct_engine_open_lua(void *engine);

bool pct_engine_has_ended(const struct pct_engine *engine, uint32_t thread);

/* stuck.c: of struct pct_script_engine; and the end of the script, as no thread that it lets go on can. */
bool pct_engine_is_stuck(const void *state);
void pct_engine_spins(void *state, struct pct_script_control *control, uint64_t step,
                      const struct pct_script_spin *spin);
void pct_engine_give_up(struct pct_engine *engine);

/* inside.c: the thread enters the named function that begins at this place, or leaves it, with its stack there. */
void pct_engine_passed(void *engine, uint32_t thread, bool enters, uint64_t place, uint64_t stack);

/* inside.c: it is in none. */
void pct_engine_leave_all(struct pct_engine *engine, uint32_t thread);

/* inside.c: the innermost of the named functions that the thread, which stands at a point, is in, plus 1, as in
 * engine->inside, without those that it has left without returning from them; 0: it is in none. */
uint32_t pct_engine_inside(struct pct_engine *engine, uint32_t thread);

/* Whether threads that the script has not named stand from now on, those that are yet to come, too. */
void pct_engine_hold_others(struct pct_engine *engine, bool stand, uint32_t line);

/* End the script from inside: does not return. `message` is on top of the stack. */
int pct_engine_fail(lua_State *L, enum pct_script_outcome outcome);

/* Whether the script has been found to be for this process; until then it says nothing of it. */
static inline bool pct_engine_is_meant(const struct pct_engine *engine)
{
    return !engine->self->number || engine->meant;
}

/* core.c: a line that says what threads do: where none is for this process, it has nothing to say here. */
void pct_core_begin_to_say(lua_State *L, struct pct_engine *engine);
/* What the line that is being done wants: at this place of the stack. */
void pct_core_set_awaited(lua_State *L, struct pct_engine *engine, int awaited);

/* given.c. chooses(thread, way...): what its next calls of pct_choose() return. */
int pct_given_add(lua_State *L);
/* This thread calls it: returns what it is to. */
uint32_t pct_given_choose(struct pct_engine *engine, uint32_t thread, uint32_t ways);

/* Whether this thread holds what the other one waits for. */
static inline bool pct_look_is_held_by(const struct pct_script_look *look, uint32_t thread)
{
    return look->holder == thread || (thread < 64 && look->readers >> thread & 1);
}

/* board.c. post(name, value): it stands on the board from now on. */
int pct_board_post(lua_State *L);
/* await_post(name, awaited): until it stands on the board; all threads of this process stand meanwhile, so that where
 * it goes on does not depend on how long the others take. Returns the value. */
int pct_board_await(lua_State *L);
/* The script is over for this process: it posts nothing more. */
void pct_board_leave(struct pct_engine *engine);
/* While another one waits for the board, each step is to be seen. False: they are to be seen in any case. */
bool pct_board_minds(const struct pct_engine *engine, struct pct_calm *calm);

/* The line where the script is is done. thread: that it was about, plus 1; 0: none. */
void pct_engine_note(struct pct_engine *engine, uint32_t thread);

/* The line of the script that is being done, 0: none. */
uint32_t pct_engine_line(lua_State *L);

/* Printing into texts of fixed size, without libc. */
struct pct_line {
    char *at, *end;
};
void pct_line_start(struct pct_line *line, char *text, size_t size);
void pct_line_add(struct pct_line *line, const char *text);
void pct_line_add_number(struct pct_line *line, uint64_t number);
/* Text from outside, that is to stay in the line: control characters as Lua writes them. */
void pct_line_add_clean(struct pct_line *line, const char *text);

/* How messages name a thread, and what it is about to do. */
void pct_line_add_thread(struct pct_line *line, uint32_t thread);
void pct_line_add_look(struct pct_line *line, const struct pct_script_look *look);

#endif
