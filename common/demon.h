/* The plan of a demon: between `pct demon`, which writes it, and libpct-demon.so (runtime/demon/) in the target, which
 * makes the demon thread by it. A file: this head; then, where states are to be recorded, its points. A plan that is
 * kept has no points. */
#ifndef PCT_COMMON_DEMON_H
#define PCT_COMMON_DEMON_H

#include <stdbool.h>
#include <stdint.h>

#define PCT_DEMON_MAGIC "PCTDEM5"

enum {
    PCT_DEMON_FUNCTIONS = 32, /* that the specification names, and lines */
    PCT_DEMON_CELLS = 512,    /* places of memory that its contracts speak of */
    PCT_DEMON_ROOTS = 72,     /* objects that others know from the start */
    PCT_DEMON_FOUND = 64,     /* objects that these lead to */
    PCT_DEMON_STEPS = 6,      /* pointers on the way to one, */
    PCT_DEMON_HOPS = 8,       /* and members */
    PCT_DEMON_TYPES = 32,     /* of structures on these ways, */
    PCT_DEMON_FIELDS = 128,   /* and members of them */
    PCT_DEMON_ACTIONS = 12,
    PCT_DEMON_ARGUMENTS = 6, /* those in registers */
    PCT_DEMON_POINTS = 256,  /* that are recorded of a run */
    PCT_DEMON_CODE = 16,
    PCT_DEMON_HELPS = 16 /* added to the number of a helper's action */
};

/* Where an object is. */
enum pct_demon_root {
    PCT_DEMON_TEST_ARGUMENT,  /* what the test got as its argument `number` */
    PCT_DEMON_CALL_ARGUMENT,  /* the same of the function of the point */
    PCT_DEMON_GLOBAL,         /* at `address` */
    PCT_DEMON_GLOBAL_POINTER, /* where the pointer at `address` points */
    PCT_DEMON_GHOST           /* nowhere: of contracts alone; `address` tells it from others */
};

/* An object: the root, from there along pointers, then some bytes further. */
struct pct_demon_place {
    uint64_t address; /* as the file says, before it is relocated */
    uint32_t root, number;
    int32_t offset;                /* of the object, behind all steps; below 0: it begins before what they lead to */
    uint32_t steps;                /* this many pointers are followed: */
    int32_t step[PCT_DEMON_STEPS]; /* where each is, in what the one before leads to */
    /* Where the root, then each of these, leads to a member of a structure: pct_demon_container(); else 0. */
    uint32_t container[1 + PCT_DEMON_STEPS];
    uint32_t unused; /* places are compared byte by byte */
};

/* A scalar in an object, or who holds a mutex in it. */
struct pct_demon_cell {
    struct pct_demon_place place;
    int32_t offset;
    uint32_t size;     /* 1, 2, 4, 8 */
    uint32_t lock;     /* 1: it is a mutex, 2: a pointer to one; PRESENCE: nothing, it tells where the object is */
    uint32_t function; /* of a CALL_ARGUMENT: the index of the function; else UINT32_MAX */
};

enum { PCT_DEMON_PRESENCE = 3 };

/* Bits of the value of a mutex: who holds it. */
enum {
    PCT_DEMON_BY_TEST = 1,  /* the test's thread */
    PCT_DEMON_BY_CALLER = 2 /* the thread that recorded the point */
};

/* --- Objects that others know by those that they know ------------------------------------------------------------- */

enum { PCT_DEMON_ANY = 0xffffffff /* of a type: any */ };
enum { PCT_DEMON_UNSIGNED = 16 /* added to the bytes of a number that is never below 0 */ };

/* A member of a structure that is one, or a pointer to one; or an array of them. Or what a pointer or an array, which
 * is an object of its own type, leads to. */
struct pct_demon_field {
    uint32_t type;   /* the structure's index */
    uint32_t target; /* that of what it is, or points to; ANY: of a pointer to void */
    uint32_t offset, count, stride;
    uint32_t pointer : 1, behind : 1; /* behind: the elements are where it points to */
    uint32_t container : 1;           /* it points to a member of the target; then */
    uint32_t length_size : 5;         /* that member's type; else bytes of one that says how many of `count` there */
    uint32_t length_offset : 23;      /* are, 0: all; and where that member is */
    uint32_t own : 1;                 /* of a container: it is in a structure of that member's type */
};

enum pct_demon_is {
    PCT_DEMON_KNOWN,  /* others know it */
    PCT_DEMON_HEAD,   /* a variable that they do not know, but a list may come back to: no container has it */
    PCT_DEMON_ELEMENT /* a variable of which pointers to a member may lead */
};

struct pct_demon_known {
    struct pct_demon_place place;
    uint32_t type;
    uint32_t is; /* enum pct_demon_is */
};

struct pct_demon_found {
    struct pct_demon_place place;
    uint32_t type;
    uint32_t passed; /* the test's thread has entered a function with it */
    uint32_t hops;   /* the members on the way */
    uint32_t unused;
    struct pct_demon_hop {
        uint32_t field, element;
    } hop[PCT_DEMON_HOPS];
};

enum { PCT_DEMON_NOT_SAID = 1 };

/* A structure of this type has at this offset a member of that type, to which a pointer leads. declared: a pointer that
 * contracts name, and that is certainly not the list's own. NOT_SAID: it lies too far behind, and counts as none. */
