/* What was found, in words: see finding.h. */
#include "finding.h"
#include <cli/base/cli.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- The words ---------------------------------------------------------------------------------------------------- */

static void describe_argument(FILE *out, const struct demon_model *m, const struct demon_call *call,
                              const struct demon_type *type, int i)
{
    if (call->object[i] >= 0)
        fprintf(out, "%s%s", type->object && m->object[call->object[i]].type->embedded ? "&" : "",
                m->object[call->object[i]].name.name);
    else if (type->pointer || type->object)
        fputs("null", out);
    else if (type->is_signed)
        fprintf(out, "%" PRId64, (int64_t)(call->value[i] << (64 - type->size * 8)) >> (64 - type->size * 8));
    else
        fprintf(out, "%" PRIu64, call->value[i]);
}

/* "f(queue, 3)": of this call. False: memory is short. */
static bool describe_call(const struct demon_model *m, const struct demon_call *call, char *text, size_t size)
{
    const struct demon_proc *proc = &m->spec->proc[call->proc];
    FILE *out = fmemopen(text, size, "w");
    if (!out)
        return false;
    fprintf(out, "%s(", proc->name);
    for (int i = 0; i < proc->parameters; i++) {
        fputs(i ? ", " : "", out);
        describe_argument(out, m, call, &proc->parameter[i].type, i);
    }
    fputs(")", out);
    text[size - 1] = 0;
    return !fclose(out);
}

/* Of an object that is a pointer, &X, the first element is X. */
static void put_name(char *to, size_t size, const char *object, const char *member)
{
    static const char first[] = "[0]";
    const bool pointer = *object == '&', is_first = !strncmp(member, first, sizeof first - 1);
    if (pointer && is_first)
        snprintf(to, size, "%s%s", object + 1, member + sizeof first - 1);
    else
        snprintf(to, size, pointer ? "(%s)%s" : "%s%s", object, member);
}

/* The name of this scalar, by what one of the calls may change. False: none does. */
static bool name_place(const struct demon_candidate *c, const struct demon_scalar *item, struct demon_change *change)
{
    const struct demon_model *m = c->model;
    for (int i = c->count; i-- > 0;) {
        const struct demon_call *call = &c->calls[i];
        struct demon_binding binding = { .proc = &m->spec->proc[call->proc] };
        for (int k = 0; k < binding.proc->frames; k++) {
            const struct demon_leaf *leaf = &binding.proc->frame[k];
            int object = leaf->parameter >= 0 ? call->object[leaf->parameter] : -1;
            if (leaf->size != item->size || leaf->whole)
                continue;
            if (object >= 0)
                binding.argument[leaf->parameter] = demon_state_object(m, c->state.point, &m->object[object]);
            if (demon_state_address(m, &c->state, &binding, leaf) != item->address)
                continue;
            change->is_signed = leaf->is_signed;
            change->pointer = leaf->pointer;
            const char *root = demon_leaf_root(leaf), *members = root + strcspn(root, ".[,");
            const size_t before = (size_t)(root - leaf->path);
            memcpy(change->place, leaf->path, before);
            put_name(change->place + before, sizeof change->place - before,
                     object >= 0 ? m->object[object].name.name : "", object >= 0 ? members : root);
            return true;
        }
    }
    return false;
}

static bool describe_changes(struct demon_finding *f, const struct demon_candidate *c)
{
    f->change = calloc((size_t)c->state.count + 1, sizeof *f->change);
    for (int i = 0; f->change && i < c->state.count; i++) {
        const struct demon_scalar *item = &c->state.item[i];
        struct demon_change *change = &f->change[f->changes];
        *change = (struct demon_change){ .before = item->value, .after = c->after[i] };
        if (change->before == change->after || !name_place(c, item, change))
            continue;
        const unsigned unused = change->is_signed ? 64 - item->size * 8 : 0;
        change->before = (uint64_t)((int64_t)(change->before << unused) >> unused);
        change->after = (uint64_t)((int64_t)(change->after << unused) >> unused);
        f->changes++;
    }
    return f->change;
}

static void describe_locks(struct demon_finding *f, const struct demon_candidate *c, const struct demon_expr *e)
{
    bool held = true;
    if (!e)
        return;
    if (e->op == DEMON_HOLDS && demon_state_holds(c->model, &c->state, &c->test, &e->leaf, PCT_DEMON_BY_TEST, &held) &&
        !held) {
        bool known = f->free_locks == DEMON_CLAUSES;
        for (size_t i = 0; i < f->free_locks; i++)
            known |= !strcmp(f->free_lock[i], e->leaf.path);
        if (!known)
            f->free_lock[f->free_locks++] = e->leaf.path;
    }
    describe_locks(f, c, e->a);
    describe_locks(f, c, e->b);
}

