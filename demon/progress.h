/* How far a search is, on standard error: see cli/base/status_line.h. */
#ifndef PCT_DEMON_PROGRESS_H
#define PCT_DEMON_PROGRESS_H

#include "search.h"

/* Say it, if it is time. */
void demon_progress_draw(struct demon_search *search);

/* Make room for other lines. */
void demon_progress_clear(void);

#endif
