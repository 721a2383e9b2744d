/* What earlier campaigns of `maple` knew (Maple, section 5): iRoots that they have exposed, or tried as often as one is
 * tried, with other inputs or of an earlier build of the program. Such are not tried again. Of code that has changed
 * since (code_files.h) nothing is known any more. */
#ifndef PCT_CLI_MEMO_H
#define PCT_CLI_MEMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pct_campaign;
struct pct_store;

struct pct_memo {
    void *tree; /* of strings: iRoots as tokens have them */
    size_t count;
    struct pct_memo_code *code; /* where their places are, in this build */
    size_t codes;
};

/* Take what this campaign file knows, for a campaign that begins; c->launch is prepared. Where there is no such file,
 * nothing is known, and it says so. Returns 0, or an exit status after a message: the file cannot be used. */
int pct_memo_take(struct pct_campaign *c, const char *path);

bool pct_memo_has(const struct pct_memo *memo, const char *iroot);

/* Write it into the campaign's own file; take it from there. After pct_store_begin_iroots(). Return 0 or a negative
 * errno of the store. */
int pct_memo_save(const struct pct_memo *memo, struct pct_store *store);
int pct_memo_load(struct pct_memo *memo, struct pct_store *store);

void pct_memo_free(struct pct_memo *memo);

#endif
