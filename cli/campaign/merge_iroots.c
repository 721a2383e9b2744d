/* The iRoots of several campaign files in one: see iroot_sets.h. Each file has numbers of its own for places and for
 * runs: places are the same if what is known of them is, runs if their seeds are. */
#include "iroot_sets.h"
#include <cli/base/grow.h>
#include "code_files.h"
#include "store.h"
#include <common/bisect.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The seeds of a file, in the order of its runs, which is theirs. */
struct seeds {
    uint64_t *item;
    size_t count, room;
};

/* An iRoot of one of the files, in the numbers of the new one. */
struct row {
    struct pct_iroot root; /* `first`: its run in the new file */
    size_t order;          /* among all rows */
};

struct rows {
    struct row *item;
    size_t count, room;
};

struct merging {
    struct pct_iroot_sets all;
    struct seeds seeds; /* of the new file */
    struct rows predicted, exposed;
};

static int add_seed(void *data, const struct pct_store_run *run)
{
    struct seeds *seeds = data;
    if (!PCT_GROW(seeds->item, seeds->count, seeds->room))
        return -ENOMEM;
    seeds->item[seeds->count++] = run->seed;
    return 0;
}

/* The number of the run with this seed, from 1; 0: there is none. */
static uint64_t run_of(const struct seeds *seeds, uint64_t seed)
{
    const size_t found = PCT_BISECT(i, 0, seeds->count, seeds->item[i] < seed);
    return found < seeds->count && seeds->item[found] == seed ? found + 1 : 0;
}

static int add_row(struct rows *rows, const struct pct_iroot *root)
{
    if (!PCT_GROW(rows->item, rows->count, rows->room))
        return -ENOMEM;
    rows->item[rows->count] = (struct row){ .root = *root, .order = rows->count };
    rows->count++;
    return 0;
}

/* What one file has, in the numbers of the new one. number: of its places there. */
static int add_rows(struct merging *m, struct rows *to, const struct pct_iroots *from, const uint32_t *number,
                    const struct seeds *seeds)
{
    int failed = 0;
    for (size_t i = 0; i < from->count && !failed; i++) {
        struct pct_iroot root = *from->item[i];
        root.first = run_of(&m->seeds, seeds->item[root.first - 1]);
        for (unsigned k = 0; k < PCT_IROOT_PLACES; k++)
            root.place[k] = root.place[k] ? number[root.place[k] - 1] : 0;
        failed = root.first ? add_row(to, &root) : -EINVAL;
    }
    return failed;
}

static int add_sets(struct merging *m, const struct pct_iroot_sets *sets, const struct seeds *seeds)
{
    uint32_t *number = calloc(sets->places.count + 1, sizeof *number);
    int failed = number ? 0 : -ENOMEM;
    for (size_t i = 0; i < sets->places.count && !failed; i++) {
        number[i] = pct_access_places_number(&m->all.places, sets->places.item[i]);
        failed = number[i] ? 0 : -ENOMEM;
    }
    if (!failed)
        failed = add_rows(m, &m->predicted, &sets->predicted, number, seeds);
    if (!failed)
        failed = add_rows(m, &m->exposed, &sets->exposed, number, seeds);
    free(number);
    return failed;
}

static int add_code(void *data, uint32_t code, const struct pct_code_position *position)
{
    return pct_store_add_code(data, code, position);
}

static int add_memo(void *data, const char *iroot)
{
    return pct_store_add_memo(data, iroot);
}

static int add_chance(void *data, const struct pct_store_chance *chance)
{
    return pct_store_add_chance(data, chance);
}

static int add_file(struct merging *m, struct pct_store *from, struct pct_store *to)
{
    struct pct_iroot_sets sets = { .places = { .by_instruction = true } };
    struct seeds seeds = { NULL, 0, 0 };
    int failed = pct_store_each_run(from, add_seed, &seeds);
    if (!failed)
        failed = pct_iroot_sets_load(&sets, from, seeds.count);
    if (!failed)
        failed = add_sets(m, &sets, &seeds);
    if (!failed)
        failed = pct_store_each_code(from, add_code, to);
    if (!failed)
        failed = pct_store_each_memo(from, add_memo, to);
    pct_iroot_sets_free(&sets);
    free(seeds.item);
    return failed;
}

static int compare(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->root.first != y->root.first)
        return x->root.first < y->root.first ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* In the order of their runs, as one campaign would have met them. */
static int insert(struct pct_iroots *to, struct rows *rows)
{
    int failed = 0;
    if (rows->count)
        qsort(rows->item, rows->count, sizeof *rows->item, compare);
    for (size_t i = 0; i < rows->count && !failed; i++) {
        struct pct_iroot root = { .idiom = rows->item[i].root.idiom };
        memcpy(root.place, rows->item[i].root.place, sizeof root.place);
        failed = pct_iroots_expose(to, &root, rows->item[i].root.first);
    }
    return failed;
}

int pct_iroot_sets_merge(struct pct_store *to, struct pct_store *const *from, size_t count)
{
    struct merging m = { .all = { .places = { .by_instruction = true } } };
    int failed = pct_store_each_run(to, add_seed, &m.seeds);
    if (!failed)
        failed = pct_store_begin_iroots(to);
    for (size_t i = 0; i < count && !failed; i++)
        failed = pct_store_has_iroots(from[i]) ? add_file(&m, from[i], to) : 0;
    if (!failed)
        failed = insert(&m.all.predicted, &m.predicted);
    if (!failed)
        failed = insert(&m.all.exposed, &m.exposed);
    if (!failed)
        failed = pct_iroot_sets_save(&m.all, to);
    if (!failed && count == 1) /* one alone goes on, with the numbers that it had */
        failed = pct_store_each_chance(from[0], add_chance, to);
    pct_iroot_sets_free(&m.all);
    free(m.seeds.item);
    free(m.predicted.item);
    free(m.exposed.item);
    return failed;
}
