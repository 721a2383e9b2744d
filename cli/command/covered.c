/* Files that say which iRoots were exposed: see covered.h. */
#include "covered.h"
#include <cli/base/cli.h>
#include <cli/base/json.h>
#include <cli/campaign/directed.h>
#include <cli/campaign/directed_state.h>
#include <cli/campaign/store.h>
#include <cli/campaign/tried.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

enum { FIRST_IDIOMS = 5 /* that versions looked for which do not say how many */ };

/* --- The file of a campaign --------------------------------------------------------------------------------------- */

/* Its places are instructions: those of one line are one here, which came when the first of them did. A file has them
 * in another order than that of the runs. */
static int take_lines(struct pct_iroots *to, struct pct_access_places *places, const struct pct_iroots *from,
                      const struct pct_access_places *there)
{
    int failed = 0;
    for (size_t i = 0; i < from->count && !failed; i++) {
        struct pct_iroot root;
        failed = pct_iroot_by_line(&root, from->item[i], there, places);
        const uint64_t first = from->item[i]->first;
        if (!failed)
            failed = pct_iroots_expose(to, &root, first);
        struct pct_iroot *line = failed ? NULL : pct_iroots_find_either(to, &root);
        if (line && line->first > first)
            line->first = first;
    }
    return failed;
}

static int take_campaign(struct pct_covered *covered, struct pct_access_places *places, const struct pct_directed *d)
{
    struct pct_tried tried = { .missed = { .count = 0 } };
    int failed = take_lines(&covered->exposed, places, &d->sets.exposed, &d->sets.places);
    if (!failed)
        failed = take_lines(&covered->predicted, places, &d->sets.predicted, &d->sets.places);
    if (!failed)
        failed = pct_tried_read(&tried, d->directs ? d : NULL, &covered->exposed, places);
    if (!failed)
        failed = take_lines(&covered->combined, places, &d->sets.combined, &d->sets.places);
    covered->missed = tried.missed;
    covered->guessed = tried.further;
    tried = (struct pct_tried){ .missed = { .count = 0 } };
    pct_tried_free(&tried);
    covered->has_runs = true;
    covered->cut = d->sets.exposed.full || covered->exposed.full;
    return failed;
}

