/* Which iRoot a directed run is to force, and how: see directed_state.h and directed.h. */
#include "directed_state.h"
#include "directed.h"
#include <cli/base/cli.h>
#include <pct/random.h>
#include <stdlib.h>
#include <strategies/iroot.h>
#include <strategies/strategies.h>
#include <string.h>

enum { SATURATED = 3 };
enum { TRIES_BY_CHANCE = 2 /* of an iRoot that another run has exposed: the first two ways */ };
/* This many tries, the first ones, follow no other run; but the second one does where one had an exact chance. */
enum { ALONE = 2, EXACT_TRY = 1 };
enum { EACH = 3 /* one run in this many is a profile run, at first */, AHEAD = 16 /* runs, at most */ };
enum { EACH_AGAIN = 4 /* likewise, when nothing but the last idiom is left to be tried */ };
/* One turn in three is for idioms of four accesses first. All but idiom 1 are spread over their dependencies: those go
 * first of which fewer have begun, by steps of SPREAD. */
enum { EACH_LONGER = 3, FIRST_OF_FOUR = 4, FIRST_SPREAD = 2, SPREAD = 4, MOST_SPREAD = INT16_MAX };
/* The parameter `order` (strategies/maple.c). */
enum { RANDOM, OLDEST, YOUNGEST, MAIN, CHANGING, EAGER, LOOSE, EAGER_LOOSE, PATIENT, GOES_ON, AWAITS };

uint64_t pct_directed_known_by(const struct pct_directed *d, uint64_t index)
{
    uint64_t ahead = index / AHEAD;
    return index - (ahead < AHEAD || d->part ? ahead : AHEAD - 1);
}

/* Room for `count` in a table that has `room`; what is new there is zero. False: there is no memory. */
static bool grow(void **table, size_t *room, size_t count, size_t size)
{
    if (count <= *room)
        return true;
    const size_t more = 2 * count;
    char *larger = realloc(*table, more * size);
    if (!larger)
        return false;
    memset(larger + *room * size, 0, (more - *room) * size);
    *table = larger;
    *room = more;
    return true;
}

#define GROW(d, table, room, count) grow((void **)&(d)->table, &(d)->room, count, sizeof *(d)->table)

bool pct_directed_make_room(struct pct_directed *d, uint64_t runs)
{
    return GROW(d, upto, uptos, runs + 1) && GROW(d, run, room, runs + 1) &&
           GROW(d, candidate, candidates, d->sets.predicted.count) && GROW(d, further, furthers, d->sets.guessed.count);
}

bool pct_directed_is_profile_run(const struct pct_directed *d, uint64_t index)
{
    return d->run[index].forces == SIZE_MAX;
}

/* Of the last idiom, which no bug of the paper's is: its iRoots are tried when nothing else is left to be. */
static bool is_extra(const struct pct_iroot *root)
{
    return root->idiom == PCT_IDIOMS;
}

static bool predicts_new(const struct pct_directed *d, uint64_t run)
{
    for (size_t i = d->upto[run - 1]; i < d->upto[run]; i++)
        if (!is_extra(d->sets.predicted.item[i]))
            return true;
    return false;
}

bool pct_directed_is_profiled(const struct pct_directed *d, uint64_t known)
{
    unsigned nothing_new = 0;
    for (uint64_t run = known; run && nothing_new < SATURATED; run--) {
        if (!pct_directed_is_profile_run(d, run - 1) || !d->run[run - 1].looked)
            continue;
        if (predicts_new(d, run))
            return false;
        nothing_new++;
    }
    return nothing_new == SATURATED;
}

static bool is_by(const struct pct_iroot *exposed, uint64_t known)
{
    return exposed && exposed->first <= known;
}

/* Of this kind, of the first `known` runs. */
static uint32_t count_chances(const struct pct_iroot *root, unsigned kind, uint64_t known)
{
    uint32_t count = 0;
    while (count < root->chances[kind] && root->chance[kind][count].run <= known)
        count++;
    return count;
}

/* Of these chances, the one that changes least; of several the first. */
static uint32_t find_least(const struct pct_iroot *root, unsigned kind, uint32_t chances)
{
    uint32_t least = 0;
    for (uint32_t i = 1; i < chances; i++)
        if (root->chance[kind][i].changes < root->chance[kind][least].changes)
            least = i;
    return least;
}

