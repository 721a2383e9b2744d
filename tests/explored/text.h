/* What a random program of machine.c does: of each thread, its actions, drawn from the program's number. */
#ifndef PCT_TESTS_EXPLORED_TEXT_H
#define PCT_TESTS_EXPLORED_TEXT_H

#include <pthread.h>
#include <stdint.h>

enum kind {
    LOCKS = 1,
    CONDS = 2,
    SEMS = 4,
    RWLOCKS = 8,
    BARRIERS = 16,
    ONCES = 32,
    TIME = 64,
    HEAP = 128,
    RANDOM = 256,
    MAKES = 512,
    EXITS = 1024,
    SPINS = 2048,
    CHECKED = 4096, /* recursive mutexes, and those that tell of errors */
    KEYS = 8192,    /* a destructor of thread-specific data */
    PIPES = 16384,
    NAPS = 32768,   /* yields, and waits of rwlocks with a deadline */
    LEAVES = 65536, /* threads that leave by pthread_exit, are detached, or joined by tries */
    CANCELS = 131072,
    COUNTS = 262144, /* waiters that count each other, and are woken one by one */
    RACES = 524288,
    EVENTS = 1 << 20,  /* an eventfd */
    CLOCKS = 1 << 21,  /* deadlines of the other clock, several that wait, a second barrier */
    DATES = 1 << 22,   /* deadlines are the same points in time for all */
    ROBUSTS = 1 << 23, /* threads end with mutexes that others then have */
    MADE = 1 << 24     /* objects that the first who needs them initialises, or that threads make for themselves */
};
enum { FLAGS = MAKES | EXITS | LEAVES | CANCELS | DATES };

enum { THINGS = 2, WORKERS = 3, ACTIONS = 4 };

static uint64_t kinds;

/* Drawn before the program begins, so that nothing of it depends on the schedule. */
struct action {
    enum kind kind;
    unsigned what, thing, inner, more;
};
static struct text {
    pthread_t made;
    unsigned count, makes, hash, joined;
    struct action action[ACTIONS];
} text[WORKERS + 1];

static uint64_t state;
static unsigned draw(unsigned bound)
{
    state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = state;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (unsigned)((z ^ z >> 31) % bound);
}

static void make_text(unsigned workers)
{
    static const enum kind all[] = { LOCKS,   CONDS, SEMS,  RWLOCKS, BARRIERS, ONCES, TIME,   HEAP,   RANDOM,  SPINS,
                                     CHECKED, KEYS,  PIPES, NAPS,    COUNTS,   RACES, EVENTS, CLOCKS, ROBUSTS, MADE };
    enum { KINDS = sizeof all / sizeof *all, OLD = 9, LATER = 15, MORE = 18, MOST = 19 };
    const unsigned of = kinds >= MADE      ? KINDS
                        : kinds >= ROBUSTS ? MOST
                        : kinds >= EVENTS  ? MORE
                        : kinds & RACES    ? LATER + 1
                        : kinds >= SPINS   ? LATER
                                           : OLD;
    /* Of the kinds, a few: programs of one kind have more to say about it. */
    uint64_t chosen = kinds;
    while (draw(2) && !(chosen & (chosen - 1) & ~(uint64_t)FLAGS))
        chosen = kinds;
    for (unsigned t = 0; t <= workers; t++) {
        text[t].count = t ? 1 + draw(ACTIONS - (workers == 3)) : draw(2);
        text[t].joined = draw(4) || !(kinds & EXITS);
        for (unsigned i = 0; i < text[t].count; i++) {
            struct action *a = &text[t].action[i];
            do
                a->kind = all[draw(of)];
            while (!(a->kind & chosen) && chosen & ~(uint64_t)FLAGS);
            a->what = draw(64);
            a->thing = draw(3) == 0;
            a->inner = draw(2);
            a->more = draw(64);
        }
    }
}

#endif
