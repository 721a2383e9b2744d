/* Conditions of the language: see parser.h. */
#include "parser.h"
#include <common/text.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Parentheses, signs and `not` in a condition. */
enum { DEEPEST = 200 };

static struct demon_expr *make(struct demon_parser *p, enum demon_op op, struct demon_expr *a, struct demon_expr *b)
{
    enum { MOST_PARTS = 4096 };
    struct demon_expr *e = calloc(1, sizeof *e);
    if (p->parts++ > MOST_PARTS)
        demon_fail(p, "the condition has more than %d parts", MOST_PARTS);
    if (!e)
        abort();
    *e = (struct demon_expr){ .op = op, .a = a, .b = b, .line = a ? a->line : p->line, .earlier = p->spec->last };
    p->spec->last = e;
    return e;
}

/* What the first word of a path, in this line, is. */
static void bind(struct demon_parser *p, struct demon_leaf *leaf, const char *first, unsigned line)
{
    const char *names[PCT_DEMON_ARGUMENTS + DEMON_SHARED];
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
    const char *nearest = pct_text_closest(first, names, count);
    p->line = line; /* the next token may be in another */
    if (nearest)
        demon_fail(p, "%s has no parameter '%s', and it is not shared; did you mean %s?", p->proc->name, first,
                   nearest);
    else
        demon_fail(p, "%s has no parameter '%s', and it is not shared", p->proc->name, first);
}

uint32_t demon_take_count(struct demon_parser *p)
{
    const unsigned long count = strtoul(p->text, NULL, 10);
    if (p->token != DEMON_DIGITS || p->text[strspn(p->text, "0123456789")] || strlen(p->text) > 9)
        demon_fail(p, "the number of an element is expected, not %s", demon_found(p));
    demon_advance(p);
    return (uint32_t)count;
}

/* Behind the bracket. */
static void take_index(struct demon_parser *p, char index[DEMON_NAME])
{
    snprintf(index, DEMON_NAME, "%u", demon_take_count(p));
    demon_expect(p, "]");
}

/* A variable may have this name, too. */
static bool is_container(const struct demon_parser *p)
{
    return demon_is(p, "container_of") && p->at[strspn(p->at, " \t\r\n")] == '(';
}

/* What has the member that a path leads to: as C's macro of this name. */
static void take_container(struct demon_parser *p, struct demon_leaf *leaf)
{
    char inner[DEMON_PATH], type[DEMON_NAME], member[DEMON_NAME];
    if (p->depth++ > DEEPEST)
        demon_fail(p, "the condition is nested too deeply");
    demon_advance(p);
    demon_expect(p, "(");
    demon_take_path(p, leaf);
    demon_expect(p, ",");
    demon_accept(p, "struct");
    demon_take_word(p, type, "structure");
    demon_expect(p, ",");
    demon_take_word(p, member, "member");
    demon_expect(p, ")");
    if (p->failed)
        return;
    memcpy(inner, leaf->path, sizeof inner);
    if ((size_t)snprintf(leaf->path, sizeof leaf->path, "container_of(%s, %s, %s)", inner, type, member) >=
        sizeof leaf->path)
        demon_fail(p, "%s...: the path is too long", inner);
}

void demon_take_path(struct demon_parser *p, struct demon_leaf *leaf)
{
    char name[DEMON_NAME];
    if (is_container(p)) {
        take_container(p, leaf);
    } else {
        const unsigned line = p->line;
        demon_take_name(p, name, "parameter or shared variable");
        if (!p->failed)
            bind(p, leaf, name, line);
        snprintf(leaf->path, sizeof leaf->path, "%s", name);
    }
    size_t length = strlen(leaf->path);
    if (!p->failed && demon_is(p, "[") && leaf->parameter >= 0)
        p->proc->parameter[leaf->parameter].indexed = true;
    while (!p->failed && (demon_is(p, ".") || demon_is(p, "->") || demon_is(p, "["))) {
        const bool member = !demon_accept(p, "[");
        if (member) {
            demon_advance(p);
            demon_take_word(p, name, "member");
        } else {
            take_index(p, name);
        }
        if (length + strlen(name) + 3 > sizeof leaf->path)
            demon_fail(p, "%s...: the path is too long", leaf->path);
        else
            length += (size_t)snprintf(leaf->path + length, sizeof leaf->path - length, member ? ".%s" : "[%s]", name);
    }
}