/* Whether one of the first `known` runs had a chance behind which all reads see what they saw there. */
static bool has_exact_chance(const struct pct_iroot *root, uint64_t known)
{
    for (unsigned kind = 0; kind < 2; kind++) {
        const uint32_t chances = count_chances(root, kind, known);
        if (chances && !root->chance[kind][find_least(root, kind, chances)].changes)
            return true;
    }
    return false;
}

/* Where the candidate stands in the queue: lower goes first; longer: first those of four accesses, as many a bug needs
 * them. The other order of one that was seen often is what programs do not expect. Behind these come those that runs
 * have exposed that were to do something else: what else had happened there may have hidden a bug, and most so of those
 * of many accesses, and of those that came late: they are rare. A second try that is known to expose it goes with the
 * first tries of others. */
static uint64_t rank_of(const struct pct_directed *d, size_t i, bool longer, uint64_t known)
{
    const struct pct_candidate *candidate = &d->candidate[i];
    const uint32_t idiom = d->sets.predicted.item[i]->idiom;
    const uint64_t last = (uint64_t)is_extra(d->sets.predicted.item[i]) << 62;
    bool usual = !is_by(candidate->reverse, known);
    const uint32_t kin = idiom >= FIRST_SPREAD ? pct_directed_kin(d, d->sets.predicted.item[i]) / SPREAD : 0;
    if (is_by(candidate->exposed, known)) {
        const uint64_t first = candidate->exposed->first, late = first < UINT16_MAX ? UINT16_MAX - first : 0;
        return UINT64_C(1) << 61 | last | (uint64_t)candidate->tries << 48 | (uint64_t)(PCT_IDIOMS - idiom) << 40 |
               late << 24 | i;
    }
    const uint64_t behind = longer && idiom < FIRST_OF_FOUR;
    const bool sure = candidate->tries == EXACT_TRY && has_exact_chance(d->sets.predicted.item[i], known);
    return last | (uint64_t)(candidate->tries - sure) << 48 | behind << 47 | (uint64_t)idiom << 40 |
           (uint64_t)usual << 39 | (uint64_t)(kin < MOST_SPREAD ? kin : MOST_SPREAD) << 24 | i;
}

const char *pct_directed_format(char *text, const struct pct_iroot_sets *sets, const struct pct_iroot *root)
{
    size_t length = (size_t)snprintf(text, PCT_DIRECTED_TEXT, "%u", root->idiom);
    for (unsigned k = 0; k < pct_idiom_accesses(root->idiom) && length < PCT_DIRECTED_TEXT; k++) {
        const struct pct_access_place *place = sets->places.item[root->place[k] - 1];
        length += (size_t)snprintf(text + length, PCT_DIRECTED_TEXT - length, "-%u.%08x", place->op, place->code);
    }
    return text;
}

static bool has(const struct pct_directed *d, uint32_t idiom, const uint32_t first[2], const uint32_t second[2])
{
    struct pct_iroot root = { .idiom = idiom };
    char text[PCT_DIRECTED_TEXT];
    for (unsigned i = 0; i < 2; i++) {
        root.place[i] = first[i];
        root.place[2 + i] = second[i];
    }
    return pct_memo_has(&d->memo, pct_directed_format(text, &d->sets, &root));
}

bool pct_directed_is_known(const struct pct_directed *d, const struct pct_iroot *root)
{
    static const uint32_t none[2];
    const uint32_t *first = root->place, *second = root->place + 2;
    if (root->idiom > PCT_IDIOMS)
        return has(d, 1, first, none) && has(d, 1, second, none);
    return has(d, root->idiom, first, second) || (root->idiom == 5 && has(d, 5, second, first));
}

static void look_up(struct pct_directed *d, size_t i)
{
    struct pct_candidate *candidate = &d->candidate[i];
    const struct pct_iroot *root = d->sets.predicted.item[i];
    if (candidate->state == PCT_CANDIDATE_NEW)
        candidate->state = d->memo.count && pct_directed_is_known(d, root) ? PCT_CANDIDATE_KNOWN : PCT_CANDIDATE_OPEN;
    if (!candidate->exposed)
        candidate->exposed = pct_iroots_find_either(&d->sets.exposed, root);
    if (candidate->reverse || root->idiom != 1)
        return;
    const struct pct_iroot reverse = { .idiom = 1, .place = { root->place[1], root->place[0] } };
    candidate->reverse = pct_iroots_find(&d->sets.exposed, &reverse);
}