static int read_campaign(struct pct_covered *covered, struct pct_access_places *places)
{
    struct pct_directed directed = { .sets = { .places = { .by_instruction = true } } };
    struct pct_store_iroot_totals iroots;
    struct pct_store_totals totals;
    char error[512];
    struct pct_store *store = pct_store_open(covered->path, false, error, sizeof error);
    if (!store)
        return pct_cli_usage("%s: %s", covered->path, error);
    if (!pct_store_totals(store, &totals) && !totals.runs) {
        pct_store_close(store);
        return pct_cli_usage("%s: there are no runs in it yet", covered->path);
    }
    if (!pct_store_has_iroots(store)) {
        pct_store_close(store);
        return pct_cli_usage("%s: this campaign has not looked at interleavings: only those of -S maple, or with "
                             "--sites, do; `pct coverage --json -- COMMAND` does, too",
                             covered->path);
    }
    const uint64_t idioms = pct_store_number(store, "idioms");
    covered->idioms = idioms && idioms <= PCT_IDIOMS ? (uint32_t)idioms : FIRST_IDIOMS;
    int failed = pct_store_totals(store, &totals);
    if (!failed)
        failed = pct_store_iroot_totals(store, &iroots);
    if (!failed)
        failed = pct_directed_read(&directed, store, totals.runs);
    if (!failed)
        failed = take_campaign(covered, places, &directed);
    if (failed)
        snprintf(error, sizeof error, "%s",
                 failed == -ENOMEM         ? "out of memory"
                 : *pct_store_error(store) ? pct_store_error(store)
                                           : "the file is damaged (its iRoots contradict each other)");
    pct_directed_close(&directed);
    pct_store_close(store);
    if (failed)
        return failed == -ENOMEM ? pct_cli_no_memory("") : pct_cli_usage("%s: %s", covered->path, error);
    covered->runs = totals.runs;
    covered->newest = iroots.newest;
    covered->window = PCT_DIRECTED_WINDOW;
    return 0;
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

/* Whether there is such a member, and a whole number up to `most`. */
static bool get_number(struct json_object *from, const char *key, uint64_t most, uint64_t *number)
{
    struct json_object *member;
    if (!json_object_object_get_ex(from, key, &member) || !json_object_is_type(member, json_type_int) ||
        json_object_get_int64(member) < 0)
        return false;
    *number = json_object_get_uint64(member);
    return *number <= most;
}

static const char *get_string(struct json_object *from, const char *key)
{
    struct json_object *member;
    return json_object_object_get_ex(from, key, &member) && json_object_is_type(member, json_type_string)
               ? json_object_get_string(member)
               : NULL;
}

/* PCT_OP_COUNT: there is none of this name. */
static uint32_t op_of(const char *name)
{
    uint32_t op = 0;
    while (op < PCT_OP_COUNT && strcmp(pct_name_op(op), name))
        op++;
    return op;
}

/* Returns 0, -ENOMEM, or -EINVAL: it is no place. */
static int take_place(struct json_object *from, struct pct_access_places *places, uint32_t *number)
{
    const char *operation = get_string(from, "operation"), *function = get_string(from, "function"),
               *file = get_string(from, "file");
    uint64_t line, begins;
    if (!operation || !function || !file || !get_number(from, "line", INT_MAX, &line))
        return -EINVAL;
    if (!get_number(from, "function_line", INT_MAX, &begins)) /* also what earlier versions wrote */
        begins = 0;
    const struct pct_access_place place = { .op = op_of(operation),
                                            .line = (int)line,
                                            .begins = (int)begins,
                                            .function = (char *)(uintptr_t)function,
                                            .file = (char *)(uintptr_t)file };
    if (place.op == PCT_OP_COUNT)
        return -EINVAL;
    *number = pct_access_places_number(places, &place);
    return *number ? 0 : -ENOMEM;
}

/* most: the last idiom that it may have */
static int take_root(struct json_object *from, struct pct_iroots *to, uint32_t most, struct pct_access_places *places)
{
    struct json_object *array;
    uint64_t idiom;
    if (!get_number(from, "idiom", most, &idiom) || !idiom || !json_object_object_get_ex(from, "places", &array) ||
        !json_object_is_type(array, json_type_array))
        return -EINVAL;
    struct pct_iroot root = { .idiom = (uint32_t)idiom };
    if (json_object_array_length(array) != pct_idiom_accesses(root.idiom))
        return -EINVAL;
    int failed = 0;
    for (unsigned k = 0; !failed && k < pct_idiom_accesses(root.idiom); k++)
        failed = take_place(json_object_array_get_idx(array, k), places, &root.place[k]);
    return failed ? failed : pct_iroots_insert(to, &root, 1);
}

/* What earlier versions wrote may have none of this name. */
static int take_roots(struct json_object *all, const char *name, struct pct_iroots *to,
                      struct pct_access_places *places)
{
    struct json_object *roots;
    if (!json_object_object_get_ex(all, name, &roots))
        return 0;
    int failed = json_object_is_type(roots, json_type_array) ? 0 : -EINVAL;
    for (size_t i = 0; !failed && i < json_object_array_length(roots); i++)
        failed = take_root(json_object_array_get_idx(roots, i), to, PCT_IDIOMS, places);
    return failed;
}

/* What was guessed, and whether it was exposed. Earlier versions wrote none for campaigns that were kept. */
static int take_guessed(struct json_object *all, struct pct_covered *covered, struct pct_access_places *places)
{
    struct json_object *roots, *exposed;
    if (!json_object_object_get_ex(all, "guessed", &roots))
        return 0;
    int failed = json_object_is_type(roots, json_type_array) ? 0 : -EINVAL;
    for (size_t i = 0; !failed && i < json_object_array_length(roots); i++) {
        struct json_object *root = json_object_array_get_idx(roots, i);
        const bool was = json_object_object_get_ex(root, "exposed", &exposed) && json_object_get_boolean(exposed);
        failed = take_root(root, &covered->guessed, PCT_COMBINED, places);
        if (!failed && was)
            failed = take_root(root, &covered->combined, PCT_COMBINED, places);
    }
    return failed;
}

/* A pair: `write` may be null. */
static int take_pair(struct json_object *from, struct pct_covered *covered, struct pct_access_places *places)
{
    struct json_object *write, *read;
    struct pct_iroot pair = { .idiom = 1 };
    if (!json_object_object_get_ex(from, "write", &write) || !json_object_object_get_ex(from, "read", &read))
        return -EINVAL;
    int failed = write ? take_place(write, places, &pair.place[0]) : 0;
    if (!failed)
        failed = take_place(read, places, &pair.place[1]);
    return failed ? failed : pct_iroots_insert(&covered->pairs, &pair, 1);
}

/* What earlier versions wrote has none. */
static int take_pairs(struct json_object *all, struct pct_covered *covered, struct pct_access_places *places)
{
    struct json_object *pairs;
    covered->has_pairs = json_object_object_get_ex(all, "reads_from", &pairs);
    if (!covered->has_pairs)
        return 0;
    int failed = json_object_is_type(pairs, json_type_array) ? 0 : -EINVAL;
    for (size_t i = 0; !failed && i < json_object_array_length(pairs); i++)
        failed = take_pair(json_object_array_get_idx(pairs, i), covered, places);
    return failed;
}

static int take_json(struct json_object *all, struct pct_covered *covered, struct pct_access_places *places)
{
    struct json_object *exposed, *complete;
    uint64_t window, idioms;
    if (!json_object_object_get_ex(all, "exposed", &exposed) || !json_object_is_type(exposed, json_type_array) ||
        !json_object_object_get_ex(all, "complete", &complete) || !get_number(all, "window", UINT32_MAX, &window) ||
        !get_number(all, "runs", INT64_MAX, &covered->runs) ||
        !get_number(all, "last_new", covered->runs, &covered->newest))
        return -EINVAL;
    int failed = take_roots(all, "exposed", &covered->exposed, places);
    if (!failed)
        failed = take_roots(all, "predicted", &covered->predicted, places);
    if (!failed)
        failed = take_roots(all, "missed", &covered->missed, places);
    if (!failed)
        failed = take_guessed(all, covered, places);
    if (!failed)
        failed = take_pairs(all, covered, places);
    covered->window = (uint32_t)window;
    covered->idioms = get_number(all, "idioms", PCT_IDIOMS, &idioms) ? (uint32_t)idioms : FIRST_IDIOMS;
    covered->cut = !json_object_get_boolean(complete) || covered->exposed.full || covered->pairs.full;
    return failed;
}

/* The value that the file has; NULL: it is no JSON. What is no JSON is not read to its end. */
static struct json_object *parse(FILE *in)
{
    struct json_tokener *tokener = json_tokener_new();
    struct json_object *all = NULL;
    static char text[1 << 16];
    size_t length = 1;
    while (tokener && !all && length) {
        length = fread(text, 1, sizeof text, in);
        all = json_tokener_parse_ex(tokener, text, (int)length);
        if (!all && json_tokener_get_error(tokener) != json_tokener_continue)
            break;
    }
    if (tokener)
        json_tokener_free(tokener);
    return all;
}

static int read_json(struct pct_covered *covered, struct pct_access_places *places)
{
    FILE *in = fopen(covered->path, "re");
    if (!in)
        return pct_cli_usage("%s: %s", covered->path, strerror(errno));
    struct json_object *all = parse(in);
    fclose(in);
    int failed = all ? take_json(all, covered, places) : -EINVAL;
    json_object_put(all);
    if (failed == -EINVAL)
        return pct_cli_usage(
            "%s: this is neither what `pct coverage --json` writes nor the file of a campaign of -S maple",
            covered->path);
    return failed ? pct_cli_no_memory("") : 0;
}

int pct_covered_read(struct pct_covered *covered, struct pct_access_places *places)
{
    char error[512];
    switch (pct_store_look(covered->path, error, sizeof error)) {
    case PCT_STORE_OURS:
        return read_campaign(covered, places);
    case PCT_STORE_NEWER:
        return pct_cli_usage("%s: %s", covered->path, error);
    case PCT_STORE_ABSENT:
    case PCT_STORE_FOREIGN:
        break;
    }
    return read_json(covered, places);
}

void pct_covered_free(struct pct_covered *covered)
{
    pct_iroots_free(&covered->exposed);
    pct_iroots_free(&covered->predicted);
    pct_iroots_free(&covered->missed);
    pct_iroots_free(&covered->guessed);
    pct_iroots_free(&covered->combined);
    pct_iroots_free(&covered->pairs);
}
