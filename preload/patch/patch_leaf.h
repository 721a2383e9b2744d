/* The leaves that trampolines call (patch/emit.h): whether an access can matter to another thread. They look at the
 * cell of its location (sched/memory.h): where that says that this thread is its only one and its accesses do not
 * count, the leaf returns. In all other cases the slow half is entered, with every register as it was. A leaf runs in
 * memory near the module; so it is copied there, with what it needs behind it. */
#ifndef PCT_PRELOAD_PATCH_LEAF_H
#define PCT_PRELOAD_PATCH_LEAF_H

#include <patch/emit.h>

/* Bytes that the leaves take. */
size_t pct_leaf_size(void);

/* Put the leaves into `out`, which will be at this address. table: of the cells; NULL: no access is passed over. mark:
 * where the thread's mark (sched/memory.h) is, from the thread pointer. */
void pct_leaf_make(uint8_t *out, uint64_t address, void *const *table, int32_t mark, struct pct_leaves *leaves);

/* The thread was interrupted in a leaf, this many bytes behind the address of all: change *at to where it would be had
 * the leaf not been called: at its return address, with its registers. False: not in one. */
bool pct_leaf_unwind(uint64_t offset, struct pct_interrupted *at);

#endif
