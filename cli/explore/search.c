/* Optimal DPOR: see search.h. The tree is kept along the path of the last run: for each event a node, with the
 * sequences that are still to be tried in its place (a wakeup tree), and who sleeps there, because all that begins with
 * its event was tried.
 *
 * Which waiter a signal wakes is a choice of the thread that signals: its event has several alternatives, all tried one
 * after the other before the thread goes to sleep. */
#include "search.h"
#include "bounded.h"
#include "dependence.h"
#include "divided.h"
#include "footprints.h"
#include "order.h"
#include "path_events.h"
#include "next_plan.h"
#include "polling.h"
#include "same.h"
#include "wakeup.h"
#include <pct/operations.h>
#include <errno.h>
#include <pct/strategy.h>
#include <stdlib.h>
#include <string.h>

struct node {
    struct pct_branch *open;      /* what is to be tried in its place */
    struct pct_sleeper *sleepers; /* whose events were */
    uint32_t event;               /* that was made here in the last run: event_of() */
    bool alternatives;            /* all waiters that it may wake stand in `open`, or have been tried */
    bool asked;                   /* of it as the second one of a race, what comes behind it decides, too */
};

struct pct_search {
    struct pct_search_facts facts;
    struct node *node;
    struct pct_sleeper **held_at; /* by node, of a part: who may not go on there: search.h, pct_search_new_part() */
    uint32_t count, room;
    struct pct_path_events events; /* of the nodes */
    uint32_t from;                 /* nodes from here on are new in the next run */
    uint32_t root;                 /* nothing is tried in the place of the nodes before this one */
    struct pct_sleeper *held;      /* behind them */
    uint32_t instead;           /* plus 1: the next run goes on with this thread where the last one was cut; 0: none */
    struct pct_branch *planned; /* what it is to do there */
    struct pct_next_plan plan, ahead;
    struct pct_endless endless;
    bool over;
    bool began; /* a run was asked for since the search has begun, perhaps again */
    bool part;
    struct pct_footprints footprints;
    struct pct_bounded *bounded; /* NULL: there is no bound */
    struct pct_divided *divided; /* NULL: it is not one of several shards */
};

struct pct_search *pct_search_new(int bound, enum pct_search_order order)
{
    struct pct_search *s = calloc(1, sizeof *s);
    if (!s || bound < 0)
        return s;
    s->bounded = pct_bounded_new((unsigned)bound, order == PCT_SEARCH_RANK);
    if (!s->bounded) {
        free(s);
        return NULL;
    }
    return s;
}

struct pct_search *pct_search_new_shard(unsigned shard, unsigned of, unsigned parts)
{
    struct pct_search *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->divided = pct_divided_new(shard, of, parts);
    if (!s->divided) {
        free(s);
        return NULL;
    }
    return s;
}

static struct pct_event *event_of(const struct pct_search *s, const struct node *node)
{
    return pct_path_event(&s->events, node->event);
}

/* Who may not go on at this node. */
static struct pct_sleeper *held_at(const struct pct_search *s, const struct node *node)
{
    return s->part ? s->held_at[node - s->node] : NULL;
}

static void free_nodes(struct pct_search *s, uint32_t from)
{
    for (uint32_t i = from; i < s->count; i++) {
        pct_wakeup_free(s->node[i].open);
        pct_sleepers_free(s->node[i].sleepers);
        pct_sleepers_free(held_at(s, &s->node[i]));
    }
    if (s->count <= from)
        return;
    s->events.end = s->node[from].event;
    s->count = from;
}

void pct_search_free(struct pct_search *s)
{
    if (!s)
        return;
    free_nodes(s, 0);
    pct_wakeup_free(s->planned);
    pct_sleepers_free(s->held);
    free(s->node);
    free(s->held_at);
    pct_path_free(&s->events);
    free(s->plan.step);
    free(s->ahead.step);
    pct_footprints_free(&s->footprints);
    pct_bounded_free(s->bounded);
    pct_divided_free(s->divided);
    free(s);
}

const struct pct_search_facts *pct_search_facts(const struct pct_search *s)
{
    return &s->facts;
}

/* The last event of the reversal is one more round of an endless loop that counts them, or tries what its thread has
 * tried in vain so often, at the same place, without doing anything else. */
