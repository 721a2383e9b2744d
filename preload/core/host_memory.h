/* The memory of a host: for host_memory.c, which keeps and restores it, and host_saved.c: in the middle of a run. */
#ifndef PCT_PRELOAD_HOST_MEMORY_H
#define PCT_PRELOAD_HOST_MEMORY_H

#include "host.h"

enum { PAGE = 4096, RANGES = 256, GAPS = RANGES + 1, PIECES = 512, MAPS = 64 << 10 };

/* Where the target's address space ends. */
#define END UINT64_C(0x7ffffffff000)

/* Kinds of pages, for pct_host_memory_scan(). */
enum { WP_ALLOWED = 1 << 0, WRITTEN = 1 << 1, PRESENT = 1 << 3, SWAPPED = 1 << 4 };

struct piece {
    uint64_t from, to, categories;
};

struct range {
    uintptr_t from, to;
    uint64_t first; /* its first page is the one of this number */
    bool file;      /* what was never touched is the file's */
};

/* Shared, so that it is not put back itself. */
struct memory {
    int uffd, pagemap, statm, maps;
    int code; /* all memory as a file, which may be written where memory may not; negative: there is none */
    unsigned count, gaps, runs;
    unsigned row_count, skipped_count;
    struct pct_gap row;     /* the last mappings that are not put back, at most a page apart, */
    struct pct_gap skipped; /* and the most such, which no scan for a restored run goes through */
    uintptr_t broke;        /* the end of the heap */
    uint64_t size, data;
    uint64_t pages;
    char *copies;      /* by the number of the page */
    uint64_t *touched; /* a bit for each page that had a copy; the others were zeros */
    struct range ranges[RANGES];
    struct pct_gap gap[GAPS];
    bool used[GAPS]; /* a run has mapped something there */
    bool shrunk;     /* the heap, of this run */
    struct piece pieces[PIECES];
    char text[PAGE];
    struct pct_saved_map now;
    bool looked, no_query;
    char maps_text[MAPS];
};
extern struct memory *pct_host_memory __attribute__((visibility("hidden")));

/* Not libc's: its own data is being put back. */
static inline void copy_page(void *to, const void *from)
{
    size_t count = PAGE / 8;
    __asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
}

static inline void clear_page(void *to)
{
    size_t count = PAGE / 8;
    __asm__ volatile("rep stosq" : "+D"(to), "+c"(count) : "a"(0) : "memory");
}

/* The next pieces of memory from there on that are of these kinds. Negative: the kernel does not tell. */
long pct_host_memory_scan(struct memory *m, uint64_t *from, uint64_t to, uint64_t all_of, uint64_t any_of);

/* What is in here becomes what it was at first. range: one that does not begin behind it; moved on. */
void pct_host_memory_put_back(struct memory *m, const struct range **range, uint64_t from, uint64_t to);

#endif
