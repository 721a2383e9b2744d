/* Rounds of loops that have changed nothing: see await.h. */
#include "await.h"
#include <preload/core/apart.h>
#include <preload/core/shim.h>
#include <preload/core/user_memory.h>
#include <sched/log.h>
#include <sched/progress.h>
#include <sched/record.h>
#include <string.h>

/* What a round has at most: accesses, and locations of the thread's own that change in it. Words that the stack of a
 * thread that waits has at most. */
enum { LOOKS = 32, OWN = 16, WORDS = 1024 };

/* Looks of one place in the code at one address, one behind the other, each with other registers or another stack: this
 * many may end by themselves, in this many such loops at a time; a loop that makes MOST is taken for endless. */
enum { ROUNDS = 16, MOST = 48, TALLIES = 8 };

struct look_at {
    uintptr_t address;
    uint64_t value; /* that is there, once the thread has passed its point */
    uint64_t size;
};

/* What the thread has changed on the part of its stack that is compared. */
struct own {
    struct look_at at; /* its location; value: when the thread waits */
    uint64_t looks;    /* that were kept before it was changed last */
};

/* An access that may have been the first of a round. */
struct look {
    struct look_at at;
    uintptr_t pc;
    uint64_t words;
    uint64_t vectors[PCT_AWAIT_VECTORS];
    uint64_t state[WORDS]; /* from the registers that were saved on the stack up to where the thread began */
};

enum access { NONE, LOOK, STORE };

struct tally {
    uintptr_t pc, address;
    uint32_t looks;
};

struct pct_await {
    enum access now;       /* what the thread is about to make, of what is kept here */
    uint32_t count, next;  /* that are kept; the place of the next one */
    uint32_t first;        /* of the round without progress */
    uint32_t log;          /* entries at the last of them */
    uint64_t steps, looks; /* looks: all that were kept */
    struct look_at stored; /* the last store, before it was made; size 0: what came of it is known */
    uint32_t stored_log;   /* entries when it was made */
    /* Since the thread last changed anything that others may see: */
    uint32_t owns, tallies;
    struct own own[OWN];
    struct tally tally[TALLIES];
    struct look look[LOOKS];
};

static bool read_value(const struct look_at *look, uint64_t *value)
{
    *value = 0;
    return pct_user_copy_in(value, (const void *)look->address, look->size);
}

/* Stores that change something are told apart elsewhere. */
static bool is_memory(enum pct_op op)
{
    return op >= PCT_OP_LOAD && op <= PCT_OP_ATOMIC_TRY;
}

/* Whether the entry says that the thread, which made it or not, has only looked. */
static bool harmless(const struct pct_log_entry *entry)
{
    switch ((enum pct_log_kind)entry->kind) {
    case PCT_LOG_ANNOUNCE:
        return is_memory((enum pct_op)entry->op) || entry->op == PCT_OP_YIELD;
    case PCT_LOG_PICK:
    case PCT_LOG_ENABLE:
    case PCT_LOG_DISABLE:
    case PCT_LOG_NAME:
        return true;
    default:
        return false;
    }
}

/* Whether all that the thread did since its last look was to look: what the log and the trace have of it. An
 * announcement names its thread; of all else, the one does it that was chosen last. */
static bool has_only_looked(const struct pct_shim_thread *self, const struct pct_await *a)
{
    const struct pct_log_entry *log = pct_channel_log(pct_sched_log(&pct_S));
    uint64_t steps = pct_steps(&pct_S) - a->steps;
    uint32_t id = self->core.id, runs = id;
    if (steps >= PCT_TRACE_BLOCK || pct_sched_log(&pct_S)->doubts & 1u << PCT_DOUBT_FULL)
        return false;
    for (uint32_t i = a->log; i < pct_sched_log(&pct_S)->log_count; i++) {
        bool own = log[i].kind == PCT_LOG_ANNOUNCE ? log[i].thread == id : runs == id;
        if (log[i].kind == PCT_LOG_JUMP || (own && !harmless(&log[i])))
            return false;
        runs = log[i].kind == PCT_LOG_PICK ? log[i].thread : runs;
    }
    for (uint64_t i = 1; i <= steps; i++) {
        uint64_t record = pct_record_before(&pct_S, i);
        enum pct_op op = (enum pct_op)PCT_RECORD_OP(record);
        if (PCT_RECORD_THREAD(record) == id && !is_memory(op) && op != PCT_OP_YIELD)
            return false;
    }
    return true;
}

