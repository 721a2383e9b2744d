/* Which memory accesses are scheduling points.
 *
 * A program makes millions of accesses, and the PCT bound is 1/(n k^(d-1)): only accesses that may matter to another
 * thread may count among the k. A location (an aligned eight bytes) counts from the moment at which a second thread
 * touches it. But then the first thread's accesses are over, and the bug may lie between these: so the first
 * PCT_MEMORY_TOUCHES of its only thread count as well. A loop over memory of its own would make points without end that
 * way, so each place in the code has PCT_MEMORY_PER_PLACE of them to spend. k is then bounded by the accesses to shared
 * locations and by the size of the code.
 *
 * All this is a function of the schedule: neither addresses nor time decide. Called with the baton. The memory is a
 * table of two levels over the whole address space, one cell a location, made as it is touched. */
#ifndef PCT_SCHED_MEMORY_H
#define PCT_SCHED_MEMORY_H

#include "sched.h"

enum { PCT_MEMORY_TOUCHES = 4, PCT_MEMORY_PER_PLACE = 16 };

/* A step of this kind takes this much virtual time: a thread that works on shared memory must not run out of the
 * others' timeouts a hundred times sooner than it would alone. */
#define PCT_MEMORY_NS UINT64_C(20)

/* This many accesses by its only thread that are no points, whatever the location, make it settled. */
enum { PCT_MEMORY_PASSES = 16 };

/* A cell: 25 number | 3 touches | 4 passes | 16 owner + 1 | 14 unused | 1 settled | 1 shared, from the lowest bit up.
 */
#define PCT_CELL_SHARED (UINT64_C(1) << 63)
#define PCT_CELL_SETTLED (UINT64_C(1) << 62) /* its only thread's accesses do not count any more */
#define PCT_CELL_OWNER(id) ((uint64_t)((id) + 1) << 32)
#define PCT_CELL_NUMBER ((uint64_t)PCT_OBJECT_NUMBER)

enum { PCT_CHUNK_LOG = 22, PCT_ADDRESS_LOG = 47 }; /* memory that one table of the second level is for; user space */

struct pct_memory {
    void **cells; /* by address >> PCT_CHUNK_LOG: tables of uint64_t by location; NULL until pct_memory_start() */
    struct pct_place_budget {
        uintptr_t pc; /* 0: empty */
        uint32_t used;
    } * places; /* open addressing, at most half full */
    uint32_t places_log, places_count;
    bool all; /* every location counts, from the first touch */
    void *(*map)(size_t size);
};

/* table: for m->cells, zeroed; NULL: it is made. Returns 0, or -ENOMEM: then there are no points at memory. */
int pct_memory_start(struct pct_memory *m, void **table, void *(*map)(size_t size), bool all);

/* The number of the table of the second level that this address has its place in. */
static inline size_t pct_memory_slot(uintptr_t address)
{
    return (address >> PCT_CHUNK_LOG) & ((1u << (PCT_ADDRESS_LOG - PCT_CHUNK_LOG)) - 1);
}

/* That table; NULL: none was made yet. */
static inline void *pct_memory_chunk(void *const *directory, uintptr_t address)
{
    return directory[pct_memory_slot(address)];
}

/* The number of this location in its chunk. */
static inline size_t pct_memory_index(uintptr_t address)
{
    return (address >> 3) & ((1u << (PCT_CHUNK_LOG - 3)) - 1);
}

/* The entry of a location in a table of entries of `size` bytes; made if need be. NULL: out of memory. */
void *pct_memory_entry(void **directory, uintptr_t address, size_t size, void *(*map)(size_t size));

/* The whole memory of a table that pct_memory_entry() has made of entries of this size: where it begins, and its bytes.
 */
void *pct_memory_extent(void *chunk, size_t size, size_t *bytes);

/* Zero the entries of a range, as far as they exist. */
void pct_memory_clear(void **directory, uintptr_t from, uintptr_t to, size_t size);

/* The high half of a cell whose only thread this is, and whose accesses do not count. */
static inline uint32_t pct_memory_mark(uint32_t thread)
{
    return (uint32_t)((PCT_CELL_SETTLED | PCT_CELL_OWNER(thread)) >> 32);
}

