/* A confirmed finding as a campaign file, for `pct campaign report` and its like. */
#ifndef PCT_DEMON_CAMPAIGN_H
#define PCT_DEMON_CAMPAIGN_H

#include "search.h"

/* Whether there could be a campaign file of this name, before there is anything to write. False after a message. */
bool demon_campaign_check(const char *path);

/* Make the confirmed run, the last finding, again as a campaign of one run, with the contract that it breaks as the
 * cause; a campaign file that is there is kept as FILE.old. False after a message. */
bool demon_campaign_write(const struct demon_search *search, const char *path);

#endif
