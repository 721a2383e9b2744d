/* Lists of strategies in configurations, packed where they are long; and tokens that are too long for a target, which
 * the command alone reads: it gives the list in a file. */
#ifndef PCT_CLI_LIST_H
#define PCT_CLI_LIST_H

#include <common/config.h>
#include <common/list.h>

enum { PCT_LONG_TOKEN_MAX = 100000 }; /* what an argument of a command has room for, and more than a terminal */

/* Make this the configuration's list: as it is, or packed. False: it does not fit, and the configuration has none. */
bool pct_list_take(struct pct_config *config, const struct pct_strategy *strategy, const char *list);

/* The text of a configuration's list, to be freed. NULL: it cannot be unpacked, or there is no memory. */
char *pct_list_text(const char *list);

/* The token of a run whose list may be too long for the one in its trace's header; to be freed. NULL: too long, too. */
char *pct_long_token_of(const char *token, const char *list);

/* Part a token into one that a target reads, and its list (NULL: that has it; to be freed). A token that is no long one
 * stays as it is. Returns 0, or -EINVAL with a message. */
int pct_long_token_part(const char *token, char parted[PCT_TOKEN_MAX], char **list, char *error, size_t size);

/* The same, and the configuration of what a target reads. */
int pct_long_token_parse(struct pct_config *config, const char *token, char **list, char *error, size_t size);

#endif
