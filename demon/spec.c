/* The parser of declarations: see parser.h; spec.h. */
#include "parser.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Clauses by the word that begins them, in the order of demon_clause_kind. */
static const char *const clause_words[] = { "require", "ensure", "rely", "guarantee", "invariant", "wait" };

const char *demon_clause_word(const struct demon_proc *proc, enum demon_clause_kind kind)
{
    return proc->is_line ? "assert" : clause_words[kind];
}

const char *demon_proc_verb(const struct demon_proc *proc)
{
    return proc->is_step ? "is about to" : proc->is_line ? "reaches" : "enters";
}

bool demon_proc_has(const struct demon_proc *proc, enum demon_clause_kind kind)
{
    for (int i = 0; i < proc->clauses; i++)
        if (proc->clause[i].kind == kind)
            return true;
    return false;
}

/* What a condition of this kind cannot say: it would not mean what it seems to. */
static void check_kind(struct demon_parser *p, const struct demon_proc *to, enum demon_clause_kind kind,
                       const struct demon_expr *e)
{
    if (!e)
        return;
    bool two = e->op == DEMON_UNCHANGED || ((e->op == DEMON_LEAF || e->op == DEMON_ADDRESS) && e->old);
    if (kind == DEMON_REQUIRE && to->is_line && two)
        demon_fail(p, "what is asserted at a line is of one state: `old` and `unchanged` are for rely and guarantee");
    if (kind == DEMON_INVARIANT && two)
        demon_fail(p, "an invariant is of one state: `old` and `unchanged` are for rely and guarantee");
    if (kind == DEMON_WAIT && (two || e->op == DEMON_HOLDS))
        demon_fail(
            p, "what the test waits for is of one state, in which it holds no lock: no `old`, `unchanged` and `holds`");
    if (kind == DEMON_GUARANTEE && e->op == DEMON_HOLDS)
        demon_fail(p,
                   "a guarantee spans all that the test does between two points, where locks come and go: no `holds`");
    check_kind(p, to, kind, e->a);
    check_kind(p, to, kind, e->b);
}

static bool is_ghost(const struct demon_parser *p, const struct demon_leaf *leaf)
{
    return leaf->shared >= 0 && p->spec->shared[leaf->shared].ghost;
}

/* Whether it names what others may change, or (ghosts) ghosts, as they are behind the call. */
static bool names_new(const struct demon_parser *p, const struct demon_expr *e, bool ghosts)
{
    if (!e)
        return false;
    bool own = e->leaf.parameter >= 0 && demon_leaf_is_bare(&e->leaf);
    if (e->op == DEMON_UNCHANGED || (e->op == DEMON_LEAF && !e->old && !own))
        return !ghosts || is_ghost(p, &e->leaf);
    return names_new(p, e->a, ghosts) || names_new(p, e->b, ghosts);
}

/* Whether it names anything else, as that is behind the call. */
static bool names_other(const struct demon_parser *p, const struct demon_expr *e)
{
    bool own = e && e->leaf.parameter >= 0 && demon_leaf_is_bare(&e->leaf);
    if (!e || (e->op == DEMON_LEAF && !e->old && !own))
        return e && !is_ghost(p, &e->leaf);
    return names_other(p, e->a) || names_other(p, e->b);
}

/* The value of a ghost is followed, not sought: it is given one. */
static void check_ghosts(struct demon_parser *p, const struct demon_expr *e)
{
    if (p->failed || !names_new(p, e, true))
        return;
    if (e->op == DEMON_AND) {
        check_ghosts(p, e->a);
        check_ghosts(p, e->b);
    } else if (e->op != DEMON_EQUAL || e->a->op != DEMON_LEAF || e->a->old || names_new(p, e->b, false)) {
        demon_fail(p, "a ghost changes by `NAME = ...`, of old values, parameters and numbers alone");
    }
}

/* In one line, without comments. */
static void copy_text(char *to, size_t size, const char *from, const char *end)
{
    size_t length = 0;
    while (from < end && length + 1 < size) {
        bool blank = isspace((unsigned char)*from) || (from[0] == '-' && from[1] == '-');
        if (!blank || !length || to[length - 1] != ' ')
            to[length++] = blank ? ' ' : iscntrl((unsigned char)*from) ? '?' : *from;
        from += from[0] == '-' && from[1] == '-' ? (int)strcspn(from, "\n") : 1;
    }
    to[length] = 0;
    if (from < end && size > 4)
        snprintf(to + size - 4, 4, "...");
}

