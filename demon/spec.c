/* The parser: see spec.h. By recursive descent, one token ahead. */
#include "spec.h"
#include <ctype.h>
#include <common/text.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum token { END, WORD, NUMBER, SIGN, STRING };

struct parser {
    struct demon_spec *spec;
    const struct demon_source *source;
    struct demon_proc *proc;
    const char *at; /* behind the token */
    const char *token_at, *last_end;
    enum token token;
    char text[DEMON_PATH];
    unsigned line, depth;
    char *error;
    size_t size;
    bool failed;
};

static const char *const keywords[] = { "shared",  "test",      "proc",      "require", "ensure", "modifies",
                                        "rely",    "guarantee", "invariant", "wait",    "ghost",  "assert",
                                        "implies", "or",        "and",       "not",     "holds",  "unchanged",
                                        "old",     "null",      "true",      "false" };
enum { DECLARATIONS = 12 /* keywords that begin one */ };

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

const char *demon_nearest(const char *name, const char *const *names, size_t count)
{
    return pct_text_closest(name, names, count);
}

__attribute__((format(printf, 2, 3))) static void fail(struct parser *p, const char *format, ...)
{
    if (p->failed)
        return;
    p->failed = true;
    int length = snprintf(p->error, p->size, "%s:%u: ", p->source->name, p->line);
    va_list list;
    va_start(list, format);
    if (length > 0 && (size_t)length < p->size)
        vsnprintf(p->error + length, p->size - (size_t)length, format, list);
    va_end(list);
}

static void advance(struct parser *p)
{
    p->last_end = p->at;
    for (;;) {
        if (*p->at == '\n')
            p->line++;
        if (isspace((unsigned char)*p->at))
            p->at++;
        else if (p->at[0] == '-' && p->at[1] == '-')
            p->at += strcspn(p->at, "\n");
        else
            break;
    }
    const char *from = p->token_at = p->at;
    if (!*from) {
        p->token = END;
    } else if (isalpha((unsigned char)*from) || *from == '_') {
        p->token = WORD;
        while (isalnum((unsigned char)*p->at) || *p->at == '_')
            p->at++;
    } else if (isdigit((unsigned char)*from)) {
        p->token = NUMBER;
        while (isalnum((unsigned char)*p->at))
            p->at++;
    } else if (*from == '"' && strcspn(from + 1, "\"\n") < strcspn(from + 1, "\n")) {
        p->token = STRING; /* its text: without the quotes */
        p->at = strchr(++from, '"');
    } else {
        p->token = SIGN;
        bool two = (strchr("!<>", *from) && from[1] == '=') || (from[0] == '-' && from[1] == '>');
        p->at += two ? 2 : 1;
    }
    snprintf(p->text, sizeof p->text, "%.*s", (int)(p->at - from), from);
    if (p->at - from >= DEMON_NAME)
        fail(p, "'%.20s...' is too long: names have up to %d letters", p->text, DEMON_NAME - 1);
    p->at += p->token == STRING;
}

static bool is(const struct parser *p, const char *text)
{
    return p->token != END && p->token != STRING && !strcmp(p->text, text);
}

static bool accept(struct parser *p, const char *text)
{
    if (p->failed || !is(p, text))
        return false;
    advance(p);
    return true;
}

static const char *found(const struct parser *p)
{
    return p->token != END ? p->text : p->source->function[0] ? "the end of the comment" : "the end of the file";
}

static void expect(struct parser *p, const char *text)
{
    if (!accept(p, text))
        fail(p, "'%s' is expected, not %s", text, found(p));
}

static bool is_keyword(const char *text)
{
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (!strcmp(text, keywords[i]))
            return true;
    return false;
}

static void take_name(struct parser *p, char name[DEMON_NAME], const char *what)
{
    if (p->token != WORD || is_keyword(p->text))
        fail(p, "the name of a %s is expected, not %s", what, found(p));
    snprintf(name, DEMON_NAME, "%.*s", DEMON_NAME - 1, p->text);
    if (!p->failed)
        advance(p);
}

