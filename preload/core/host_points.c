/* Points in the middle of an explored run, from which later ones go on: see host.h. Systematic exploration goes depth
 * first, so most runs begin as the one before. What a run has made of the process up to a point is kept there: the
 * pages that it has written, mappings, contexts, what it has told the command (the trace, the log), and what the kernel
 * keeps. A later run for which the command asks in the same words, and whose plan begins with the same places, goes on
 * there, if the mappings are the same then; or else it begins with main, as any other.
 *
 * What is not among this must be as it was when the run began, or there is no point: no descriptor, nothing written, no
 * mapping but memory. The filter lets nothing else happen. */
#include "apart.h"
#include "host.h"
#include "host_threads.h"
#include "kernel.h"
#include "shim.h"
#include "sys.h"
#include <common/exploration.h>
#include <sched/record.h>
#include <signal.h>
#include <strategies/explore.h>
#include <sys/mman.h>

enum {
    SETS = 2, /* of points: each is one slot's, whose trace the runs from there write */
    LEVELS = 6,
    MOST_TOLD = 1 << 20,
    MOST_DEPTH = 1 << 16,
    MASK = 8,
    SOON = 32, /* requests: of a few runs, none saves what it costs to begin with that */
    TRIES = 16,
    USES = 2 /* that save what it costs to keep one */
};

/* Shared, so that it is not put back itself; mostly address space. */
struct pct_host_kept {
    bool used;
    uint32_t depth; /* places of the plan, which were: */
    uint32_t plan[MOST_DEPTH];
    struct pct_host_place place;
    struct pct_host_contexts *contexts;
    uint64_t acted;
    struct pct_host_action actions[NSIG];
    stack_t alternate;
    struct pct_host_cpus cpus;
    uint64_t now;
    size_t trace_size, trace_room;
    char trace[MOST_TOLD]; /* from its header on */
    uint32_t log_count;
    char head[sizeof(struct pct_channel)]; /* of the channel, without its plan */
    struct pct_log_entry log[MOST_TOLD / sizeof(struct pct_log_entry)];
    struct pct_saved memory;
};

struct points {
    uint32_t tried, used; /* how often one was to be kept, and gone on from */
    uint64_t turns;
    struct set {
        unsigned slot;
        uint64_t turn;                      /* rising, when a run had this slot; 0: it is nobody's */
        char text[PCT_HOST_TEXT];           /* the words in which its runs were asked for */
        struct pct_host_kept level[LEVELS]; /* rising, the unused ones last */
    } set[SETS];
};
static struct points *points; /* NULL: there are none */
_Static_assert(SETS *LEVELS == 12 && sizeof(struct pct_host_kept) <= 7000000, "docs/FORKING.md says so");

static void copy(void *to, const void *from, size_t size)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
}

static bool is_same(const char *a, const char *b)
{
    size_t words = PCT_HOST_TEXT / 8;
    bool same;
    __asm__ volatile("repe cmpsq" : "+D"(a), "+S"(b), "+c"(words), "=@cce"(same) : : "memory");
    return same;
}
_Static_assert(PCT_HOST_TEXT % 8 == 0, "all of it is compared");

void pct_host_points_prepare(void)
{
    const int flags = MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
    struct points *all = pct_host_contexts ? pct_apart_map(sizeof *all) : NULL;
    if (!all || PCT_SYS6(SYS_mmap, all, sizeof *all, PROT_READ | PROT_WRITE, flags, -1, 0) != (long)all)
        return;
    PCT_SYS3(SYS_madvise, all, sizeof *all, MADV_DONTDUMP);
    struct pct_host_contexts *contexts = pct_host_contexts_map(SETS * LEVELS);
    for (unsigned i = 0; contexts && i < SETS * LEVELS; i++)
        all->set[i / LEVELS].level[i % LEVELS].contexts = pct_host_contexts_of(contexts, i);
    if (contexts)
        points = all;
}

/* --- At a point --------------------------------------------------------------------------------------------------- */

static bool keep_told(struct pct_host_kept *p)
{
    const struct pct_sched *s = &pct_S;
    const char *header = (const char *)pct_shim.header;
    struct pct_channel *log = pct_sched_log(s);
    p->trace_size = (size_t)((const char *)pct_sched_records_end(s) - header);
    p->trace_room = (size_t)((const char *)pct_sched_records_room(s) - header);
    if (pct_sched_is_ring(s) || !log || p->trace_size > sizeof p->trace || pct_record_packed_end(s) ||
        log->log_count > sizeof p->log / sizeof *p->log || log->began != 1)
        return false;
    copy(p->trace, header, p->trace_size);
    copy(p->head, log, sizeof p->head);
    p->log_count = log->log_count;
    copy(p->log, pct_channel_log(log), p->log_count * sizeof *p->log);
    return true;
}

static bool keep_kernel(struct pct_host_kept *p)
{
    p->acted = pct_host_acted();
    for (uint64_t left = p->acted; left; left &= left - 1) {
        int signal = 1 + __builtin_ctzll(left);
        if (pct_host_sys4(SYS_rt_sigaction, signal, 0, (long)&p->actions[signal], MASK))
            return false;
    }
    return !pct_host_sys4(SYS_sigaltstack, 0, (long)&p->alternate, 0, 0) && !(p->alternate.ss_flags & SS_ONSTACK) &&
           pct_host_cpus_save(&p->cpus);
}

