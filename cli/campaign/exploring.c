/* The exploration within a campaign: see exploring.h. */
#include "exploring.h"
#include "campaign.h"
#include <cli/base/cli.h>
#include <cli/base/status_line.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

uint64_t pct_exploring_room(uint64_t runs)
{
    return runs < PCT_EXPLORING_SHARE ? 1 : runs / PCT_EXPLORING_SHARE;
}

/* Whether the runs so far leave it open that all schedules can be explored. A program that has one thread has one. */
static bool is_small(const struct pct_campaign *c)
{
    bool uncontrolled = false;
    for (unsigned i = 0; i < PCT_UNCONTROLLED_COUNT; i++)
        uncontrolled = uncontrolled || (c->uncontrolled[i] && !pct_name_is_aside(i));
    return !uncontrolled && c->max_threads > 1 && c->max_steps <= PCT_EXPLORING_STEPS && !c->unrecorded && !c->lost &&
           !c->fixed_deadlines && !c->passed_over && !c->randoms && !c->hardware && !c->images_open;
}

/* What was found is no failure of the campaign's: there is nothing that repeats it. */
static void say_unrepeated(const struct pct_campaign *c)
{
    pct_status_line_clear(!c->progress);
    pct_cli_say("a run of the exploration failed, and no token repeats that: runs depend on more than the schedule, or "
                "it is too long (pct explore --trace=FILE keeps such a run); going on");
}

/* A failure that was found becomes one like any other. Where there is an observer, that has done so. */
static int take_token(struct pct_campaign *c)
{
    struct pct_exploring *y = &c->exploring;
    uint64_t hash;
    int status = pct_campaign_try(c, y->token, PCT_EXPLORING_FROM, &hash);
    y->failed = c->failed;
    if (!status && !c->failed) { /* the runs go on */
        *y->token = '\0';
        y->unrepeated = true;
        say_unrepeated(c);
    }
    return status;
}

int pct_exploring_decide(struct pct_campaign *c, uint64_t next)
{
    struct pct_exploring *y = &c->exploring;
    if (y->decided || next < PCT_EXPLORING_FROM)
        return 0;
    y->decided = true;
    int status = 0;
    /* Of a campaign that goes on behind it, the file has what came of it. */
    bool open = next == PCT_EXPLORING_FROM || (y->tried && !y->unrepeated);
    bool due = open && next < c->runs && y->explore && y->most > y->tried && !*y->token && !y->verdict;
    if (due && !c->failures && !c->failing_count && is_small(c))
        status = y->explore(c, y, y->data);
    if (!status && y->unrepeated)
        say_unrepeated(c);
    /* Earlier versions have made findings of what failed behind the last run only. */
    if (!status && (due || *y->token) && c->observer && c->observer->explored)
        status = c->observer->explored(c->observer, c);
    return status || !*y->token || c->observer ? status : take_token(c);
}

bool pct_exploring_is_over(const struct pct_campaign *c)
{
    return c->exploring.whole || (*c->exploring.token && !c->keep_going);
}

int pct_exploring_restore(struct pct_campaign *c, const char *verdict, bool whole, const char *token)
{
    struct pct_exploring *y = &c->exploring;
    pct_exploring_free(y);
    y->verdict = *verdict ? strdup(verdict) : NULL;
    y->whole = y->verdict && whole;
    snprintf(y->token, sizeof y->token, "%s", token);
    return *verdict && !y->verdict ? -ENOMEM : 0;
}

void pct_exploring_print(FILE *out, const struct pct_campaign *c)
{
    if (c->exploring.verdict)
        fprintf(out, "pct: %s\n", c->exploring.verdict);
}

void pct_exploring_free(struct pct_exploring *y)
{
    free(y->verdict);
    y->verdict = NULL;
}
