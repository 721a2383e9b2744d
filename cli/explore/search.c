/* Optimal DPOR: see search.h. The tree is kept along the path of the last run: for each event a node, with the
 * sequences that are still to be tried in its place (a wakeup tree), and who sleeps there, because all that begins with
 * its event was tried.
 *
 * Which waiter a signal wakes is a choice of the thread that signals: its event has several alternatives, all tried one
 * after the other before the thread goes to sleep. */
#include "search.h"
#include "bounded.h"
#include "dependence.h"
#include "order.h"
#include <errno.h>
#include <pct/strategy.h>
#include <stdlib.h>
#include <string.h>

/* A step of a sequence that is to be tried. */
struct branch {
    struct pct_event event;
    bool alternative; /* of the event that was tried last in its place: another waiter is woken */
    bool ahead;       /* pct_search_ahead() has named it */
    struct branch *first, *next;
};

struct sleeper {
    struct pct_event event;
    struct sleeper *next;
};

struct node {
    struct pct_event event;   /* that was made here in the last run */
    struct branch *open;      /* what is to be tried in its place */
    struct sleeper *sleepers; /* whose events were */
    bool alternatives;        /* all waiters that it may wake stand in `open`, or have been tried */
};

struct plan {
    uint32_t *step;
    uint32_t count, room;
};

