/* Placing: how each site of a module is diverted, and where its trampoline goes. Works on a copy of the module's code,
 * and on memory that nothing runs in yet, so that the process is changed only when all is done (preload/patch/patch.c).
 *
 * An instruction of five bytes or more becomes a jmp. A shorter one, because the bytes behind it must stay (something
 * may jump to them), becomes one of
 *
 *     a punned jmp      whose last bytes are the first ones of what follows, so it leads to one of few places: there an
 *                       *island* is put, a jmp to the trampoline (Chamith et al., Instruction Punning, PLDI 2017);
 *     a short jmp       to an island in a pad near by;
 *     a jmp             with the instructions behind it, if these may move with it (pct_plan_site.more);
 *     int3              where the run wants all of them, whatever that takes (a signal each time);
 *
 * or is left alone. Sites are taken from the last to the first, as a punned jmp needs what follows to be final; the
 * bytes that it borrowed are locked from then on. */
#ifndef PCT_PATCH_PLACE_H
#define PCT_PATCH_PLACE_H

#include "emit.h"

enum { PCT_PLACE_PAGE = 4096, PCT_PLACE_MAX_PAGES = 1 << 15 }; /* of islands: each may be a mapping of its own */
enum { PCT_PLACE_SLOTS = 2 * PCT_PLACE_MAX_PAGES };

struct pct_place_page {
    uint64_t address;
    uint8_t *memory; /* where to write its bytes now; NULL: the page belongs to somebody else */
    uint64_t used[PCT_PLACE_PAGE / 64];
};

/* How a site was diverted. */
enum pct_place_way { PCT_WAY_ALONE, PCT_WAY_JUMP, PCT_WAY_PUN, PCT_WAY_SHORT, PCT_WAY_BLOCK, PCT_WAY_TRAP, PCT_WAYS };

struct pct_placing {
    /* The module: its plan, how far the loader moved it, and a copy of its code from plan->from to plan->to. */
    const struct pct_plan *plan;
    uint64_t bias;
    uint8_t *code;
    uint8_t *locked;             /* as many bits, zeroed; set: the byte must not change any more */
    uint8_t *breaks;             /* likewise; NULL or set: a debugger's breakpoint comes and goes there */
    struct pct_patched *patched; /* room for plan->sites */
    struct pct_leaves leaves;
    bool calls;  /* PCT_SITE_CALL, too */
    bool blocks; /* instructions may move with a site: no thread stands between them */
    bool traps;  /* PCT_WAY_TRAP, too */
    /* Memory for trampolines; near_used: what is there before. */
    uint64_t near_address;
    uint8_t *near; /* where to write its bytes now */
    size_t near_size, near_used;
    /* Islands: the pages, room for PCT_PLACE_MAX_PAGES, zeroed; and where they are found by their address, a table of
     * PCT_PLACE_SLOTS numbers, from 1; 0: free. The table is asked often for pages that are not there: it is small.
     * map: make this page (memory to write to), or NULL if it is not free. */
    struct pct_place_page *pages;
    uint32_t *slots, page_count;
    uint8_t *(*map)(void *context, uint64_t address);
    void *context;
    uint64_t recent[256];          /* pages by the high byte of the distances that lead there */
    uint64_t avoid_from, avoid_to; /* no islands here: the heap will grow into it */
    uint64_t ways[PCT_WAYS];       /* the result, counted */
};

/* Bytes that the trampolines of this many sites take at most, and this many bytes before them. */
size_t pct_place_room(uint64_t sites, size_t before);

/* Place all sites. What is to be written to the code then differs in place->code. */
void pct_place_module(struct pct_placing *place);

#endif
