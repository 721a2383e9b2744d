/* What `pct explore` keeps of a run: nodes EVENTS. Prints how many bytes of memory it takes for an event of the path,
 * once the run is taken: two threads, each on a mutex of its own. */
#include <cli/explore/search.h>
#include <malloc.h>
#include <pct/trace.h>
#include <sched/object.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Of memory alone: how much of the code is there, too, is up to the kernel. */
static long resident(void)
{
    long pages = 0, shared = 0;
    FILE *in = fopen("/proc/self/statm", "r");
    if (!in || fscanf(in, "%*d %ld %ld", &pages, &shared) != 2)
        pages = shared = 0;
    if (in)
        fclose(in);
    return (pages - shared) * sysconf(_SC_PAGESIZE);
}

int main(int argc, char **argv)
{
    uint32_t count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 20000;
    const uint32_t *plan, threads = 2;
    uint32_t steps;
    struct pct_search *search = pct_search_new(PCT_UNBOUNDED, PCT_SEARCH_CHESS);
    /* What is freed is to be gone. */
    mallopt(M_MMAP_THRESHOLD, 64 << 10);
    if (!search || !pct_search_next(search, &plan, &steps))
        return 1;
    long before = resident();
    struct pct_execution x = { .event = calloc(count, sizeof *x.event),
                               .pending = calloc(threads, sizeof *x.pending),
                               .enabled = calloc(count, sizeof *x.enabled),
                               .ready = calloc(count, sizeof *x.ready),
                               .count = count,
                               .threads = threads };
    if (!before || !x.event || !x.pending || !x.enabled || !x.ready)
        return 1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t thread = i % threads, number = i / threads;
        const struct pct_touch touch = { .key = PCT_OBJECT_KEY(8 * (thread + 1), PCT_CLASS_MUTEX),
                                         .use = number % 2 ? PCT_USE_GIVES : PCT_USE_TAKES };
        x.event[i] = (struct pct_event){ .thread = (uint16_t)thread,
                                         .op = number % 2 ? PCT_OP_MUTEX_UNLOCK : PCT_OP_MUTEX_LOCK,
                                         .waits = !(number % 2),
                                         .touches = 1,
                                         .own = 1,
                                         .number = number + 1,
                                         .touch[0] = touch };
        x.enabled[i] = x.ready[i] = 3;
    }
    if (pct_search_take(search, &x, NULL))
        return 1;
    malloc_trim(0); /* nor is what malloc keeps of it the search's */
    printf("%.1f\n", (double)(resident() - before) / count);
    pct_search_free(search);
    return 0;
}
