/* Questions answered by trials: see series.h.
 *
 * A run that has ended waits in `run` until all before it were looked at. The earliest question always gets the next
 * free worker, up to the number of runs that it will take as far as one knows; then the one behind it, which is asked
 * for now. */
#include "series.h"
#include <cli/base/status_line.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A question that is not answered. */
struct asked {
    struct pct_question question;
    size_t number;
    unsigned started, seen; /* runs that have begun, and that were looked at */
};

/* A run that was not looked at. */
struct begun {
    enum { FREE, RUNNING, ENDED } state;
    size_t question;            /* its number */
    unsigned number;            /* of the question's runs */
    unsigned place;             /* while it runs */
    struct pct_process process; /* when it has ended */
};

struct state {
    struct pct_trials *trials;
    const struct pct_series *series;
    size_t room; /* of both arrays */
    struct begun *runs;
    struct asked *asked; /* in their order */
    size_t open, next;   /* questions that are not answered; the number of the next one */
    bool all_asked;
};

static struct begun *find(const struct state *s, size_t question, unsigned number)
{
    for (size_t i = 0; i < s->room; i++)
        if (s->runs[i].state != FREE && s->runs[i].question == question && s->runs[i].number == number)
            return &s->runs[i];
    return NULL;
}

static struct begun *find_free(const struct state *s)
{
    for (size_t i = 0; i < s->room; i++)
        if (s->runs[i].state == FREE)
            return &s->runs[i];
    return NULL;
}

/* A place where nothing runs; trials->jobs if there is none. */
static unsigned free_place(const struct pct_trials *trials)
{
    unsigned place = 0;
    while (place < trials->jobs && trials->running[place].running)
        place++;
    return place;
}

/* Nobody will look at it. */
static void forget(struct state *s, struct begun *run)
{
    struct pct_process *process = run->state == RUNNING ? &s->trials->running[run->place] : &run->process;
    if (run->state == RUNNING)
        pct_process_kill(process, SIGKILL);
    pct_process_close(process);
    memset(process, 0, sizeof *process);
    run->state = FREE;
    s->trials->vain++;
}

/* The first question is answered; so are all, if told so. */
static void drop(struct state *s, bool all)
{
    size_t dropped = all ? s->open : 1;
    for (size_t i = 0; i < s->room; i++)
        if (s->runs[i].state != FREE && (all || s->runs[i].question == s->asked[0].number))
            forget(s, &s->runs[i]);
    for (size_t i = 0; i < dropped; i++) {
        free(s->asked[i].question.what.list);
        free(s->asked[i].question.data);
    }
    s->open -= dropped;
    memmove(s->asked, s->asked + dropped, s->open * sizeof *s->asked);
}

/* The next run may be this question's. */
static bool wants(const struct asked *asked)
{
    return asked->started < asked->question.expected || asked->started == asked->seen;
}

/* The question whose run is to begin, NULL if there is none. Returns 0, or trials->status. */
static int choose(struct state *s, struct asked **chosen)
{
    *chosen = NULL;
    for (size_t i = 0; i < s->open && !*chosen; i++)
        *chosen = wants(&s->asked[i]) ? &s->asked[i] : NULL;
    /* One worker has nothing to do but what must be done. */
    if (*chosen || s->all_asked || s->open == s->room || (s->trials->jobs == 1 && s->open))
        return 0;
    struct asked *asked = &s->asked[s->open];
    *asked = (struct asked){ .number = s->next };
    int there = s->series->ask(s->series->context, s->next, &asked->question);
    if (there <= 0) {
        free(asked->question.what.list);
        free(asked->question.data);
    }
    if (there < 0) {
        pct_status_line_clear(s->trials->progress.quiet);
        pct_cli_say("%s", strerror(-there));
        return s->trials->status = PCT_EXIT_INTERNAL;
    }
    s->all_asked = !there;
    s->next += there > 0;
    s->open += there > 0;
    *chosen = there ? asked : NULL;
    return 0;
}

