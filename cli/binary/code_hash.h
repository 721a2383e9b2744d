/* What the functions of a program consist of, so that a schedule that does not fail any more can be told from one whose
 * program has changed: a hash for each function that does not depend on where it, its callees and its variables lie. */
#ifndef PCT_CLI_CODE_HASH_H
#define PCT_CLI_CODE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pct_code_function {
    char *name;            /* the symbol */
    uint64_t offset, size; /* from the start of the module in memory */
    bool is_data;          /* a variable, which functions may name */
};

struct pct_code {
    struct pct_code_function *item;
    size_t count;
    uint64_t base; /* the address of its start, as the file has it */
    struct Elf *elf;
};

/* The functions (and variables) in the symbol table of this ELF file; none if it is stripped. Returns 0, or a negative
 * errno. To be freed. */
int pct_code_read(struct pct_code *code, const char *path);
void pct_code_free(struct pct_code *code);

/* The function of this name, or at this offset; NULL if there is none. */
const struct pct_code_function *pct_code_find(const struct pct_code *code, const char *name);
const struct pct_code_function *pct_code_at(const struct pct_code *code, uint64_t offset);

/* The hash of this function's code; 0: the file does not have it. */
uint64_t pct_code_hash(const struct pct_code *code, const struct pct_code_function *function);

/* Whether this function calls the other one, or jumps to it, directly. */
bool pct_code_calls(const struct pct_code *code, const struct pct_code_function *function,
                    const struct pct_code_function *other);

/* Where in the file is what lies at this offset from the start of the module in memory, and the other way round;
 * UINT64_MAX: it is not in both. */
uint64_t pct_code_in_file(const struct pct_code *code, uint64_t offset);
uint64_t pct_code_in_memory(const struct pct_code *code, uint64_t offset);

#endif