static bool polls(const struct pct_search *s, const struct pct_reversal *r)
{
    const struct pct_event *try = &r->event[r->count - 1];
    uint32_t rounds = 0;
    if (pct_endless_has(&s->endless, try))
        return true;
    bool more = pct_operation_tries(try->op);
    for (uint32_t i = r->base + r->count - 1; more && i--;)
        more = pct_polling_back(i < r->base ? event_of(s, &s->node[i]) : &r->event[i - r->base], try, &rounds);
    return rounds == PCT_POLLING_FOLLOWED;
}

static int take_reversal(void *context, const struct pct_reversal *r)
{
    struct pct_search *s = context;
    if (r->base < s->root)
        return 0;
    if (polls(s, r)) {
        s->facts.untried++;
        s->facts.loop = r->event[r->count - 1].place;
        return 0;
    }
    const uint32_t count = r->count + r->rest;
    struct pct_event *sequence = malloc(count * sizeof *sequence);
    if (!sequence)
        return -ENOMEM;
    memcpy(sequence, r->event, count * sizeof *sequence);
    struct node *node = &s->node[r->base];
    int added = pct_wakeup_insert(&node->open, node->sleepers, held_at(s, node), sequence, count, r->count, r->known);
    free(sequence);
    if (added == PCT_WAKEUP_ASKS && r->second != PCT_NO_EVENT)
        s->node[r->second].asked = true;
    s->facts.open += added == 1;
    return added < 0 ? added : added == PCT_WAKEUP_ASKS ? PCT_REVERSAL_REST : 0;
}

/* The event of this node could wake others, too: that is to be tried, unless it is known already. */
static int add_alternatives(struct pct_search *s, struct node *node)
{
    const struct pct_event *event = event_of(s, node);
    if (node->alternatives || event->choices < 2)
        return 0;
    node->alternatives = true;
    for (uint16_t i = 0; i < event->choices; i++) {
        if (i == event->chosen)
            continue;
        struct pct_branch *b = node->open;
        while (b && (b->event.thread != event->thread || b->event.chosen != i))
            b = b->next;
        if (!b) {
            b = pct_wakeup_new(event);
            if (!b)
                return -ENOMEM;
            b->event.chosen = i;
            b->next = node->open;
            node->open = b;
            s->facts.open++;
        }
        b->alternative = true;
    }
    return 0;
}

/* --- The path --- */

/* Who sleeps, and who is held, at this new node. */
static int pass_to(struct pct_search *s, uint32_t index)
{
    struct node *node = &s->node[index];
    if (s->part && index <= s->root && pct_sleepers_pass(s->held, NULL, &s->held_at[index]))
        return -ENOMEM;
    if (!index)
        return 0;
    const struct node *before = &s->node[index - 1];
    if (pct_sleepers_pass(before->sleepers, event_of(s, before), &node->sleepers))
        return -ENOMEM;
    return s->part && index > s->root
               ? pct_sleepers_pass(s->held_at[index - 1], event_of(s, before), &s->held_at[index])
               : 0;
}

static bool sleeps(const struct node *node, uint32_t thread)
{
    return pct_sleepers_have(node->sleepers, thread);
}

static struct node *new_node(struct pct_search *s)
{
    if (s->count == s->room) {
        uint32_t room = 2 * s->room + 256;
        struct node *node = realloc(s->node, room * sizeof *node);
        if (!node)
            return NULL;
        s->node = node;
        struct pct_sleeper **held = s->part ? realloc(s->held_at, room * sizeof(struct pct_sleeper *)) : NULL;
        if (s->part && !held)
            return NULL;
        s->held_at = held;
        s->room = room;
    }
    if (s->part)
        s->held_at[s->count] = NULL;
    s->node[s->count] = (struct node){ .event = s->events.end };
    return &s->node[s->count++];
}

struct pct_search *pct_search_new_part(const struct pct_part *part)
{
    struct pct_search *s = calloc(1, sizeof *s);
    bool made = s && (s->part = true);
    for (uint32_t i = 0; i < part->held_count && made; i++) {
        struct pct_sleeper *p = pct_sleeper_new(&part->held[i], s->held);
        made = p;
        s->held = p ? p : s->held;
    }
    for (uint32_t i = 0; i < part->count && made; i++) {
        struct node *node = new_node(s);
        made = node && pct_path_set(&s->events, node->event, &part->event[i]);
    }
    if (!made) {
        pct_search_free(s);
        return NULL;
    }
    s->root = part->count;
    return s;
}

