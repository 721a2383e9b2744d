/* Text without libc: the bounded builder and "did you mean" of text.h.
 *
 * Used by the shim (start-up, reports after a crash, on whichever thread that happens) and by the `pct` command. It
 * runs inside the target and in signal handlers, so nothing here calls a function, allocates or keeps state. */
#include "text.h"

/* Words longer than this are not compared: no name in pct comes near it. */
#define WORD_MAX 63u
#define QUOTE_MAX 80u /* characters of the user's text that a message repeats */

void pct_text_init(struct pct_text *text, char *buffer, size_t size)
{
    text->data = buffer;
    text->size = size;
    text->length = 0;
    if (size)
        buffer[0] = '\0';
}

void pct_text_add_char(struct pct_text *text, char c)
{
    if (text->length + 1 >= text->size)
        return;
    text->data[text->length++] = c;
    text->data[text->length] = '\0';
}

void pct_text_add(struct pct_text *text, const char *string)
{
    for (; *string; string++)
        pct_text_add_char(text, *string);
}

static void add_number(struct pct_text *text, uint64_t value, unsigned base, int digits)
{
    char reversed[20]; /* 2^64-1 has 20 decimal digits */
    int length = 0;
    do {
        reversed[length++] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value);
    for (int i = length; i < digits; i++)
        pct_text_add_char(text, '0');
    while (length)
        pct_text_add_char(text, reversed[--length]);
}

void pct_text_add_quoted(struct pct_text *text, const char *string)
{
    pct_text_add_char(text, '\'');
    size_t i;
    for (i = 0; i < QUOTE_MAX && string[i]; i++)
        pct_text_add_char(text, (unsigned char)string[i] < ' ' || string[i] == 0x7f ? '?' : string[i]);
    pct_text_add(text, string[i] ? "...'" : "'");
}

void pct_text_refuse(struct pct_text *message, char *error, size_t size, const char *what, const char *text,
                     const char *why)
{
    pct_text_init(message, error, size);
    pct_text_add(message, what);
    pct_text_add(message, ": ");
    pct_text_add_quoted(message, text);
    pct_text_add(message, why);
}

const char *pct_text_base_name(const char *path)
{
    const char *name = path;
    for (; *path; path++)
        if (*path == '/')
            name = path + 1;
    return name;
}

bool pct_text_same(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

void pct_text_add_u64(struct pct_text *text, uint64_t value)
{
    add_number(text, value, 10, 0);
}

void pct_text_add_hex(struct pct_text *text, uint64_t value, int digits)
{
    add_number(text, value, 16, digits);
}

static size_t word_length(const char *word)
{
    size_t length = 0;
    while (word[length])
        length++;
    return length;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Damerau-Levenshtein distance in its restricted form (optimal string alignment): insertions, deletions, substitutions
 * and swaps of neighbours, no letter being touched twice. Both lengths are at most WORD_MAX. */
static unsigned distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    uint8_t rows[3][WORD_MAX + 1]; /* the row being filled and the two before it */
    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = (uint8_t)j;
    for (size_t i = 1; i <= a_length; i++) {
        uint8_t *row = rows[i % 3];
        const uint8_t *above = rows[(i - 1) % 3];
        row[0] = (uint8_t)i;
        for (size_t j = 1; j <= b_length; j++) {
            unsigned best = above[j - 1] + (a[i - 1] != b[j - 1]);
            best = least(best, above[j] + 1u);
            best = least(best, row[j - 1] + 1u);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = least(best, rows[(i - 2) % 3][j - 2] + 1u);
            row[j] = (uint8_t)best;
        }
    }
    return rows[a_length % 3][b_length];
}

const char *pct_text_closest(const char *word, const char *const *words, size_t count)
{
    size_t length = word_length(word);
    if (length > WORD_MAX)
        return NULL;
    unsigned limit = length < 3 ? 1 : (unsigned)length / 3;
    const char *closest = NULL;
    for (size_t i = 0; i < count; i++) {
        size_t other = word_length(words[i]);
        if (other > WORD_MAX)
            continue;
        unsigned d = distance(word, length, words[i], other);
        /* Something must be left of the word: `x` is not a slip of the finger for `k`. */
        if (d > limit || d >= (length > other ? length : other))
            continue;
        closest = words[i];
        if (!d)
            break;
        limit = d - 1; /* from now on only what is closer: of several at one distance, the first */
    }
    return closest;
}

/* Whether a shell takes it for itself. */
static bool is_plain(char c)
{
    const char *others = "_-+=./:,@%";
    while (*others && *others != c)
        others++;
    return *others || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

void pct_text_add_command(struct pct_text *text, int argc, char **argv)
{
    for (int i = 0; i < argc && argv[i]; i++) {
        bool plain = argv[i][0];
        for (const char *c = argv[i]; *c && plain; c++)
            plain = is_plain(*c);
        if (i)
            pct_text_add(text, " ");
        if (plain) {
            pct_text_add(text, argv[i]);
            continue;
        }
        pct_text_add(text, "'");
        for (const char *c = argv[i]; *c; c++) {
            if (*c == '\'')
                pct_text_add(text, "'\\''");
            else
                pct_text_add_char(text, *c);
        }
        pct_text_add(text, "'");
    }
}