static void forget(struct pct_await *a)
{
    a->count = a->owns = a->tallies = 0;
}

/* Behind where the thread's stack began to be its own code's. */
static uintptr_t top_of(const struct pct_shim_thread *self)
{
    return self->stack_top ? self->stack_top : pct_shim.main_stack;
}

static struct own *own_at(struct pct_await *a, uintptr_t address)
{
    for (uint32_t i = 0; i < a->owns; i++)
        if (a->own[i].at.address == (address & ~(uintptr_t)7))
            return &a->own[i];
    return NULL;
}

/* The thread has changed this of its own: its state has it, and if others look at it, the verdict says so. */
static void add_own(struct pct_await *a, uintptr_t address)
{
    struct own *own = own_at(a, address);
    if (!own && a->owns == OWN)
        forget(a);
    if (!own)
        own = &a->own[a->owns++];
    *own = (struct own){ .at = { .address = address & ~(uintptr_t)7, .size = sizeof(uint64_t) }, .looks = a->looks };
}

/* How many words there are from the saved registers up to where the thread began; 0: too many, or another stack. */
static uint32_t count_words(const struct pct_shim_thread *self)
{
    uintptr_t from = (uintptr_t)self->entry, to = top_of(self);
    bool within = from - self->stack_from < self->stack_to - self->stack_from && from < to && to <= self->stack_to;
    return within && to - from <= sizeof(uint64_t) * WORDS ? (uint32_t)((to - from) / sizeof(uint64_t)) : 0;
}

static struct look *at(struct pct_await *a, uint32_t back)
{
    return &a->look[(a->next + LOOKS - back) % LOOKS];
}

static bool is_alike(const struct pct_shim_thread *self, const struct look *look, uintptr_t pc, uint32_t words)
{
    return look->pc == pc && look->words == words && !memcmp(look->state, self->entry, words * sizeof *look->state) &&
           (!self->vectors || !memcmp(look->vectors, self->vectors, sizeof look->vectors));
}

static void keep_state(const struct pct_shim_thread *self, struct look *look)
{
    memcpy(look->state, self->entry, look->words * sizeof *look->state);
    if (self->vectors)
        memcpy(look->vectors, self->vectors, sizeof look->vectors);
}

void pct_await_progress(struct pct_shim_thread *self)
{
    if (!self->await)
        return;
    forget(self->await);
    self->await->stored.size = 0;
    self->await->now = NONE;
}

void pct_await_expected(struct pct_shim_thread *self, uintptr_t address)
{
    const uintptr_t from = (uintptr_t)__builtin_frame_address(0);
    if (!self->await)
        return;
    if (address - from < top_of(self) - from)
        add_own(self->await, address);
    else
        pct_await_progress(self);
}

/* The thread comes to its next access: has its last store changed anything? No other thread was chosen in between. */
static void settle_store(const struct pct_shim_thread *self, struct pct_await *a)
{
    const uintptr_t from = (uintptr_t)self->entry;
    const struct pct_log_entry *log = pct_channel_log(pct_sched_log(&pct_S));
    uint64_t value;
    bool silent = !a->stored.size || (read_value(&a->stored, &value) && value == a->stored.value);
    for (uint32_t i = a->stored_log; a->stored.size && i < pct_sched_log(&pct_S)->log_count; i++)
        silent &= log[i].kind != PCT_LOG_PICK;
    if (!silent && a->stored.address - from < top_of(self) - from)
        add_own(a, a->stored.address);
    else if (!silent)
        forget(a);
    a->stored.size = 0;
}

/* The thread looks at this again, and its state is another one each time: a loop that counts its rounds. */
static void count_round(struct pct_shim_thread *self, struct pct_await *a, uintptr_t address, uintptr_t pc)
{
    uint32_t i = 0;
    while (i < a->tallies && (a->tally[i].pc != pc || a->tally[i].address != address))
        i++;
    if (i == TALLIES)
        return;
    if (i == a->tallies)
        a->tally[a->tallies++] = (struct tally){ pc, address, 0 };
    uint32_t rounds = a->tally[i].looks++;
    if (rounds < MOST) /* until then it is no spin: each round is a point */
        self->recent.repeats = 0;
    if (rounds >= ROUNDS)
        pct_log(&pct_S, PCT_LOG_AGAIN, self->core.id, rounds >= MOST);
    if (rounds >= MOST)
        pct_progress_deprioritize(&pct_S, &self->core, 1);
}

