/* Recall of the strategy maple: of the iRoots that some schedule of a small program exposes, how many it does.
 *
 *     build/bench/maple/measure [--why | --chess] [OPTION...] -- COMMAND [ARGUMENT...]
 *
 * 1. All classes of schedules, as `pct explore` makes them: what their traces expose is possible, all else is not.
 * 2. Profile runs, until three of them bring nothing new; then each of those is forced in six runs, as a campaign's six
 *    tries are: all once before any is tried again, and by what all runs before have shown.
 * 3. A campaign, with --until-saturated.
 *
 * Prints a line: classes, possible iRoots, those forced in the first run and in six runs, those that the campaign
 * exposed, its runs, how many of its predictions were possible, how many not; what 2 and 3 exposed that no class does:
 * false words; and of each idiom, how many are possible, and how many of these were forced in six runs. The exit
 * status is 1 if there is such a thing, and 119 if not all was explored. --why lists what was missed on standard error.
 * --chess prints instead how many runs `pct explore --bound 2` makes, up to CURVE, and in which of them each iRoot came
 * first, by lines.
 * Called by bench/maple/recall. */
#include <argp.h>
#include <cli/base/cli.h>
#include <cli/campaign/directed_state.h>
#include <cli/command/configure.h>
#include <cli/command/iroot_print.h>
#include <cli/explore/keep.h>
#include <cli/process/options.h>
#include <cli/trace/predict.h>
#include <cli/trace/reordering.h>
#include <errno.h>
#include <pct/operations.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_WHY = 2900, KEY_CHESS };
enum {
    CHESS = 2 /* preemptions */,
    CURVE = 200 /* runs of it */,
    STEPS = 20000,
    MOST = 20000 /* runs of the campaign */,
    SATURATED = 100
};

struct measure {
    struct pct_campaign_observer observer; /* the first member */
    struct pct_launch launch;              /* as the words say */
    struct pct_run_options schedules;
    bool ok[256]; /* of the words; all runs count */
    struct pct_access_places places;
    struct pct_iroots all; /* that explored runs have exposed; of these, by what other runs have as points, too: */
    struct pct_iroots possible, by_force, by_campaign, predicted;
    struct pct_iroots *into;      /* one of the first three */
    struct pct_directed directed; /* part 2: its candidates are the possible ones */
    struct pct_iroots shown;      /* what its runs have predicted */
    uint64_t profiles;            /* of its runs: profile runs */
    unsigned nothing_new;         /* of these, the last ones, that have shown nothing new */
    uint32_t *try;                /* of each possible one: the run of its own six that exposed it, from 1; 0: none */
    uint64_t runs;
    bool why, chess, spins; /* --why; --chess; explored runs have had loops that wait */
    int (*looked)(struct pct_campaign_observer *observer, struct pct_campaign *c, struct pct_process *process,
                  const struct pct_result *result, bool failed, bool *hold); /* the explorer's own */
};

static struct measure m;

/* --- Part 2 ------------------------------------------------------------------------------------------------------- */

static bool profiles(void)
{
    return m.nothing_new < 3;
}

/* The roles are the other way round: a segment more or less comes before the others. */
static void swap_segments(struct pct_iroot_chance *chance)
{
    enum { REST = (PCT_IROOT_SEGMENTS - 1) * sizeof *chance->segment };
    uint8_t *segment = chance->segment, *last = &segment[PCT_IROOT_SEGMENTS - 1];
    if (!segment[0]) {
        memmove(segment, segment + 1, REST);
        *last = 0;
    } else if (!*last) {
        memmove(segment + 1, segment, REST);
        segment[0] = 0;
    } else {
        chance->changes = PCT_REORDERING_NONE;
    }
}

/* Chances that runs have shown, as those of the candidate. */
static void take_chances(struct pct_iroot *root)
{
    const struct pct_iroot *shown = pct_iroots_find_either(&m.shown, root);
    bool swapped = shown && memcmp(shown->place, root->place, sizeof root->place) != 0;
    for (unsigned kind = 0; shown && kind < 2; kind++)
        for (uint32_t *count = &root->chances[kind]; *count < shown->chances[kind ^ swapped]; ++*count) {
            const struct pct_iroot_chance *chance = &shown->chance[kind ^ swapped][*count];
            struct pct_iroot_chance *own = &root->chance[kind][*count];
            *own = *chance;
            own->first = kind;
            if (swapped)
                swap_segments(own);
            for (unsigned i = 0; swapped && i < PCT_IROOT_PLACES; i++)
                own->visit[i] = chance->visit[(i + 2) % PCT_IROOT_PLACES];
            for (unsigned i = 0; swapped && i < 2; i++)
                own->thread[i] = chance->thread[!i];
        }
}

