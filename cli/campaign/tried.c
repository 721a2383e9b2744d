/* What was tried, by line: see tried.h. */
#include "tried.h"
#include "directed.h"
#include "directed_state.h"
#include <errno.h>

int pct_iroot_by_line(struct pct_iroot *line, const struct pct_iroot *root, const struct pct_access_places *from,
                      struct pct_access_places *to)
{
    *line = (struct pct_iroot){ .idiom = root->idiom };
    for (unsigned k = 0; k < pct_idiom_accesses(root->idiom); k++) {
        struct pct_access_place place = *from->item[root->place[k] - 1];
        place.code = 0;
        line->place[k] = pct_access_places_number(to, &place);
        if (!line->place[k])
            return -ENOMEM;
    }
    return 0;
}

static int insert(struct pct_iroots *to, const struct pct_iroot *root, const struct pct_directed *d,
                  struct pct_access_places *places)
{
    struct pct_iroot line;
    int failed = pct_iroot_by_line(&line, root, &d->sets.places, places);
    return failed ? failed : pct_iroots_insert(to, &line, root->first);
}

static bool is_missed(const struct pct_directed *d, size_t i)
{
    return d->candidate[i].tried >= PCT_DIRECTED_TRIES &&
           !pct_iroots_find_either(&d->sets.exposed, d->sets.predicted.item[i]);
}

static int read_missed(struct pct_tried *tried, const struct pct_directed *d, const struct pct_iroots *exposed,
                       struct pct_access_places *places)
{
    struct pct_iroots others = { .count = 0 };
    int failed = 0;
    for (size_t i = 0; i < d->sets.predicted.count && !failed; i++)
        if (!is_missed(d, i))
            failed = insert(&others, d->sets.predicted.item[i], d, places);
    for (size_t i = 0; i < d->sets.predicted.count && !failed; i++) {
        struct pct_iroot line;
        if (!is_missed(d, i))
            continue;
        failed = pct_iroot_by_line(&line, d->sets.predicted.item[i], &d->sets.places, places);
        if (!failed && !pct_iroots_find_either(&others, &line) && !pct_iroots_find_either(exposed, &line))
            failed = pct_iroots_expose(&tried->missed, &line, d->sets.predicted.item[i]->first);
    }
    pct_iroots_free(&others);
    return failed;
}

int pct_tried_read(struct pct_tried *tried, const struct pct_directed *d, const struct pct_iroots *exposed,
                   struct pct_access_places *places)
{
    int failed = d ? read_missed(tried, d, exposed, places) : 0;
    for (size_t i = 0; d && i < d->sets.guessed.count && !failed; i++)
        if (d->further[i].tried)
            failed = insert(&tried->further, d->sets.guessed.item[i], d, places);
    return failed;
}

void pct_tried_free(struct pct_tried *tried)
{
    pct_iroots_free(&tried->missed);
    pct_iroots_free(&tried->further);
}