bool pct_directed_is_left(struct pct_directed *d, size_t i)
{
    const struct pct_candidate *candidate = &d->candidate[i];
    look_up(d, i);
    return !candidate->exposed && candidate->state != PCT_CANDIDATE_KNOWN && candidate->tried < PCT_DIRECTED_TRIES;
}

/* How often this candidate is tried at most. */
static uint32_t tries_of(const struct pct_directed *d, size_t i, uint64_t known)
{
    const struct pct_candidate *candidate = &d->candidate[i];
    if (candidate->state == PCT_CANDIDATE_KNOWN)
        return 0;
    if (!is_by(candidate->exposed, known))
        return PCT_DIRECTED_TRIES;
    const struct pct_directed_run *by = &d->run[candidate->exposed->first - 1];
    return by->forces == i && !by->further ? 0 : TRIES_BY_CHANCE;
}

/* The candidate that is to be tried next; SIZE_MAX: there is none. Those of the last idiom have one run in four, as
 * bugs that need more than one iRoot come by what choose_again() draws. */
static size_t choose(struct pct_directed *d, uint64_t index, uint64_t known)
{
    const bool all = index % EACH_AGAIN == 1 && pct_directed_is_profiled(d, known);
    const bool longer = index % EACH_LONGER == EACH_LONGER - 1;
    size_t best = SIZE_MAX;
    uint64_t lowest = UINT64_MAX;
    for (size_t i = 0; i < d->upto[known]; i++) {
        look_up(d, i);
        uint64_t rank = rank_of(d, i, longer, known);
        if (d->candidate[i].tries >= tries_of(d, i, known) || rank >= lowest ||
            (is_extra(d->sets.predicted.item[i]) && !all))
            continue;
        best = i;
        lowest = rank;
    }
    return best;
}

/* When nothing is left to be tried: one of all, drawn, to be forced once more. Where threads go behind some of its
 * accesses, or while it cannot be made, a bug may be that needs more than one iRoot, or more than two threads: of the
 * runs of producer-consumer 2 % are, and 0.1 % of its profile runs. SIZE_MAX: it is a profile run's turn, or there is
 * none. */
static size_t choose_again(const struct pct_directed *d, uint64_t index, uint64_t seed, uint64_t known)
{
    size_t count = 0, last = SIZE_MAX;
    if (index % EACH_AGAIN == 0 || !pct_directed_is_profiled(d, known))
        return SIZE_MAX;
    for (size_t i = 0; i < d->upto[known]; i++) {
        if (d->candidate[i].state == PCT_CANDIDATE_KNOWN)
            continue;
        count++;
        if (pct_random_below(seed, PCT_STREAM_CHOOSE, count, count) == 0)
            last = i;
    }
    return last;
}

static bool is_profile_turn(const struct pct_directed *d, uint64_t index, uint64_t known)
{
    uint64_t since = 0;
    while (since < index && !pct_directed_is_profile_run(d, index - 1 - since))
        since++;
    return since == index || (since >= EACH - 1 && !pct_directed_is_profiled(d, known));
}

/* How a run follows another one. */
struct way {
    enum { LEAST, OTHER, LAST } chance;
    enum pct_iroot_behind behind;
    uint8_t order;
    bool counts; /* the accesses are those of the run that had the chance: where all reads see what they saw there, step
                    by step; else by the visits to their places */
};

/* "s3.0.7.2." if it is known how the accesses are made behind that, else "n3.1.": the visits. */
static void format_start(char *text, size_t size, const struct pct_iroot *root, const struct pct_iroot_chance *chance)
{
    const bool known = !chance->changes;
    const uint8_t *number = known ? chance->segment : chance->visit;
    unsigned count = known ? PCT_IROOT_SEGMENTS : pct_idiom_accesses(root->idiom);
    while (known && count > 1 && !number[count - 1])
        count--;
    size_t length = known ? (size_t)snprintf(text, size, "s%u.", count) : (size_t)snprintf(text, size, "n");
    for (unsigned i = 0; i < count; i++)
        length += (size_t)snprintf(text + length, size - length, "%u.", number[i]);
}

