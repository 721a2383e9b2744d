/* `pct coverage diff`: which interleavings one campaign has exposed and another has not. */
#include "coverage_diff.h"
#include "covered.h"
#include "iroot_print.h"
#include "parse.h"
#include <cli/base/cli.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { OLD, NEW, SIDES };
enum { KEY_JSON = 2800 };

struct diff {
    struct pct_access_places places[SIDES];
    struct pct_covered side[SIDES];
    uint32_t *same[SIDES]; /* by number of a place of this side, minus 1: that of the other one's; 0: it has none */
    bool json;
};

static const struct argp_option options[] = {
    { "json", KEY_JSON, NULL, 0, "write JSON", 0 },
    { 0 },
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct diff *w = state->input;
    switch (key) {
    case KEY_JSON:
        w->json = true;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num >= SIDES)
            argp_error(state, "two files at a time: the old one and the new one");
        w->side[state->arg_num].path = argument;
        return 0;
    case ARGP_KEY_END:
        if (state->arg_num < SIDES)
            argp_error(state, "give two files, the old one and the new one: of campaigns of -S maple, or what `pct "
                              "coverage --json` has written");
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "OLD-FILE NEW-FILE",
    .doc = "Compare which interleavings two campaigns have exposed: what does a new test add? Each file is that of a "
           "campaign of -S maple, or what `pct coverage --json` has written. Lines with + are new in NEW-FILE, those "
           "with - are in OLD-FILE alone.\v"
           "Places are the same if their lines are, counted from that of their function, where this has moved. What "
           "one has not exposed it may just not have come to yet: the last lines say in which of its runs each has "
           "exposed the last new one. The exit status is 0, and 2 for what is no such file.",
};

/* --- Places of two builds ----------------------------------------------------------------------------------------- */

/* Where the function of this place begins by the places of these, if that is one line; 0: it is several, or not known.
 */
static int find_function(const struct pct_access_places *places, const struct pct_access_place *of)
{
    int begins = 0;
    for (size_t i = 0; i < places->count; i++) {
        const struct pct_access_place *place = places->item[i];
        if (!place->begins || strcmp(place->function, of->function) != 0 || strcmp(place->file, of->file) != 0)
            continue;
        if (begins && place->begins != begins)
            return 0;
        begins = place->begins;
    }
    return begins;
}

/* A place is the same one if its line is, counted from where its function begins: that may have moved. Returns 0 or
 * -ENOMEM. */
static int match_places(struct diff *w)
{
    struct pct_access_places *old = &w->places[OLD], *new = &w->places[NEW];
    const size_t count = old->count;
    w->same[OLD] = calloc(count + 1, sizeof *w->same[OLD]);
    for (size_t i = 0; w->same[OLD] && i < count; i++) {
        struct pct_access_place place = *old->item[i];
        const int begins = find_function(old, &place), now = begins ? find_function(new, &place) : 0;
        if (now && place.line >= begins && place.line - begins <= INT_MAX - now) {
            place.line += now - begins;
            place.begins = now;
        }
        w->same[OLD][i] = pct_access_places_number(new, &place);
        if (!w->same[OLD][i])
            return -ENOMEM;
    }
    w->same[NEW] = calloc(new->count + 1, sizeof *w->same[NEW]);
    if (!w->same[OLD] || !w->same[NEW])
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        w->same[NEW][w->same[OLD][i] - 1] = (uint32_t)i + 1;
    return 0;
}

/* What an iRoot of this side is by the places of the other one. False: it has none of these. */
static bool carry_over(const struct diff *w, unsigned side, const struct pct_iroot *root, struct pct_iroot *there)
{
    *there = (struct pct_iroot){ .idiom = root->idiom };
    for (unsigned k = 0; k < PCT_IROOT_PLACES; k++) {
        there->place[k] = root->place[k] ? w->same[side][root->place[k] - 1] : 0;
        if (root->place[k] && !there->place[k])
            return false;
    }
    return true;
}

/* Of the other side: it has looked for this one, and has not exposed it. */
static bool lacks(const struct diff *w, unsigned other, const struct pct_iroot *root)
{
    struct pct_iroot there;
    return root->idiom <= w->side[other].idioms &&
           !(carry_over(w, !other, root, &there) && pct_iroots_find_either(&w->side[other].exposed, &there));
}

/* Reads-from pairs are compared where both have some. */
static bool compares_pairs(const struct diff *w)
{
    return w->side[OLD].has_pairs && w->side[NEW].has_pairs;
}

static bool lacks_pair(const struct diff *w, unsigned other, const struct pct_iroot *pair)
{
    struct pct_iroot there;
    return !(carry_over(w, !other, pair, &there) && pct_iroots_find(&w->side[other].pairs, &there));
}

static size_t count_pairs_alone(const struct diff *w, unsigned side)
{
    size_t count = 0;
    for (size_t i = 0; i < w->side[side].pairs.count; i++)
        count += lacks_pair(w, !side, w->side[side].pairs.item[i]);
    return count;
}

/* How many this side alone has exposed. */
static size_t count_alone(const struct diff *w, unsigned side)
{
    size_t count = 0;
    for (size_t i = 0; i < w->side[side].exposed.count; i++)
        count += lacks(w, !side, w->side[side].exposed.item[i]);
    return count;
}

static void print_pairs(FILE *out, const struct diff *w, unsigned side)
{
    for (size_t i = 0; i < w->side[side].pairs.count; i++) {
        const struct pct_iroot *pair = w->side[side].pairs.item[i];
        if (!lacks_pair(w, !side, pair))
            continue;
        fputs(side == NEW ? "+ " : "- ", out);
        pct_reads_from_print(out, &w->places[side], pair);
        fputc('\n', out);
    }
}

