/* The strategy `processes`: what the processes of a family did under a script that has lines for several, made again
 * without it. Whatever the list does not say runs in the default order of the strategy `schedule`.
 *
 *     orders=3.1-5.s0-p1-2.r0-4.a1-p1.2e1-9.c3-12.h7305
 *
 * The first items are the first process's. pN.M begins those of the Mth child of the Nth child, of its first program;
 * with eI of that which it is after I calls of exec. An item says what is done when its process has made S steps:
 *
 *     S.U    thread U goes on
 *     S.aU   the same, and if it cannot, the process waits for what lets it
 *     S.sI   I is posted on the board that all processes share; 256: nobody will post anything any more
 *     S.rI   the process waits until it is; 256: until no other one could post anything
 *     S.cI   a choice of the program's takes way I
 *     S.hV   it ends; the low half of its hash is V
 *
 * Steps, not operations of a thread: the list is of this run, and nobody's to edit. Called by the scheduler through
 * <pct/strategy.h>. */
#include "processes.h"
#include "default_order.h"
#include "number_list.h"
#include <stddef.h>

struct item {
    uint32_t step, value;
    char kind; /* 0: a switch */
};

struct state {
    struct pct_default_order order;
    const struct pct_board *board;
    uint32_t awaited;    /* the thread for which the process waits, plus 1; 0: none */
    uint32_t parts;      /* of processes that are not the first */
    uint32_t count;      /* of this process's items */
    uint32_t at, posts;  /* the next one that is not for the board, and the next one that is */
    struct item items[]; /* in the order of their steps */
};

static uint32_t state_size(const struct pct_run *run)
{
    return (uint32_t)(sizeof(struct state) + pct_list_count(run->list) * sizeof(struct item));
}

/* Whether the text from..to is this path. */
static bool is_path(const char *path, const char *from, const char *to)
{
    while (path && from < to && *path == *from)
        path++, from++;
    return path && from == to && !*path;
}

/* The head of a process's items at *text, which is moved behind it. False: it is none. *own: of this process. */
static bool read_head(const char **text, const struct pct_board *board, bool *own)
{
    const char *from = *text;
    uint32_t number, image = 0;
    do
        if (!pct_list_number(text, &number))
            return false;
    while (pct_list_skip(text, '.'));
    *own = board && is_path(board->path, from, *text);
    if (pct_list_skip(text, 'e') && !pct_list_number(text, &image))
        return false;
    *own = *own && board->image == image;
    return true;
}

static bool read_item(const char **text, struct item *item)
{
    static const char kinds[] = "asrch";
    if (!pct_list_number(text, &item->step) || !pct_list_skip(text, '.'))
        return false;
    item->kind = 0;
    for (const char *kind = kinds; *kind && !item->kind; kind++)
        item->kind = pct_list_skip(text, *kind) ? *kind : 0;
    if (!pct_list_number(text, &item->value))
        return false;
    bool thread = !item->kind || item->kind == 'a', post = item->kind == 's' || item->kind == 'r';
    return (!thread || item->value < PCT_MAX_THREADS) && (!post || item->value <= PCT_BOARD_POSTS);
}

static int start(void *state, const struct pct_run *run, const char **why)
{
    struct state *s = state;
    const char *at = run->list;
    s->board = run->board;
    bool own = !s->board || (is_path(s->board->path, NULL, NULL) && !s->board->image);
    uint32_t last = 0;
    while (at && *at) {
        struct item *item = &s->items[s->count];
        bool head = pct_list_skip(&at, 'p'), fine = head ? read_head(&at, s->board, &own) : read_item(&at, item);
        if (!fine || (!head && item->step < last) || (*at && (!pct_list_skip(&at, '-') || !*at))) {
            *why = "orders is a list that `pct script` makes, like 3.1-5.s0-p1-2.r0 (behind 3 steps thread 1 goes on; "
                   "...)";
            return -22; /* EINVAL */
        }
        last = head ? 0 : item->step;
        s->parts += head;
        s->count += own && !head;
        if (head && own)
            s->board->begin();
    }
    return 0;
}

PCT_DEFAULT_ORDER(order)

static bool can_go(const struct state *s, uint32_t thread)
{
    return pct_rank_set_has(&s->order.enabled, thread) || pct_rank_set_has(&s->order.early, thread);
}

