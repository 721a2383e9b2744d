/* What the guarantee leaves out: see guarantee_left_out.h. */
#include "guarantee_left_out.h"
#include "campaign.h"
#include <string.h>

const char *pct_guarantee_left_out_count(char *buffer, size_t size, uint64_t value)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    size_t used = 0;
    for (int i = 0; i < length && used + 2 < size; i++) {
        if (i && (length - i) % 3 == 0)
            buffer[used++] = ',';
        buffer[used++] = digits[i];
    }
    buffer[used] = 0;
    return buffer;
}

/* What the guarantee leaves out, if there was any of it: up to this many in a run. */
static void print_left_out(FILE *out, const char *before, uint64_t most, const char *behind)
{
    char count[32];
    if (most)
        fprintf(out, "pct: %sup to %s %s\n", before, pct_guarantee_left_out_count(count, sizeof count, most), behind);
}

void pct_guarantee_left_out_print_deadlines(FILE *out, const struct pct_campaign *c)
{
    print_left_out(out, "", c->fixed_deadlines,
                   "times in a run a timer was set, or a thread waited with a time-out for what the outside can send: "
                   "these came in the order of their deadlines; a bug that needs another order is not among these");
}

bool pct_guarantee_left_out_draws(const struct pct_campaign *c)
{
    return c->choices || c->randoms || c->config.spurious;
}

void pct_guarantee_left_out_print_draws(FILE *out, const struct pct_campaign *c)
{
    print_left_out(out, "signals had several waiters to choose from, or pct_choose() several numbers, ", c->choices,
                   "times in a run: a bug that needs a certain one is not among these");
    print_left_out(out, "the seed drew random numbers for the program, ", c->randoms,
                   "in a run: a bug that needs certain ones is not among these");
    if (c->config.spurious)
        fputs(
            "pct: the seed drew which waits for a condition ended by themselves (--spurious): a bug that needs certain "
            "ones to, or not to, is not among these\n",
            out);
}

/* In which code accesses to memory are scheduling points: by pct-cc, or by patching; what is in other libraries never
 * is. */
static void print_counted(FILE *out, const struct pct_campaign *c)
{
    static const char *const kinds[] = { [PCT_PATCH_ATOMICS] = "atomic instructions",
                                         [PCT_PATCH_GLOBALS] = "those to globals that the function itself names",
                                         [PCT_PATCH_ALL] = "those to globals and through pointers",
                                         [PCT_PATCH_STACKS] = "those" };
    fputs("pct: of memory accesses, k counts ", out);
    if (c->config.memory == PCT_PATCH_OFF)
        fputs("those of code that pct-cc has built", out);
    else
        fprintf(out, "%s in the program file", kinds[c->config.memory]);
    if (c->config.memory != PCT_PATCH_OFF && c->config.modules[0]) {
        fputs(" and ", out);
        for (const char *at = c->config.modules; *at; at++)
            fputs(*at == '/' ? ", " : (char[]){ *at, 0 }, out);
    }
    fputs(": a bug that needs a switch at another one, or at a call that is no point, is not among these\n", out);
}

/* Accesses to memory at which nobody is asked. */
static void print_points(FILE *out, const struct pct_campaign *c)
{
    if (c->config.focus[0])
        fputs("pct: of memory accesses, k counts those in focus: a bug that needs a switch at another one, or at a "
              "call that is no point, is not among these\n",
              out);
    if (c->config.watch[0])
        fputs("pct: of memory accesses, k counts those to what is watched: a bug that needs a switch at another one, "
              "or at a call that is no point, is not among these\n",
              out);
    if (c->config.ordered)
        fputs("pct: of plain memory accesses, k counts those at places that some run has left unordered, or that are "
              "new; runs that skipped others do not count\n",
              out);
    else if (c->config.memory_points == PCT_POINTS_SHARED && c->points_at == PCT_POINTS_AT_MEMORY &&
             c->config.memory != PCT_PATCH_ATOMICS && !c->config.watch[0])
        fputs("pct: of accesses to memory that no second thread has touched yet, k counts the first few: a bug that "
              "needs a switch at a later one is not among these (--memory-points=all)\n",
              out);
    if (c->points_at == PCT_POINTS_AT_MEMORY && !c->config.focus[0] && !c->config.watch[0])
        print_counted(out, c);
    if (c->points_at == PCT_POINTS_AT_CALLS)
        fputs(
            "pct: k counts calls that docs/INTERCEPTS.md names as points: a bug that needs a switch at a memory access "
            "(pct-cc, or --memory=globals), or at another call, between two of them is not among these\n",
            out);
}

static void print_passed_over(FILE *out, const struct pct_campaign *c)
{
    print_left_out(
        out,
        "change points were passed over where a handler had interrupted the program's own code, or libc held "
        "a lock, ",
        c->passed_over, "points in a run: a bug that needs a switch there is not among these");
}

/* Directed runs keep threads waiting for what others poll for, longer than runs of pct do. */
static void print_directed(FILE *out, const struct pct_campaign *c)
{
    const struct pct_guarantee *g = &c->guarantee;
    const uint64_t k = pct_guarantee_least_k(g); /* that of the next run may be larger */
    print_left_out(out, "directed runs, in which threads poll for what others are kept from, took ",
                   c->directed_steps > (k ? k : c->config.run.param[c->k]) ? c->directed_steps : 0,
                   "points: a bug that shows in such long runs alone is not among these");
    print_left_out(out, "in directed runs threads yielded, slept, polled or failed a try ",
                   c->directed_spins > g->spins ? c->directed_spins : 0,
                   "times: a bug that shows in such runs alone is not among these");
}

void pct_guarantee_left_out_print(FILE *out, const struct pct_campaign *c)
{
    print_points(out, c);
    pct_guarantee_left_out_print_draws(out, c);
    print_passed_over(out, c);
    print_directed(out, c);
}
