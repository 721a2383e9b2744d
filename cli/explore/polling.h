/* Loops that wait by calls (`while (pthread_mutex_trylock())`), or look at memory and count: they have schedules with
 * any number of rounds, of which some are not tried. Pure; called by the search. */
#ifndef PCT_CLI_POLLING_H
#define PCT_CLI_POLLING_H

#include "execution.h"

/* Of a loop that tries, this many rounds in a row are followed. */
enum { PCT_POLLING_FOLLOWED = 16 };

/* Going back over the events before this one, the last of which *rounds have counted: takes this one, too. Returns
 * whether to go further back; if not, *rounds is PCT_POLLING_FOLLOWED where the try would be one more round. */
bool pct_polling_back(const struct pct_event *before, const struct pct_event *tries, uint32_t *rounds);

/* Places of loops that are taken for endless, by the number of rounds that they made in a run; to begin with, all 0.
 * Others that count may end by themselves. */
enum { PCT_ENDLESS_MOST = 32 };
struct pct_endless {
    uint32_t place[PCT_ENDLESS_MOST], count;
};
void pct_endless_note(struct pct_endless *endless, const struct pct_execution *x);

/* Whether the event is a round of such a loop, behind those that are followed. */
bool pct_endless_has(const struct pct_endless *endless, const struct pct_event *event);

#endif
