/* Places in the code of a run as strategies know them (pct_operation.place): numbers that are the same in all runs of
 * the program. */
#ifndef PCT_CLI_CODE_PLACES_H
#define PCT_CLI_CODE_PLACES_H

#include "snapshot.h"

/* Where the files of a run are in memory. */
struct pct_code_places {
    struct pct_code_file {
        uint64_t from, to, offset, file; /* offset: of what is at address 0; file: common/place.h */
        const char *path;
    } * item;
    size_t count;
    char *text; /* the paths are in it */
};

/* Returns 0 or -ENOMEM. Without a memory map, no place is known. */
int pct_code_places_open(struct pct_code_places *places, const struct pct_snapshot *snapshot);
void pct_code_places_close(struct pct_code_places *places);

/* The place at this address; 0: it is in no file. */
uint32_t pct_code_places_of(const struct pct_code_places *places, uint64_t address);

/* The file that it is in; NULL: none. */
const struct pct_code_file *pct_code_places_file(const struct pct_code_places *places, uint64_t address);

#endif