/* A clause may have this tag, too. */
static bool is_array_or_object(const struct demon_parser *p)
{
    return (demon_is(p, "array") || demon_is(p, "object")) && p->at[strspn(p->at, " \t\r\n")] != ':';
}

static void take_object(struct demon_parser *p)
{
    struct demon_spec *spec = p->spec;
    if (!p->proc)
        demon_fail(p, "'object' stands below no proc or test");
    else if (spec->objects == DEMON_OBJECT_CLAUSES)
        demon_fail(p, "there are more than %d objects", DEMON_OBJECT_CLAUSES);
    if (p->failed)
        return;
    struct demon_object_clause *object = &spec->object[spec->objects++];
    *object = (struct demon_object_clause){ .proc = p->proc, .line = p->line };
    demon_advance(p);
    demon_take_path(p, &object->leaf);
    const char *path = object->leaf.path;
    if (!p->failed && (strncmp(path, "container_of(", 13) != 0 || path[strlen(path) - 1] != ')'))
        demon_fail(p, "object container_of(PATH, TYPE, MEMBER) is expected, not %s: what other paths lead to is known",
                   path);
}

static void take_array(struct demon_parser *p)
{
    struct demon_spec *spec = p->spec;
    if (!p->proc)
        demon_fail(p, "'array' stands below no proc or test");
    else if (spec->arrays == DEMON_ARRAYS)
        demon_fail(p, "there are more than %d arrays", DEMON_ARRAYS);
    if (p->failed)
        return;
    struct demon_array *array = &spec->array[spec->arrays++];
    *array = (struct demon_array){ .proc = p->proc, .line = p->line };
    demon_advance(p);
    demon_take_path(p, &array->leaf);
    demon_expect(p, "has");
    array->counted = p->token != DEMON_DIGITS;
    if (array->counted)
        demon_take_path(p, &array->by);
    else
        array->elements = demon_take_count(p);
}

static void take_clauses(struct demon_parser *p, enum demon_clause_kind kind, struct demon_proc *proc)
{
    do {
        if (proc->clauses == DEMON_CLAUSES) {
            demon_fail(p, "%s has more than %d clauses", proc->name, DEMON_CLAUSES);
            return;
        }
        struct demon_clause *clause = &proc->clause[proc->clauses];
        *clause = (struct demon_clause){ .kind = kind, .line = p->line };
        demon_take_name(p, clause->tag, "clause (tag: condition)");
        demon_expect(p, ":");
        const char *from = p->token_at;
        p->depth = p->parts = 0;
        clause->expr = demon_take_condition(p);
        check_kind(p, proc, kind, clause->expr);
        if (kind == DEMON_ENSURE)
            check_ghosts(p, clause->expr);
        copy_text(clause->text, sizeof clause->text, from, p->last_end);
        proc->clauses++;
    } while (!p->failed && p->token == DEMON_WORD && !demon_is_keyword(p->text) && !is_array_or_object(p));
}

/* Its place in the specification; NULL: there is none. */
static struct demon_proc *begin_proc(struct demon_parser *p, bool is_test)
{
    struct demon_spec *spec = p->spec;
    struct demon_proc *proc = is_test ? &spec->proc[0] : &spec->proc[spec->procs];
    if (!is_test && spec->procs == PCT_DEMON_FUNCTIONS)
        demon_fail(p, "there are more than %d procedures: name fewer", PCT_DEMON_FUNCTIONS - 1);
    else if (is_test && proc->line && p->source->function[0])
        demon_fail(p, "%s is a test, too, as %s is (%s:%u): --test=%s takes this one", p->source->function, proc->name,
                   proc->from, proc->line, p->source->function);
    else if (is_test && proc->line)
        demon_fail(p, "there is one test only");
    if (p->failed)
        return NULL;
    proc->from = p->source->name;
    proc->line = p->line;
    proc->is_test = is_test;
    return p->proc = proc;
}

