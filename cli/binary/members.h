/* Members of variables, by debug information: fields, elements of arrays, and what a pointer points to. */
#ifndef PCT_CLI_MEMBERS_H
#define PCT_CLI_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PCT_MEMBER_POINTERS = 4 };

/* Where a member is: offset[0] bytes into the variable; if there are pointers, one stands there, and the member is
 * offset[1] bytes behind where that points to; and so on. */
struct pct_member {
    uint64_t offset[PCT_MEMBER_POINTERS + 1], size;
    uint64_t pointers; /* how many */
};

/* What `path` means in the variable of this name ("::" and what stands before do not matter): ".field", "[3]" or
 * "->field", one after the other; "" is all of the variable. It is looked for in the files, the first that has it.
 * False: there is no such member, with the reason in why; none: no file has the variable. */
bool pct_member_find(struct pct_member *member, char *const *files, size_t count, const char *variable,
                     const char *path, char *why, size_t size);

#endif