static inline uint32_t pct_demon_container(uint32_t type, uint32_t member, uint32_t offset, bool declared)
{
    const bool fits = type < PCT_DEMON_TYPES && member < PCT_DEMON_TYPES && offset < 1U << 20;
    return fits ? 1U << 31 | (uint32_t)declared << 30 | type << 25 | member << 20 | offset : PCT_DEMON_NOT_SAID;
}

/* What leads where. Filled in by demon/pointers.c, and by the runs that record: what they have found. */
struct pct_demon_map {
    uint32_t wanted; /* bit i: an object of type i is looked for */
    uint32_t fields, roots;
    uint32_t founds; /* those that are known, and those that the run adds */
    uint32_t cut;    /* there were more */
    uint32_t unsure; /* of what a pointer leads to it is not known whether it is an element of a list, or its head */
    uint32_t parameter[PCT_DEMON_FUNCTIONS][PCT_DEMON_ARGUMENTS]; /* their types; ANY: none of these */
    struct pct_demon_field field[PCT_DEMON_FIELDS];
    struct pct_demon_known root[PCT_DEMON_ROOTS];
    struct pct_demon_found found[PCT_DEMON_FOUND];
};

/* ------------------------------------------------------------------------------------------------------------------ */

struct pct_demon_argument {
    struct pct_demon_place place; /* of the object whose address is passed */
    uint64_t value;               /* passed where `scalar` */
    uint32_t scalar, unused;
};

struct pct_demon_action {
    uint64_t function;
    uint32_t arguments, unused;
    struct pct_demon_argument argument[PCT_DEMON_ARGUMENTS];
};

/* A point: the test's thread is about to enter one of the functions, or one of the lines, at or within the test. Or the
 * demon thread is about to enter that of an action; or it has made them all: then the function is the test, with what
 * that was called with. */
struct pct_demon_value {
    uint64_t address, value;
    uint32_t known; /* 0: no such object is there */
    uint32_t own;   /* it is in a frame of the test, or of what that has called */
};

struct pct_demon_point {
    uint32_t function; /* its index */
    uint32_t entry;    /* how many of them, or others called so, the test's thread had entered, this time too */
    uint32_t caller;   /* 0: the test's thread; n: the demon thread, about to make its n-th action, or behind all;
                          those that are made later count on from there; HELPS + n: the helper */
    uint32_t times;    /* how often the test's thread had entered this function, this time too */
    uint64_t arguments[PCT_DEMON_ARGUMENTS];
    struct pct_demon_value cells[PCT_DEMON_CELLS];
};

struct pct_demon_plan {
    char magic[8];
    uint64_t entry;               /* the program's, and */
    uint8_t code[PCT_DEMON_CODE]; /* the first bytes of the test: it is the program that the plan was made for */
    uint32_t functions, cells, actions;
    uint32_t room;                          /* for this many points */
    uint64_t function[PCT_DEMON_FUNCTIONS]; /* where they begin; the first is the test */
    uint32_t lines;                         /* bit i: function i is none, but code of a line, in the test's name */
    uint32_t uncoded;                       /* this many of the last bytes of `code` are not the program's */
    struct pct_demon_cell cell[PCT_DEMON_CELLS];
    struct pct_demon_action action[PCT_DEMON_ACTIONS];
    uint32_t at;     /* the demon thread waits until the first has entered this many functions; 0: the test */
    uint32_t direct; /* it does not wait, and */
    uint32_t apart;  /* the actions that are made later are of a thread of their own, the next one */
    uint32_t unused2;
    uint32_t helps;  /* this many actions, behind the others, are the helper's: a thread that runs when no other can */
    uint32_t probes; /* the demon thread makes no calls, but records the state, as if it had, and ends the run */
    uint32_t second; /* this many of the others, the last, are made later: once the first thread */
    uint32_t again;  /* has entered this many functions; 0: there are none */
    struct pct_demon_map map;
    /* The run's. */
    uint32_t points;  /* that there were, with or without a place here */
    uint32_t entered; /* how often the test was */
    uint32_t seen;    /* how often the first thread entered one of the functions, or another that is called so */
    uint32_t begun;   /* the demon thread has begun its actions, */
    uint32_t ended;   /* and ended them */
    uint64_t bias;    /* what the loader has moved the program by */
    struct pct_demon_point point[];
};

/* Which action this caller (not 0) is about to make; -1: it has made those that come at once. */
static inline int pct_demon_action_of(const struct pct_demon_plan *plan, uint32_t caller)
{
    const uint32_t first = plan->actions - plan->second;
    if (caller > PCT_DEMON_HELPS)
        return caller - PCT_DEMON_HELPS <= plan->helps ? (int)(plan->actions + caller - PCT_DEMON_HELPS - 1) : -1;
    if (caller <= first)
        return (int)caller - 1;
    return caller > first + 1 && caller - 1 <= plan->actions ? (int)caller - 2 : -1;
}

/* What the function that a thread of the program enters was called with; stack: its stack pointer there; threads: from
 * where to where libpct keeps what it knows of them, the addresses of frames, too. Called by the shim before the step
 * and (passed) behind it, when others may have run in between, as if the program called it there. In libpct-demon.so;
 * NULL without it. */
__attribute__((weak, visibility("default"))) void pct_demon_enter(uint64_t address,
                                                                  const uint64_t arguments[PCT_DEMON_ARGUMENTS],
                                                                  uint64_t stack, bool passed,
                                                                  const uint64_t threads[2]);

#endif