static inline bool pct_memory_marked(void *const *cells, uintptr_t address, uint32_t mark)
{
    const uint64_t *chunk = (const uint64_t *)pct_memory_chunk(cells, address);
    return PCT_LIKELY(chunk) && chunk[pct_memory_index(address)] >> 32 == mark;
}

/* Whether this thread's access to memory is nothing to ask further about: it is the location's only thread, and its
 * accesses do not count. For an access that stays within one location. */
static inline bool pct_memory_settled(const struct pct_memory *m, const struct pct_thread *self, uintptr_t address)
{
    return pct_memory_marked(m->cells, address, pct_memory_mark(self->id));
}

/* What an access says of its location: it is on the thread's own stack, and nobody else's so far; or the access is
 * atomic, which makes sense only for what is shared, and may wait for another thread in a loop: it always counts. */
enum pct_memory_use { PCT_USE_PLAIN, PCT_USE_STACK, PCT_USE_ATOMIC };

/* Whether an access by this thread, from this place in the code, is a scheduling point; *number: the location's. */
bool pct_memory_counts(struct pct_sched *s, struct pct_memory *m, const struct pct_thread *self, uintptr_t address,
                       uintptr_t pc, enum pct_memory_use use, uint32_t *number);

/* An access by this thread that is no scheduling point, whatever the location: others are to know of it all the same.
 */
void pct_memory_touch(struct pct_sched *s, struct pct_memory *m, const struct pct_thread *self, uintptr_t address,
                      enum pct_memory_use use);

/* A step of op on the location of this number, after its point was passed: recorded, and looked at for a spin. looks:
 * it changes nothing, or may have changed nothing. */
void pct_memory_step(struct pct_sched *s, struct pct_thread *self, struct pct_memory_recent *recent, enum pct_op op,
                     uint32_t number, bool looks);

/* The same for an access that was made already, before its point (pct_sched_behind()). */
void pct_memory_behind(struct pct_sched *s, struct pct_thread *self, struct pct_memory_recent *recent, enum pct_op op,
                       struct pct_object *location, bool may_switch);

/* An access that might have changed nothing did: the thread does not spin. */
static inline void pct_memory_progress(struct pct_sched *s, struct pct_memory_recent *recent)
{
    recent->repeats = 0;
    recent->spun = false;
    s->progress.in_a_row = 0;
}

/* Of pct_memory_step(): the record. Returns it. */
static inline uint64_t pct_memory_record(struct pct_sched *s, const struct pct_thread *self, enum pct_op op,
                                         uint32_t number)
{
    uint64_t record = self->stamp | PCT_RECORD(0, op, 0, number);
    *s->record++ = record;
    if (s->step_ns)
        s->base -= s->still ? 0 : s->step_ns - PCT_MEMORY_NS;
    return record;
}

/* All of a scheduling point at memory, where that is little: the location counts already, nothing is due at this step,
 * and the thread does not spin. For an access that stays within one location. False: nothing was done, and it is for
 * pct_memory_counts() and pct_memory_step(), which would do the same. Uses general registers only, if its caller does.
 */
static inline __attribute__((always_inline)) bool pct_memory_pass(struct pct_sched *s, void *const *cells,
                                                                  const struct pct_thread *self,
                                                                  struct pct_memory_recent *recent, uintptr_t address,
                                                                  enum pct_op op, bool looks)
{
    const uint64_t *chunk = (const uint64_t *)pct_memory_chunk(cells, address);
    if (PCT_UNLIKELY(!chunk))
        return false;
    uint64_t cell = chunk[pct_memory_index(address)];
    uint32_t number = (uint32_t)(cell & PCT_CELL_NUMBER);
    if (!(cell & PCT_CELL_SHARED) || !number || !pct_on_fast_path(s) ||
        (looks && recent->repeats + 1 >= PCT_MEMORY_SPIN))
        return false;
    uint64_t record = pct_memory_record(s, self, op, number);
    if (looks)
        pct_memory_looked(s, self, recent, record);
    else
        pct_memory_progress(s, recent);
    return true;
}

#endif
