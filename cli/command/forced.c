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

/* False: there is no memory. */
static bool find_root(struct pct_iroot *root, const struct pct_iroot_phase *forced, struct pct_access_places *places)
{
    *root = (struct pct_iroot){ .idiom = (uint32_t)(forced->idiom - pct_idioms) + 1 };
    for (unsigned i = 0; i < pct_idiom_accesses(root->idiom); i++) {
        root->place[i] = find_place(places, &forced->event[i]);
        if (!root->place[i])
            return false;
    }
    return true;
}

/* What the token says, and the places of the trace, which the caller frees. False: nothing is to be said. */
static bool read_forced(const char *token, const struct pct_trace *trace, struct pct_iroot *root,
                        struct pct_access_places *places)
{
    static struct pct_config config; /* large */
    struct pct_iroot_phase phase[PCT_IROOT_PHASES];
    struct pct_access *accesses = NULL;
    size_t count;
    uint32_t phases;
    char error[512];
    *places = (struct pct_access_places){ .by_instruction = true };
    if (pct_config_parse_token(&config, token, pct_cli_find_strategy, error, sizeof error) || !config.list[0] ||
        strcmp(config.strategy, pct_strategy_maple.name) != 0 || !pct_iroot_parse(config.list, phase, &phases))
        return false;
    bool known = !pct_accesses_read(places, trace, &accesses, &count) && find_root(root, &phase[0], places);
    free(accesses);
    return known;
}

void pct_forced_print(FILE *out, const char *token, const struct pct_trace *trace)
{
    struct pct_access_places places;
    struct pct_iroot root;
    if (read_forced(token, trace, &root, &places)) {
        fputs(root.idiom > PCT_IDIOMS ? "maple was to force this combined pattern: "
                                      : "maple was to force this iRoot: ",
              out);
        pct_iroot_print(out, &places, &root);
        fputc('\n', out);
    }
    pct_access_places_free(&places);
}

void pct_forced_add_json(struct json_object *to, const char *token, const struct pct_trace *trace)
{
    struct pct_access_places places;
    struct pct_iroot root;
    if (read_forced(token, trace, &root, &places))
        pct_iroot_add_json(pct_json_add_object(to, "iroot"), &places, &root);
    pct_access_places_free(&places);
}
