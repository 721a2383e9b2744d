/* Runs that were cut: see doubts.h. */
#include "doubts.h"
#include <cli/base/cli.h>
#include <cli/base/status_line.h>
#include <cli/process/long_run.h>
#include <string.h>
#include <unistd.h>

bool pct_doubts_busy(const struct pct_engine *engine, unsigned worker)
{
    const struct pct_engine_state *s = engine->state;
    for (unsigned place = worker; s->doubts && place < s->used; place += engine->jobs)
        if (s->place[place].running && s->place[place].again)
            return true;
    return false;
}

uint64_t pct_doubts_lowest(const struct pct_engine_state *s)
{
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; s->doubts && i < s->room; i++)
        if (s->doubt[i].valid && s->doubt[i].process.index < least)
            least = s->doubt[i].process.index;
    return least;
}

struct pct_engine_doubt *pct_doubts_find(struct pct_engine_state *s, const struct pct_process *process)
{
    for (unsigned i = 0; process->again && i < s->room; i++)
        if (s->doubt[i].valid && s->doubt[i].process.index == process->index)
            return &s->doubt[i];
    return NULL;
}

void pct_doubts_drop_list(struct pct_engine_list *list)
{
    if (!list->path[0])
        return;
    unlink(list->path);
    close(list->file);
    list->path[0] = 0;
}

void pct_doubts_close(struct pct_engine_state *s, struct pct_engine_doubt *doubt)
{
    pct_doubts_drop_list(&doubt->list);
    doubt->valid = doubt->begun = false;
    s->doubts--;
}

void pct_doubts_leave(struct pct_engine_state *s, unsigned place)
{
    s->busy[s->place[place].worker]--;
    s->under_way--;
    memset(&s->place[place], 0, sizeof s->place[place]);
}

/* This one has ended, and waits for its turn. */
static void let_wait(struct pct_engine_state *s, const struct pct_process *process)
{
    struct pct_engine_waiting *waiting = s->waiting, *const end = s->waiting + s->waited;
    while (waiting < end && waiting->valid)
        waiting++;
    s->waited += waiting == end;
    *waiting = (struct pct_engine_waiting){ .valid = true, .process = *process };
    if (s->source->over)
        s->source->over(s->source, &waiting->process);
}

/* It counts as it was cut. */
static void believe(struct pct_engine_state *s, struct pct_engine_doubt *doubt)
{
    let_wait(s, &doubt->process);
    pct_doubts_close(s, doubt);
}

/* Make this one again, in this free place of its worker. */
static void make_again(struct pct_engine *engine, struct pct_engine_doubt *doubt, unsigned place)
{
    struct pct_engine_state *s = engine->state;
    const struct pct_process *cut = &doubt->process;
    struct pct_process *process = &s->place[place];
    struct pct_run_extras extras = cut->extras;
    if (doubt->list.path[0]) {
        pct_doubts_drop_list(&s->list[place]);
        s->list[place] = doubt->list;
        doubt->list.path[0] = 0;
        extras.schedule = s->list[place].path;
    }
    *process = (struct pct_process){ .index = cut->index, .worker = cut->worker, .again = true };
    if (pct_process_start(process, engine->launch, cut->token, &extras, cut->cpu, !cut->pass)) {
        memset(process, 0, sizeof *process);
        believe(s, doubt);
        return;
    }
    doubt->begun = true;
    s->busy[process->worker]++;
    s->under_way++;
}

bool pct_doubts_take(struct pct_engine *engine, unsigned place)
{
    struct pct_engine_state *s = engine->state;
    struct pct_engine_doubt *doubt = s->doubt;
    if (!pct_time_limit_doubts(&s->place[place]))
        return false;
    while (doubt->valid)
        doubt++;
    *doubt = (struct pct_engine_doubt){ .valid = true, .process = s->place[place] };
    if (doubt->process.extras.schedule) { /* or what its place has is of an earlier run there */
        doubt->list = s->list[place];
        s->list[place].path[0] = 0;
    }
    s->doubts++;
    pct_doubts_leave(s, place);
    if (engine->tells) {
        pct_status_line_clear(engine->quiet);
        pct_long_run_say_again(&doubt->process);
    }
    if (!engine->defers)
        make_again(engine, doubt, place);
    return true;
}

/* The earliest of those that are not begun again, and whose worker has nothing else to do; NULL: there is none. */
static struct pct_engine_doubt *find_idle_doubt(struct pct_engine_state *s)
{
    struct pct_engine_doubt *first = NULL;
    for (unsigned i = 0; s->doubts && i < s->room; i++) {
        struct pct_engine_doubt *one = &s->doubt[i];
        if (one->valid && !one->begun && !s->busy[one->process.worker] &&
            (!first || one->process.index < first->process.index))
            first = one;
    }
    return first;
}

bool pct_doubts_decide(struct pct_engine *engine)
{
    struct pct_engine_state *s = engine->state;
    const unsigned doubted = s->doubts;
    for (struct pct_engine_doubt *doubt; (doubt = find_idle_doubt(s));)
        if (pct_time_limit_doubts(&doubt->process))
            make_again(engine, doubt, doubt->process.worker); /* its first place; the others are free, too */
        else
            believe(s, doubt);
    return s->doubts < doubted;
}

void pct_doubts_put_aside(struct pct_engine_state *s, unsigned place)
{
    struct pct_process process = s->place[place];
    struct pct_engine_doubt *doubt = pct_doubts_find(s, &process);
    if (doubt) {
        const bool confirmed = pct_time_limit_confirms(&process);
        struct pct_process other = confirmed ? process : doubt->process;
        process = confirmed ? doubt->process : process;
        other.aside &= !process.aside; /* by their number, it is one directory */
        pct_process_close(&other);
        pct_doubts_close(s, doubt);
    }
    pct_doubts_leave(s, place);
    let_wait(s, &process);
}

void pct_doubts_forget(struct pct_engine *engine, uint64_t first, uint64_t last)
{
    struct pct_engine_state *s = engine->state;
    for (unsigned i = 0; s->doubts && i < s->room; i++) {
        struct pct_engine_doubt *doubt = &s->doubt[i];
        if (!doubt->valid || doubt->begun || doubt->process.index < first || doubt->process.index > last)
            continue;
        pct_process_close(&doubt->process);
        pct_doubts_close(s, doubt);
        s->open--;
        engine->dropped++;
        engine->undecided++;
    }
}
