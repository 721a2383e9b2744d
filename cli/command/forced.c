/* What a run of the strategy maple was to force: see forced.h. */
#include "forced.h"
#include <cli/base/cli.h>
#include <common/config.h>
#include "iroot_print.h"
#include <stdlib.h>
#include <strategies/iroot.h>
#include <strategies/strategies.h>
#include <string.h>

/* The number of what the list calls so; 0: there is no memory. Where the run has not come there, nothing but the
 * operation is known. */
static uint32_t find_place(struct pct_access_places *places, const struct pct_iroot_event *event)
{
    for (size_t i = 0; i < places->count; i++)
        if (places->item[i]->op == event->op && places->item[i]->code == event->place)
            return (uint32_t)i + 1;
    char none[1] = "";
    const struct pct_access_place place = { .op = event->op, .code = event->place, .function = none, .file = none };
    return event->op < PCT_OP_COUNT ? pct_access_places_number(places, &place) : 0;
}

static void print(FILE *out, const struct pct_iroot_phase *forced, struct pct_access_places *places)
{
    struct pct_iroot root = { .idiom = (uint32_t)(forced->idiom - pct_idioms) + 1 };
    for (unsigned i = 0; i < pct_idiom_accesses(root.idiom); i++) {
        root.place[i] = find_place(places, &forced->event[i]);
        if (!root.place[i])
            return;
    }
    fputs("maple was to force this iRoot: ", out);
    pct_iroot_print(out, places, &root);
    fputc('\n', out);
}

void pct_forced_print(FILE *out, const char *token, const struct pct_trace *trace)
{
    static struct pct_config config; /* large */
    struct pct_iroot_phase phase[PCT_IROOT_PHASES];
    struct pct_access_places places = { .by_instruction = true };
    struct pct_access *accesses = NULL;
    size_t count;
    uint32_t phases;
    char error[512];
    if (pct_config_parse_token(&config, token, pct_cli_find_strategy, error, sizeof error) || !config.list[0] ||
        strcmp(config.strategy, pct_strategy_maple.name) != 0 || !pct_iroot_parse(config.list, phase, &phases))
        return;
    if (!pct_accesses_read(&places, trace, &accesses, &count))
        print(out, &phase[0], &places);
    free(accesses);
    pct_access_places_free(&places);
}