/* The last run did not begin with this sequence as it was planned: what is left of it is not to be tried. */
static void drop_planned(struct pct_search *s)
{
    if (s->planned) /* of its leaves, the one that was taken is no longer counted */
        s->facts.open -= pct_wakeup_leaves(s->planned) - 1;
    pct_wakeup_free(s->planned);
    s->planned = NULL;
}

/* The event of a new node: what was planned there comes off the sequence, and its other branches stay with the node. */
static void follow_plan(struct pct_search *s, struct node *node, const struct pct_event *event)
{
    struct pct_branch *b = s->planned;
    if (!b)
        return;
    if (b->event.thread != event->thread) { /* the other branches may still be possible */
        s->facts.unplanned++;
        node->open = b->next;
        b->next = NULL;
        drop_planned(s);
        return;
    }
    if (!pct_wakeup_came(b, event)) {
        s->facts.moved_at = s->facts.moved++ ? s->facts.moved_at : event->place;
        s->facts.strayed |= b->event.op != event->op;
    }
    s->facts.unplanned += !pct_same_extent(&b->event, event); /* others may have been left out for what it was to use */
    node->alternatives |= b->alternative;
    node->open = b->next;
    s->planned = b->first;
    free(b);
}

/* The event before this node was tried for the first time, and may commute with more than it was taken to. */
static int move_behind(struct pct_search *s, uint32_t index)
{
    struct node *before = &s->node[index - 1], *node = &s->node[index];
    int gone = pct_wakeup_move(&before->open, event_of(s, before), &node->open, node->sleepers, held_at(s, node));
    s->facts.open -= gone > 0 ? (uint64_t)gone : 0;
    return gone;
}

/* Make nodes of the new events. Returns 1: the run is one that was made before, or that another part of the search
 * makes, which shows at event *cut; 0; or -ENOMEM. */
static int extend(struct pct_search *s, const struct pct_execution *x, uint32_t *cut)
{
    /* The first of them takes the place of one that was tried: that node's sleepers and branches stand already. */
    bool open = false; /* the event before was the last of the plan */
    for (uint32_t i = s->from; i < x->count; i++) {
        bool old = i < s->count, last = s->planned && !s->planned->first;
        struct node *node = old ? &s->node[i] : new_node(s);
        if (!node || (!old && pass_to(s, i)))
            return -ENOMEM;
        struct pct_branch *others = node->open;
        follow_plan(s, node, &x->event[i]);
        if (old)
            node->open = others;
        else if (open && move_behind(s, i) < 0)
            return -ENOMEM;
        open = last;
        if (!pct_path_set(&s->events, node->event, &x->event[i]))
            return -ENOMEM;
        if (sleeps(node, x->event[i].thread) || pct_sleepers_have(held_at(s, node), x->event[i].thread)) {
            s->count = i + 1;
            *cut = i;
            return 1;
        }
        if (add_alternatives(s, node))
            return -ENOMEM;
    }
    return 0;
}

static bool begins_alike(const struct pct_search *s, const struct pct_execution *x)
{
    for (uint32_t i = 0; i < s->from; i++)
        if (i >= x->count || !pct_same_event(event_of(s, &s->node[i]), &x->event[i]))
            return false;
    return true;
}

/* The run was cut because a thread that sleeps, or is held, went on at the last node: who else could have? Where it
 * sleeps, there is somebody only if what was to be tried was not what it was taken for: it was not possible (a wait for
 * the kernel), or used less. Whatever commutes with that was left out for its sake, so another one goes on instead. If
 * nobody can but who is held, the run is at its end as far as this part goes. Returns whether it is. */
static bool ends_there(struct pct_search *s, struct pct_execution *x, uint32_t cut)
{
    const struct node *node = &s->node[cut];
    uint64_t others = x->enabled[cut];
    bool asleep = x->threads > PCT_EXECUTION_SETS; /* then nothing will be verified */
    for (uint32_t t = 0; t < PCT_EXECUTION_SETS; t++) {
        if (!(others >> t & 1) || pct_sleepers_have(held_at(s, node), t))
            continue;
        if (!sleeps(node, t)) {
            s->instead = t + 1;
            return false;
        }
        asleep = true;
    }
    if (asleep)
        return false;
    pct_execution_cut(x, cut);
    return true;
}