static struct demon_expr *make(struct parser *p, enum demon_op op, struct demon_expr *a, struct demon_expr *b)
{
    struct demon_expr *e = calloc(1, sizeof *e);
    if (!e)
        abort();
    *e = (struct demon_expr){ .op = op, .a = a, .b = b, .line = p->line, .earlier = p->spec->last };
    p->spec->last = e;
    return e;
}

/* What the first word of a path is. */
static void bind(struct parser *p, struct demon_leaf *leaf, const char *first)
{
    const char *names[PCT_DEMON_ARGUMENTS + 16];
    size_t count = 0;
    leaf->parameter = leaf->shared = -1;
    for (int i = 0; i < p->proc->parameters; i++) {
        if (!strcmp(first, p->proc->parameter[i].name))
            leaf->parameter = i;
        names[count++] = p->proc->parameter[i].name;
    }
    for (int i = 0; i < p->spec->shareds; i++) {
        if (leaf->parameter < 0 && !strcmp(first, p->spec->shared[i].name))
            leaf->shared = i;
        names[count++] = p->spec->shared[i].name;
    }
    if (leaf->parameter >= 0 || leaf->shared >= 0)
        return;
    const char *nearest = demon_nearest(first, names, count);
    if (nearest)
        fail(p, "%s has no parameter '%s', and it is not shared; did you mean %s?", p->proc->name, first, nearest);
    else
        fail(p, "%s has no parameter '%s', and it is not shared", p->proc->name, first);
}

static void take_path(struct parser *p, struct demon_leaf *leaf)
{
    char name[DEMON_NAME];
    take_name(p, name, "parameter or shared variable");
    if (p->failed)
        return;
    bind(p, leaf, name);
    size_t length = (size_t)snprintf(leaf->path, sizeof leaf->path, "%s", name);
    while (accept(p, ".") || accept(p, "->")) {
        take_name(p, name, "member");
        if (length + strlen(name) + 2 > sizeof leaf->path)
            fail(p, "%s...: the path is too long", leaf->path);
        else
            length += (size_t)snprintf(leaf->path + length, sizeof leaf->path - length, ".%s", name);
    }
}

static struct demon_expr *take_condition(struct parser *p);

static struct demon_expr *take_number(struct parser *p)
{
    char *end;
    struct demon_expr *e = make(p, DEMON_NUMBER, NULL, NULL);
    unsigned long long value = strtoull(p->text, &end, 0);
    if (*end || value > INT64_MAX)
        fail(p, "'%s' is not a number below 2^63", p->text);
    e->number = (int64_t)value;
    advance(p);
    return e;
}

static struct demon_expr *take_primary(struct parser *p)
{
    struct demon_expr *e;
    if (p->token == NUMBER)
        return take_number(p);
    if (accept(p, "(")) {
        e = take_condition(p);
        expect(p, ")");
        return e;
    }
    if (accept(p, "true"))
        return make(p, DEMON_TRUE, NULL, NULL);
    if (accept(p, "false"))
        return make(p, DEMON_NOT, make(p, DEMON_TRUE, NULL, NULL), NULL);
    if (accept(p, "null"))
        return make(p, DEMON_NUMBER, NULL, NULL);
    if (accept(p, "-"))
        return make(p, DEMON_SUBTRACT, make(p, DEMON_NUMBER, NULL, NULL), take_primary(p));
    if (is(p, "holds") || is(p, "unchanged")) {
        e = make(p, is(p, "holds") ? DEMON_HOLDS : DEMON_UNCHANGED, NULL, NULL);
        advance(p);
        expect(p, "(");
        take_path(p, &e->leaf);
        expect(p, ")");
        return e;
    }
    e = make(p, DEMON_LEAF, NULL, NULL);
    e->old = accept(p, "old");
    take_path(p, &e->leaf);
    return e;
}

