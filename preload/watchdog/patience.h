/* How long threads wait for the baton before they make a watchdog: patience.c. */
#ifndef PCT_PRELOAD_PATIENCE_H
#define PCT_PRELOAD_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

/* In a fork server, before its first run: its runs know of each other. */
void pct_patience_share(void);
/* The watchdog had something to do: those of the next runs are made sooner. */
void pct_patience_lose(void);
/* Before the first wait for the baton. */
void pct_patience_begin(void);
/* As pct_futex_wait(word, 0), and whether that takes so long that there should be a watchdog. */
bool pct_patience_ends(const uint32_t *word);

#endif