struct pct_search {
    struct pct_search_facts facts;
    struct node *node;
    uint32_t count, room;
    uint32_t from;          /* nodes from here on are new in the next run */
    struct branch *planned; /* what it is to do there */
    struct plan plan, ahead;
    bool over;
    struct pct_bounded *bounded; /* NULL: there is no bound */
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

static void free_branches(struct branch *b)
{
    while (b) {
        struct branch *next = b->next;
        free_branches(b->first);
        free(b);
        b = next;
    }
}

static void free_sleepers(struct sleeper *s)
{
    while (s) {
        struct sleeper *next = s->next;
        free(s);
        s = next;
    }
}

static void free_nodes(struct pct_search *s, uint32_t from)
{
    for (uint32_t i = from; i < s->count; i++) {
        free_branches(s->node[i].open);
        free_sleepers(s->node[i].sleepers);
    }
    if (s->count > from)
        s->count = from;
}

void pct_search_free(struct pct_search *s)
{
    if (!s)
        return;
    free_nodes(s, 0);
    free_branches(s->planned);
    free(s->node);
    free(s->plan.step);
    free(s->ahead.step);
    pct_bounded_free(s->bounded);
    free(s);
}

const struct pct_search_facts *pct_search_facts(const struct pct_search *s)
{
    return &s->facts;
}

/* --- Wakeup trees --- */

/* Whether a run of this sequence could as well begin with the event: it stands in it behind events that it commutes
 * with, or commutes with all of them. *at: its place, or the length. */
static bool could_begin(const struct pct_event *event, const struct pct_event *sequence, uint32_t count, uint32_t *at)
{
    struct pct_event passing = *event;
    for (*at = 0; *at < count; ++*at) {
        if (sequence[*at].thread == event->thread)
            return true;
        if (!pct_event_passes(&passing, &sequence[*at]))
            return false;
    }
    return true;
}

static struct branch *new_branch(const struct pct_event *event)
{
    struct branch *b = calloc(1, sizeof *b);
    if (b)
        b->event = *event;
    return b;
}

/* Append the sequence to the branches in *list. */
static int append(struct pct_search *s, struct branch **list, const struct pct_event *sequence, uint32_t count)
{
    while (*list)
        list = &(*list)->next;
    for (uint32_t i = 0; i < count; i++) {
        *list = new_branch(&sequence[i]);
        if (!*list)
            return -ENOMEM;
        list = &(*list)->first;
    }
    s->facts.open++;
    return 0;
}

/* The branch that a run of this sequence could begin with; NULL: there is none. */
static struct branch *matching(struct branch *list, const struct pct_event *sequence, uint32_t count, uint32_t *at)
{
    for (struct branch *b = list; b; b = b->next) {
        if (!could_begin(&b->event, sequence, count, at))
            continue;
        if (*at == count || b->event.chosen == sequence[*at].chosen)
            return b;
    }
    return NULL;
}

/* Try this sequence in the place of the event of this node, unless what is tried there already covers it. */
static int insert(struct pct_search *s, struct node *node, struct pct_event *sequence, uint32_t count)
{
    uint32_t at;
    for (const struct sleeper *p = node->sleepers; p; p = p->next)
        if (could_begin(&p->event, sequence, count, &at))
            return 0;
    struct branch **list = &node->open;
    for (struct branch *b; (b = matching(*list, sequence, count, &at)); list = &b->first) {
        if (at < count) {
            memmove(sequence + at, sequence + at + 1, (count - at - 1) * sizeof *sequence);
            count--;
        }
        if (!b->first || !count)
            return 0;
    }
    return append(s, list, sequence, count);
}

static int take_reversal(void *context, const struct pct_reversal *r)
{
    struct pct_search *s = context;
    struct pct_event *sequence = malloc(r->count * sizeof *sequence);
    if (!sequence)
        return -ENOMEM;
    memcpy(sequence, r->event, r->count * sizeof *sequence);
    int failed = insert(s, &s->node[r->base], sequence, r->count);
    free(sequence);
    return failed;
}

/* The event of this node could wake others, too: that is to be tried, unless it is known already. */
static int add_alternatives(struct pct_search *s, struct node *node)
{
    const struct pct_event *event = &node->event;
    if (node->alternatives || event->choices < 2)
        return 0;
    node->alternatives = true;
    for (uint16_t i = 0; i < event->choices; i++) {
        if (i == event->chosen)
            continue;
        struct branch *b = node->open;
        while (b && (b->event.thread != event->thread || b->event.chosen != i))
            b = b->next;
        if (!b) {
            b = new_branch(event);
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

/* Which id that gets depends on who makes one first. */
static bool is_new_thread(const struct pct_event *event, unsigned touch)
{
    return event->op == PCT_OP_THREAD_CREATE && event->touch[touch].key >> 56 == PCT_CLASS_THREAD;
}

static bool same_objects(const struct pct_event *a, const struct pct_event *b)
{
    if (a->op != b->op || a->touches != b->touches)
        return false;
    for (unsigned i = 0; i < a->touches; i++)
        if (a->touch[i].key != b->touch[i].key && !(is_new_thread(a, i) && is_new_thread(b, i)))
            return false;
    return true;
}

/* The same, but for what was used between scheduling points: what an event finds decides what it goes on to. */
static bool same_operation(const struct pct_event *a, const struct pct_event *b)
{
    struct pct_event bare[] = { *a, *b };
    /* Whether it gets what it waits for by then, or times out, and whom else a deadline wakes, shows when it comes. */
    if (a->op == PCT_OP_DEADLINE || b->op == PCT_OP_DEADLINE)
        return true;
    for (unsigned n = 0; n < 2; n++)
        bare[n].touches = bare[n].own;
    /* It may have been pending at the end of a run, where it is not known all that it uses (the second futex of a
     * requeue, the thread of a try to join), or may use nothing any more (a futex, once it is woken). And how far an
     * access to memory goes may depend on what is there: strlen() and its like. */
    if (a->op != b->op)
        return false;
    return a->global || b->global || !a->own || !b->own || pct_events_meet(&bare[0], &bare[1]);
}

static bool same_event(const struct pct_event *a, const struct pct_event *b)
{
    if (a->thread != b->thread || a->chosen != b->chosen || !same_objects(a, b))
        return false;
    for (unsigned i = 0; i < a->touches; i++)
        if (a->touch[i].use != b->touch[i].use)
            return false;
    return true;
}

/* Who still sleeps behind this node. */
static int pass_sleepers(const struct node *node, struct node *next)
{
    for (const struct sleeper *p = node->sleepers; p; p = p->next) {
        struct sleeper *copy = malloc(sizeof *copy);
        if (!copy)
            return -ENOMEM;
        *copy = (struct sleeper){ p->event, next->sleepers };
        if (!pct_event_passes(&copy->event, &node->event)) {
            free(copy);
            continue;
        }
        next->sleepers = copy;
    }
    return 0;
}

static bool sleeps(const struct node *node, uint32_t thread)
{
    const struct sleeper *p = node->sleepers;
    while (p && p->event.thread != thread)
        p = p->next;
    return p;
}

static struct node *new_node(struct pct_search *s)
{
    if (s->count == s->room) {
        uint32_t room = 2 * s->room + 256;
        struct node *node = realloc(s->node, room * sizeof *node);
        if (!node)
            return NULL;
        s->node = node;
        s->room = room;
    }
    s->node[s->count] = (struct node){ 0 };
    return &s->node[s->count++];
}

/* The last run did not begin with this sequence as it was planned: what is left of it is not to be tried. */
static void drop_planned(struct pct_search *s)
{
    free_branches(s->planned);
    s->planned = NULL;
}

/* The event of a new node: what was planned there comes off the sequence, and its other branches stay with the node. */
static void follow_plan(struct pct_search *s, struct node *node, const struct pct_event *event)
{
    struct branch *b = s->planned;
    if (!b)
        return;
    if (b->event.thread != event->thread) { /* the other branches may still be possible */
        s->facts.unplanned++;
        node->open = b->next;
        b->next = NULL;
        drop_planned(s);
        return;
    }
    /* Of the last one it was not known what it would find. */
    s->facts.moved += b->first ? !same_objects(&b->event, event) : !same_operation(&b->event, event);
    node->alternatives |= b->alternative;
    node->open = b->next;
    s->planned = b->first;
    free(b);
}

/* Make nodes of the new events. Returns 1: the run is one that was made before, which shows at event *cut; 0; or
 * -ENOMEM. */
static int extend(struct pct_search *s, const struct pct_execution *x, uint32_t *cut)
{
    /* The first of them takes the place of one that was tried: that node's sleepers and branches stand already. */
    for (uint32_t i = s->from; i < x->count; i++) {
        bool old = i < s->count;
        struct node *node = old ? &s->node[i] : new_node(s);
        if (!node)
            return -ENOMEM;
        if (!old && i && pass_sleepers(&s->node[i - 1], node))
            return -ENOMEM;
        if (old) {
            struct branch *open = node->open;
            follow_plan(s, node, &x->event[i]);
            node->open = open;
        } else {
            follow_plan(s, node, &x->event[i]);
        }
        node->event = x->event[i];
        if (sleeps(node, x->event[i].thread)) {
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
        if (i >= x->count || !same_event(&s->node[i].event, &x->event[i]))
            return false;
    return true;
}

/* Of a redundant run, what comes before the event that shows it may still be reversed. */
static int explore(struct pct_search *s, struct pct_execution *x, uint64_t *class_)
{
    struct pct_order order;
    uint32_t cut;
    int known = extend(s, x, &cut);
    s->facts.unplanned += s->planned != NULL;
    drop_planned(s);
    if (known < 0)
        return known;
    int failed = pct_order_make(&order, x);
    if (failed)
        return failed;
    if (class_)
        *class_ = pct_order_class(&order);
    if (known)
        x->count = cut;
    failed = pct_order_reversals(&order, s->from, !known, take_reversal, s);
    pct_order_free(&order);
    return failed ? failed : known;
}

/* With a bound. Returns as explore(). */
static int explore_bounded(struct pct_search *s, const struct pct_execution *x, uint64_t *class_)
{
    uint64_t class_here;
    int result = pct_bounded_take(s->bounded, x, class_ ? class_ : &class_here);
    s->facts.unrepeatable |= result == -EINVAL;
    s->over |= result == -EINVAL;
    s->facts.open = pct_bounded_open(s->bounded);
    s->facts.tuple = pct_bounded_tuple(s->bounded);
    return result < 0 && result != -EINVAL ? result : result != 1;
}

/* known: 1: the run is like an earlier one; 0: it is not. */
static void count(struct pct_search *s, const struct pct_execution *x, int known)
{
    s->facts.redundant += known == 1;
    s->facts.awaited += !known && x->blocked;
    s->facts.classes += !known && !x->blocked;
}

int pct_search_take(struct pct_search *s, struct pct_execution *x, uint64_t *class_)
{
    s->facts.runs++;
    s->facts.doubts |= x->doubts;
    if (x->unknown)
        s->facts.unknown = x->unknown;
    if (s->facts.depth < x->count)
        s->facts.depth = x->count;
    int result = 0;
    if (s->bounded) {
        result = explore_bounded(s, x, class_);
        count(s, x, result);
    } else if (!begins_alike(s, x)) {
        s->facts.unrepeatable = s->over = true;
    } else {
        result = explore(s, x, class_);
        count(s, x, result);
    }
    pct_execution_free(x);
    return result < 0 ? result : 0;
}

/* --- The next run --- */

static int fall_asleep(struct node *node)
{
    if (sleeps(node, node->event.thread))
        return 0;
    struct sleeper *p = malloc(sizeof *p);
    if (!p)
        return -ENOMEM;
    *p = (struct sleeper){ node->event, node->sleepers };
    node->sleepers = p;
    return 0;
}

/* Take out the branch of this node that comes next: another waiter for the same signal, or, when its thread has gone to
 * sleep, the first. NULL: there is none, or no memory (the search is over then). */
static struct branch *take_branch(struct pct_search *s, struct node *node)
{
    struct branch **at = &node->open;
    while (*at && !((*at)->alternative && (*at)->event.thread == node->event.thread))
        at = &(*at)->next;
    if (!*at) {
        if (fall_asleep(node)) {
            s->over = true;
            return NULL;
        }
        node->alternatives = false;
        at = &node->open;
    }
    struct branch *b = *at;
    if (b) {
        *at = b->next;
        b->next = NULL;
        s->facts.open--;
    }
    return b;
}

static bool add_to_plan(struct plan *plan, const struct pct_event *event)
{
    if (plan->count == plan->room) {
        uint32_t room = 2 * plan->room + 256;
        uint32_t *step = realloc(plan->step, room * sizeof *step);
        if (!step)
            return false;
        plan->step = step;
        plan->room = room;
    }
    plan->step[plan->count++] = PCT_PLAN(event->thread, event->chosen + 1u);
    return true;
}

/* The events of the first nodes, those of the planned sequence down to `stop` (NULL: none of them), and then this
 * branch. */
static bool make_plan(const struct pct_search *s, struct plan *plan, uint32_t nodes, const struct branch *stop,
                      const struct branch *branch)
{
    bool made = true;
    plan->count = 0;
    for (uint32_t i = 0; i < nodes && made; i++)
        made = add_to_plan(plan, &s->node[i].event);
    for (const struct branch *b = stop ? s->planned : NULL; b && b != stop && made; b = b->first)
        made = add_to_plan(plan, &b->event);
    for (; branch && made; branch = branch->first)
        made = add_to_plan(plan, &branch->event);
    return made;
}

bool pct_search_next(struct pct_search *s, const uint32_t **plan, uint32_t *count)
{
    *plan = s->plan.step;
    *count = 0;
    if (s->bounded) {
        unsigned below;
        bool more = !s->over && pct_bounded_next(s->bounded, plan, count, &below);
        s->facts.below = s->over ? s->facts.below : below;
        s->over |= !more;
        return more;
    }
    if (!s->facts.runs)
        return true;
    struct branch *b = NULL;
    while (s->count && !s->over && !(b = take_branch(s, &s->node[s->count - 1])))
        free_nodes(s, s->count - 1);
    if (!b) {
        s->over = true;
        return false;
    }
    s->from = s->count - 1;
    s->planned = b;
    if (!make_plan(s, &s->plan, s->from, NULL, b))
        return false;
    *plan = s->plan.step;
    *count = s->plan.count;
    return true;
}

/* The first of these that was not named yet. */
static struct branch *unnamed(struct branch *b)
{
    while (b && b->ahead)
        b = b->next;
    return b;
}

bool pct_search_ahead(struct pct_search *s, const uint32_t **plan, uint32_t *count)
{
    if (s->bounded)
        return pct_bounded_ahead(s->bounded, plan, count);
    const struct branch *stop = NULL;
    struct branch *found = NULL, *b;
    uint32_t nodes = s->from;
    /* What stays open beside the run that is asked for; the deepest is tried first. */
    for (const struct branch *p = s->planned; p; p = p->first)
        if ((b = unnamed(p->next))) {
            found = b;
            stop = p;
        }
    for (uint32_t i = s->planned ? s->from + 1 : 0; i-- && !found;)
        if ((b = unnamed(s->node[i].open))) {
            found = b;
            nodes = i;
        }
    if (!found || !make_plan(s, &s->ahead, nodes, stop, found))
        return false;
    found->ahead = true;
    *plan = s->ahead.step;
    *count = s->ahead.count;
    return true;
}
