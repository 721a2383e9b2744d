/* The exploration within a campaign, where the strategy was left to pct and the program is small: behind run
 * PCT_EXPLORING_FROM, if none has failed so far, all schedules are explored (`pct explore`), by at most a share of the
 * campaign's runs. If it comes to its end, and all that the campaign's other runs could show was seen, the campaign
 * ends with what that says instead of a probability. If not, the runs go on as if there had been none; a campaign that
 * goes on with more of them explores once more, by its larger share. It comes behind the first runs because these find
 * most bugs sooner, and tell for nothing what is too large to be explored. */
#ifndef PCT_CLI_EXPLORING_H
#define PCT_CLI_EXPLORING_H

#include <common/config.h>
#include <stdio.h>

enum { PCT_EXPLORING_FROM = 16, PCT_EXPLORING_SHARE = 10, PCT_EXPLORING_STEPS = 1000 };

struct pct_campaign;

struct pct_exploring {
    /* Of the command: explore, and write down what came of it. NULL: it does not explore. Returns 0, or an exit status
     * after a message. */
    int (*explore)(struct pct_campaign *c, struct pct_exploring *exploring, void *data);
    void *data;
    uint64_t most;  /* this many runs may it take; 0: there is none */
    uint64_t tried; /* by this many it was done before, and came to no end; 0: it was not */
    bool decided;
    /* What came of it, as the campaign file has it. */
    uint64_t runs;             /* that were made, up to a failure, unless the file has it */
    char *verdict;             /* the line that says what is verified; NULL: nothing is */
    bool whole;                /* and the other runs could show nothing more: the campaign is over */
    char token[PCT_TOKEN_MAX]; /* replays a failure that was found; "": none was */
    bool unrepeated;           /* a failure was found, which no token repeats */
    bool failed;               /* the first run of the campaign that failed is that one */
};

/* This many runs may it take, of a campaign that has this many; of a short one, too, which may go on with more. */
uint64_t pct_exploring_room(uint64_t runs);

/* Before the run of this number, when nothing is under way: explore, if it is time. Returns 0, or an exit status after
 * a message. */
int pct_exploring_decide(struct pct_campaign *c, uint64_t next);

/* What came of it, as a campaign file has it. Returns 0 or -ENOMEM. */
int pct_exploring_restore(struct pct_campaign *c, const char *verdict, bool whole, const char *token);

/* Whether it has said all that there is to say: there are no more runs. */
bool pct_exploring_is_over(const struct pct_campaign *c);

/* What it has verified, behind a campaign without a failure. */
void pct_exploring_print(FILE *out, const struct pct_campaign *c);

void pct_exploring_free(struct pct_exploring *exploring);

#endif
