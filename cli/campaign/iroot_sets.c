/* What a campaign knows of interleavings, in the campaign file: see iroot_sets.h. */
#include "iroot_sets.h"
#include "code_files.h"
#include "store.h"
#include <cli/base/cli.h>
#include <errno.h>

/* What is needed to find the place in another build. Code that is not in a file that can be read is not found. */
static int save_code(struct pct_iroot_sets *sets, struct pct_store *store, const struct pct_access_place *place)
{
    struct pct_code_position position;
    if (!sets->files || !place->module || !place->code)
        return 0;
    int failed = pct_code_files_position(sets->files, place->module, place->offset, &position);
    return failed == -ENOENT ? 0 : failed ? failed : pct_store_add_code(store, place->code, &position);
}

static int save_places(struct pct_iroot_sets *sets, struct pct_store *store)
{
    int failed = 0;
    for (; sets->saved.places < sets->places.count && !failed; sets->saved.places++) {
        const struct pct_access_place *place = sets->places.item[sets->saved.places];
        const struct pct_store_place row = { place->number, place->op,       place->code,
                                             place->line,   place->function, place->file };
        failed = pct_store_add_place(store, &row);
        if (!failed)
            failed = save_code(sets, store, place);
    }
    return failed;
}

static int save_root(struct pct_store *store, const struct pct_iroot *root, uint64_t number, bool predicted)
{
    struct pct_store_iroot row = { .idiom = root->idiom,
                                   .number = number,
                                   .predicted = predicted ? root->first : 0,
                                   .exposed = predicted ? 0 : root->first };
    for (unsigned i = 0; i < PCT_IROOT_PLACES; i++)
        row.place[i] = root->place[i];
    return pct_store_add_iroot(store, &row);
}

int pct_iroot_sets_save(struct pct_iroot_sets *sets, struct pct_store *store)
{
    int failed = save_places(sets, store);
    for (; sets->saved.predicted < sets->predicted.count && !failed; sets->saved.predicted++)
        failed = save_root(store, sets->predicted.item[sets->saved.predicted], sets->saved.predicted + 1, true);
    for (; sets->saved.exposed < sets->exposed.count && !failed; sets->saved.exposed++)
        failed = save_root(store, sets->exposed.item[sets->saved.exposed], 0, false);
    return failed;
}

static int load_place(void *data, const struct pct_store_place *place)
{
    struct pct_iroot_sets *sets = data;
    const struct pct_access_place row = { .number = place->number,
                                          .op = place->op,
                                          .code = place->code,
                                          .line = place->line,
                                          .function = (char *)(uintptr_t)place->function,
                                          .file = (char *)(uintptr_t)place->file };
    if (place->op >= PCT_OP_COUNT || !place->function || !place->file)
        return -EINVAL;
    return pct_access_places_add(&sets->places, &row);
}

static bool is_whole(const struct pct_iroot_sets *sets, const struct pct_store_iroot *row, uint64_t runs)
{
    bool whole = row->idiom && row->idiom <= PCT_IDIOMS && row->predicted <= runs && row->exposed <= runs;
    for (unsigned i = 0; whole && i < PCT_IROOT_PLACES; i++) {
        bool has = i < pct_idiom_accesses(row->idiom);
        whole = has ? row->place[i] && row->place[i] <= sets->places.count : !row->place[i];
    }
    return whole;
}

struct loading {
    struct pct_iroot_sets *sets;
    uint64_t runs;
};

static int load_root(void *data, const struct pct_store_iroot *row)
{
    const struct loading *l = data;
    struct pct_iroot root = { .idiom = row->idiom };
    if (!is_whole(l->sets, row, l->runs))
        return -EINVAL;
    for (unsigned i = 0; i < PCT_IROOT_PLACES; i++)
        root.place[i] = row->place[i];
    int failed = row->predicted ? pct_iroots_insert(&l->sets->predicted, &root, row->predicted) : 0;
    return failed || !row->exposed ? failed : pct_iroots_insert(&l->sets->exposed, &root, row->exposed);
}

int pct_iroot_sets_load(struct pct_iroot_sets *sets, struct pct_store *store, uint64_t runs)
{
    struct loading l = { sets, runs };
    int failed = pct_store_each_place(store, load_place, sets);
    if (!failed)
        failed = pct_store_each_iroot(store, load_root, &l);
    sets->saved.places = sets->places.count;
    sets->saved.predicted = sets->predicted.count;
    sets->saved.exposed = sets->exposed.count;
    return failed;
}

void pct_iroot_sets_free(struct pct_iroot_sets *sets)
{
    pct_access_places_free(&sets->places);
    pct_iroots_free(&sets->exposed);
    pct_iroots_free(&sets->predicted);
    pct_code_files_free(sets->files);
    sets->files = NULL;
}