struct level {
    const char *sign;
    enum demon_op op;
};

/* From the loosest to the closest. */
static const struct level levels[][7] = {
    { { "implies", DEMON_IMPLIES } },
    { { "or", DEMON_OR } },
    { { "and", DEMON_AND } },
    { { "not", DEMON_NOT } },
    { { "=", DEMON_EQUAL },
      { "!=", DEMON_UNEQUAL },
      { "<=", DEMON_AT_MOST },
      { ">=", DEMON_AT_LEAST },
      { "<", DEMON_LESS },
      { ">", DEMON_GREATER } },
    { { "+", DEMON_ADD }, { "-", DEMON_SUBTRACT } },
    { { "*", DEMON_MULTIPLY } },
};
enum { LEVELS = sizeof levels / sizeof *levels, IMPLICATION = 0, NEGATION = 3, COMPARISON = 4, DEEPEST = 200 };

static struct demon_expr *take_level(struct parser *p, unsigned level)
{
    if (level == LEVELS)
        return take_primary(p);
    if (level == NEGATION && accept(p, "not")) {
        struct demon_expr *inner = p->depth++ < DEEPEST ? take_level(p, level) : NULL;
        if (!inner)
            fail(p, "the condition is nested too deeply");
        return make(p, DEMON_NOT, inner, NULL);
    }
    struct demon_expr *e = take_level(p, level + 1);
    const struct level *l = levels[level];
    for (size_t i = 0; level != NEGATION && i < 6 && l[i].sign && !p->failed; i++)
        if (accept(p, l[i].sign)) {
            e = make(p, l[i].op, e, take_level(p, level == IMPLICATION ? level : level + 1));
            if (level == IMPLICATION || level == COMPARISON)
                break;
            i = (size_t)-1;
        }
    return e;
}

static struct demon_expr *take_condition(struct parser *p)
{
    if (p->depth++ > DEEPEST)
        fail(p, "the condition is nested too deeply");
    struct demon_expr *e = p->failed ? make(p, DEMON_TRUE, NULL, NULL) : take_level(p, 0);
    return e;
}

/* What a condition of this kind cannot say: it would not mean what it seems to. */
static void check_kind(struct parser *p, const struct demon_proc *to, enum demon_clause_kind kind,
                       const struct demon_expr *e)
{
    if (!e)
        return;
    bool two = e->op == DEMON_UNCHANGED || (e->op == DEMON_LEAF && e->old);
    if (kind == DEMON_REQUIRE && to->is_line && two)
        fail(p, "what is asserted at a line is of one state: `old` and `unchanged` are for rely and guarantee");
    if (kind == DEMON_INVARIANT && two)
        fail(p, "an invariant is of one state: `old` and `unchanged` are for rely and guarantee");
    if (kind == DEMON_WAIT && (two || e->op == DEMON_HOLDS))
        fail(p,
             "what the test waits for is of one state, in which it holds no lock: no `old`, `unchanged` and `holds`");
    if (kind == DEMON_GUARANTEE && e->op == DEMON_HOLDS)
        fail(p, "a guarantee spans all that the test does between two points, where locks come and go: no `holds`");
    check_kind(p, to, kind, e->a);
    check_kind(p, to, kind, e->b);
}

static bool is_ghost(const struct parser *p, const struct demon_leaf *leaf)
{
    return leaf->shared >= 0 && p->spec->shared[leaf->shared].ghost;
}

/* Whether it names what others may change, or (ghosts) ghosts, as they are behind the call. */
static bool names_new(const struct parser *p, const struct demon_expr *e, bool ghosts)
{
    if (!e)
        return false;
    bool own = e->leaf.parameter >= 0 && !strchr(e->leaf.path, '.');
    if (e->op == DEMON_UNCHANGED || (e->op == DEMON_LEAF && !e->old && !own))
        return !ghosts || is_ghost(p, &e->leaf);
    return names_new(p, e->a, ghosts) || names_new(p, e->b, ghosts);
}

