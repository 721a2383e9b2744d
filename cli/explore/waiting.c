/* A heap of beginnings: see waiting.h. */
#include "waiting.h"
#include <cli/base/grow.h>
#include <errno.h>
#include <stdlib.h>

static bool sooner(const struct pct_beginning *a, const struct pct_beginning *b)
{
    return a->tier != b->tier ? a->tier < b->tier : a->place < b->place;
}

int pct_waiting_push(struct pct_waiting *w, const struct pct_beginning *beginning)
{
    if (!PCT_GROW(w->at, w->count, w->room)) {
        free(beginning->plan);
        return -ENOMEM;
    }
    size_t i = w->count++;
    for (; i && sooner(beginning, &w->at[(i - 1) / 2]); i = (i - 1) / 2)
        w->at[i] = w->at[(i - 1) / 2];
    w->at[i] = *beginning;
    return 0;
}

struct pct_beginning pct_waiting_pop(struct pct_waiting *w)
{
    struct pct_beginning first = w->at[0], last = w->at[--w->count];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < w->count; i = child) {
        child += child + 1 < w->count && sooner(&w->at[child + 1], &w->at[child]);
        if (!sooner(&w->at[child], &last))
            break;
        w->at[i] = w->at[child];
    }
    w->at[i] = last;
    return first;
}

void pct_waiting_free(struct pct_waiting *w)
{
    for (size_t i = 0; i < w->count; i++)
        free(w->at[i].plan);
    free(w->at);
    *w = (struct pct_waiting){ 0 };
}