static bool is_for_board(const struct item *item)
{
    return item->kind == 's' || item->kind == 'r';
}

/* The place of the next item from there on that is for the board, or is not. */
static uint32_t skip(const struct state *s, uint32_t at, bool board)
{
    while (at < s->count && is_for_board(&s->items[at]) != board)
        at++;
    return at;
}

/* Do what is to be done on the board so far. */
static void come_to(struct state *s, uint64_t step)
{
    for (s->posts = skip(s, s->posts, true); s->posts < s->count && s->items[s->posts].step <= step;
         s->posts = skip(s, s->posts, true)) {
        const struct item *item = &s->items[s->posts++];
        if (s->board && item->kind == 's')
            s->board->post(item->value);
        else if (s->board)
            s->board->await(item->value);
    }
}

/* What the list says of who goes on, or of a choice, here. NULL: nothing. */
static const struct item *find_here(struct state *s, uint64_t step)
{
    s->at = skip(s, s->at, false);
    while (!s->awaited && s->at < s->count && s->items[s->at].step < step)
        s->at = skip(s, s->at + 1, false);
    return s->at < s->count && (s->awaited || s->items[s->at].step == step) ? &s->items[s->at] : NULL;
}

void pct_strategy_processes_rests(void *state, uint64_t step)
{
    come_to(state, step);
}

/* Before this many steps there is nothing to do. */
static uint64_t first_step(const struct state *s)
{
    uint32_t at = skip(s, s->at, false), posts = skip(s, s->posts, true);
    uint32_t next = at < posts ? at : posts;
    return next < s->count ? s->items[next].step : PCT_UNLIMITED;
}

bool pct_strategy_processes_returned(const void *state, uint64_t step)
{
    const struct state *s = state;
    return first_step(s) <= step;
}

bool pct_strategy_processes_end(const void *state, uint64_t *steps, uint32_t *hash)
{
    const struct state *s = state;
    const struct item *last = s->count ? &s->items[s->count - 1] : NULL;
    if (!last || last->kind != 'h')
        return false;
    *steps = last->step;
    *hash = last->value;
    return true;
}

uint32_t pct_strategy_processes_parts(const void *state)
{
    const struct state *s = state;
    return s->parts;
}

static uint32_t would_pick(void *state, uint64_t step, uint64_t ran, uint32_t without)
{
    struct state *s = state;
    (void)ran;
    come_to(s, step);
    const struct item *item = find_here(s, step);
    if (!s->awaited && item && item->kind == 'a')
        s->awaited = item->value + 1;
    if (s->awaited)
        return can_go(s, s->awaited - 1) && s->awaited != without + 1 ? s->awaited - 1 : PCT_NO_THREAD;
    return pct_default_order_next(&s->order);
}

static struct pct_choice pick(void *state, const struct pct_point *point)
{
    struct state *s = state;
    come_to(s, point->step);
    const struct item *item = find_here(s, point->step);
    uint32_t next = PCT_NO_THREAD;
    s->awaited = 0;
    if (item && (!item->kind || item->kind == 'a') && can_go(s, item->value)) {
        next = item->value;
        s->at++;
    }
    if (next == PCT_NO_THREAD)
        next = pct_default_order_next(&s->order);
    pct_default_order_chose(&s->order, next);
    uint64_t first = first_step(s);
    return (struct pct_choice){ .thread = next,
                                .budget = first == PCT_UNLIMITED ? first
                                          : first > point->step  ? first - point->step
                                                                 : 1 };
}

static uint32_t choose(void *state, uint32_t ways, uint64_t step)
{
    struct state *s = state;
    const struct item *item = find_here(s, step);
    if (!item || item->kind != 'c')
        return 0;
    s->at++;
    return item->value < ways ? item->value : 0;
}

const struct pct_strategy pct_strategy_processes = {
    .name = "processes",
    .summary = "what several processes did under a script; in the tokens that `pct script` prints",
    PCT_BASE,
    PCT_DEFAULT_ORDER_FUNCTIONS,
    .choose = choose,
    .would_pick = would_pick,
    .list = "orders",
    .list_help = "S.U-...: behind S steps thread U goes on",
};
