/* What the processes of a family share, and who is in which slot of it (family_slots.c). Of family*.c alone.
 *
 * Slots are given away, taken and given up by several processes at once, each of which may be killed between two
 * instructions. So whose a slot is stands in one word, which changes by compare-and-swap alone; and a slot is named by
 * a ticket that no longer fits once it has been given away again. */
#ifndef PCT_PRELOAD_FAMILY_MEMORY_H
#define PCT_PRELOAD_FAMILY_MEMORY_H

#include "family.h"
#include "passed.h"
#include "relative.h"
#include <stdbool.h>
#include <stdint.h>

enum { PCT_SLOTS = 1023, PCT_NEXT_COUNT = 0xfff };

/* Whose a slot is. Neither pid nor maker: nobody's. No pid: of a process that is being made, or whose id is not known.
 */
union pct_who {
    uint64_t word;
    struct {
        uint64_t pid : 22;   /* Linux has no greater ones */
        uint64_t maker : 22; /* the thread that reserved it for a child */
        uint64_t age : 19;   /* how often it was reserved */
        uint64_t member : 1; /* it keeps the time. Else: it does so later (a start), or never (a static program) */
    };
};

struct pct_slot {
    union pct_who who;
    uint64_t start;             /* when the process was made, as the kernel tells; for whom: see family_slots.c */
    uint64_t deadline;          /* of the family's time; while idle */
    uint64_t from;              /* family time when it became idle */
    uint64_t real;              /* and CLOCK_MONOTONIC; of one that is no member: when it came to be that */
    uint64_t began;             /* its own time when it became another program */
    uint64_t told;              /* family time that it came to by its own steps */
    uint32_t turn;              /* odd: idle. Each beginning and end of that counts */
    uint32_t word;              /* a futex: a relative wants this one to look, or something has come */
    uint32_t looked;            /* the word when this one last began to ask, and was idle still */
    uint32_t wants;             /* it could go on, and waits for its turn */
    bool world;                 /* while idle: it waits for what is beyond the family */
    bool asks;                  /* likewise: it must ask whether something has come */
    uint32_t children;          /* that it has made */
    uint32_t images;            /* programs whose runs began in it */
    char path[PCT_FAMILY_PATH]; /* by the ordinals of the forks from the first process; "?": not known */
} __attribute__((aligned(64)));

/* The memory of a family: slots from 1 on, its head where slot 0 would be. */
struct pct_family {
    uint64_t mark;  /* of this family alone */
    uint64_t clock; /* family time, ns */
    uint64_t next;  /* no idle member has a deadline between the clock and this; its last bits count the changes */
    uint64_t epoch;
    uint64_t pids;    /* the inode of the namespace of process ids */
    uint64_t place;   /* and of that in which this memory has its id */
    uint32_t top;     /* the last slot that was ever used */
    uint32_t crowded; /* there are members without a slot */
    uint32_t turns;   /* enum pct_turns */
    uint32_t holder;  /* the ticket of the one whose turn it is; 0: nobody's */
    uint32_t given;   /* a futex: counts the ends of turns */
    struct pct_family_board board;
    struct pct_slot slots[PCT_SLOTS];
};

enum pct_turns { PCT_TURNS_NONE, PCT_TURNS_ON, PCT_TURNS_GIVEN_UP };

/* That of this process; NULL: it has no family. */
extern struct pct_family *pct_family_memory;

static inline struct pct_slot *pct_slot_at(uint32_t i)
{
    return &pct_family_memory->slots[i - 1];
}

/* The slot that a ticket is for, or was. */
static inline uint32_t pct_slot_of(uint32_t ticket)
{
    return ticket % (PCT_SLOTS + 1);
}

static inline union pct_who pct_slot_who(uint32_t i)
{
    return (union pct_who){ .word = __atomic_load_n(&pct_slot_at(i)->who.word, __ATOMIC_SEQ_CST) };
}

/* The ticket of the one that the slot is of. */
uint32_t pct_slot_ticket(uint32_t i, union pct_who who);

static inline bool pct_slot_is_free(union pct_who who)
{
    return !who.pid && !who.maker;
}

static inline bool pct_slot_is_idle(const struct pct_slot *slot)
{
    return __atomic_load_n(&slot->turn, __ATOMIC_SEQ_CST) & 1;
}

/* The family time of one that waits for the world, if it is idle in this turn still; else 0. While it is, nothing else
 * in its slot changes; in a later turn it may have begun to wait after what was just now. */
static inline uint64_t pct_slot_world_time(const struct pct_slot *slot, uint32_t turn)
{
    uint64_t from = __atomic_load_n(&slot->from, __ATOMIC_SEQ_CST);
    uint64_t real = __atomic_load_n(&slot->real, __ATOMIC_SEQ_CST);
    bool same = __atomic_load_n(&slot->turn, __ATOMIC_SEQ_CST) == turn;
    return same ? from + (pct_relative_now() - real) : 0;
}