/* Complete the list of a run that forces this candidate: up to where another run, which was looked at, had a chance of
 * it, it is that run. False: there is no such place, or the list would be too long. */
static bool follow(const struct pct_directed *d, const struct pct_iroot *root, const struct pct_iroot_chance *chance,
                   enum pct_iroot_behind behind, bool counts, char *list, struct pct_directed_run *run)
{
    const uint64_t step = chance->step[behind];
    uint64_t number = chance->run;
    while (d->run[number - 1].followed && step <= d->run[number - 1].upto)
        number = d->run[number - 1].followed; /* what it followed is what it was there */
    const struct pct_directed_run *followed = &d->run[number - 1];
    const size_t length = strlen(list), room = PCT_LIST_MAX - length;
    char start[(PCT_IROOT_SEGMENTS + 1) * sizeof "255."] = "x";
    if (!step || step > UINT32_MAX || followed->phases == PCT_IROOT_PHASES)
        return false;
    if (counts)
        format_start(start, sizeof start, root, chance);
    int more =
        snprintf(list + length, room, "-%s%llu.%u.%u.%u.%u.%llx%s%s", start, (unsigned long long)step,
                 chance->thread[0], chance->thread[1], chance->first, followed->order,
                 (unsigned long long)followed->seed, followed->list ? "-" : "", followed->list ? followed->list : "");
    if ((size_t)more >= room) {
        list[length] = 0;
        return false;
    }
    run->phases = followed->phases + 1;
    run->followed = number;
    run->upto = step;
    return true;
}

/* Likewise, a run that had one of the chances: of those that are known, the one that changes least, or the last, or
 * (OTHER) the best of the other kind, and behind this. Where there is no such chance or place, another one. */
static bool follow_any(const struct pct_directed *d, const struct pct_iroot *root, const struct way *way,
                       uint64_t known, char *list, struct pct_directed_run *run)
{
    const uint32_t both[2] = { count_chances(root, 0, known), count_chances(root, 1, known) };
    const uint32_t least[2] = { find_least(root, 0, both[0]), find_least(root, 1, both[1]) };
    unsigned kind = !both[0] || (both[1] && root->chance[1][least[1]].changes < root->chance[0][least[0]].changes);
    const bool other = way->chance == OTHER && both[!kind];
    kind ^= other;
    const uint32_t chances = both[kind];
    uint32_t first = least[kind];
    if (way->chance == LAST && chances)
        first = chances - 1;
    else if (way->chance == OTHER && !other)
        first++;
    for (uint32_t i = 0; i < chances; i++)
        for (unsigned k = 0; k < PCT_BEHINDS; k++) {
            const enum pct_iroot_behind behind = (way->behind + k) % PCT_BEHINDS;
            const struct pct_iroot_chance *chance = &root->chance[kind][(first + i) % chances];
            if (follow(d, root, chance, behind, way->counts && behind == PCT_BEHIND_NEXT, list, run))
                return true;
        }
    return false;
}

/* Whether a try of this number follows another run, if it can. */
static bool follows_now(const struct pct_candidate *candidate, uint32_t try, bool exact)
{
    if (candidate->follows == PCT_DIRECTED_TRIES - ALONE)
        return false;
    if (try < ALONE)
        return try == EXACT_TRY && exact;
    return !candidate->follows || candidate->alone >= ALONE;
}