/* Of a redundant run, what comes before the event that shows it may still be reversed. */
static int explore(struct pct_search *s, struct pct_execution *x, uint64_t *class_)
{
    struct pct_order order;
    uint32_t cut = 0;
    int known = extend(s, x, &cut);
    s->facts.unplanned += s->planned && !(s->planned->event.crashed && x->cut); /* which crashes itself */
    drop_planned(s);
    if (known < 0)
        return known;
    int failed = pct_order_make(&order, x);
    if (failed)
        return failed;
    x->doubts |= (uint32_t)order.freed_early << PCT_DOUBT_FREED;
    if (class_ && !s->facts.begun)
        *class_ = pct_order_class(&order);
    bool ends = !known;
    if (known) {
        const bool held = pct_sleepers_have(held_at(s, &s->node[cut]), x->event[cut].thread);
        if (held || !s->facts.early) /* with deadlines, nothing is verified behind a redundant run */
            ends = ends_there(s, x, cut);
        s->facts.foreign += held;
        x->count = cut;
    }
    bool *again = calloc(s->from + (size_t)1, sizeof *again);
    for (uint32_t i = 0; again && i < s->from; i++)
        again[i] = s->node[i].asked;
    failed = again ? pct_order_reversals(&order, s->from, again, ends, take_reversal, s) : -ENOMEM;
    free(again);
    pct_order_free(&order);
    return failed ? failed : known;
}

/* With a bound. Returns as explore(). */
static int explore_bounded(struct pct_search *s, struct pct_execution *x, uint64_t *class_)
{
    uint64_t class_here;
    int result = pct_bounded_take(s->bounded, x, class_ ? class_ : &class_here);
    s->facts.unrepeatable |= result == -EINVAL;
    s->over |= result == -EINVAL;
    s->facts.open = pct_bounded_open(s->bounded);
    s->facts.tuple = pct_bounded_tuple(s->bounded);
    s->facts.untried = pct_bounded_untried(s->bounded, &s->facts.loop);
    return result < 0 && result != -EINVAL ? result : result != 1;
}

/* known: 1: the run is like an earlier one; 0: it is not. */
static void count(struct pct_search *s, const struct pct_execution *x, int known)
{
    s->facts.redundant += known == 1;
    s->facts.awaited += !known && x->blocked;
    s->facts.classes += !known && !x->blocked;
}

/* The class is that of what was used in this run, and what is looked at, that of what may be. */
static int take_footprints(struct pct_search *s, struct pct_execution *x, uint64_t *class_)
{
    struct pct_order order;
    if (class_ && s->facts.begun) {
        if (pct_order_make(&order, x))
            return -ENOMEM;
        *class_ = pct_order_class(&order);
        pct_order_free(&order);
    }
    return pct_footprints_take(&s->footprints, x);
}

int pct_search_take(struct pct_search *s, struct pct_execution *x, uint64_t *class_)
{
    if (s->divided)
        return pct_divided_take(s->divided, x, class_, &s->facts);
    s->facts.runs++;
    s->facts.early |= x->timeds > 0;
    pct_endless_note(&s->endless, x);
    if (x->unknown)
        s->facts.unknown = x->unknown;
    if (s->facts.depth < x->count)
        s->facts.depth = x->count;
    int result = s->bounded ? 0 : take_footprints(s, x, class_);
    if (result) {
        pct_execution_free(x);
        return result;
    }
    if (s->bounded) {
        result = explore_bounded(s, x, class_);
        count(s, x, result);
    } else if (!begins_alike(s, x)) {
        s->facts.unrepeatable = s->over = true;
    } else {
        result = explore(s, x, class_);
        count(s, x, result);
    }
    pct_facts_doubt(&s->facts, x->doubts, x->place);
    pct_execution_free(x);
    return result < 0 ? result : 0;
}

/* --- The next run --- */

static int fall_asleep(const struct pct_search *s, struct node *node)
{
    const struct pct_event *event = event_of(s, node);
    if (sleeps(node, event->thread))
        return 0;
    struct pct_sleeper *p = pct_sleeper_new(event, node->sleepers);
    if (!p)
        return -ENOMEM;
    node->sleepers = p;
    return 0;
}

/* Take out the branch of this node that comes next: another waiter for the same signal, or, when its thread has gone to
 * sleep, the first. NULL: there is none, or no memory (the search is over then). */
