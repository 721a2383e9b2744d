/* Places in the code as numbers that are the same in other runs of the program, wherever it was loaded. */
#ifndef PCT_CLI_PLACES_H
#define PCT_CLI_PLACES_H

#include <cli/trace/unwind.h>

/* Where the files of a run are in memory. */
struct pct_places {
    struct pct_mapped {
        uint64_t begin, end, bias; /* address - bias + offset is the same everywhere */
    } * mapped;
    size_t count;
    struct pct_unwinder *unwinder; /* NULL: there are no names */
};

/* Without a memory map, addresses stand for themselves. unwinder: must stay, may be NULL. */
void pct_places_open(struct pct_places *places, const struct pct_snapshot *snapshot, struct pct_unwinder *unwinder);
void pct_places_close(struct pct_places *places);

/* Where a step was made: the call alone; with the calls that led there, as far as they were recorded; and which of the
 * two stands for it: the second one if the call is in a library's function, such as std::mutex::lock() where it is not
 * inlined. 0: not known. */
struct pct_code_place {
    uint64_t code, way, place;
};

struct pct_code_place pct_places_of(const struct pct_places *places, const struct pct_snapshot *snapshot,
                                    uint64_t index);

/* The same of a stack. */
struct pct_code_place pct_places_of_stack(const struct pct_places *places, const struct pct_stack *stack);

/* Where such a place without callers is in this run's memory. 0: not there. */
uint64_t pct_places_address(const struct pct_snapshot *snapshot, uint64_t place);

#endif
