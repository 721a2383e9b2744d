/* `pct demon`: a program of its own, so that nobody needs a solver who does not use it. The command starts it with its
 * own path in front (cli/command/demon.c). */
#include "attempt.h"
#include "campaign.h"
#include "emit.h"
#include "report.h"
#include "source.h"
#include "steps.h"
#include <argp.h>
#include <cli/base/cli.h>
#include <cli/base/replacement.h>
#include <cli/command/parse.h>
#include <cli/process/settings.h>
#include <common/demon_options.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct arguments {
    const char *spec, *test; /* NULL: none is given */
    bool list;
    int bound, depth;
    enum demon_points points;
    bool has_points;
    double seconds;
    struct demon_program program;
    char keep[4096];
    bool has_keep;
    const char *emit; /* NULL: no test is wanted */
    const char *db;   /* NULL: no campaign file is wanted */
    struct pct_report_file report[DEMON_REPORTS];
    size_t reports;
};

void demon_say(const char *format, ...)
{
    char *text = NULL;
    va_list list;
    va_start(list, format);
    fflush(stdout);
    pct_cli_say("%s", vasprintf(&text, format, list) < 0 ? "out of memory" : text);
    va_end(list);
    free(text);
}

void demon_show(const char *text)
{
    pct_cli_print_lines(stderr, text, 0);
}

static const struct argp_option options[] = { PCT_DEMON_OPTIONS };

static double parse_number(struct argp_state *state, const char *name, const char *text, double least, double most)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= least) || value > most)
        argp_failure(state, DEMON_WRONG, 0, "%s: '%s' is not a number from %g to %g", name, text, least, most);
    return value;
}

static enum demon_points parse_points(struct argp_state *state, const char *text)
{
    static const char *const names[] = { "calls", "locks", "accesses" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(text, names[i]))
            return (enum demon_points)i;
    argp_failure(state, DEMON_WRONG, 0, "--points: '%s' is not calls, locks or accesses", text);
    return DEMON_POINTS_CALLS;
}