/* No two have one name; then it counts. */
static void finish_proc(struct demon_parser *p, const struct demon_proc *proc)
{
    struct demon_spec *spec = p->spec;
    for (int i = 0; i < spec->procs && !p->failed; i++)
        if (proc != &spec->proc[i] && !strcmp(proc->name, spec->proc[i].name))
            demon_fail(p, "%s is there already (%s:%u)", proc->name, spec->proc[i].from, spec->proc[i].line);
    spec->procs += !proc->is_test;
}

/* Of a comment: what the function below it is called, and its parameters. */
static void take_function(struct demon_parser *p)
{
    const struct demon_source *source = p->source;
    struct demon_proc *proc = begin_proc(p, source->is_test);
    if (!proc)
        return;
    if (source->parameters > PCT_DEMON_ARGUMENTS)
        demon_fail(p, "%s has more than %d parameters", source->function, PCT_DEMON_ARGUMENTS);
    if (!demon_accept(p, "test"))
        demon_accept(p, "proc");
    snprintf(proc->name, sizeof proc->name, "%s", source->function);
    for (int i = 0; i < source->parameters && !p->failed; i++) {
        struct demon_variable *v = &proc->parameter[proc->parameters++];
        v->from = source->name;
        v->line = proc->line;
        snprintf(v->name, sizeof v->name, "%s", source->parameter[i]);
    }
    finish_proc(p, proc);
}

static void take_proc(struct demon_parser *p, bool is_test)
{
    struct demon_proc *proc = begin_proc(p, is_test);
    if (!proc)
        return;
    demon_take_word(p, proc->name, is_test ? "test" : "procedure");
    demon_expect(p, "(");
    while (!p->failed && !demon_is(p, ")")) {
        if (proc->parameters == PCT_DEMON_ARGUMENTS) {
            demon_fail(p, "%s has more than %d parameters", proc->name, PCT_DEMON_ARGUMENTS);
            return;
        }
        struct demon_variable *v = &proc->parameter[proc->parameters++];
        v->from = p->source->name;
        v->line = p->line;
        demon_take_word(p, v->name, "parameter");
        if (!demon_accept(p, ",") && !demon_is(p, ")"))
            demon_fail(p, "',' or ')' is expected, not %s", demon_found(p));
    }
    demon_expect(p, ")");
    finish_proc(p, proc);
}

static void take_shared(struct demon_parser *p, bool ghost)
{
    do {
        if (p->collected) {
            demon_advance(p);
            continue;
        }
        if (p->spec->shareds == DEMON_SHARED) {
            demon_fail(p, "there are more than %d shared variables and ghosts: name fewer", DEMON_SHARED);
            return;
        }
        struct demon_variable *v = &p->spec->shared[p->spec->shareds];
        v->from = p->source->name;
        v->line = p->line;
        demon_take_name(p, v->name, ghost ? "ghost" : "global variable");
        p->spec->shareds++;
        if (!ghost)
            continue;
        v->ghost = true;
        v->address = sizeof(int64_t) * (uint64_t)p->spec->shareds; /* where no program has anything */
        v->type = (struct demon_type){ .size = sizeof(int64_t), .is_signed = true };
    } while (demon_accept(p, ","));
}

static void take_frame(struct demon_parser *p)
{
    do {
        if (p->proc->frames == DEMON_LEAVES) {
            demon_fail(p, "%s modifies more than %d places", p->proc->name, DEMON_LEAVES);
            return;
        }
        struct demon_leaf *leaf = &p->proc->frame[p->proc->frames++];
        demon_take_path(p, leaf);
        if (!p->failed && is_ghost(p, leaf))
            demon_fail(p, "a ghost changes by `NAME = ...`, of old values, parameters and numbers alone");
        p->proc->modifies++;
        p->proc->acts = true;
    } while (demon_accept(p, ","));
}

static void take_clause_word(struct demon_parser *p, enum demon_clause_kind kind)
{
    const char *word = clause_words[kind];
    if (!p->proc) {
        demon_fail(p, "'%s' stands below no proc or test", word);
    } else if (kind >= DEMON_RELY && !p->proc->is_test) {
        demon_fail(p, "%s is of the test: %s is a proc", word, p->proc->name);
    } else if (kind == DEMON_ENSURE && p->proc->is_test) {
        demon_fail(p, "ensure is of a proc, which others may call: %s is the test", p->proc->name);
    } else {
        demon_advance(p);
        take_clauses(p, kind, p->proc);
    }
}

