/* Loops that wait by calls: `while (pthread_mutex_trylock())`. Pure; called by the search. */
#ifndef PCT_CLI_POLLING_H
#define PCT_CLI_POLLING_H

#include "execution.h"

/* Whether the event tries to take a lock or a semaphore, and does not wait for it. */
bool pct_polling_tries(const struct pct_event *event);

/* Whether it may stand between two tries of a loop that waits: a yield, or a sleep. */
bool pct_polling_pauses(const struct pct_event *event);

/* Whether it is the same try as this one, of the same thread, in vain. */
bool pct_polling_is_round(const struct pct_event *event, const struct pct_event *tries);

#endif
