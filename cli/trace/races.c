/* The data races of a snapshot in a report: see races.h. */
#include "races.h"
#include <cli/base/cli.h>
#include "stacks.h"
#include "variable.h"
#include <stdlib.h>
#include <string.h>

static void print_access(FILE *out, const struct pct_snap_access *access, struct pct_unwinder *unwinder,
                         const char *order)
{
    static struct pct_stack stack; /* large, and there is one thread here */
    const char *atomically = access->atomic == PCT_SNAP_UNTOLD ? "" : access->atomic ? ", atomically" : "";
    fprintf(out, "  %s, step %llu: thread %u ", order, (unsigned long long)access->step, access->thread);
    if (access->write == PCT_SNAP_GIVES_UP)
        fprintf(out, "frees the memory at 0x%llx", (unsigned long long)access->address);
    else
        fprintf(out, "%s %u byte%s at 0x%llx%s", access->write ? "writes" : "reads", access->size,
                access->size == 1 ? "" : "s", (unsigned long long)access->address, atomically);
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

/* The line of the memory map that this address is in. Returns the path or name at its end, which ends with the line;
 * NULL: there is none. */
static const char *find_mapping(const struct pct_snapshot *snapshot, uint64_t address, uint64_t *from, uint64_t *to)
{
    const char *line = snapshot->maps, *end = line + snapshot->maps_size;
    while (line && line < end) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        char *rest;
        if (!stop)
            return NULL;
        *from = strtoull(line, &rest, 16);
        *to = *rest == '-' ? strtoull(rest + 1, NULL, 16) : 0;
        if (address >= *from && address < *to) {
            const char *name = stop;
            while (name > line && name[-1] != ' ')
                name--;
            return name;
        }
        line = stop + 1;
    }
    return NULL;
}

/* What a race is about. */
static void print_memory(FILE *out, const struct pct_snapshot *snapshot, const struct pct_unwinder *unwinder,
                         uint64_t address)
{
    struct pct_variable variable;
    uint64_t from, to;
    if (unwinder && pct_variable_find(unwinder, address, &variable)) {
        fputs("  the memory is ", out);
        if (variable.part[0]) {
            fputs("`", out);
            pct_cli_print_clean(out, variable.name, SIZE_MAX);
            pct_cli_print_clean(out, variable.part, SIZE_MAX);
            fputs("` in ", out);
        }
        fputs("the global `", out);
        pct_cli_print_clean(out, variable.name, SIZE_MAX);
        fprintf(out, "` of %llu byte%s", (unsigned long long)variable.size, variable.size == 1 ? "" : "s");
        if (variable.file[0]) {
            fputs(" at ", out);
            pct_cli_print_clean(out, variable.file, SIZE_MAX);
            fprintf(out, ":%d", variable.line);
        }
        fputs(" (", out);
        pct_cli_print_clean(out, variable.module, SIZE_MAX);
        fprintf(out, "+0x%llx)\n", (unsigned long long)variable.offset);
        return;
    }
    const char *name = snapshot->maps ? find_mapping(snapshot, address, &from, &to) : NULL;
    if (!name)
        return;
    for (size_t i = 0; i < snapshot->thread_count; i++) {
        uint64_t sp = snapshot->threads[i].regs[7];
        if (sp >= from && sp < to) {
            fprintf(out, "  the memory is on the stack of thread %u\n", snapshot->threads[i].id);
            return;
        }
    }
    if (!strncmp(name, "[heap]\n", 7))
        fputs("  the memory is on the heap\n", out);
    else if (!strncmp(name, "[stack]\n", 8))
        fputs("  the memory is on the stack of thread 0\n", out);
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

static bool is_sure(const struct pct_snap_race *race)
{
    return race->access[0].atomic != PCT_SNAP_UNTOLD && race->access[1].atomic != PCT_SNAP_UNTOLD;
}

/* The sure ones, or the others. Returns how many. */
static size_t print_those(FILE *out, const struct pct_snapshot *snapshot, struct pct_unwinder *unwinder, bool sure)
{
    size_t count = 0, number = 0;
    for (size_t i = 0; i < snapshot->race_count; i++)
        count += is_sure(&snapshot->races[i]) == sure;
    for (size_t i = 0; i < snapshot->race_count; i++) {
        const struct pct_snap_race *race = &snapshot->races[i];
        if (is_sure(race) != sure)
            continue;
        fprintf(out, "%sdata race %zu of %zu:\n", sure ? "" : "possible ", ++number, count);
        print_access(out, &race->access[0], unwinder, "first");
        print_access(out, &race->access[1], unwinder, "then");
        print_memory(out, snapshot, unwinder, race->access[1].address);
    }
    return count;
}

void pct_races_print(FILE *out, const struct pct_snapshot *snapshot, struct pct_unwinder *unwinder)
{
    if (print_those(out, snapshot, unwinder, false))
        fputs("a possible data race is none if both accesses are atomic, or if others that are order them: machine "
              "code does not show\nthat, pct-cc does\n",
              out);
    print_those(out, snapshot, unwinder, true);
}