/* The line that the token names, and what is asserted there so far. NULL: it is none. */
static struct demon_proc *find_line(struct demon_parser *p)
{
    struct demon_spec *spec = p->spec;
    const char *colon = strrchr(p->text, ':');
    if (p->token != DEMON_STRING || !colon || colon == p->text || !colon[1] ||
        colon[1 + strspn(colon + 1, "0123456789")]) {
        demon_fail(p, "assert is followed by \"FILE:LINE\", not %s", demon_found(p));
        return NULL;
    }
    for (int i = 1; i < spec->procs; i++)
        if (spec->proc[i].is_line && !strcmp(spec->proc[i].name, p->text))
            return &spec->proc[i];
    if (spec->procs == PCT_DEMON_FUNCTIONS) {
        demon_fail(p, "there are too many procedures and lines");
        return NULL;
    }
    struct demon_proc *line = &spec->proc[spec->procs++];
    *line = (struct demon_proc){ .from = p->source->name, .line = p->line, .is_line = true };
    snprintf(line->name, sizeof line->name, "%.*s", DEMON_NAME - 1, p->text);
    memcpy(line->parameter, p->proc->parameter, sizeof line->parameter);
    line->parameters = p->proc->parameters;
    return line;
}

static void take_assert(struct demon_parser *p)
{
    if (!p->proc || !p->proc->is_test) {
        demon_fail(p, p->proc ? "assert is of the test: %s is a proc" : "'assert' stands below no test",
                   p->proc ? p->proc->name : "");
        return;
    }
    demon_advance(p);
    struct demon_proc *line = find_line(p);
    if (!line)
        return;
    demon_advance(p);
    take_clauses(p, DEMON_REQUIRE, line);
}

static void take_declaration(struct demon_parser *p)
{
    if (demon_is(p, "shared") || demon_is(p, "ghost")) {
        bool ghost = demon_is(p, "ghost");
        demon_advance(p);
        take_shared(p, ghost);
        return;
    }
    if ((demon_is(p, "test") || demon_is(p, "proc")) && p->source->function[0]) {
        demon_fail(p, "a comment is of one function, %s; `%s` would begin another", p->source->function, p->text);
        return;
    }
    if (demon_is(p, "test") || demon_is(p, "proc")) {
        bool is_test = demon_is(p, "test");
        demon_advance(p);
        take_proc(p, is_test);
        return;
    }
    for (size_t i = 0; i < sizeof clause_words / sizeof *clause_words; i++)
        if (demon_is(p, clause_words[i])) {
            take_clause_word(p, (enum demon_clause_kind)i);
            return;
        }
    if (demon_is(p, "assert") || demon_is(p, "array") || demon_is(p, "object")) {
        (demon_is(p, "array") ? take_array : demon_is(p, "object") ? take_object : take_assert)(p);
        return;
    }
    if (demon_is(p, "modifies") && !p->proc) {
        demon_fail(p, "'%s' stands below no proc or test", p->text);
    } else if (demon_accept(p, "modifies")) {
        take_frame(p);
    } else {
        const char *nearest = demon_nearest_declaration(p->text);
        if (nearest)
            demon_fail(p, "unknown word %s; did you mean %s?", demon_found(p), nearest);
        else
            demon_fail(
                p,
                "shared, ghost, test, proc, or a clause (require, ensure, modifies, rely, guarantee, invariant, wait, "
                "assert, array, object) is expected, not %s",
                demon_found(p));
    }
}

/* What the conditions name without `old` may change. */
static bool add_frame(struct demon_proc *proc, const struct demon_expr *e)
{
    if (!e)
        return true;
    if (e->op == DEMON_LEAF && !e->old) {
        bool bare = demon_leaf_is_bare(&e->leaf) && e->leaf.parameter >= 0;
        for (int i = 0; i < proc->frames; i++)
            bare |= !strcmp(proc->frame[i].path, e->leaf.path);
        if (!bare && proc->frames == DEMON_LEAVES)
            return false;
        if (!bare)
            proc->frame[proc->frames++] = e->leaf;
    }
    return add_frame(proc, e->a) && add_frame(proc, e->b);
}