bool demon_finding_describe(struct demon_finding *f, enum demon_grade grade, const struct demon_candidate *c)
{
    const struct demon_spec *spec = c->model->spec;
    *f = (struct demon_finding){ .grade = grade, .point = c->i + 1, .goal_point = c->j + 1 };
    f->test = &spec->proc[0];
    f->enters = c->at;
    f->goal = c->goal.proc;
    bool fine = describe_changes(f, c);
    for (; fine && f->calls < c->count; f->calls++)
        fine = describe_call(c->model, &c->calls[f->calls], f->call[f->calls], sizeof f->call[0]);
    if (c->earlier.calls)
        f->earlier_enters = c->earlier.at;
    for (; fine && f->earliers < c->earlier.calls; f->earliers++)
        fine = describe_call(c->model, &c->earlier.call[f->earliers], f->earlier[f->earliers], sizeof f->earlier[0]);
    for (; fine && f->helps < c->helps; f->helps++)
        fine = describe_call(c->model, &c->help[f->helps], f->help[f->helps], sizeof f->help[0]);
    for (int i = 0; i < f->test->clauses; i++)
        if (f->test->clause[i].kind == DEMON_RELY)
            describe_locks(f, c, f->test->clause[i].expr);
    return fine;
}

void demon_finding_free(struct demon_finding *f)
{
    free(f->change);
    free(f->verdict);
    free(f->token);
    free(f->plan);
    free(f->replay);
}

/* --- For people --------------------------------------------------------------------------------------------------- */

static void print_calls(FILE *out, const struct demon_finding *f, const struct demon_proc *at, const char (*call)[256],
                        int calls)
{
    fprintf(out, "where %s %s %s", f->test->name, demon_proc_verb(at), at->name);
    if (!at->is_line)
        fprintf(out, " (%s:%d)", at->file, at->file_line);
    fputs(": another thread calls ", out);
    for (int c = 0; c < calls; c++)
        fprintf(out, "%s%s", c ? ", then " : "", call[c]);
}

void demon_finding_title(FILE *out, const struct demon_finding *f)
{
    fputs("interference ", out);
    if (f->earlier_enters) {
        print_calls(out, f, f->earlier_enters, f->earlier, f->earliers);
        fputs("; later, ", out);
    }
    print_calls(out, f, f->enters, f->call, f->calls);
}

static void print_change(FILE *out, const struct demon_change *change, const char *indent)
{
    fprintf(out, "%s      %s: ", indent, change->place);
    if (change->pointer)
        fprintf(out, change->before ? "%#" PRIx64 " -> " : "null -> ", change->before);
    if (change->pointer)
        fprintf(out, change->after ? "%#" PRIx64 "\n" : "null\n", change->after);
    else if (change->is_signed)
        fprintf(out, "%" PRId64 " -> %" PRId64 "\n", (int64_t)change->before, (int64_t)change->after);
    else
        fprintf(out, "%" PRIu64 " -> %" PRIu64 "\n", change->before, change->after);
}

/* indent: before each line but the first. */
static void print_interference(FILE *out, const struct demon_finding *f, const char *indent)
{
    demon_finding_title(out, f);
    fputs("\n", out);
    if (f->helps)
        fprintf(out, "%swhere %s waits for others, another thread calls ", indent, f->test->name);
    for (int c = 0; c < f->helps; c++)
        fprintf(out, "%s%s%s", c ? ", then " : "", f->help[c], c + 1 < f->helps ? "" : "\n");
    for (size_t i = 0; i < f->changes; i++)
        print_change(out, &f->change[i], indent);
    if (f->deadlock)
        fprintf(out, "%sthen %s and that call wait for each other's locks for ever, whatever the contracts say\n",
                indent, f->test->name);
    for (int c = 0; c < f->goal->clauses && !f->deadlock; c++)
        if (f->broken ? &f->goal->clause[c] == f->broken : f->goal->clause[c].kind == DEMON_REQUIRE)
            fprintf(out, "%sthen `%s %s: %s` %s %s %s\n", indent, demon_clause_word(f->goal, DEMON_REQUIRE),
                    f->goal->clause[c].tag, f->goal->clause[c].text, f->goal->is_line ? "at" : "of", f->goal->name,
                    f->broken ? "does not hold" : "may not hold");
}

static void print_locks(FILE *out, const struct demon_finding *f, const char *indent)
{
    for (size_t i = 0; f->grade == DEMON_GRADE_CONFIRMED && i < f->free_locks; i++)
        fprintf(out, "%s%s is not held there\n", indent, f->free_lock[i]);
}

void demon_finding_print_cause(FILE *out, const struct demon_finding *f)
{
    fputs("cause: ", out);
    print_interference(out, f, "  ");
    print_locks(out, f, "  ");
}

void demon_finding_print(FILE *out, const struct demon_finding *f)
{
    print_interference(out, f, "");
    if (f->grade == DEMON_GRADE_CONTRACT_ONLY)
        fprintf(out,
                "only the contract is broken: a real run of two threads came there, and %s. Is the contract\nright, "
                "and does the test check what it asks for?\n",
                f->reason ? f->reason : "the program did not fail");
    if (!f->verdict)
        return;
    fputs("the program: ", out);
    pct_cli_print_clean(out, f->verdict, SIZE_MAX);
    fputc('\n', out);
    print_locks(out, f, "");
    if (f->reason)
        fprintf(out, "a failure, but not the contract's: %s\n", f->reason);
    if (f->advice)
        fprintf(out, "%s\n", f->advice);
    if (f->replay)
        fprintf(out, "%s; this replays it:\n%s\n",
                f->reason ? "by a real schedule of two threads" : "confirmed by a real schedule of two threads",
                f->replay);
}
