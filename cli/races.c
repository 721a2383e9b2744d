/* The data races of a snapshot in a report: see races.h. */
#include "races.h"
#include "cli.h"
#include "stacks.h"

static void print_access(FILE *out, const struct pct_snap_access *access, struct pct_unwinder *unwinder,
                         const char *order)
{
    static struct pct_stack stack; /* large, and there is one thread here */
    fprintf(out, "  %s, step %llu: thread %u ", order, (unsigned long long)access->step, access->thread);
    if (access->write == PCT_SNAP_GIVES_UP)
        fprintf(out, "frees the memory at 0x%llx", (unsigned long long)access->address);
    else
        fprintf(out, "%s %u byte%s at 0x%llx%s", access->write ? "writes" : "reads", access->size,
                access->size == 1 ? "" : "s", (unsigned long long)access->address,
                access->atomic ? ", atomically" : "");
    unsigned locks = access->lock_count;
    const unsigned most = sizeof access->lock / sizeof *access->lock;
    for (unsigned i = 0; i < locks && i < most; i++)
        fprintf(out, "%s%u", i ? ", " : "; it holds the lock ", access->lock[i]);
    fputs("\n", out);
    const size_t frames = sizeof access->frames / sizeof *access->frames;
    if (unwinder) {
        pct_unwind_addresses(unwinder, access->frames, frames, &stack);
        pct_stacks_print_frames(out, &stack);
    } else {
        for (size_t i = 0; i < frames && access->frames[i]; i++)
            fprintf(out, "    #%-2zu 0x%llx\n", i, (unsigned long long)access->frames[i]);
    }
}

void pct_races_print_suppressed(FILE *out, uint32_t count)
{
    if (count)
        fprintf(out, "%u data race%s suppressed\n", count, count == 1 ? " was" : "s were");
}

void pct_races_say_suppressed(uint32_t count, bool several)
{
    if (count)
        pct_cli_say("data races at %s%u pair%s of places were suppressed", several ? "up to " : "", count,
                    count == 1 ? "" : "s");
}

void pct_races_print(FILE *out, const struct pct_snapshot *snapshot, struct pct_unwinder *unwinder)
{
    for (size_t i = 0; i < snapshot->race_count; i++) {
        fprintf(out, "data race %zu of %zu:\n", i + 1, snapshot->race_count);
        print_access(out, &snapshot->races[i].access[0], unwinder, "first");
        print_access(out, &snapshot->races[i].access[1], unwinder, "then");
    }
}