void demon_spec_free(struct demon_spec *spec)
{
    while (spec && spec->last) {
        struct demon_expr *e = spec->last;
        spec->last = e->earlier;
        free(e);
    }
    free(spec);
}

static void begin_source(struct demon_parser *p, const struct demon_source *source)
{
    *p = (struct demon_parser){
        .spec = p->spec, .source = source, .error = p->error, .size = p->size, .failed = p->failed
    };
    p->at = p->last_end = source->text;
    p->line = source->line;
    demon_advance(p);
}

/* What is shared may be declared behind what speaks of it; but in comments of tests, which may not be taken. */
static void collect_shared(struct demon_parser *p, const struct demon_source *source)
{
    static const char *const names_follow[] = { ".", "->", "test", "proc", "(", "," };
    bool name = false; /* the token is one */
    begin_source(p, source);
    while (!p->failed && p->token != DEMON_END) {
        if (!name && (demon_is(p, "shared") || demon_is(p, "ghost"))) {
            const bool ghost = demon_is(p, "ghost");
            demon_advance(p);
            take_shared(p, ghost);
            continue;
        }
        name = false;
        for (size_t i = 0; i < sizeof names_follow / sizeof *names_follow; i++)
            name |= demon_is(p, names_follow[i]);
        demon_advance(p);
    }
}

static void parse_source(struct demon_parser *p, const struct demon_source *source)
{
    begin_source(p, source);
    p->collected = !source->is_test;
    if (source->function[0])
        take_function(p);
    while (!p->failed && p->token != DEMON_END)
        take_declaration(p);
}

static void finish(struct demon_parser *p, const char *test)
{
    struct demon_spec *spec = p->spec;
    if (p->failed)
        return;
    if (test && !spec->proc[0].line)
        demon_fail(p, "--test=%s: no comment that begins with /*@demon test stands above a function of this name",
                   test);
    else if (!spec->proc[0].line)
        demon_fail(p, "there is no test: `test NAME(PARAMETER, ...)` names the routine");
    else if (test && strcmp(test, spec->proc[0].name) != 0)
        demon_fail(p, "--test=%s: the test is %s", test, spec->proc[0].name);
    spec->name = spec->proc[0].from;
    for (int i = 0; i < spec->procs && !p->failed; i++) {
        struct demon_proc *proc = &spec->proc[i];
        for (int k = 0; k < proc->clauses; k++) {
            const struct demon_clause *clause = &proc->clause[k];
            if (clause->kind != DEMON_ENSURE)
                continue;
            /* What speaks of ghosts alone lets nobody call it. */
            proc->acts |= !names_new(p, clause->expr, true) || names_other(p, clause->expr);
            if (!add_frame(proc, clause->expr))
                demon_fail(p, "%s changes more than %d places", proc->name, DEMON_LEAVES);
        }
    }
}

struct demon_spec *demon_spec_parse(const struct demon_source *sources, size_t count, const char *test, char *error,
                                    size_t size)
{
    struct demon_spec *spec = calloc(1, sizeof *spec);
    if (!spec || !count) {
        snprintf(error, size, spec ? "there are no contracts" : "out of memory");
        free(spec);
        return NULL;
    }
    struct demon_parser p = { .spec = spec, .source = sources, .line = sources->line, .error = error, .size = size };
    spec->procs = 1; /* the test's place */
    for (size_t i = 0; i < count && !p.failed; i++)
        if (!sources[i].is_test)
            collect_shared(&p, &sources[i]);
    for (size_t i = 0; i < count && !p.failed; i++) {
        const struct demon_proc *is = &spec->proc[0];
        bool other = is->line && !sources[0].function[0] && is->from == sources[0].name;
        other |= test && strcmp(test, sources[i].function) != 0;
        if (!sources[i].is_test || !other)
            parse_source(&p, &sources[i]);
    }
    finish(&p, test);
    if (!p.failed)
        return spec;
    demon_spec_free(spec);
    return NULL;
}
