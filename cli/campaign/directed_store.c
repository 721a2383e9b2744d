/* What a directed campaign knows, in the campaign file: see directed.h. The file has when each iRoot was predicted
 * first and exposed first; what the runs were follows from that. */
#include "campaign.h"
#include "directed_state.h"
#include "store.h"
#include <cli/base/cli.h>
#include <errno.h>

static int save_places(struct pct_directed *d, struct pct_store *store)
{
    int failed = 0;
    for (; d->saved.places < d->places.count && !failed; d->saved.places++) {
        const struct pct_access_place *place = d->places.item[d->saved.places];
        const struct pct_store_place row = { place->number, place->op,       place->code,
                                             place->line,   place->function, place->file };
        failed = pct_store_add_place(store, &row);
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

int pct_directed_save(struct pct_campaign *c, struct pct_store *store)
{
    struct pct_directed *d = c->directed;
    if (!d)
        return 0;
    int failed = save_places(d, store);
    for (; d->saved.predicted < d->predicted.count && !failed; d->saved.predicted++)
        failed = save_root(store, d->predicted.item[d->saved.predicted], d->saved.predicted + 1, true);
    for (; d->saved.exposed < d->exposed.count && !failed; d->saved.exposed++)
        failed = save_root(store, d->exposed.item[d->saved.exposed], 0, false);
    return failed;
}

static int load_place(void *data, const struct pct_store_place *place)
{
    struct pct_directed *d = data;
    const struct pct_access_place row = { .number = place->number,
                                          .op = place->op,
                                          .code = place->code,
                                          .line = place->line,
                                          .function = (char *)(uintptr_t)place->function,
                                          .file = (char *)(uintptr_t)place->file };
    if (place->op >= PCT_OP_COUNT || !place->function || !place->file)
        return -EINVAL;
    return pct_access_places_add(&d->places, &row);
}

static bool is_whole(const struct pct_directed *d, const struct pct_store_iroot *row, uint64_t runs)
{
    bool whole = row->idiom && row->idiom <= PCT_IDIOMS && row->predicted <= runs && row->exposed <= runs;
    for (unsigned i = 0; whole && i < PCT_IROOT_PLACES; i++) {
        bool has = i < pct_idiom_accesses(row->idiom);
        whole = has ? row->place[i] && row->place[i] <= d->places.count : !row->place[i];
    }
    return whole;
}

struct loading {
    struct pct_directed *d;
    uint64_t runs;
};

static int load_root(void *data, const struct pct_store_iroot *row)
{
    const struct loading *l = data;
    struct pct_iroot root = { .idiom = row->idiom };
    if (!is_whole(l->d, row, l->runs))
        return -EINVAL;
    for (unsigned i = 0; i < PCT_IROOT_PLACES; i++)
        root.place[i] = row->place[i];
    int failed = row->predicted ? pct_iroots_insert(&l->d->predicted, &root, row->predicted) : 0;
    return failed || !row->exposed ? failed : pct_iroots_insert(&l->d->exposed, &root, row->exposed);
}

int pct_directed_load(struct pct_campaign *c, struct pct_store *store, const char *path)
{
    struct pct_directed *d = c->directed;
    struct loading l = { d, c->resumed };
    if (!d)
        return 0;
    int failed = pct_store_begin_iroots(store);
    if (failed)
        return failed;
    failed = pct_store_each_place(store, load_place, d);
    if (!failed)
        failed = pct_store_each_iroot(store, load_root, &l);
    if (failed == -EINVAL)
        return pct_cli_usage("%s: the file is damaged (its iRoots contradict each other); it was left as it is; begin "
                             "anew with another --db, or move it away",
                             path);
    d->saved.places = d->places.count;
    d->saved.predicted = d->predicted.count;
    d->saved.exposed = d->exposed.count;
    return failed ? failed : pct_directed_resume(c, c->resumed);
}
