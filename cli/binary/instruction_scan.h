/* Which instructions of a stretch of code are sites (patch/plan.h): decoded by Zydis, from bytes alone. patch_plan.c
 * calls this for each function of a module. */
#ifndef PCT_CLI_INSTRUCTION_SCAN_H
#define PCT_CLI_INSTRUCTION_SCAN_H

#include <common/config.h>
#include <patch/plan.h>
#include <stdbool.h>
#include <stddef.h>

struct pct_range {
    uint64_t from, to;
};

/* What is found, over all functions of a module. Zeroed by the caller, but for the first part;
 * pct_instruction_scan_free(). */
struct pct_instruction_scan {
    unsigned level;            /* PCT_PATCH_* */
    uint64_t from, to;         /* the code */
    struct pct_range *globals; /* what is writable of the module's own data */
    size_t globals_count;
    bool fixed;   /* the module is not moved when it is loaded: absolute addresses name its data */
    bool pointed; /* of the function that comes next: frames.h */
    /* The result. */
    struct pct_plan_site *sites; /* in the order in which they were found */
    size_t count, room;
    struct pct_plan_site *calls; /* PCT_SITE_CALL: added to them at the end */
    size_t call_count, call_room;
    struct pct_pad *pads; /* candidates: what nothing falls into, but branches may still lead to */
    size_t pad_count, pad_room;
    uint64_t omitted[PCT_PLAN_OMISSIONS_COUNT], untold; /* untold: of those, on the thread's own stack */
    uint8_t *targets;                                   /* a bit for each byte of the code: some branch leads there */
    bool no_memory;
};

/* Prepare for code in [from, to). False: no memory. */
bool pct_instruction_scan_start(struct pct_instruction_scan *sites);
void pct_instruction_scan_free(struct pct_instruction_scan *sites);

/* Decode one function. False: it does not consist of instructions, or there is no memory (no_memory). *ended: nothing
 * falls out of its end. */
bool pct_instruction_scan_function(struct pct_instruction_scan *sites, const uint8_t *code, size_t size,
                                   uint64_t address, bool *ended);

/* The filling between two functions. ended: nothing falls into it from the one before. */
void pct_instruction_scan_gap(struct pct_instruction_scan *sites, const uint8_t *code, size_t size, uint64_t address,
                              bool ended);

/* A site for the instruction at `code`, of which nothing but its place and length is known. */
struct pct_plan_site pct_instruction_scan_site(uint64_t address, const uint8_t *code, uint8_t length);

/* Add a site. Whether some branch of the module leads to this address. Both after all functions. */
void pct_instruction_scan_add(struct pct_instruction_scan *sites, const struct pct_plan_site *site);
bool pct_instruction_scan_is_target(const struct pct_instruction_scan *sites, uint64_t address);

/* After all functions: add calls that no site contains, mark the sites that a branch enters, drop the pads that one
 * leads into, sort both. */
void pct_instruction_scan_finish(struct pct_instruction_scan *sites);

#endif
