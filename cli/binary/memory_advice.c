/* Which scheduling points a program needs: see memory_advice.h. Counted from the plan that would patch it. Code does
 * not tell which of its accesses locks order; so what calls cannot order (locks that are atomic instructions, code
 * without locks) is called needed, and plain accesses are only counted. */
#include "memory_advice.h"
#include "locate.h"
#include "patch_plan.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

typedef unsigned long long count;

struct counts {
    count updates;  /* atomic instructions that read and write */
    count compares; /* those of them that compare first */
    count globals;  /* plain accesses to global variables */
    count pointers; /* and through pointers */
    count calls;    /* functions such as memcpy that it calls */
    count others;   /* instructions that access memory and can be no points */
};

/* Returns the refusal of the plan (enum pct_plan_refusal), with *c of what is in it. */
static unsigned count_sites(struct counts *c, const char *path)
{
    struct pct_plan *plan = pct_plan_make(path, PCT_PATCH_GLOBALS, NULL, 0),
                    *all = pct_plan_make(path, PCT_PATCH_ALL, NULL, 0);
    unsigned refusal = PCT_PLAN_NONE;
    *c = (struct counts){ 0 };
    if (plan && all) {
        refusal = plan->refusal;
        c->compares = plan->by_kind[PCT_SITE_COMPARE];
        c->updates = plan->by_kind[PCT_SITE_ATOMIC] + plan->by_kind[PCT_SITE_EXCHANGE] + c->compares;
        c->globals = plan->by_kind[PCT_SITE_READ] + plan->by_kind[PCT_SITE_WRITE] + plan->by_kind[PCT_SITE_UPDATE];
        c->pointers =
            all->by_kind[PCT_SITE_READ] + all->by_kind[PCT_SITE_WRITE] + all->by_kind[PCT_SITE_UPDATE] - c->globals;
        c->calls = plan->slots;
        c->others = all->by_kind[PCT_SITE_CALL];
        for (unsigned i = 0; i < PCT_PLAN_OMISSIONS_COUNT; i++)
            c->others += all->omitted[i];
    }
    free(plan);
    free(all);
    return refusal;
}

#define SAY(kind, ...) snprintf(advice->why[PCT_ADVICE_##kind], sizeof *advice->why, __VA_ARGS__)

static void advise_atomics(struct pct_memory_advice *advice, const struct counts *c, bool locks)
{
    if (locks)
        SAY(ATOMICS,
            "it needs --memory=atomics, which pct run and campaign choose: it implements its own locks (futexes), "
            "and taking a free one is an atomic instruction and no call");
    else if (c->updates)
        SAY(ATOMICS,
            "it needs --memory=atomics: its own code has %llu atomic instructions (locks that spin, counts of "
            "references, code without locks), which no call orders",
            c->updates);
}

static void advise_rebuild(struct pct_memory_advice *advice, const struct counts *c)
{
    if (c->compares)
        SAY(REBUILD,
            "it needs to be built with pct-cc, if it can be: %llu of its atomic instructions compare and "
            "exchange, as code without locks does, whose other atomic loads and stores are plain instructions "
            "in the file; else --memory=all",
            c->compares);
    else if (c->pointers)
        SAY(REBUILD,
            "it may need to be built with pct-cc: %llu accesses go through pointers, which --memory=globals "
            "does not see; else --memory=all",
            c->pointers);
    else if (c->others)
        SAY(REBUILD,
            "it may need to be built with pct-cc: %llu instructions access memory in ways that --memory does not see "
            "(string instructions, calls through memory)",
            c->others);
}

void pct_memory_advise(struct pct_memory_advice *advice, const char *path, const struct pct_elf_facts *facts)
{
    struct counts c;
    *advice = (struct pct_memory_advice){ 0 };
    if (pct_elf_tells(path)) {
        SAY(REBUILD, "it is built to tell of its memory accesses (pct-cc): nothing more is needed");
        return;
    }
    unsigned refusal = count_sites(&c, path);
    advise_atomics(advice, &c, facts->has_futexes);
    advise_rebuild(advice, &c);
    if (refusal != PCT_PLAN_NONE)
        SAY(REBUILD,
            "--memory cannot make scheduling points of its memory accesses (%s): what lies between them needs "
            "a build with pct-cc",
            pct_plan_refusal(refusal));
    else if (c.globals)
        SAY(GLOBALS,
            "it may need --memory=globals: %llu instructions access its global variables; bugs between those "
            "that no lock orders do not show at calls",
            c.globals);
    else if (c.calls)
        SAY(GLOBALS,
            "it may need --memory=globals: it calls functions such as memcpy and snprintf (%llu), whose accesses are "
            "no points without it",
            c.calls);
    else if (!c.updates && !c.pointers && !c.others && !facts->has_futexes)
        SAY(CALLS, "it needs points at calls only: its own code accesses no memory that threads share");
}

bool pct_memory_is_unseen(const struct pct_config *config, const char *command)
{
    char program[PATH_MAX];
    return config->memory < PCT_PATCH_ALL && !pct_locate_command(command, program, sizeof program) &&
           !pct_elf_tells(program);
}