/* Whether it names anything else, as that is behind the call. */
static bool names_other(const struct parser *p, const struct demon_expr *e)
{
    bool own = e && e->leaf.parameter >= 0 && !strchr(e->leaf.path, '.');
    if (!e || (e->op == DEMON_LEAF && !e->old && !own))
        return e && !is_ghost(p, &e->leaf);
    return names_other(p, e->a) || names_other(p, e->b);
}

/* The value of a ghost is followed, not sought: it is given one. */
static void check_ghosts(struct parser *p, const struct demon_expr *e)
{
    if (p->failed || !names_new(p, e, true))
        return;
    if (e->op == DEMON_AND) {
        check_ghosts(p, e->a);
        check_ghosts(p, e->b);
    } else if (e->op != DEMON_EQUAL || e->a->op != DEMON_LEAF || e->a->old || names_new(p, e->b, false)) {
        fail(p, "a ghost changes by `NAME = ...`, of old values, parameters and numbers alone");
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

static void take_clauses(struct parser *p, enum demon_clause_kind kind, struct demon_proc *proc)
{
    do {
        if (proc->clauses == DEMON_CLAUSES) {
            fail(p, "%s has more than %d clauses", proc->name, DEMON_CLAUSES);
            return;
        }
        struct demon_clause *clause = &proc->clause[proc->clauses];
        *clause = (struct demon_clause){ .kind = kind, .line = p->line };
        take_name(p, clause->tag, "clause (tag: condition)");
        expect(p, ":");
        const char *from = p->token_at;
        p->depth = 0;
        clause->expr = take_condition(p);
        check_kind(p, proc, kind, clause->expr);
        if (kind == DEMON_ENSURE)
            check_ghosts(p, clause->expr);
        copy_text(clause->text, sizeof clause->text, from, p->last_end);
        proc->clauses++;
    } while (!p->failed && p->token == WORD && !is_keyword(p->text));
}

/* Its place in the specification; NULL: there is none. */
static struct demon_proc *begin_proc(struct parser *p, bool is_test)
{
    struct demon_spec *spec = p->spec;
    struct demon_proc *proc = is_test ? &spec->proc[0] : &spec->proc[spec->procs];
    if (!is_test && spec->procs == PCT_DEMON_FUNCTIONS)
        fail(p, "there are more than %d procedures: name fewer", PCT_DEMON_FUNCTIONS - 1);
    else if (is_test && proc->line && p->source->function[0])
        fail(p, "%s is a test, too, as %s is (%s:%u): --test=%s takes this one", p->source->function, proc->name,
             proc->from, proc->line, p->source->function);
    else if (is_test && proc->line)
        fail(p, "there is one test only");
    if (p->failed)
        return NULL;
    proc->from = p->source->name;
    proc->line = p->line;
    proc->is_test = is_test;
    return p->proc = proc;
}

/* No two have one name; then it counts. */
static void finish_proc(struct parser *p, const struct demon_proc *proc)
{
    struct demon_spec *spec = p->spec;
    for (int i = 0; i < spec->procs && !p->failed; i++)
        if (proc != &spec->proc[i] && !strcmp(proc->name, spec->proc[i].name))
            fail(p, "%s is there already (%s:%u)", proc->name, spec->proc[i].from, spec->proc[i].line);
    spec->procs += !proc->is_test;
}

/* Of a comment: what the function below it is called, and its parameters. */
static void take_function(struct parser *p)
{
    const struct demon_source *source = p->source;
    struct demon_proc *proc = begin_proc(p, source->is_test);
    if (!proc)
        return;
    if (source->parameters > PCT_DEMON_ARGUMENTS)
        fail(p, "%s has more than %d parameters", source->function, PCT_DEMON_ARGUMENTS);
    if (!accept(p, "test"))
        accept(p, "proc");
    snprintf(proc->name, sizeof proc->name, "%s", source->function);
    for (int i = 0; i < source->parameters && !p->failed; i++) {
        struct demon_variable *v = &proc->parameter[proc->parameters++];
        v->from = source->name;
        v->line = proc->line;
        snprintf(v->name, sizeof v->name, "%s", source->parameter[i]);
    }
    finish_proc(p, proc);
}

static void take_proc(struct parser *p, bool is_test)
{
    struct demon_proc *proc = begin_proc(p, is_test);
    if (!proc)
        return;
    take_name(p, proc->name, is_test ? "test" : "procedure");
    expect(p, "(");
    while (!p->failed && !is(p, ")")) {
        if (proc->parameters == PCT_DEMON_ARGUMENTS) {
            fail(p, "%s has more than %d parameters", proc->name, PCT_DEMON_ARGUMENTS);
            return;
        }
        struct demon_variable *v = &proc->parameter[proc->parameters++];
        v->from = p->source->name;
        v->line = p->line;
        take_name(p, v->name, "parameter");
        if (!accept(p, ",") && !is(p, ")"))
            fail(p, "',' or ')' is expected, not %s", found(p));
    }
    expect(p, ")");
    finish_proc(p, proc);
}

static void take_shared(struct parser *p, bool ghost)
{
    do {
        if (p->spec->shareds == 16) {
            fail(p, "there are more than 16 shared variables and ghosts: name fewer");
            return;
        }
        struct demon_variable *v = &p->spec->shared[p->spec->shareds];
        v->from = p->source->name;
        v->line = p->line;
        take_name(p, v->name, ghost ? "ghost" : "global variable");
        p->spec->shareds++;
        if (!ghost)
            continue;
        v->ghost = true;
        v->address = sizeof(int64_t) * (uint64_t)p->spec->shareds; /* where no program has anything */
        v->type = (struct demon_type){ .size = sizeof(int64_t), .is_signed = true };
    } while (accept(p, ","));
}

static void take_frame(struct parser *p)
{
    do {
        if (p->proc->frames == DEMON_LEAVES) {
            fail(p, "%s modifies more than %d places", p->proc->name, DEMON_LEAVES);
            return;
        }
        struct demon_leaf *leaf = &p->proc->frame[p->proc->frames++];
        take_path(p, leaf);
        if (!p->failed && is_ghost(p, leaf))
            fail(p, "a ghost changes by `NAME = ...`, of old values, parameters and numbers alone");
        p->proc->modifies++;
        p->proc->acts = true;
    } while (accept(p, ","));
}

static void take_clause_word(struct parser *p, enum demon_clause_kind kind)
{
    const char *word = clause_words[kind];
    if (!p->proc) {
        fail(p, "'%s' stands below no proc or test", word);
    } else if (kind >= DEMON_RELY && !p->proc->is_test) {
        fail(p, "%s is of the test: %s is a proc", word, p->proc->name);
    } else if (kind == DEMON_ENSURE && p->proc->is_test) {
        fail(p, "ensure is of a proc, which others may call: %s is the test", p->proc->name);
    } else {
        advance(p);
        take_clauses(p, kind, p->proc);
    }
}

/* The line that the token names, and what is asserted there so far. NULL: it is none. */
static struct demon_proc *find_line(struct parser *p)
{
    struct demon_spec *spec = p->spec;
    const char *colon = strrchr(p->text, ':');
    if (p->token != STRING || !colon || colon == p->text || !colon[1] || colon[1 + strspn(colon + 1, "0123456789")]) {
        fail(p, "assert is followed by \"FILE:LINE\", not %s", found(p));
        return NULL;
    }
    for (int i = 1; i < spec->procs; i++)
        if (spec->proc[i].is_line && !strcmp(spec->proc[i].name, p->text))
            return &spec->proc[i];
    if (spec->procs == PCT_DEMON_FUNCTIONS) {
        fail(p, "there are too many procedures and lines");
        return NULL;
    }
    struct demon_proc *line = &spec->proc[spec->procs++];
    *line = (struct demon_proc){ .from = p->source->name, .line = p->line, .is_line = true };
    snprintf(line->name, sizeof line->name, "%.*s", DEMON_NAME - 1, p->text);
    memcpy(line->parameter, p->proc->parameter, sizeof line->parameter);
    line->parameters = p->proc->parameters;
    return line;
}

static void take_assert(struct parser *p)
{
    if (!p->proc || !p->proc->is_test) {
        fail(p, p->proc ? "assert is of the test: %s is a proc" : "'assert' stands below no test",
             p->proc ? p->proc->name : "");
        return;
    }
    advance(p);
    struct demon_proc *line = find_line(p);
    if (!line)
        return;
    advance(p);
    take_clauses(p, DEMON_REQUIRE, line);
}

static void take_declaration(struct parser *p)
{
    if (is(p, "shared") || is(p, "ghost")) {
        bool ghost = is(p, "ghost");
        advance(p);
        take_shared(p, ghost);
        return;
    }
    if ((is(p, "test") || is(p, "proc")) && p->source->function[0]) {
        fail(p, "a comment is of one function, %s; `%s` would begin another", p->source->function, p->text);
        return;
    }
    if (is(p, "test") || is(p, "proc")) {
        bool is_test = is(p, "test");
        advance(p);
        take_proc(p, is_test);
        return;
    }
    for (size_t i = 0; i < sizeof clause_words / sizeof *clause_words; i++)
        if (is(p, clause_words[i])) {
            take_clause_word(p, (enum demon_clause_kind)i);
            return;
        }
    if (is(p, "assert")) {
        take_assert(p);
        return;
    }
    if (is(p, "modifies") && !p->proc) {
        fail(p, "'%s' stands below no proc or test", p->text);
    } else if (accept(p, "modifies")) {
        take_frame(p);
    } else {
        const char *nearest = demon_nearest(p->text, keywords, DECLARATIONS);
        if (nearest)
            fail(p, "unknown word %s; did you mean %s?", found(p), nearest);
        else
            fail(p,
                 "shared, ghost, test, proc, or a clause (require, ensure, modifies, rely, guarantee, invariant, wait, "
                 "assert) is expected, not %s",
                 found(p));
    }
}

/* What the conditions name without `old` may change. */
static bool add_frame(struct demon_proc *proc, const struct demon_expr *e)
{
    if (!e)
        return true;
    if (e->op == DEMON_LEAF && !e->old) {
        bool bare = !strchr(e->leaf.path, '.') && e->leaf.parameter >= 0;
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

static void parse_source(struct parser *p, const struct demon_source *source)
{
    *p = (struct parser){ .spec = p->spec, .source = source, .error = p->error, .size = p->size };
    p->at = p->last_end = source->text;
    p->line = source->line;
    advance(p);
    if (source->function[0])
        take_function(p);
    while (!p->failed && p->token != END)
        take_declaration(p);
}

static void finish(struct parser *p, const char *test)
{
    struct demon_spec *spec = p->spec;
    if (p->failed)
        return;
    if (test && !spec->proc[0].line)
        fail(p, "--test=%s: no comment that begins with /*@demon test stands above a function of this name", test);
    else if (!spec->proc[0].line)
        fail(p, "there is no test: `test NAME(PARAMETER, ...)` names the routine");
    else if (test && strcmp(test, spec->proc[0].name) != 0)
        fail(p, "--test=%s: the test is %s", test, spec->proc[0].name);
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
                fail(p, "%s changes more than %d places", proc->name, DEMON_LEAVES);
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
    struct parser p = { .spec = spec, .source = sources, .line = sources->line, .error = error, .size = size };
    spec->procs = 1; /* the test's place */
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
