/* What a campaign knows of interleavings, in the campaign file: see iroot_sets.h. */
#include "iroot_sets.h"
#include "code_files.h"
#include "store.h"
#include <cli/base/cli.h>
#include <errno.h>
#include <pct/strategy.h>
#include <string.h>

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
        const struct pct_store_place row = { place->number, place->op,       place->code, place->line,
                                             place->begins, place->function, place->file };
        failed = pct_store_add_place(store, &row);
        if (!failed)
            failed = save_code(sets, store, place);
    }
    return failed;
}

static int save_root(struct pct_store *store, const struct pct_iroot *root, uint64_t number, bool predicted,
                     bool further)
{
    struct pct_store_iroot row = { .further = further,
                                   .idiom = root->idiom,
                                   .number = number,
                                   .predicted = predicted ? root->first : 0,
                                   .exposed = predicted ? 0 : root->first };
    for (unsigned i = 0; i < PCT_IROOT_PLACES; i++)
        row.place[i] = root->place[i];
    return pct_store_add_iroot(store, &row);
}

/* Those of a run are complete when it is saved. */
static int save_chances(struct pct_iroot_sets *sets, struct pct_store *store)
{
    uint64_t last = sets->saved.run;
    int failed = 0;
    for (size_t i = 0; i < sets->predicted.count && !failed; i++) {
        const struct pct_iroot *root = sets->predicted.item[i];
        for (uint32_t k = 0; k < 2 * PCT_IROOT_CHANCES && !failed; k++) {
            const uint32_t kind = k / PCT_IROOT_CHANCES, at = k % PCT_IROOT_CHANCES;
            const struct pct_iroot_chance *chance = &root->chance[kind][at];
            if (at >= root->chances[kind] || chance->run <= sets->saved.run)
                continue;
            struct pct_store_chance row = { .number = i + 1,
                                            .run = chance->run,
                                            .thread = { chance->thread[0], chance->thread[1] },
                                            .first = chance->first };
            memcpy(row.step, chance->step, sizeof row.step);
            for (unsigned i = 0; i < PCT_IROOT_PLACES; i++)
                row.visits |= (uint64_t)chance->visit[i] << 8 * i;
            row.visits |= (uint64_t)chance->changes << 8 * PCT_IROOT_PLACES;
            for (unsigned i = 0; i < PCT_IROOT_SEGMENTS; i++)
                row.segments |= (uint64_t)chance->segment[i] << 8 * i;
            failed = pct_store_add_chance(store, &row);
            last = chance->run > last ? chance->run : last;
        }
    }
    if (!failed)
        sets->saved.run = last;
    return failed;
}

int pct_iroot_sets_save(struct pct_iroot_sets *sets, struct pct_store *store)
{
    int failed = save_places(sets, store);
    for (; sets->saved.predicted < sets->predicted.count && !failed; sets->saved.predicted++)
        failed = save_root(store, sets->predicted.item[sets->saved.predicted], sets->saved.predicted + 1, true, false);
    for (; sets->saved.exposed < sets->exposed.count && !failed; sets->saved.exposed++)
        failed = save_root(store, sets->exposed.item[sets->saved.exposed], 0, false, false);
    for (; sets->saved.guessed < sets->guessed.count && !failed; sets->saved.guessed++)
        failed = save_root(store, sets->guessed.item[sets->saved.guessed], sets->saved.guessed + 1, true, true);
    for (; sets->saved.combined < sets->combined.count && !failed; sets->saved.combined++)
        failed = save_root(store, sets->combined.item[sets->saved.combined], 0, false, true);
    return failed ? failed : save_chances(sets, store);
}

static int load_place(void *data, const struct pct_store_place *place)
{
    struct pct_iroot_sets *sets = data;
    const struct pct_access_place row = { .number = place->number,
                                          .op = place->op,
                                          .code = place->code,
                                          .line = place->line,
                                          .begins = place->begins,
                                          .function = (char *)(uintptr_t)place->function,
                                          .file = (char *)(uintptr_t)place->file };
    if (place->op >= PCT_OP_COUNT || !place->function || !place->file)
        return -EINVAL;
    return pct_access_places_add(&sets->places, &row);
}

static bool is_whole(const struct pct_iroot_sets *sets, const struct pct_store_iroot *row, uint64_t runs)
{
    const uint32_t most = row->further ? PCT_COMBINED : PCT_IDIOMS;
    bool whole = row->idiom && row->idiom <= most && row->predicted <= runs && row->exposed <= runs;
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
    struct pct_iroots *predicted = row->further ? &l->sets->guessed : &l->sets->predicted;
    struct pct_iroots *exposed = row->further ? &l->sets->combined : &l->sets->exposed;
    int failed = row->predicted ? pct_iroots_insert(predicted, &root, row->predicted) : 0;
    return failed || !row->exposed ? failed : pct_iroots_insert(exposed, &root, row->exposed);
}

static int load_chance(void *data, const struct pct_store_chance *row)
{
    const struct loading *l = data;
    struct pct_iroot *root =
        row->number && row->number <= l->sets->predicted.count ? l->sets->predicted.item[row->number - 1] : NULL;
    if (!root || row->first > 1 || root->chances[row->first] == PCT_IROOT_CHANCES || !row->run || row->run > l->runs ||
        row->thread[0] >= PCT_MAX_THREADS || row->thread[1] >= PCT_MAX_THREADS)
        return -EINVAL;
    struct pct_iroot_chance chance = { .run = row->run,
                                       .thread = { row->thread[0], row->thread[1] },
                                       .first = row->first };
    memcpy(chance.step, row->step, sizeof chance.step);
    for (unsigned i = 0; i < PCT_IROOT_PLACES; i++)
        chance.visit[i] = (uint8_t)(row->visits >> 8 * i);
    chance.changes = (uint8_t)(row->visits >> 8 * PCT_IROOT_PLACES);
    for (unsigned i = 0; i < PCT_IROOT_SEGMENTS; i++)
        chance.segment[i] = (uint8_t)(row->segments >> 8 * i);
    root->chance[row->first][root->chances[row->first]++] = chance;
    return 0;
}

int pct_iroot_sets_load(struct pct_iroot_sets *sets, struct pct_store *store, uint64_t runs)
{
    struct loading l = { sets, runs };
    int failed = pct_store_each_place(store, load_place, sets);
    if (!failed)
        failed = pct_store_each_iroot(store, load_root, &l);
    if (!failed)
        failed = pct_store_each_further(store, load_root, &l);
    if (!failed)
        failed = pct_store_each_chance(store, load_chance, &l);
    sets->saved.places = sets->places.count;
    sets->saved.predicted = sets->predicted.count;
    sets->saved.exposed = sets->exposed.count;
    sets->saved.guessed = sets->guessed.count;
    sets->saved.combined = sets->combined.count;
    sets->saved.run = runs;
    return failed;
}

void pct_iroot_sets_free(struct pct_iroot_sets *sets)
{
    pct_access_places_free(&sets->places);
    pct_iroots_free(&sets->exposed);
    pct_iroots_free(&sets->predicted);
    pct_iroots_free(&sets->guessed);
    pct_iroots_free(&sets->combined);
    pct_code_files_free(sets->files);
    sets->files = NULL;
}
