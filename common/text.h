/* Text without libc: a bounded builder and "did you mean". Safe in signal handlers and inside the target. */
#ifndef PCT_COMMON_TEXT_H
#define PCT_COMMON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A builder over the caller's buffer. Text that does not fit is dropped; the buffer is terminated after every call. */
struct pct_text {
    char *data;
    size_t size;   /* of the buffer */
    size_t length; /* of the text */
};

void pct_text_init(struct pct_text *text, char *buffer, size_t size);
void pct_text_add(struct pct_text *text, const char *string);
void pct_text_add_char(struct pct_text *text, char c);
void pct_text_add_u64(struct pct_text *text, uint64_t value);
void pct_text_add_hex(struct pct_text *text, uint64_t value,
                      int digits); /* digits: zero-padded to this many; 0: none */

/* What the user wrote, in quotes, cut if long; control characters would break the one line of a message. */
void pct_text_add_quoted(struct pct_text *text, const char *string);

/* Begin a message that refuses what the user wrote: `what: "text" why`. why begins with a space; more may be added. */
void pct_text_refuse(struct pct_text *message, char *error, size_t size, const char *what, const char *text,
                     const char *why);

/* Whether two strings are the same. */
bool pct_text_same(const char *a, const char *b);

/* The last part of a path: a file's own name. */
const char *pct_text_base_name(const char *path);

/* The closest of `count` words to `word` if it is close enough to be a slip of the finger (by Damerau-Levenshtein
 * distance: at most 1 for every three letters, and 1 at least), else NULL. */
const char *pct_text_closest(const char *word, const char *const *words, size_t count);

/* A command line, as a shell would read it again. */
void pct_text_add_command(struct pct_text *text, int argc, char **argv);

#endif