static inline bool pct_family_exchange(uint64_t *word, uint64_t *was, uint64_t is)
{
    return __atomic_compare_exchange_n(word, was, is, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* Another value of pct_family.next, for this time. */
static inline uint64_t pct_family_count_next(uint64_t before, uint64_t next)
{
    return (next & ~(uint64_t)PCT_NEXT_COUNT) | ((before + 1) & PCT_NEXT_COUNT);
}

/* A slot for a child that the calling thread is about to make, or for itself. began: what pct_slot.began is to be.
 * Returns its ticket; 0: all are taken, which the family remembers. */
uint32_t pct_slot_reserve(uint32_t thread, uint64_t began);

/* The process with this id, the caller, is a member from now on. False: the slot is another's by now. */
bool pct_slot_enter(uint32_t ticket, uint32_t pid);

/* The child has this id. */
void pct_slot_tell(uint32_t ticket, uint32_t pid);

/* Have the one in this slot look. Returns the new word. */
uint32_t pct_slot_wake(struct pct_slot *slot);

/* If all are idle, as their slots say: the one whose deadline is the first shall look whether that is so. Not the one
 * in this slot. */
void pct_slot_wake_next(uint32_t but);

/* Whether the process with this id is in a slot. */
bool pct_slot_has(uint32_t pid);

/* Whether the caller keeps the time in its own slot. */
void pct_slot_set_member(uint32_t ticket, bool member);

/* There is no such child (any more); there is no process with this id any more. */
void pct_slot_release(uint32_t ticket);
void pct_slot_forget(uint32_t pid);

/* family_paths.c: the caller, which has this slot, is the first process. */
void pct_family_name_first(struct pct_slot *me);
/* The process in this slot, the caller (0: it has none), is about to make a child, which has this ticket (0: none).
 * Returns that. */
uint32_t pct_family_name_child(uint32_t self, uint32_t ticket);

/* How much real time the process in this slot has taken, up to `now` and from `counted` on (CLOCK_MONOTONIC), if it is
 * not a member, and at least `least`, ns: all since it is there, but nothing if it is stopped, and if it can run, not
 * while it waited for a CPU. It may be one that is yet to be a member, and takes long to begin where it gets no CPU.
 * The first: at the time that `counted` will be. With the baton. */
void pct_slot_note_strangers(void);
uint64_t pct_slot_took(uint32_t i, uint64_t now, uint64_t counted, uint64_t least);
/* Whether that may be more than this of anybody but the one in this slot. */
bool pct_slot_owes(uint32_t but, uint64_t counted, uint64_t least);

/* The first deadline, in the family's time, of all members that are idle, but for the one in this slot; UINT64_MAX:
 * none has one. */
uint64_t pct_slot_first_deadline(uint32_t but);
/* What may pass of so much time from now on: not as much as comes to that deadline, which goes first. */
uint64_t pct_slot_before_deadlines(uint32_t but, uint64_t now, uint64_t length);

/* What the kernel says of the one that the slot was found to be of. The slot of one that is gone is free then. With the
 * baton. */
enum pct_relative pct_slot_look(uint32_t i, union pct_who who);

/* --- family_known.c ------------------------------------------------------------------------------------------------
 */

/* What is known of each relative, since this process is idle or waits for its turn. */
struct pct_known {
    uint32_t period;
    uint32_t turn;       /* at the last look */
    uint32_t asked_turn; /* it was told to ask in this turn of its own; 0: it was not */
    uint32_t asked;      /* the word that it was told by */
    union pct_who who;   /* likewise */
    uint64_t told;       /* as it had told */
    uint64_t awake;      /* since when it seems to sleep, and perhaps does not, real ns; 0: it certainly did */
    struct pct_passed passed;
};

extern struct pct_known *pct_known;

/* What the slots say now of all. period: whatever is known of another one is forgotten. Returns the last slot that
 * there is. */
uint32_t pct_known_read(uint32_t period);

/* Whether they say it still: then no member has run since, and made others run. */
bool pct_known_is_still(uint32_t top);

/* Whether this idle relative has asked whether something has come, in this period. */
bool pct_known_has_asked(uint32_t i);

/* --- family_turns.c ------------------------------------------------------------------------------------------------
 */

/* From now on one member goes on at a time; the one with this ticket, the caller, begins. Nothing where that has been
 * so before. */
void pct_turns_begin(uint32_t ticket);
/* It rests. */
void pct_turns_give(uint32_t ticket);
/* Returns when it is the turn of the one with this ticket. False: there are no turns. */
bool pct_turns_await(uint32_t ticket);

#endif