static void force(struct pct_directed *d, size_t i, uint64_t known, char *list, struct pct_directed_run *run)
{
    static const uint8_t orders[PCT_DIRECTED_TRIES] = { OLDEST, YOUNGEST, MAIN, EAGER_LOOSE, CHANGING, EAGER };
    static const struct way ways[PCT_DIRECTED_TRIES - ALONE] = { { LEAST, PCT_BEHIND_NEXT, PATIENT, true },
                                                                 { OTHER, PCT_BEHIND_NEXT, PATIENT, true },
                                                                 { LAST, PCT_BEHIND_NEXT, GOES_ON, false },
                                                                 { LEAST, PCT_BEHIND_WRITE, LOOSE, false } };
    const struct pct_iroot *root = d->sets.predicted.item[i];
    struct pct_candidate *candidate = &d->candidate[i];
    const bool again = candidate->tries >= tries_of(d, i, known);
    const uint32_t try = candidate->tries++;
    if (!try)
        pct_directed_begin_kin(d, root);
    candidate->younger |= try == 0 && pct_directed_begins_younger(d, root);
    pct_directed_format(list, &d->sets, root);
    /* Of many that were exposed by chance, half begin with the one of the two complementary orders, half with the
     * other. */
    if (again)
        run->order = CHANGING + (uint32_t)pct_random_below(run->seed, PCT_STREAM_ORDER, 0, PATIENT - CHANGING);
    else if (is_by(candidate->exposed, known))
        run->order = orders[(candidate->younger + try) % TRIES_BY_CHANCE];
    else if (follows_now(candidate, try, has_exact_chance(root, known)) &&
             follow_any(d, root, &ways[candidate->follows], known, list, run))
        run->order = ways[candidate->follows].order;
    else if (candidate->alone < ALONE)
        run->order = orders[(candidate->younger + candidate->alone++) % ALONE];
    else
        run->order = orders[candidate->alone++];
    /* Where something comes from outside, the first two tries wait for that (Maple, 4.6). */
    if (run->phases == 1 && try < ALONE && !again && d->outside && d->outside <= known)
        run->order += AWAITS - OLDEST;
    candidate->follows += run->phases > 1;
}

static void keep(struct pct_directed *d, uint64_t index, const struct pct_directed_run *run)
{
    if (index < d->decided)
        free(d->run[index].list);
    else
        d->decided = index + 1;
    d->run[index] = *run;
}

/* The run of this number, the next one, is to force this candidate (SIZE_MAX: none; further: a guessed pattern), by
 * what is known of this many runs: make this, which is a profile run's, its configuration. False: there is no memory.
 */
static bool decide_run(struct pct_directed *d, uint64_t index, size_t candidate, bool further, uint64_t known,
                       struct pct_config *config)
{
    const int order = pct_cli_strategy_parameter(&pct_strategy_maple, "order");
    struct pct_directed_run run = {
        .forces = candidate,
        .further = further,
        .looked = true,
        .seed = config->run.seed,
        .order = (uint32_t)config->run.param[order],
        .phases = 1,
    };
    if (!pct_directed_make_room(d, index))
        return false;
    if (candidate != SIZE_MAX) {
        if (further) {
            pct_directed_format(config->list, &d->sets, d->sets.guessed.item[candidate]);
            run.order = pct_further_order(&d->further[candidate]);
        } else {
            force(d, candidate, known, config->list, &run);
        }
        config->run.param[order] = run.order;
        run.list = strdup(config->list);
        if (!run.list)
            return false;
    }
    keep(d, index, &run);
    return true;
}

bool pct_directed_decide(struct pct_directed *d, uint64_t index, size_t candidate, uint64_t known,
                         struct pct_config *config)
{
    return decide_run(d, index, candidate, false, known, config);
}

bool pct_directed_draw(struct pct_directed *d, uint64_t index, uint64_t seed, bool looked)
{
    const struct pct_directed_run run = { .forces = SIZE_MAX, .looked = looked, .seed = seed, .phases = 1 };
    if (!pct_directed_make_room(d, index))
        return false;
    keep(d, index, &run);
    return true;
}

static bool is_fresh(const struct pct_directed *d, size_t candidate, uint64_t known)
{
    return candidate != SIZE_MAX && !d->candidate[candidate].tries && !is_by(d->candidate[candidate].exposed, known);
}

bool pct_directed_choose(struct pct_directed *d, uint64_t index, bool fresh, struct pct_config *config)
{
    const uint64_t known = pct_directed_known_by(d, index), turn = d->part ? d->turns++ : index;
    size_t candidate = SIZE_MAX;
    bool further = false;
    if (d->part || !is_profile_turn(d, index, known)) {
        candidate = choose(d, turn, known);
        if (fresh && !is_fresh(d, candidate, known))
            return decide_run(d, index, SIZE_MAX, false, known, config);
        further = candidate == SIZE_MAX && pct_further_is_turn(d, turn) && pct_directed_is_profiled(d, known);
        if (further)
            candidate = pct_further_choose(d, known);
        further &= candidate != SIZE_MAX;
        if (candidate == SIZE_MAX && !d->part)
            candidate = choose_again(d, index, config->run.seed, known);
    }
    return decide_run(d, index, candidate, further, known, config);
}
