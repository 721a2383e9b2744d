/* What the shard of an exploration says of itself in its file when it was explored to its end, and making one file of
 * shards, which says what is known of the whole, and of explorations of several inputs. */
#ifndef PCT_CLI_EXPLORE_MERGE_H
#define PCT_CLI_EXPLORE_MERGE_H

#include "explorer.h"

/* The fact `whole` of a shard's file. patched: what --memory patches, PCT_PATCH_*. */
enum { PCT_SHARD_FACT = 256 };
void pct_shard_format(char *text, size_t size, const struct pct_explorer *explorer, int patched);

/* Whether this file is of an exploration, as the first of those that are to be merged. */
bool pct_explorer_owns(const char *path);

/* Make one of these files: an exploration of each input, of its shards, or the one that there is. Says on standard
 * error what is known of each. Returns 0: all are verified; 1: something was found; PCT_EXIT_CONFIDENCE: not verified;
 * or another exit status after a message: they do not belong together. */
int pct_explorer_merge(const char *to, char *const *from, size_t count);

#endif