/* What came of a run of this part: of which the last one is m.runs. */
static int take_try(const struct pct_trace *trace, const struct pct_access *accesses, size_t count)
{
    struct pct_iroots these = { .count = 0 };
    struct pct_directed *d = &m.directed;
    d->sets.places = m.places;
    const size_t own = d->run[m.runs - 1].forces, before = m.shown.count;
    int failed = pct_iroots_add(&these, NULL, accesses, count, PCT_DIRECTED_WINDOW, 1);
    if (!failed)
        failed = pct_predict_add(&m.shown, trace, accesses, count, PCT_DIRECTED_WINDOW, m.runs);
    if (own == SIZE_MAX) {
        m.profiles++;
        m.nothing_new = m.shown.count > before ? 0 : m.nothing_new + 1;
    } else if (!m.try[own] && pct_iroots_find_either(&these, m.possible.item[own])) {
        m.try[own] = d->candidate[own].tries;
    }
    for (size_t i = 0; i < d->sets.predicted.count; i++)
        take_chances(d->sets.predicted.item[i]);
    pct_iroots_free(&these);
    return failed;
}

static int next(struct pct_campaign_observer *observer, struct pct_campaign *c, struct pct_run_spec *spec)
{
    const uint64_t index = spec->index;
    (void)observer, (void)c;
    if (m.runs < index)
        return PCT_RUNS_WAIT;
    size_t own = profiles() ? SIZE_MAX : (index - m.profiles) % m.possible.count;
    if (own != SIZE_MAX && (index - m.profiles) / m.possible.count >= PCT_DIRECTED_TRIES)
        return PCT_RUNS_ENOUGH;
    return pct_directed_decide(&m.directed, index, own, m.runs, &spec->config) ? PCT_RUNS_ON : pct_cli_no_memory("");
}

static int prepare_tries(void)
{
    struct pct_directed *d = &m.directed;
    d->sets.places = m.places;
    d->candidate = calloc(m.possible.count + 1, sizeof *d->candidate);
    m.try = calloc(m.possible.count + 1, sizeof *m.try);
    int failed = d->candidate && m.try ? 0 : -ENOMEM;
    for (size_t i = 0; i < m.possible.count && !failed; i++) {
        const struct pct_iroot *root = m.possible.item[i];
        struct pct_iroot wanted = { .idiom = root->idiom };
        memcpy(wanted.place, root->place, sizeof wanted.place);
        failed = pct_iroots_insert(&d->sets.predicted, &wanted, 1);
    }
    return failed ? pct_cli_no_memory("") : 0;
}

/* --- What a run exposes ------------------------------------------------------------------------------------------- */

/* Take away what cannot be waited for, as cli/campaign/directed.c does, and memory accesses of a thread that is alone:
 * only in explored runs these are points. (Who is alone differs within a class: what is impossible, m.all says.) */
static size_t filter(const struct pct_trace *trace, struct pct_access *accesses, size_t count)
{
    size_t kept = 0;
    uint64_t at = 0;
    int live = 1;
    for (size_t i = 0; i < count; i++) {
        for (; at < accesses[i].index; at++)
            live += (PCT_RECORD_OP(trace->records[at]) == PCT_OP_THREAD_CREATE) -
                    (PCT_RECORD_OP(trace->records[at]) == PCT_OP_THREAD_FINISH);
        if ((m.chess || m.places.item[accesses[i].place - 1]->code) &&
            (live > 1 || !pct_operation_accesses(accesses[i].op)))
            accesses[kept++] = accesses[i];
    }
    return kept;
}

static int look_at(const struct pct_result *result)
{
    struct pct_access *accesses;
    size_t count;
    int failed = pct_accesses_read(&m.places, &result->trace, &accesses, &count);
    if (!failed && m.into == &m.possible)
        failed = pct_iroots_add(&m.all, NULL, accesses, count, PCT_DIRECTED_WINDOW, m.runs + 1);
    const size_t kept = failed ? 0 : filter(&result->trace, accesses, count);
    m.runs++;
    m.spins |= m.into == &m.possible && result->trace.header.spins;
    if (!failed)
        failed = pct_iroots_add(m.into, NULL, accesses, kept, PCT_DIRECTED_WINDOW, m.runs);
    if (!failed && m.into == &m.by_force)
        failed = take_try(&result->trace, accesses, kept);
    if (!failed && m.into == &m.by_campaign)
        failed = pct_predict_add(&m.predicted, &result->trace, accesses, kept, PCT_DIRECTED_WINDOW, m.runs);
    free(accesses);
    return failed && failed != -ENODATA ? pct_cli_no_memory("") : 0;
}