/* Begin what can begin. Returns 0, or trials->status. */
static int start(struct state *s)
{
    for (unsigned place; (place = free_place(s->trials)) < s->trials->jobs;) {
        struct asked *asked;
        struct begun *run = find_free(s);
        if (!run)
            return 0;
        if (choose(s, &asked))
            return s->trials->status;
        if (!asked)
            return 0;
        const struct pct_try *what = &asked->question.what;
        if (pct_trial_start(s->trials, place, what, what->seed + (asked->question.spread ? asked->started : 0)))
            return s->trials->status;
        *run =
            (struct begun){ .state = RUNNING, .question = asked->number, .number = asked->started++, .place = place };
    }
    return 0;
}

/* The run at this place is over. */
static void keep(struct state *s, unsigned place)
{
    for (size_t i = 0; i < s->room; i++)
        if (s->runs[i].state == RUNNING && s->runs[i].place == place) {
            s->runs[i].state = ENDED;
            s->runs[i].process = s->trials->running[place];
        }
    memset(&s->trials->running[place], 0, sizeof s->trials->running[place]);
}

/* Look at the runs whose turn it is. Returns 0, or trials->status. */
static int look(struct state *s)
{
    static struct pct_trial trial; /* large */
    while (s->open) {
        struct asked *first = &s->asked[0];
        struct begun *run = find(s, first->number, first->seen);
        if (!run || run->state != ENDED)
            return 0;
        memset(&trial, 0, sizeof trial);
        trial.process = run->process;
        run->state = FREE;
        first->seen++;
        if (pct_trial_look(s->trials, &trial))
            return s->trials->status;
        enum pct_answer answer = s->series->answer(s->series->context, first->number, &first->question, &trial);
        if (!trial.taken)
            pct_trial_close(&trial);
        if (answer == PCT_ANSWER_MORE)
            continue;
        s->trials->progress.answers++;
        s->trials->progress.left -= s->trials->progress.left > 0;
        s->all_asked = s->all_asked || answer == PCT_ANSWER_STOP;
        drop(s, answer == PCT_ANSWER_STOP);
    }
    return 0;
}

static int loop(struct state *s)
{
    struct pct_trials *trials = s->trials;
    for (;;) {
        if (!s->series->must && trials->limited && pct_cli_now() - trials->begun >= trials->seconds) {
            trials->late = true;
            return 0;
        }
        if (start(s))
            return trials->status;
        if (!s->open)
            return 0;
        int ended = -1;
        int signal = pct_launch_wait(&trials->launch, trials->running, (int)trials->jobs,
                                     pct_cli_now() + PCT_STATUS_LINE_TICK, &ended);
        if (signal)
            return pct_trials_interrupt(trials, signal);
        if (ended >= 0) {
            keep(s, (unsigned)ended);
            if (look(s))
                return trials->status;
        }
        pct_trials_draw_progress(trials);
    }
}

int pct_series_run(struct pct_trials *trials, const struct pct_series *series)
{
    if (trials->status)
        return trials->status;
    /* One worker never has more than its run; several go on while the one that is waited for takes long. */
    size_t room = trials->jobs > 1 ? 2 * (size_t)trials->jobs : 1;
    struct state s = { .trials = trials, .series = series, .room = room };
    s.runs = calloc(room, sizeof *s.runs);
    s.asked = calloc(room, sizeof *s.asked);
    if (s.runs && s.asked) {
        loop(&s);
        drop(&s, true);
    } else {
        pct_cli_say("out of memory");
        trials->status = PCT_EXIT_INTERNAL;
    }
    free(s.runs);
    free(s.asked);
    return trials->status;
}

void pct_series_step(struct pct_trials *trials, const char *what, uint64_t questions)
{
    struct pct_trial_progress *p = &trials->progress;
    p->what = what;
    p->begun = pct_cli_now();
    p->runs = p->answers = 0;
    p->left = questions;
}