static void print_text(const struct diff *w)
{
    struct pct_cli_narrow narrow;
    FILE *out = pct_cli_narrow_begin(&narrow, stdout);
    for (uint32_t idiom = 1; idiom <= PCT_IDIOMS; idiom++)
        for (unsigned side = SIDES; side--;)
            for (size_t i = 0; i < w->side[side].exposed.count; i++) {
                const struct pct_iroot *root = w->side[side].exposed.item[i];
                if (root->idiom != idiom || !lacks(w, !side, root))
                    continue;
                fputs(side == NEW ? "+ " : "- ", out);
                pct_iroot_print(out, &w->places[side], root);
                fputc('\n', out);
            }
    if (compares_pairs(w)) {
        print_pairs(out, w, NEW);
        print_pairs(out, w, OLD);
    }
    pct_cli_narrow_end(&narrow);
    fflush(stdout);
}

static void add_side(const struct diff *w, unsigned side, struct json_object *all)
{
    const struct pct_covered *covered = &w->side[side];
    struct json_object *to = pct_json_add_object(all, side == NEW ? "new" : "old");
    pct_json_add_string(to, "file", covered->path);
    pct_json_add_number(to, "runs", covered->runs);
    pct_json_add_number(to, "last_new", covered->newest);
    pct_json_add_number(to, "window", covered->window);
    pct_json_add_bool(to, "complete", !covered->cut);
    pct_json_add_number(to, "exposed", covered->exposed.count);
    struct json_object *alone = pct_json_add_array(to, "alone");
    for (size_t i = 0; i < covered->exposed.count; i++)
        if (lacks(w, !side, covered->exposed.item[i]))
            pct_iroot_add_json(pct_json_append_object(alone), &w->places[side], covered->exposed.item[i]);
    if (!compares_pairs(w))
        return;
    pct_json_add_number(to, "reads_from", covered->pairs.count);
    alone = pct_json_add_array(to, "reads_from_alone");
    for (size_t i = 0; i < covered->pairs.count; i++)
        if (lacks_pair(w, !side, covered->pairs.item[i]))
            pct_reads_from_add_json(pct_json_append_object(alone), &w->places[side], covered->pairs.item[i]);
}

static int print_json(const struct diff *w)
{
    struct json_object *all = json_object_new_object();
    add_side(w, OLD, all);
    add_side(w, NEW, all);
    return pct_json_print(stdout, all) ? pct_cli_no_memory("") : 0;
}

/* What a side lacks says little as long as new ones come. */
static void say_next(const struct diff *w)
{
    bool came = false;
    for (unsigned side = 0; side < SIDES; side++) {
        const struct pct_covered *covered = &w->side[side];
        if (covered->newest <= covered->runs / 2)
            continue;
        pct_cli_say("%s: new ones came up to run %llu of %llu: make it again with more runs, such as -n %llu, before "
                    "going by what it lacks",
                    covered->path, (unsigned long long)covered->newest, (unsigned long long)covered->runs,
                    (unsigned long long)covered->runs * 10);
        came = true;
    }
    if (!came && (count_alone(w, OLD) || count_alone(w, NEW)))
        pct_cli_say("no new ones came in the second half of either; `pct campaign -S maple --until-saturated -- "
                    "COMMAND` tries what is predicted");
}

static void say_summary(const struct diff *w)
{
    for (unsigned side = 0; side < SIDES; side++) {
        const struct pct_covered *covered = &w->side[side];
        pct_cli_say("%s: %zu exposed (by source lines), %zu by it alone (%c); the last new one in run %llu of %llu%s",
                    covered->path, covered->exposed.count, count_alone(w, side), side == NEW ? '+' : '-',
                    (unsigned long long)covered->newest, (unsigned long long)covered->runs,
                    covered->cut ? "; there were more, which were not counted" : "");
    }
    for (unsigned side = 0; side < SIDES && compares_pairs(w); side++)
        pct_cli_say("%s: %zu reads-from pairs, %zu by it alone", w->side[side].path, w->side[side].pairs.count,
                    count_pairs_alone(w, side));
    if (!compares_pairs(w))
        pct_cli_say("reads-from pairs are not compared: campaigns' files have none, and `pct coverage --json` has");
    for (unsigned side = 0; side < SIDES; side++)
        if (w->side[side].idioms < PCT_IDIOMS)
            pct_cli_say("%s: an earlier version made it, which looked for idioms 1 to %u: others are not compared",
                        w->side[side].path, w->side[side].idioms);
    if (w->side[OLD].window != w->side[NEW].window)
        pct_cli_say("they were made with --window=%u and %u, so idioms 2 to 6 cannot be compared", w->side[OLD].window,
                    w->side[NEW].window);
    say_next(w);
}

int pct_coverage_diff_command(int argc, char **argv)
{
    struct diff w = { .json = false };
    char name[] = "pct coverage diff";
    argv[0] = name;
    pct_parse(&argp, argc, argv, PCT_PARSE_ALL, &w);
    int status = pct_covered_read(&w.side[OLD], &w.places[OLD]);
    if (!status)
        status = pct_covered_read(&w.side[NEW], &w.places[NEW]);
    if (!status && match_places(&w))
        status = pct_cli_no_memory("");
    if (!status && w.json)
        status = print_json(&w);
    if (!status && !w.json)
        print_text(&w);
    if (!status)
        say_summary(&w);
    for (unsigned side = 0; side < SIDES; side++) {
        pct_covered_free(&w.side[side]);
        pct_access_places_free(&w.places[side]);
        free(w.same[side]);
    }
    return status;
}