static int looked(struct pct_campaign_observer *observer, struct pct_campaign *c, struct pct_process *process,
                  const struct pct_result *result, bool failed, bool *hold)
{
    int status = look_at(result);
    if (!status && m.chess && m.runs == CURVE)
        return PCT_RUNS_ENOUGH;
    if (!status && m.into == &m.by_campaign && pct_directed_is_saturated(c))
        return PCT_RUNS_ENOUGH;
    return status || !m.looked ? status : m.looked(observer, c, process, result, failed, hold);
}

/* --- The three parts ---------------------------------------------------------------------------------------------- */

static void begin(struct pct_campaign *c, struct pct_iroots *into)
{
    c->launch = m.launch;
    c->jobs = c->stride = c->runs = 1;
    c->ok[0] = true;
    m.into = into;
    m.runs = 0;
}

/* The exit status that `pct explore` would have, but that of a finding is 0. */
static int explore(uint64_t *classes)
{
    static struct pct_campaign c; /* large */
    static struct pct_explorer e = { .bound = PCT_UNBOUNDED, .quiet = true, .tells = true };
    static struct pct_explorer_keep keep;
    struct pct_run_options schedules = m.schedules;
    e.bound = m.chess ? CHESS : e.bound;
    begin(&c, &m.possible);
    keep.oracle.ok = c.ok;
    e.keep = &keep;
    int status = pct_oracle_prepare(&keep.oracle);
    if (!status)
        status = pct_configure_own(&c, &schedules, "explore");
    c.config.max_steps = STEPS;
    if (!status)
        status = pct_explorer_open(&e, &c);
    if (status)
        return status;
    m.looked = e.observer.looked;
    e.observer.looked = looked;
    c.launch.sites = "on";
    pct_forking_plan(&c.launch, true, false, c.config.strategy);
    status = pct_launch_prepare(&c.launch);
    if (!status)
        status = pct_explorer_run(&e, &c);
    if (!status)
        status = pct_explorer_verdict(&e, &c, 0);
    *classes = pct_search_facts(e.search)->classes;
    if ((!status || status == 1) && (m.spins || pct_search_facts(e.search)->awaited)) {
        pct_cli_say("pct explore leaves out further rounds of loops that wait, which expose more");
        status = PCT_EXIT_CONFIDENCE;
    }
    pct_campaign_close(&c);
    pct_launch_finish(&c.launch);
    pct_explorer_close(&e);
    pct_explorer_keep_close(&keep);
    m.looked = NULL;
    return status == 1 ? 0 : status;
}

static int run_maple(struct pct_campaign *c, struct pct_iroots *into, uint64_t runs, bool directed)
{
    struct pct_run_options schedules = m.schedules;
    bool drawn;
    begin(c, into);
    schedules.strategy = "maple";
    schedules.seed = "1";
    schedules.memory_points = "all"; /* as explored runs have them */
    int status = pct_configure(c, &schedules, &drawn);
    if (status)
        return status;
    m.observer = (struct pct_campaign_observer){ .looked = looked };
    m.observer.next = directed ? NULL : next;
    c->observer = &m.observer;
    c->runs = runs;
    c->keep_going = true;
    c->may_sample = false;
    c->launch.sites = "on";
    c->until_saturated = directed ? SATURATED : 0;
    pct_forking_plan(&c->launch, true, false, c->config.strategy);
    status = directed ? pct_directed_begin(c) : 0;
    if (!status)
        status = pct_launch_prepare(&c->launch);
    if (!status)
        status = pct_campaign_run(c);
    pct_campaign_close(c);
    pct_launch_finish(&c->launch);
    return status;
}

/* --- What came of it ---------------------------------------------------------------------------------------------- */

/* Of idiom 5, either dependency may be the first: whether this one is not in the set twice, or the first of the two. */
static bool counts(const struct pct_iroots *roots, size_t i)
{
    return pct_iroots_find_either(roots, roots->item[i]) == roots->item[i];
}

static void say(const char *what, const struct pct_iroot *root)
{
    const struct pct_iroot_sets sets = { .places = m.places };
    char text[PCT_DIRECTED_TEXT];
    if (!m.why)
        return;
    fprintf(stderr, "%s: %s  ", what, pct_directed_format(text, &sets, root));
    pct_iroot_print(stderr, &m.places, root);
    fputc('\n', stderr);
}

