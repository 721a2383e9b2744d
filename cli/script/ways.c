/* The ways of a script: see ways.h. What was not gone yet is kept with the runs that passed by: at this choice of this
 * run, this many other ways. They wait in a heap. In the order RANDOM each is due after a time that is drawn by how
 * often a walk would come there; as such times have no memory, whichever is due first is drawn by that among those
 * left. */
#include "ways.h"
#include <errno.h>
#include <math.h>
#include <pct/random.h>
#include <stdlib.h>
#include <string.h>

/* A run; `users` are those that hang on it. */
struct path {
    uint32_t users, count;
    struct pct_script_choice choice[];
};

struct others {
    struct path *path; /* NULL: before the first run, which has no choice planned */
    uint32_t at, left;
    long double share; /* of each of them */
    long double due;   /* the lowest is next; of the same, the oldest, or with DEPTH the newest */
    uint64_t number;   /* the older the lower */
};

struct pct_ways {
    enum pct_ways_order order;
    uint64_t seed, numbers, draws;
    struct others *heap;
    size_t count, room;
    long double time, share;
};

static bool is_before(const struct pct_ways *ways, const struct others *a, const struct others *b)
{
    if (a->due < b->due || a->due > b->due)
        return a->due < b->due;
    return ways->order == PCT_WAYS_DEPTH ? a->number > b->number : a->number < b->number;
}

static void rise(struct pct_ways *ways, size_t at)
{
    struct others moving = ways->heap[at];
    for (; at && is_before(ways, &moving, &ways->heap[(at - 1) / 2]); at = (at - 1) / 2)
        ways->heap[at] = ways->heap[(at - 1) / 2];
    ways->heap[at] = moving;
}

static void sink(struct pct_ways *ways)
{
    struct others moving = ways->heap[0];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < ways->count; at = child) {
        if (child + 1 < ways->count && is_before(ways, &ways->heap[child + 1], &ways->heap[child]))
            child++;
        if (!is_before(ways, &ways->heap[child], &moving))
            break;
        ways->heap[at] = ways->heap[child];
    }
    ways->heap[at] = moving;
}

static void draw(struct pct_ways *ways, struct others *others)
{
    if (ways->order == PCT_WAYS_BREADTH) {
        others->due = others->at;
    } else if (ways->order == PCT_WAYS_RANDOM) {
        long double rate = others->share * others->left;
        double u = (double)(pct_random(ways->seed, PCT_STREAM_PICK, ways->draws++) >> 11) * 0x1p-53;
        others->due = rate > 0 ? ways->time - log1pl(-(long double)u) / rate : INFINITY;
    }
}

static void drop(struct path *path)
{
    if (path && !--path->users)
        free(path);
}

static bool has_room(struct pct_ways *ways, size_t more)
{
    if (ways->room - ways->count >= more)
        return true;
    size_t room = 2 * ways->room + more;
    struct others *heap = realloc(ways->heap, room * sizeof *heap);
    if (heap) {
        ways->heap = heap;
        ways->room = room;
    }
    return heap != NULL;
}

static void hang(struct pct_ways *ways, struct others others)
{
    others.number = ways->numbers++;
    draw(ways, &others);
    ways->heap[ways->count] = others;
    rise(ways, ways->count++);
}

struct pct_ways *pct_ways_new(enum pct_ways_order order, uint64_t seed)
{
    struct pct_ways *ways = calloc(1, sizeof *ways);
    if (!ways || !has_room(ways, 1)) {
        free(ways);
        return NULL;
    }
    ways->order = order;
    ways->seed = seed;
    hang(ways, (struct others){ .left = 1, .share = 1 });
    return ways;
}

void pct_ways_free(struct pct_ways *ways)
{
    if (!ways)
        return;
    for (size_t i = 0; i < ways->count; i++)
        drop(ways->heap[i].path);
    free(ways->heap);
    free(ways);
}

bool pct_ways_next(struct pct_ways *ways, struct pct_script_choice plan[PCT_SCRIPT_CHOICES], uint32_t *count)
{
    if (!ways->count)
        return false;
    struct others *first = &ways->heap[0];
    *count = first->path ? first->at + 1 : 0;
    if (first->path) {
        memcpy(plan, first->path->choice, *count * sizeof *plan);
        struct pct_script_choice *last = &plan[first->at];
        last->chosen = (last->chosen + last->of - first->left) % last->of;
    }
    if (ways->order == PCT_WAYS_RANDOM)
        ways->time = first->due;
    if (--first->left) {
        draw(ways, first);
    } else {
        drop(first->path);
        *first = ways->heap[--ways->count];
    }
    if (ways->count)
        sink(ways);
    return true;
}

int pct_ways_add(struct pct_ways *ways, const struct pct_script_choice *plan, uint32_t planned,
                 const struct pct_script_choice *made, uint32_t count)
{
    uint32_t branches = 0;
    if (count < planned || (planned && memcmp(plan, made, planned * sizeof *plan)))
        return -EINVAL;
    for (uint32_t i = planned; i < count; i++)
        branches += made[i].of > 1;
    struct path *path = branches ? malloc(sizeof *path + count * sizeof *made) : NULL;
    if (branches && (!path || !has_room(ways, branches))) {
        free(path);
        return -ENOMEM;
    }
    if (path) {
        *path = (struct path){ .users = branches, .count = count };
        memcpy(path->choice, made, count * sizeof *made);
    }
    long double share = 1;
    for (uint32_t i = 0; i < count; i++) {
        share /= made[i].of;
        if (i >= planned && made[i].of > 1)
            hang(ways, (struct others){ .path = path, .at = i, .left = made[i].of - 1, .share = share });
    }
    ways->share += share;
    return 0;
}

double pct_ways_share(const struct pct_ways *ways)
{
    return (double)fminl(ways->share, 1);
}