/* A round without progress: it can be left out if what the thread has changed in it is its own. */
static void log_own(const struct pct_shim_thread *self, struct pct_await *a)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < a->owns; i++) {
        struct own own = a->own[i];
        if (own.looks <= a->looks - a->first)
            continue; /* before the round */
        read_value(&own.at, &own.at.value);
        pct_log_add(pct_sched_log(&pct_S),
                    (struct pct_log_entry){ .kind = PCT_LOG_OWN,
                                            .thread = (uint16_t)self->core.id,
                                            .key = PCT_OBJECT_KEY(own.at.address, PCT_CLASS_MEMORY) });
        a->own[count++] = own;
    }
    a->owns = count;
}

bool pct_await_round(struct pct_shim_thread *self, uintptr_t address, size_t size, bool looks, uintptr_t pc)
{
    uint32_t words = self->entry ? count_words(self) : 0;
    struct pct_await *a = self->await;
    if (!words || size > sizeof(uint64_t) || (address & 7) + size > 8) {
        pct_await_progress(self);
        return false;
    }
    if (!a && !(a = self->await = pct_apart_map(sizeof *a)))
        return false;
    settle_store(self, a);
    a->now = looks ? LOOK : STORE;
    if (!looks) {
        a->stored = (struct look_at){ .address = address, .size = size };
        return false;
    }
    if (a->count && !has_only_looked(self, a))
        forget(a);
    bool no_progress = false;
    for (uint32_t back = 1; back <= a->count && !no_progress; back++)
        if (is_alike(self, at(a, back), pc, words)) {
            no_progress = true;
            a->first = back;
        }
    if (!no_progress) {
        struct look *look = &a->look[a->next++ % LOOKS];
        a->next %= LOOKS;
        a->count += a->count < LOOKS;
        a->looks++;
        look->at = (struct look_at){ .address = address, .size = size };
        look->pc = pc;
        look->words = words;
        keep_state(self, look);
        count_round(self, a, address, pc);
    } else {
        log_own(self, a);
    }
    a->log = pct_sched_log(&pct_S)->log_count;
    a->steps = pct_steps(&pct_S);
    return no_progress;
}

void pct_await_passed(struct pct_shim_thread *self)
{
    struct pct_await *a = self->await;
    if (!a || a->now == NONE)
        return;
    struct look_at *this = a->now == STORE ? &a->stored : &at(a, 1)->at;
    if (!read_value(this, &this->value))
        forget(a);
    a->stored_log = pct_sched_log(&pct_S)->log_count;
    a->now = NONE;
}

static bool is_changed(const struct look_at *look)
{
    uint64_t value;
    return !read_value(look, &value) || value != look->value;
}

/* What the thread changes itself in each round is compared with how it has left that. */
static bool reads_else(struct pct_await *a)
{
    for (uint32_t i = 0; i < a->owns; i++)
        if (is_changed(&a->own[i].at))
            return true;
    for (uint32_t back = 1; back <= a->first; back++)
        if (!own_at(a, at(a, back)->at.address) && is_changed(&at(a, back)->at))
            return true;
    return false;
}

/* Others have written on its stack what no told access of its round has looked at: patched code reads its own stack
 * untold. */
static bool has_other_stack(const struct pct_shim_thread *thread)
{
    const struct look *look = at(thread->await, thread->await->first);
    return memcmp(look->state, thread->entry, look->words * sizeof *look->state) != 0;
}

bool pct_await_changed(void)
{
    bool untold = false;
    for (uint32_t id = 0; id < pct_sched_threads(&pct_S); id++) {
        struct pct_shim_thread *t = (struct pct_shim_thread *)pct_sched_thread(&pct_S, id);
        if (t->core.awaits && reads_else(t->await))
            return true;
        untold |= t->core.awaits && has_other_stack(t);
    }
    if (untold)
        pct_log_doubt(&pct_S, PCT_DOUBT_ROUNDS);
    return untold;
}
