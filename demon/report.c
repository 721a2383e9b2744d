/* Reports: see report.h. The grades have a member, a rule or an element each; only a confirmed finding is ever
 * called an error of the program. */
#include "report.h"
#include <cli/base/cli.h>
#include <cli/export/junit.h>
#include <cli/export/sarif.h>
#include <common/text.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As demon_grade has them. */
static const char *const rules[] = { "pct/demon/confirmed", "pct/demon/contract-only", "pct/demon/other-failure" };
static const char *const meanings[] = {
    "The program fails when other threads make the calls that the contracts allow.",
    "Other threads break what a contract requires; the program did not fail.",
    "The program fails when other threads make the calls that the contracts allow, but not by what a contract requires."
};
static const char *const levels[] = { "error", "warning", "warning" };

static char *text_of(void (*print)(FILE *, const struct demon_finding *), const struct demon_finding *f)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    print(out, f);
    fclose(out);
    return text;
}

static void command_of(const struct demon_search *s, char *text, size_t size)
{
    struct pct_text command;
    int words = 0;
    while (s->program->command[words])
        words++;
    pct_text_init(&command, text, size);
    pct_text_add_command(&command, words, s->program->command);
}

/* Below the current directory as a relative path, as SARIF's readers want it. */
static const char *place_of(const struct demon_proc *proc)
{
    char directory[4096];
    size_t length = getcwd(directory, sizeof directory) ? strlen(directory) : 0;
    bool below = length && !strncmp(proc->path, directory, length) && proc->path[length] == '/';
    return below ? proc->path + length + 1 : proc->path;
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

static void add_broken(struct json_object *to, const struct demon_proc *proc, const struct demon_clause *broken)
{
    for (int i = 0; i < proc->clauses; i++) {
        if (broken ? &proc->clause[i] != broken : proc->clause[i].kind != DEMON_REQUIRE)
            continue;
        struct json_object *clause = pct_json_append_object(to);
        pct_json_add_string(clause, "tag", proc->clause[i].tag);
        pct_json_add_string(clause, "condition", proc->clause[i].text);
        pct_json_add_number(clause, "line", proc->clause[i].line);
    }
}

static void add_value(struct json_object *to, const char *key, const struct demon_change *change, uint64_t value)
{
    if (change->is_signed)
        json_object_object_add(to, key, json_object_new_int64((int64_t)value));
    else
        pct_json_add_number(to, key, value);
}

static void add_finding(struct json_object *to, const struct demon_finding *f)
{
    struct json_object *object = pct_json_append_object(to);
    pct_json_add_number(object, "point", f->point);
    pct_json_add_string(object, "enters", f->enters->name);
    pct_json_add_string(object, "file", place_of(f->enters));
    pct_json_add_number(object, "line", (uint64_t)f->enters->file_line);
    if (f->earlier_enters)
        pct_json_add_string(object, "earlier_enters", f->earlier_enters->name);
    struct json_object *earlier = f->earlier_enters ? pct_json_add_array(object, "earlier_calls") : NULL;
    for (int i = 0; i < f->earliers; i++)
        json_object_array_add(earlier, pct_json_text(f->earlier[i], sizeof f->earlier[i]));
    struct json_object *calls = pct_json_add_array(object, "calls");
    for (int i = 0; i < f->calls; i++)
        json_object_array_add(calls, pct_json_text(f->call[i], sizeof f->call[i]));
    struct json_object *helps = pct_json_add_array(object, "helps");
    for (int i = 0; i < f->helps; i++)
        json_object_array_add(helps, pct_json_text(f->help[i], sizeof f->help[i]));
    struct json_object *changes = pct_json_add_array(object, "changes");
    for (size_t i = 0; i < f->changes; i++) {
        struct json_object *change = pct_json_append_object(changes);
        pct_json_add_string(change, "place", f->change[i].place);
        add_value(change, "before", &f->change[i], f->change[i].before);
        add_value(change, "after", &f->change[i], f->change[i].after);
    }
    pct_json_add_number(object, "goal_point", f->goal_point);
    pct_json_add_string(object, "goal", f->goal->name);
    struct json_object *requires = pct_json_add_array(object, "requires");
    if (f->deadlock)
        pct_json_add_bool(object, "deadlock", true);
    else
        add_broken(requires, f->goal, f->broken);
    struct json_object *locks = pct_json_add_array(object, "not_held");
    for (size_t i = 0; i < f->free_locks; i++)
        json_object_array_add(locks, pct_json_text(f->free_lock[i], DEMON_PATH));
    if (f->reason)
        pct_json_add_string(object, "reason", f->reason);
    if (f->verdict)
        pct_json_add_string(object, "verdict", f->verdict);
    if (!f->replay)
        return;
    pct_json_add_string(object, "token", f->token);
    pct_json_add_string(object, "plan", f->plan);
    pct_json_add_string(object, "replay", f->replay);
}

static int write_json(FILE *out, const struct demon_search *s, enum demon_verdict verdict)
{
    static const char *const verdicts[] = { "none", "confirmed", "unfit", "contract_only", "other_failure" };
    static const char *const grades[] = { "confirmed", "contract_only", "other_failure", "refuted" };
    const struct {
        const char *name;
        uint64_t value;
    } counts[] = { { "points", s->record->points }, { "pairs", s->pairs },       { "stable", s->stable },
                   { "without", s->without },       { "cut", s->cut },           { "not_asked", s->unreached },
                   { "unanswered", s->unanswered }, { "runs", s->program->runs } };
    char command[8192];
    struct json_object *root = json_object_new_object();
    command_of(s, command, sizeof command);
    pct_json_add_string(root, "format", "pct-demon");
    pct_json_add_number(root, "version", 1);
    pct_json_add_string(root, "pct", PCT_CLI_VERSION);
    pct_json_add_string(root, "command", command);
    pct_json_add_string(root, "contracts", s->model.spec->name);
    pct_json_add_string(root, "test", s->model.spec->proc[0].name);
    pct_json_add_string(root, "verdict", verdicts[verdict]);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        pct_json_add_number(root, counts[i].name, counts[i].value);
    pct_json_add_bool(root, "out_of_time", s->out_of_time);
    const struct demon_annotations said = demon_count_annotations(s->model.spec);
    struct json_object *annotations = pct_json_add_object(root, "annotations");
    pct_json_add_number(annotations, "lock", said.lock);
    pct_json_add_number(annotations, "simple", said.simple);
    pct_json_add_number(annotations, "complex", said.complex);
    for (size_t grade = 0; grade < sizeof grades / sizeof *grades; grade++) {
        struct json_object *array = pct_json_add_array(root, grades[grade]);
        for (size_t i = 0; i < s->findings; i++)
            if (s->finding[i].grade == grade)
                add_finding(array, &s->finding[i]);
    }
    return pct_json_print(out, root);
}

/* --- SARIF -------------------------------------------------------------------------------------------------------- */

static int write_sarif(FILE *out, const struct demon_search *s, enum demon_verdict verdict)
{
    char directory[4096] = "", command[8192];
    struct json_object *root = json_object_new_object(), *run = pct_sarif_begin(root);
    struct json_object *list = pct_sarif_add_tool(run);
    (void)verdict;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        pct_sarif_add_rule(list, rules[i], meanings[i], levels[i]);
    command_of(s, command, sizeof command);
    pct_sarif_add_invocation(run, getcwd(directory, sizeof directory) ? directory : "", command);
    struct json_object *results = pct_json_add_array(run, "results");
    for (size_t i = 0; i < s->findings; i++) {
        const struct demon_finding *f = &s->finding[i];
        if (f->grade == DEMON_GRADE_REFUTED)
            continue;
        char *text = text_of(demon_finding_print, f);
        struct json_object *result = pct_json_append_object(results);
        pct_json_add_string(result, "ruleId", rules[f->grade]);
        pct_json_add_number(result, "ruleIndex", f->grade);
        pct_json_add_string(result, "level", levels[f->grade]);
        pct_sarif_add_text(result, "message", text ? text : "");
        pct_sarif_fill_location(pct_json_append_object(pct_json_add_array(result, "locations")), place_of(f->enters),
                                f->enters->file_line, f->enters->name);
        if (f->token)
            pct_json_add_string(pct_json_add_object(result, "properties"), "token", f->token);
        free(text);
    }
    return pct_json_print(out, root);
}

/* --- JUnit -------------------------------------------------------------------------------------------------------- */

static void write_case(FILE *out, const struct demon_finding *f)
{
    static const char *const types[] = { "confirmed", "contract-only", "other-failure" };
    char *title = text_of(demon_finding_title, f), *text = text_of(demon_finding_print, f), name[256];
    snprintf(name, sizeof name, "%s: interference at point %u for point %u", f->test->name, f->point, f->goal_point);
    const struct pct_junit_case test = { .class_name = "pct.demon",
                                         .name = name,
                                         .file = place_of(f->enters),
                                         .line = (unsigned)f->enters->file_line,
                                         .type = types[f->grade],
                                         .message = title ? title : "",
                                         .text = text,
                                         .error = f->grade != DEMON_GRADE_CONFIRMED };
    pct_junit_case(out, &test);
    free(title);
    free(text);
}

static int write_junit(FILE *out, const struct demon_search *s, enum demon_verdict verdict)
{
    const char *test = s->model.spec->proc[0].name;
    struct pct_junit_suite suite = { .name = "pct demon", .seconds = s->took };
    for (size_t i = 0; i < s->findings; i++) {
        suite.failures += s->finding[i].grade == DEMON_GRADE_CONFIRMED;
        suite.errors +=
            s->finding[i].grade == DEMON_GRADE_CONTRACT_ONLY || s->finding[i].grade == DEMON_GRADE_OTHER_FAILURE;
    }
    bool passed = !suite.failures && !suite.errors && verdict == DEMON_STABLE;
    suite.tests = suite.failures + suite.errors + passed;
    pct_junit_begin(out, &suite);
    for (size_t i = 0; i < s->findings; i++)
        if (s->finding[i].grade != DEMON_GRADE_REFUTED)
            write_case(out, &s->finding[i]);
    if (passed)
        pct_junit_case(out, &(struct pct_junit_case){ .class_name = "pct.demon", .name = test, .seconds = s->took });
    pct_junit_end(out);
    return 0;
}

/* --- All ---------------------------------------------------------------------------------------------------------- */

static const char *const names[] = { "json", "sarif", "junit" };
enum { FORMATS = sizeof names / sizeof *names };

bool demon_report_parse(struct pct_report_file *report, const char *text, char *error, size_t size)
{
    return pct_report_file_parse(report, text, names, FORMATS, error, size);
}

bool demon_report_check(const struct pct_report_file *reports, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int failed = pct_report_file_check(&reports[i]);
        if (failed) {
            demon_say("%s: %s", pct_report_file_name(&reports[i]), strerror(-failed));
            return false;
        }
    }
    return true;
}

struct job {
    const struct demon_search *search;
    enum demon_verdict verdict;
    const char *format;
};

static int write_format(FILE *out, void *context)
{
    static int (*const writers[])(FILE *, const struct demon_search *, enum demon_verdict) = { write_json, write_sarif,
                                                                                               write_junit };
    const struct job *job = context;
    size_t i = 0;
    while (strcmp(names[i], job->format) != 0)
        i++;
    return writers[i](out, job->search, job->verdict);
}

bool demon_report_write(const struct pct_report_file *reports, size_t count, const struct demon_search *s,
                        enum demon_verdict verdict)
{
    bool fine = true;
    for (size_t i = 0; i < count; i++) {
        struct job job = { .search = s, .verdict = verdict, .format = reports[i].format };
        int failed = pct_report_file_write(&reports[i], write_format, &job);
        if (failed)
            demon_say("%s: %s", pct_report_file_name(&reports[i]), strerror(-failed));
        fine &= !failed;
    }
    return fine;
}
