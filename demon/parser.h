/* The parser: what its files share. The language is read by recursive descent, one token ahead (spec.h). */
#ifndef PCT_DEMON_PARSER_H
#define PCT_DEMON_PARSER_H

#include "spec.h"

enum demon_token { DEMON_END, DEMON_WORD, DEMON_DIGITS, DEMON_SIGN, DEMON_STRING };

struct demon_parser {
    struct demon_spec *spec;
    const struct demon_source *source;
    struct demon_proc *proc;
    const char *at; /* behind the token */
    const char *token_at, *last_end;
    enum demon_token token;
    char text[DEMON_PATH];
    unsigned line, depth, parts; /* both of the condition */
    char *error;
    size_t size;
    bool failed;
    bool collected; /* what is shared is known already */
};

/* tokens.c: the first error, with the line that it is in; what comes later is not said. */
void demon_fail(struct demon_parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The next token. */
void demon_advance(struct demon_parser *p);

/* Whether the token is this word or sign; and take it, if it is. After an error nothing is taken. */
bool demon_is(const struct demon_parser *p, const char *text);
bool demon_accept(struct demon_parser *p, const char *text);

/* The token must be this one. */
void demon_expect(struct demon_parser *p, const char *text);

/* The token in words, for errors. */
const char *demon_found(const struct demon_parser *p);

bool demon_is_keyword(const char *text);

/* Of the words with which a declaration begins the one that is most like this one; NULL: none is. */
const char *demon_nearest_declaration(const char *text);

/* A name of the target's; what: of what, for the error. */
void demon_take_name(struct demon_parser *p, char name[DEMON_NAME], const char *what);

/* The same where nothing else can stand: it may be a keyword, too. */
void demon_take_word(struct demon_parser *p, char name[DEMON_NAME], const char *what);

/* condition.c: a number of elements; a path of members, bound to what its first word is in p->proc; a condition. */
uint32_t demon_take_count(struct demon_parser *p);
void demon_take_path(struct demon_parser *p, struct demon_leaf *leaf);
struct demon_expr *demon_take_condition(struct demon_parser *p);

#endif