/* How many of these are in the other set, or are not; the others are listed if they have a title. */
static size_t count(const struct pct_iroots *those, const struct pct_iroots *others, bool in, const char *title)
{
    size_t found = 0;
    for (size_t i = 0; i < those->count; i++) {
        if (!counts(those, i))
            continue;
        bool is = (pct_iroots_find_either(others, those->item[i]) != NULL) == in;
        found += is;
        if (title && is != in)
            say(title, those->item[i]);
    }
    return found;
}

static int print(uint64_t classes, uint64_t campaign)
{
    size_t all = 0, tries[PCT_DIRECTED_TRIES + 1] = { 0 }, by_idiom[PCT_IDIOMS][2] = { { 0 } };
    for (size_t i = 0; i < m.possible.count; i++) {
        if (!counts(&m.possible, i))
            continue;
        all++;
        tries[m.try[i]]++;
        by_idiom[m.possible.item[i]->idiom - 1][0]++;
        by_idiom[m.possible.item[i]->idiom - 1][1] += m.try[i] != 0;
        if (!m.try[i]) {
            say("not in six tries", m.possible.item[i]);
            for (uint64_t k = 0; m.why && k < m.directed.decided; k++)
                if (m.directed.run[k].forces == i)
                    fprintf(stderr, "    order %u %s\n", m.directed.run[k].order, m.directed.run[k].list);
        }
    }
    size_t false_words = 0;
    for (size_t i = 0; i < 2; i++) {
        const struct pct_iroots *those = i ? &m.by_campaign : &m.by_force;
        for (size_t k = 0; k < those->count; k++)
            if (!pct_iroots_find_either(&m.all, those->item[k])) {
                say("impossible, and exposed", those->item[k]);
                false_words++;
            }
    }
    printf("%llu,%zu,%zu,%zu,%zu,%llu,%zu,%zu,%zu", (unsigned long long)classes, all, tries[1], all - tries[0],
           count(&m.possible, &m.by_campaign, true, "not in the campaign"), (unsigned long long)campaign,
           count(&m.predicted, &m.possible, true, NULL),
           count(&m.predicted, &m.possible, false, "predicted, and impossible"), false_words);
    for (unsigned i = 0; i < PCT_IDIOMS; i++)
        printf(",%zu,%zu", by_idiom[i][0], by_idiom[i][1]);
    putchar('\n');
    return false_words > 0;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    (void)argument;
    if (key == ARGP_KEY_INIT) {
        state->child_inputs[0] = &m.launch;
        state->child_inputs[1] = &m.schedules;
        state->child_inputs[2] = m.ok;
        return 0;
    }
    m.why |= key == KEY_WHY;
    m.chess |= key == KEY_CHESS;
    return key == KEY_WHY || key == KEY_CHESS ? 0 : pct_options_parse_command(key, state, &m.launch, state->name);
}

int main(int argc, char **argv)
{
    static const struct argp_option options[] = { { "why", KEY_WHY, NULL, 0, "list what was missed", 1 },
                                                  { "chess", KEY_CHESS, NULL, 0, "only with two preemptions", 1 },
                                                  { 0 } };
    static const struct argp_child children[] = { PCT_CONFIGURE_CHILDREN, { 0 } };
    const struct argp argp = { .options = options, .parser = parse, .children = children };
    static struct pct_campaign force, campaign; /* large */
    uint64_t classes = 0;
    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, NULL);
    m.places.by_instruction = !m.chess;
    int status = explore(&classes);
    if (m.chess) {
        printf("%llu", (unsigned long long)m.runs);
        for (size_t i = 0; i < m.possible.count; i++)
            printf(",%llu", (unsigned long long)m.possible.item[i]->first);
        putchar('\n');
        exit(status);
    }
    if (!status)
        status = prepare_tries();
    if (!status && m.possible.count)
        status = run_maple(&force, &m.by_force, MOST, false);
    if (!status)
        status = run_maple(&campaign, &m.by_campaign, MOST, true);
    if (!status)
        status = print(classes, m.runs);
    pct_iroots_free(&m.all);
    pct_iroots_free(&m.possible);
    pct_iroots_free(&m.by_force);
    pct_iroots_free(&m.by_campaign);
    pct_iroots_free(&m.predicted);
    pct_iroots_free(&m.shown);
    m.directed.sets.places = (struct pct_access_places){ .count = 0 }; /* m.places, which has grown */
    pct_directed_close(&m.directed);
    pct_access_places_free(&m.places);
    free(m.try);
    return status;
}
