/* Links between the accesses of a run: see access_links.h. */
#include "access_links.h"
#include <stdlib.h>

static void link_threads(struct pct_access_links *links, size_t count, uint32_t *last)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t *before = &last[links->access[i].thread];
        if (*before)
            links->next[*before - 1] = (uint32_t)i + 1;
        *before = (uint32_t)i + 1;
    }
}

static void link_own_writes(struct pct_access_links *links, size_t count, const struct pct_access *const *sorted,
                            uint32_t *last)
{
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && sorted[end]->object == sorted[i]->object;)
            end++;
        for (size_t k = i; k < end && sorted[end - 1]->thread != sorted[i]->thread; k++)
            links->wrote[sorted[k] - links->access] = sorted[k]->writes;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t *before = &last[links->access[i].thread];
        const bool counts = links->wrote[i];
        links->wrote[i] = *before;
        if (counts)
            *before = (uint32_t)i + 1;
    }
}

static void link_own(struct pct_access_links *links, size_t count, const struct pct_access *const *sorted)
{
    for (size_t i = 1; i < count; i++)
        if (sorted[i]->object == sorted[i - 1]->object && sorted[i]->thread == sorted[i - 1]->thread)
            links->own[sorted[i] - links->access] = (uint32_t)(sorted[i - 1] - links->access) + 1;
}

/* Of each access, the last one of its thread before it at the same place. */
static bool link_places(struct pct_access_links *links, size_t count)
{
    struct pct_table last = PCT_TABLE(uint32_t);
    bool fine = true;
    for (uint32_t i = 0; fine && i < count; i++) {
        const struct pct_access *access = &links->access[i];
        uint32_t *before = pct_table_add(&last, (uint64_t)access->thread << 32 | access->place);
        fine = before;
        if (fine) {
            links->earlier[i] = *before;
            *before = i + 1;
        }
    }
    pct_table_free(&last);
    return fine;
}

/* Of each access, the last write before it to the same object. */
static bool link_writes(struct pct_access_links *links, size_t count)
{
    struct pct_table last = PCT_TABLE(uint32_t);
    bool fine = true;
    for (uint32_t i = 0; fine && i < count; i++) {
        uint32_t *before = pct_table_add(&last, links->access[i].object);
        fine = before;
        if (fine) {
            links->write[i] = *before;
            if (links->access[i].writes)
                *before = i + 1;
        }
    }
    pct_table_free(&last);
    return fine;
}

bool pct_access_links_read(struct pct_access_links *links, const struct pct_access *accesses, size_t count,
                           uint32_t threads, const struct pct_access *const *sorted)
{
    enum { LINKS = 5 };
    uint32_t *last = calloc(threads + 1, sizeof *last), *own = calloc(threads + 1, sizeof *own);
    *links = (struct pct_access_links){ .access = accesses };
    links->next = calloc(count + 1, LINKS * sizeof *links->next);
    bool fine = links->next && last && own;
    if (fine) {
        links->earlier = links->next + count + 1;
        links->wrote = links->earlier + count + 1;
        links->write = links->wrote + count + 1;
        links->own = links->write + count + 1;
        link_threads(links, count, last);
        link_own(links, count, sorted);
        link_own_writes(links, count, sorted, own);
        fine = link_places(links, count) && link_writes(links, count);
    }
    free(last);
    free(own);
    return fine;
}

void pct_access_links_free(struct pct_access_links *links)
{
    free(links->next);
    links->next = NULL;
}

uint8_t pct_access_links_visits(const struct pct_access_links *links, const struct pct_access *access, uint32_t from)
{
    uint32_t count = 0;
    for (size_t at = (size_t)(access - links->access) + 1; at && links->access[at - 1].index >= from;
         at = links->earlier[at - 1])
        if (++count > UINT8_MAX)
            return 0;
    return (uint8_t)count;
}