static struct pct_branch *take_branch(struct pct_search *s, struct node *node)
{
    struct pct_branch **at = &node->open;
    while (*at && !((*at)->alternative && (*at)->event.thread == event_of(s, node)->thread))
        at = &(*at)->next;
    if (!*at) {
        if (fall_asleep(s, node)) {
            s->over = s->facts.no_memory = true;
            return NULL;
        }
        node->alternatives = false;
        at = &node->open;
    }
    struct pct_branch *b = *at;
    if (b) {
        *at = b->next;
        b->next = NULL;
        s->facts.open--;
    }
    return b;
}

/* The events of the first nodes, those of the planned sequence down to `stop` (NULL: none of them), and then this
 * branch. */
static bool make_plan(const struct pct_search *s, struct pct_next_plan *plan, uint32_t nodes,
                      const struct pct_branch *stop, const struct pct_branch *branch)
{
    bool made = true;
    plan->count = 0;
    for (uint32_t i = 0; i < nodes && made; i++)
        made = pct_next_plan_add(plan, event_of(s, &s->node[i]));
    for (const struct pct_branch *b = stop ? s->planned : NULL; b && b != stop && made; b = b->first)
        made = pct_next_plan_add(plan, &b->event);
    for (; branch && made; branch = branch->first)
        made = pct_next_plan_add(plan, &branch->event);
    return made;
}

/* Who is held goes last, so that fewer runs are cut. */
static bool end_plan(const struct pct_search *s, struct pct_next_plan *plan)
{
    return !s->held || pct_next_plan_add_step(plan, PCT_PLAN_THEN(0, s->held->event.thread + 1u));
}

/* The search is through: if it did not know all that events use, it begins again. */
static bool begins_again(struct pct_search *s)
{
    if (s->over || !pct_footprints_begin(&s->footprints))
        return false;
    if (s->part) {
        s->facts.uneven = true;
        return false;
    }
    s->facts.begun = s->facts.runs;
    s->facts.classes = s->facts.redundant = s->facts.awaited = s->facts.unplanned = s->facts.moved = 0;
    s->facts.untried = 0;
    s->began = false;
    return true;
}

bool pct_search_next(struct pct_search *s, const uint32_t **plan, uint32_t *count)
{
    *plan = s->plan.step;
    *count = 0;
    if (s->divided)
        return pct_divided_next(s->divided, plan, count, &s->facts);
    if (s->bounded) {
        unsigned below;
        bool more = !s->over && pct_bounded_next(s->bounded, plan, count, &below);
        s->facts.below = s->over ? s->facts.below : below;
        s->over |= !more;
        return more;
    }
    struct pct_branch *b = NULL;
    uint32_t instead = s->instead;
    s->instead = 0;
    if (s->began && !instead) {
        while (s->count > s->root && !s->over && !(b = take_branch(s, &s->node[s->count - 1])))
            free_nodes(s, s->count - 1);
        if (!b && !begins_again(s)) {
            s->over = true;
            return false;
        }
    }
    s->from = s->began ? s->count - 1 : s->root;
    s->began = true;
    s->planned = b;
    if (!make_plan(s, &s->plan, s->from, NULL, b) ||
        (instead && !pct_next_plan_add_step(&s->plan, PCT_PLAN(instead - 1, 0))) || !end_plan(s, &s->plan)) {
        s->over = s->facts.no_memory = true;
        return false;
    }
    *plan = s->plan.step;
    *count = s->plan.count;
    return true;
}

/* The first of these that was not named yet. */
static struct pct_branch *unnamed(struct pct_branch *b)
{
    while (b && b->ahead)
        b = b->next;
    return b;
}

bool pct_search_ahead(struct pct_search *s, const uint32_t **plan, uint32_t *count)
{
    if (s->bounded)
        return pct_bounded_ahead(s->bounded, plan, count);
    if (s->divided)
        return pct_divided_ahead(s->divided, plan, count);
    const struct pct_branch *stop = NULL;
    struct pct_branch *found = NULL, *b;
    uint32_t nodes = s->from;
    /* What stays open beside the run that is asked for; the deepest is tried first. */
    for (const struct pct_branch *p = s->planned; p; p = p->first)
        if ((b = unnamed(p->next))) {
            found = b;
            stop = p;
        }
    for (uint32_t i = s->planned ? s->from + 1 : 0; i-- && !found;)
        if ((b = unnamed(s->node[i].open))) {
            found = b;
            nodes = i;
        }
    if (!found || !make_plan(s, &s->ahead, nodes, stop, found) || !end_plan(s, &s->ahead))
        return false;
    found->ahead = true;
    *plan = s->ahead.step;
    *count = s->ahead.count;
    return true;
}