static void add_report(struct argp_state *state, const char *text)
{
    struct arguments *a = state->input;
    char error[256];
    if (a->reports == DEMON_REPORTS)
        argp_failure(state, DEMON_WRONG, 0, "--report: there are too many of them");
    else if (!demon_report_parse(&a->report[a->reports], text, error, sizeof error))
        argp_failure(state, DEMON_WRONG, 0, "--report: %s", error);
    a->reports++;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct arguments *a = state->input;
    const struct pct_setting settings[] = {
        { PCT_DEMON_KEY_SPEC, .text = &a->spec }, { PCT_DEMON_KEY_TEST, .text = &a->test },
        { PCT_DEMON_KEY_LIST, .on = &a->list },   { PCT_DEMON_KEY_EMIT, .text = &a->emit },
        { PCT_DEMON_KEY_DB, .text = &a->db },     { 0 },
    };
    if (pct_settings_take(settings, options, key, argument, state))
        return 0;
    switch (key) {
    case PCT_DEMON_KEY_BOUND:
        a->bound = (int)parse_number(state, "--bound", argument, 1, DEMON_LONGEST);
        return 0;
    case PCT_DEMON_KEY_POINTS:
        a->points = parse_points(state, argument);
        a->has_points = true;
        return 0;
    case PCT_DEMON_KEY_DEPTH:
        a->depth = (int)parse_number(state, "--depth", argument, 1, DEMON_TIMES);
        return 0;
    case PCT_DEMON_KEY_SECONDS:
        a->seconds = parse_number(state, "--seconds", argument, 0.001, 1e8);
        return 0;
    case PCT_DEMON_KEY_TIMEOUT:
        a->program.timeout = parse_number(state, "--timeout", argument, 0.001, 1e8);
        return 0;
    case PCT_DEMON_KEY_REPORT:
        add_report(state, argument);
        return 0;
    case 'o':
        snprintf(a->keep, sizeof a->keep, "%s", argument);
        a->has_keep = true;
        return 0;
    case ARGP_KEY_ARG:
        a->program.command = &state->argv[state->next - 1];
        state->next = state->argc;
        return 0;
    case ARGP_KEY_END:
        if (!a->program.command)
            argp_error(state, "no command is given: pct demon [--spec FILE] -- COMMAND [ARGUMENT...]");
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = PCT_DEMON_ARGUMENTS_DOC,
    .doc =
        "Ask what other threads could do to the routine that a test calls: by contracts and a solver, confirmed by a "
        "real schedule of two threads.\v"
        "The exit status is 0 if no interference was found, 1 if a real schedule confirmed one, 3 if one broke only "
        "a contract, or made the program fail otherwise, 2 if the contracts or the program are not fit for it. "
        "pct-demon(1) has the language.",
};

/* Whether it could be written, before there is anything to write. */
static bool check_emit(const struct arguments *a)
{
    int failed = a->emit ? pct_replacement_check(a->emit) : 0;
    if (failed)
        demon_say("%s: %s", a->emit, strerror(-failed));
    return !failed;
}

/* The same of the plan of a finding. */
static bool check_keep(const struct arguments *a)
{
    char directory[sizeof a->keep];
    snprintf(directory, sizeof directory, "%s", a->keep);
    char *slash = strrchr(directory, '/');
    if (slash)
        slash[slash == directory] = 0;
    struct stat status;
    const bool there = !stat(a->keep, &status), is_directory = there && S_ISDIR(status.st_mode);
    const bool fine = !is_directory && !access(there ? a->keep : slash ? directory : ".", W_OK);
    if (!fine)
        demon_say("%s, which keeps the plan of a finding, cannot be written (%s): -o FILE puts it elsewhere", a->keep,
                  strerror(is_directory ? EISDIR : errno));
    return fine;
}

static enum demon_verdict list(const struct demon_search *s)
{
    const struct demon_spec *spec = s->model.spec;
    for (int i = 0; i < spec->procs; i++) {
        const struct demon_proc *proc = &spec->proc[i];
        printf("%s %s", proc->is_test ? "test" : proc->is_line ? "line" : "proc", proc->name);
        if (!proc->is_line)
            printf(" (%s:%d)", proc->file, proc->file_line);
        printf(proc->acts ? ", which others may call; it changes" : "");
        for (int k = 0; proc->acts && k < proc->frames; k++)
            printf("%s %s", k ? "," : "", proc->frame[k].path);
        printf(proc->acts && !proc->frames ? " nothing\n" : "\n");
        for (int k = 0; k < proc->clauses; k++) {
            printf("    %s %s: %s\n", demon_clause_word(proc, proc->clause[k].kind), proc->clause[k].tag,
                   proc->clause[k].text);
        }
    }
    printf("points of the test:\n");
    for (uint32_t i = 0; i < s->record->points; i++) {
        const struct demon_proc *at = demon_way_place(s, &s->undisturbed, i);
        printf("%5u  %s %s", i + 1, demon_proc_verb(at), at->name);
        if (at->is_step)
            printf(" (%s:%d)", at->file, at->file_line);
        puts("");
    }
    return DEMON_STABLE;
}

/* The first lock that this condition asks for, whatever else it does. NULL: none. */
static const struct demon_expr *find_needed_lock(const struct demon_expr *e)
{
    if (e->op != DEMON_AND)
        return e->op == DEMON_HOLDS ? e : NULL;
    const struct demon_expr *needed = find_needed_lock(e->a);
    return needed ? needed : find_needed_lock(e->b);
}

/* What others may call, but only with a lock that they do not have. */
static void tell_uncallable(FILE *out, const struct demon_spec *spec)
{
    for (int i = 1; i < spec->procs; i++)
        for (int k = 0; spec->proc[i].acts && k < spec->proc[i].clauses; k++) {
            const struct demon_clause *clause = &spec->proc[i].clause[k];
            const struct demon_expr *lock = clause->kind == DEMON_REQUIRE ? find_needed_lock(clause->expr) : NULL;
            if (lock)
                fprintf(out,
                        "%s was never called by others: it requires holds(%s) of its caller; name a function that "
                        "locks it and calls %s\n",
                        spec->proc[i].name, lock->leaf.path, spec->proc[i].name);
        }
}

/* What others may call, but with what they do not know. */
static void tell_unknown(FILE *out, const struct demon_model *m)
{
    for (int i = 1; i < m->spec->procs; i++)
        for (int k = 0; m->spec->proc[i].acts && k < m->spec->proc[i].parameters; k++) {
            const struct demon_variable *v = &m->spec->proc[i].parameter[k];
            bool known = !v->type.object || v->type.plain; /* null will do */
            for (int o = 0; o < m->objects; o++)
                known |= !strcmp(m->object[o].type->name, v->type.name);
            if (!known)
                fprintf(
                    out,
                    "%s was never called by others: they know nothing that its %s could be; make one a parameter of "
                    "%s, or a shared variable\n",
                    m->spec->proc[i].name, v->name, m->spec->proc[0].name);
        }
}

/* Runs that failed by who checks what the test has done. */
static void tell_as_before(const struct demon_search *s)
{
    size_t i = 0;
    while (i < s->findings && !(s->finding[i].grade == DEMON_GRADE_REFUTED && s->finding[i].reason))
        i++;
    if (!s->as_before || i == s->findings)
        return;
    const struct demon_finding *first = &s->finding[i];
    const char *test = s->model.spec->proc[0].name;
    fprintf(s->out,
            "in %llu of these the program failed, as it does when the calls come before %s is entered; first by ",
            (unsigned long long)s->as_before, test);
    for (int c = 0; c < first->calls; c++)
        fprintf(s->out, "%s%s", c ? ", then " : "", first->call[c]);
    fprintf(s->out,
            "\nwhat checks the result of %s does not allow for them: if others may make them, let it accept what "
            "they leave; if not, say so by a `rely`, or by a `require` of what they call\n",
            test);
}

/* Of a clause that more calls break, or from more points, one finding is shown. */
static void tell_same(const struct demon_search *s)
{
    for (size_t i = 0; i < s->findings; i++) {
        const struct demon_finding *f = &s->finding[i];
        unsigned long long more = 0;
        if (f->grade != DEMON_GRADE_CONTRACT_ONLY || demon_attempt_is_known(s, f))
            continue;
        for (size_t k = i + 1; k < s->findings; k++)
            more += demon_attempt_is_same(f, &s->finding[k]);
        if (more)
            fprintf(s->out, "`%s: %s` of %s was broken so %llu more time%s, from other points or by other calls\n",
                    f->broken->tag, f->broken->text, f->goal->name, more, more > 1 ? "s" : "");
    }
}

static void conclude(const struct demon_search *s, enum demon_verdict verdict)
{
    unsigned long long pairs = s->pairs;
    if (verdict == DEMON_CONFIRMED || verdict == DEMON_WRONG)
        return;
    tell_same(s);
    fprintf(s->out, "%u points, %llu pairs of points: %llu proven stable; of the others", s->record->points, pairs,
            (unsigned long long)s->stable);
    fprintf(s->out, " %llu without a sequence of at most %d calls that fails\n", (unsigned long long)s->without,
            s->longest);
    fprintf(s->out,
            s->depth > 1 ? "%llu other ways of the test, behind an earlier call of others, were looked at, too\n"
                         : "%llu single calls of others were made, too, whatever they were to break\n",
            (unsigned long long)s->ways);
    if (s->ways_failed > s->ways_wrong)
        fprintf(s->out, "%llu calls made the program fail, but broke no contract\n",
                (unsigned long long)(s->ways_failed - s->ways_wrong));
    if (s->ways_wrong)
        fprintf(s->out,
                "%llu calls made the program fail with a contract broken, but that is not the contract's failure: %s\n",
                (unsigned long long)s->ways_wrong, s->why_wrong);
    if (s->ways_left)
        fprintf(s->out, "%llu calls were not made: there are too many\n", (unsigned long long)s->ways_left);
    if (s->refuted)
        fprintf(s->out, "%llu candidates were refuted by a real run\n", (unsigned long long)s->refuted);
    if (s->killed)
        fprintf(s->out,
                "in %llu of these the run took more than %g s and was killed, so it shows little: --timeout gives it "
                "more\n",
                (unsigned long long)s->killed, s->program->timeout);
    tell_as_before(s);
    if (s->unlike)
        fprintf(s->out,
                "in %llu of these the calls did something else than the solver took from their `ensure`: say there "
                "exactly what they do\n",
                (unsigned long long)s->unlike);
    if (s->unreached)
        fprintf(s->out,
                "%llu pairs were not asked about: at the earlier point an object is not there yet, or what is required "
                "does not hold yet\n",
                (unsigned long long)s->unreached);
    if (s->unasked)
        fprintf(s->out,
                "%llu sequences of calls were not asked about: what the contract of one speaks of is not there, as "
                "behind a null pointer\n",
                (unsigned long long)s->unasked);
    const uint64_t left_out = demon_steps_left_out(s);
    if (left_out)
        fprintf(s->out,
                "others were let in where functions begin alone; between these the test makes %llu operation%s on "
                "locks: --points=locks lets others in before each\n",
                (unsigned long long)left_out, left_out > 1 ? "s" : "");
    if (s->points != DEMON_POINTS_ACCESSES)
        fprintf(s->out, "no call was tried between accesses to memory: --points=accesses lets others in before each\n");
    tell_uncallable(s->out, s->model.spec);
    tell_unknown(s->out, &s->model);
    if (s->unnamed)
        fprintf(s->out,
                "%s of %s: no call of others can name this object, so none was tried on it; make it a parameter of %s, "
                "or a shared variable\n",
                s->unnamed->parameter[s->unnamed_parameter].name, s->unnamed->name, s->model.spec->proc[0].name);
    const bool cut = s->record->map.cut || s->model.pointers.cut;
    if (s->model.left)
        fprintf(s->out,
                "no call was tried on %s%s that members lead to: make those that count parameters of %s, or "
                "shared variables\n",
                s->model.first_left.name, s->model.left > 1 || cut ? " and other objects" : ", an object",
                s->model.spec->proc[0].name);
    else if (cut)
        fprintf(s->out,
                "not all objects that members lead to were looked for, as there are too many: make those that count "
                "parameters of %s, or shared variables\n",
                s->model.spec->proc[0].name);
    if (s->record->map.unsure || s->unsure)
        fprintf(s->out,
                "no call was tried on what may be a list's head, not its element: make the head, or what it is in, a "
                "parameter of %s, or a shared variable; of a list that has none, let an array of pointers to the "
                "elements themselves be one\n",
                s->model.spec->proc[0].name);
    if (s->cut)
        fprintf(s->out,
                "%llu pairs were not searched to the end: there are too many sequences of calls; --bound=1 or 2 takes "
                "fewer\n",
                (unsigned long long)s->cut);
    if (s->unanswered)
        fprintf(s->out, "%llu questions had no answer from the solver\n", (unsigned long long)s->unanswered);
    if (s->out_of_time)
        fprintf(s->out, "%s before all was looked at\n", demon_program_stopped() ? "interrupted" : "out of time");
    if (verdict == DEMON_STABLE)
        fprintf(s->out, "no interference found, for this test, these contracts and these objects%s\n",
                s->out_of_time ? ", in what was looked at" : "");
}

static bool read_contracts(struct demon_search *s, struct arguments *a, char *error, size_t size)
{
    static struct demon_sources sources; /* whose names the specification keeps */
    if (!demon_program_open(&a->program, error, size) ||
        (a->spec && !demon_sources_add_file(&sources, a->spec, error, size)) ||
        !demon_sources_add_comments(&sources, a->program.path, error, size))
        return false;
    if (!sources.count) {
        snprintf(
            error, size,
            "no contracts are given: --spec FILE, or comments that begin with /*@demon above functions of %s, which "
            "must be built with -g",
            a->program.command[0]);
        return false;
    }
    s->model.spec = demon_spec_parse(sources.item, sources.count, a->test, error, size);
    if (!s->model.spec)
        return false;
    const char *name = a->spec ? a->spec : s->model.spec->proc[0].name, *slash = strrchr(name, '/');
    if (!a->has_keep)
        snprintf(a->keep, sizeof a->keep, "%s.plan", slash ? slash + 1 : name);
    demon_program_watch(&a->program, s->model.spec);
    return true;
}

static bool prepare(struct demon_search *s, struct arguments *a, struct pct_demon_plan *plan)
{
    char error[8192] = "";
    bool fine = read_contracts(s, a, error, sizeof error) &&
                demon_shape_resolve(s->model.spec, a->program.path, plan, error, sizeof error) &&
                demon_type_check(s->model.spec, error, sizeof error);
    if (fine)
        demon_pointers_find(s->model.spec, a->program.path, &s->model.pointers, &plan->map);
    fine = fine && demon_model_prepare(&s->model, error, sizeof error);
    if (!fine) {
        demon_say("%s", error);
        return false;
    }
    for (int i = 0; i < s->model.spec->procs; i++) {
        const struct demon_proc *proc = &s->model.spec->proc[i];
        const struct demon_clause *clause = demon_query_vacuous(proc);
        if (clause) {
            demon_say("%s:%u: the contract of %s is vacuous: nothing can meet `%s %s: %s`, as clauses of it contradict "
                      "each other",
                      proc->from, clause->line, proc->name, demon_clause_word(proc, clause->kind), clause->tag,
                      clause->text);
            return false;
        }
    }
    return true;
}

/* By this function, to this file, if it is wanted. */
static bool write_confirmed(const struct demon_search *s, bool (*write)(const struct demon_search *, const char *),
                            const char *path, enum demon_verdict verdict)
{
    if (!path)
        return true;
    if (verdict == DEMON_CONFIRMED)
        return write(s, path);
    fprintf(s->out, "%s is not written: nothing is confirmed\n", path);
    return true;
}

static enum demon_verdict look(struct demon_search *s, const struct arguments *a)
{
    enum demon_verdict verdict = demon_search_run(s);
    if (verdict == DEMON_STABLE && !s->pairs && !s->ways && !s->out_of_time) {
        demon_say("nothing was asked, so nothing is known: no function that %s enters, nor itself, requires anything; "
                  "say by `require` of such a proc what must hold there, or look further by --depth 2",
                  s->model.spec->proc[0].name);
        return DEMON_WRONG;
    }
    conclude(s, verdict);
    if (verdict == DEMON_WRONG)
        return verdict;
    bool written = write_confirmed(s, demon_emit, a->emit, verdict);
    written &= write_confirmed(s, demon_campaign_write, a->db, verdict);
    return demon_report_write(a->report, a->reports, s, verdict) && written ? verdict : DEMON_WRONG;
}

int main(int argc, char **argv)
{
    static struct pct_demon_plan plan;
    static struct arguments a = { .bound = DEMON_LONGEST, .depth = 1, .program = { .timeout = 10 } };
    static struct demon_search search;
    char name[] = "pct demon";
    if (!pct_cli_reserve_stack())
        return pct_cli_no_memory(" for the stack");
    if (argc < 2) {
        fputs("pct-demon is started by `pct demon`\n", stderr);
        return DEMON_WRONG;
    }
    a.program.pct = argv[1];
    argv[1] = name;
    argp_err_exit_status = DEMON_WRONG;
    pct_parse_words(&argp, argc - 1, argv + 1, ARGP_IN_ORDER, &a);
    if (!a.program.command)
        return DEMON_WRONG; /* argp has said so */
    search.model.plan = &plan;
    search.program = &a.program;
    search.keep = a.keep;
    search.longest = a.bound;
    search.depth = a.depth;
    search.points = a.points;
    search.fixed = a.has_points;
    a.program.accesses = a.points == DEMON_POINTS_ACCESSES;
    search.seconds = a.seconds;
    search.out = stdout;
    for (size_t i = 0; i < a.reports; i++)
        if (!a.report[i].path || !strcmp(a.report[i].path, "-"))
            search.out = stderr; /* a program reads the other */
    enum demon_verdict verdict = DEMON_WRONG;
    if (demon_report_check(a.report, a.reports) && check_emit(&a) && (!a.db || demon_campaign_check(a.db)) &&
        prepare(&search, &a, &plan) && (a.list || check_keep(&a)) && demon_search_record(&search))
        verdict = a.list ? list(&search) : look(&search, &a);
    demon_search_free(&search);
    demon_program_close(&a.program);
    demon_spec_free(search.model.spec);
    if (verdict == DEMON_STABLE && demon_program_stopped())
        return 128 + demon_program_stopped(); /* as a shell has it */
    return verdict == DEMON_OTHER_FAILURE ? DEMON_CONTRACT_ONLY : verdict;
}