static struct demon_expr *take_number(struct demon_parser *p)
{
    char *end;
    struct demon_expr *e = make(p, DEMON_NUMBER, NULL, NULL);
    unsigned long long value = strtoull(p->text, &end, 0);
    if (*end || value > INT64_MAX)
        demon_fail(p, "'%s' is not a number below 2^63", p->text);
    e->number = (int64_t)value;
    e->based = p->text[0] == '0';
    demon_advance(p);
    return e;
}

static struct demon_expr *take_primary(struct demon_parser *p)
{
    struct demon_expr *e;
    if (p->token == DEMON_DIGITS)
        return take_number(p);
    if (demon_accept(p, "(")) {
        e = demon_take_condition(p);
        demon_expect(p, ")");
        return e;
    }
    if (demon_is(p, "true") || demon_is(p, "false") || demon_is(p, "null")) {
        e = make(p, demon_is(p, "null") ? DEMON_NUMBER : DEMON_TRUE, NULL, NULL);
        e = demon_is(p, "false") ? make(p, DEMON_NOT, e, NULL) : e;
        demon_advance(p);
        return e;
    }
    if (demon_is(p, "-") && p->depth++ > DEEPEST)
        demon_fail(p, "the condition is nested too deeply");
    if (demon_accept(p, "-"))
        return make(p, DEMON_SUBTRACT, make(p, DEMON_NUMBER, NULL, NULL), take_primary(p));
    if (demon_is(p, "holds") || demon_is(p, "unchanged")) {
        e = make(p, demon_is(p, "holds") ? DEMON_HOLDS : DEMON_UNCHANGED, NULL, NULL);
        demon_advance(p);
        demon_expect(p, "(");
        demon_take_path(p, &e->leaf);
        demon_expect(p, ")");
        return e;
    }
    e = make(p, DEMON_LEAF, NULL, NULL);
    e->old = demon_accept(p, "old");
    if (demon_accept(p, "&"))
        e->op = DEMON_ADDRESS;
    demon_take_path(p, &e->leaf);
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
enum { LEVELS = sizeof levels / sizeof *levels, IMPLICATION = 0, NEGATION = 3, COMPARISON = 4 };

static struct demon_expr *take_level(struct demon_parser *p, unsigned level)
{
    if (level == LEVELS)
        return take_primary(p);
    if (level == NEGATION && demon_accept(p, "not")) {
        struct demon_expr *inner = p->depth++ < DEEPEST ? take_level(p, level) : NULL;
        if (!inner)
            demon_fail(p, "the condition is nested too deeply");
        return make(p, DEMON_NOT, inner, NULL);
    }
    struct demon_expr *e = take_level(p, level + 1);
    const struct level *l = levels[level];
    for (size_t i = 0; level != NEGATION && i < 6 && l[i].sign && !p->failed; i++)
        if (demon_accept(p, l[i].sign)) {
            e = make(p, l[i].op, e, take_level(p, level == IMPLICATION ? level : level + 1));
            if (level == IMPLICATION || level == COMPARISON)
                break;
            i = (size_t)-1;
        }
    return e;
}

struct demon_expr *demon_take_condition(struct demon_parser *p)
{
    if (p->depth++ > DEEPEST)
        demon_fail(p, "the condition is nested too deeply");
    struct demon_expr *e = p->failed ? make(p, DEMON_TRUE, NULL, NULL) : take_level(p, 0);
    return e;
}
