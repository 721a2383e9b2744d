/* The tokens of the language: see parser.h. */
#include "parser.h"
#include <ctype.h>
#include <common/text.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const keywords[] = { "shared",  "test",      "proc",      "require", "ensure", "modifies",
                                        "rely",    "guarantee", "invariant", "wait",    "ghost",  "assert",
                                        "implies", "or",        "and",       "not",     "holds",  "unchanged",
                                        "old",     "null",      "true",      "false" };
enum { DECLARATIONS = 12 /* keywords that begin one */ };

__attribute__((format(printf, 2, 3))) void demon_fail(struct demon_parser *p, const char *format, ...)
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

static const struct {
    const char *sign, *word;
} signs_of_c[] = { { "==", "=" }, { "&&", "and" }, { "||", "or" } };

void demon_advance(struct demon_parser *p)
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
        p->token = DEMON_END;
    } else if (isalpha((unsigned char)*from) || *from == '_') {
        p->token = DEMON_WORD;
        while (isalnum((unsigned char)*p->at) || *p->at == '_')
            p->at++;
    } else if (isdigit((unsigned char)*from)) {
        p->token = DEMON_DIGITS;
        while (isalnum((unsigned char)*p->at))
            p->at++;
    } else if (*from == '"' && strcspn(from + 1, "\"\n") < strcspn(from + 1, "\n")) {
        p->token = DEMON_STRING; /* its text: without the quotes */
        p->at = strchr(++from, '"');
    } else {
        p->token = DEMON_SIGN;
        bool two = (strchr("!<>=", *from) && from[1] == '=') || (from[0] == '-' && from[1] == '>') ||
                   (strchr("&|", *from) && from[1] == from[0]);
        p->at += two ? 2 : 1;
    }
    snprintf(p->text, sizeof p->text, "%.*s", (int)(p->at - from), from);
    for (size_t i = 0; p->token == DEMON_SIGN && i < sizeof signs_of_c / sizeof *signs_of_c; i++)
        if (!strcmp(p->text, signs_of_c[i].sign))
            snprintf(p->text, sizeof p->text, "%s", signs_of_c[i].word);
    if (p->at - from >= DEMON_NAME)
        demon_fail(p, "'%.20s...' is too long: names have up to %d letters", p->text, DEMON_NAME - 1);
    p->at += p->token == DEMON_STRING;
}

bool demon_is(const struct demon_parser *p, const char *text)
{
    return p->token != DEMON_END && p->token != DEMON_STRING && !strcmp(p->text, text);
}

bool demon_accept(struct demon_parser *p, const char *text)
{
    if (p->failed || !demon_is(p, text))
        return false;
    demon_advance(p);
    return true;
}

const char *demon_found(const struct demon_parser *p)
{
    return p->token != DEMON_END ? p->text : p->source->function[0] ? "the end of the comment" : "the end of the file";
}

void demon_expect(struct demon_parser *p, const char *text)
{
    if (!demon_accept(p, text))
        demon_fail(p, "'%s' is expected, not %s", text, demon_found(p));
}

bool demon_is_keyword(const char *text)
{
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (!strcmp(text, keywords[i]))
            return true;
    return false;
}

const char *demon_nearest_declaration(const char *text)
{
    return pct_text_closest(text, keywords, DECLARATIONS);
}

void demon_take_name(struct demon_parser *p, char name[DEMON_NAME], const char *what)
{
    if (!p->failed && p->token != DEMON_END && demon_is_keyword(p->text))
        demon_fail(p, "the name of a %s is expected, not %s", what, demon_found(p));
    demon_take_word(p, name, what);
}

void demon_take_word(struct demon_parser *p, char name[DEMON_NAME], const char *what)
{
    if (p->token != DEMON_WORD)
        demon_fail(p, "the name of a %s is expected, not %s", what, demon_found(p));
    snprintf(name, DEMON_NAME, "%.*s", DEMON_NAME - 1, p->text);
    if (!p->failed)
        demon_advance(p);
}
