/* Places in the code that are found again in another build of the program: by the function that they are in, if it has
 * not changed (cli/binary/code_hash.h); of code without symbols, by the whole file. */
#ifndef PCT_CLI_CODE_FILES_H
#define PCT_CLI_CODE_FILES_H

#include <stdint.h>

/* A place. Its strings are the caller's, or last as long as the files. */
struct pct_code_position {
    const char *module;   /* the path of the file; "": the program's own */
    const char *function; /* a symbol; "": none is known, and all of the file counts */
    uint64_t hash;        /* of the function, or of the file */
    uint64_t at;          /* from its beginning */
};

/* The files of a program's code, each read when it is needed. */
struct pct_code_files;

/* program: the path of its file. NULL: out of memory. */
struct pct_code_files *pct_code_files_new(const char *program);
void pct_code_files_free(struct pct_code_files *files);

/* Where the place at this offset in this file is. Returns 0; -ENOENT: the file
 * cannot be read; -ENOMEM. */
int pct_code_files_position(struct pct_code_files *files, const char *path, uint64_t offset,
                            struct pct_code_position *position);

/* The place in the files as they are now, as pct_operation.place has it; 0: it is not there any more, its function (or
 * file) has changed, or memory is short. */
uint32_t pct_code_files_find(struct pct_code_files *files, const struct pct_code_position *position);

#endif