static bool keep(struct pct_host_kept *p, uint32_t depth)
{
    p->depth = depth;
    copy(p->plan, pct_sched_log(&pct_S)->plan, depth * sizeof *p->plan);
    p->now = pct_real_now();
    return !pct_host_has_files() && keep_told(p) && keep_kernel(p) && pct_host_contexts_save(p->contexts) &&
           pct_host_memory_save(&p->memory);
}

/* That of this slot. NULL: there is none. */
static struct set *find_set(unsigned slot)
{
    for (struct set *set = points->set; set < points->set + SETS; set++)
        if (set->turn && set->slot == slot) {
            set->turn = ++points->turns;
            return set;
        }
    return NULL;
}

/* Likewise, for these words: it may be the one whose slot had no run for longest, without its points. */
static struct set *take_set(unsigned slot, const char *text)
{
    struct set *set = find_set(slot);
    if (set && is_same(set->text, text))
        return set;
    if (!set) {
        set = points->set;
        for (struct set *other = set; other < points->set + SETS; other++)
            if (other->turn < set->turn)
                set = other;
    }
    for (unsigned i = 0; i < LEVELS; i++)
        set->level[i].used = false;
    set->slot = slot;
    set->turn = ++points->turns;
    copy(set->text, text, sizeof set->text);
    return set;
}

enum pct_host_point pct_host_point_keep(uint32_t depth)
{
    unsigned slot, i = 0;
    uint64_t requests;
    const char *text = points ? pct_host_text(&slot, &requests) : NULL;
    if (!text || requests < SOON || depth >= MOST_DEPTH || pct_sched_threads(&pct_S) < 2 ||
        points->tried > TRIES + points->used / USES)
        return PCT_HOST_POINT_NONE;
    struct pct_host_kept *level = take_set(slot, text)->level;
    while (i < LEVELS && level[i].used && level[i].depth < depth)
        i++;
    if (i == LEVELS)
        return PCT_HOST_POINT_NONE;
    points->tried++;
    for (unsigned later = i; later < LEVELS; later++)
        level[later].used = false;
    if (pct_host_mark(&level[i].place))
        return PCT_HOST_POINT_RESUMED;
    level[i].used = keep(&level[i], depth);
    return level[i].used ? PCT_HOST_POINT_KEPT : PCT_HOST_POINT_NONE;
}

/* --- Between runs ------------------------------------------------------------------------------------------------- */

bool pct_host_points_stand(void)
{
    const struct set *set;
    bool any = false;
    if (!points || !points->tried || !pct_sched_log(&pct_S))
        return false;
    for (set = points->set; set < points->set + SETS; set++)
        any |= set->level->used;
    if (!any)
        return false;
    pct_host_memory_look();
    any = false;
    for (set = points->set; set < points->set + SETS; set++)
        for (unsigned i = 0; i < LEVELS && set->level[i].used; i++)
            any |= pct_host_memory_has(&set->level[i].memory);
    return any;
}

/* The command has written the same of itself into the header of the trace. */
static bool is_told_the_same(const struct pct_host_kept *p)
{
    const struct pct_trace_header *a = (const void *)p->trace, *b = pct_shim.header;
    return a->launcher == b->launcher && a->supervisor == b->supervisor && a->file_most == b->file_most;
}

uint32_t pct_host_points_depth(const struct pct_host_kept *point)
{
    return point->depth;
}

const struct pct_host_kept *pct_host_points_choose(const char *text, unsigned slot)
{
    struct set *set = find_set(slot);
    if (!set || !is_same(set->text, text))
        return NULL;
    struct pct_host_kept *level = set->level, *best = NULL;
    const struct pct_channel *channel = pct_sched_log(&pct_S);
    for (unsigned i = 0; i < LEVELS && level[i].used; i++) {
        level[i].used = pct_explore_begins(channel->plan, channel->plan_count, level[i].plan, level[i].depth);
        if (level[i].used && pct_host_memory_has(&level[i].memory) && is_told_the_same(&level[i]))
            best = &level[i];
    }
    return best && pct_host_memory_cut(&best->memory) ? best : NULL;
}

static bool tell_again(const struct pct_host_kept *p)
{
    struct pct_channel *log = pct_sched_log(&pct_S);
    const uint32_t plan_count = log->plan_count, output = log->output;
    if (!pct_host_populate(pct_shim.header, p->trace_room))
        return false;
    copy(pct_shim.header, p->trace, p->trace_size);
    copy(log, p->head, sizeof p->head);
    log->plan_count = plan_count;
    log->output = output;
    copy(pct_channel_log(log), p->log, p->log_count * sizeof *p->log);
    return true;
}

void pct_host_points_go(const struct pct_host_kept *p)
{
    points->used++;
    if (!pct_host_memory_load(&p->memory) || (pct_host_undo && !pct_host_undo()) ||
        !pct_host_contexts_load(p->contexts))
        pct_host_sys4(SYS_exit_group, PCT_EXIT_INTERNAL, 0, 0, 0);
    if (!tell_again(p))
        pct_host_leave(PCT_HOST_TRACE, 0);
    pct_host_act(p->acted, p->actions);
    pct_host_sys4(SYS_sigaltstack, (long)&p->alternate, 0, 0, 0);
    pct_host_cpus_load(&p->cpus);
    pct_real_shift(p->now);
    pct_host_contexts_bases(p->contexts);
    pct_host_resume(&p->place);
}
