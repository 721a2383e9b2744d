/* Texts of messages: see engine.h. */
#include "engine.h"
#include <string.h>

void pct_line_start(struct pct_line *line, char *text, size_t size)
{
    line->at = text;
    line->end = text + size - 1;
    *text = 0;
}

void pct_line_add(struct pct_line *line, const char *text)
{
    while (*text && line->at < line->end)
        *line->at++ = *text++;
    *line->at = 0;
}

void pct_line_add_clean(struct pct_line *line, const char *text)
{
    static const char controls[] = "\a\b\t\n\v\f\r", letters[] = "abtnvfr", digits[] = "0123456789abcdef";
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        const char *named = strchr(controls, c);
        char escape[] = { '\\', named ? letters[named - controls] : 'x', 0, 0, 0 };
        if (!named && (c < ' ' || c == 0x7f)) {
            escape[2] = digits[c >> 4];
            escape[3] = digits[c & 15];
        }
        char plain[] = { *text, 0 };
        pct_line_add(line, named || escape[2] ? escape : plain);
    }
}

void pct_line_add_number(struct pct_line *line, uint64_t number)
{
    char digits[24];
    unsigned at = sizeof digits - 1;
    digits[at] = 0;
    do
        digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    pct_line_add(line, digits + at);
}

void pct_line_add_thread(struct pct_line *line, uint32_t thread)
{
    pct_line_add(line, "thread ");
    pct_line_add_number(line, thread);
}

void pct_line_add_look(struct pct_line *line, const struct pct_script_look *look)
{
    static const char *const names[] = {
#define NAME(id, name, class) name,
        PCT_OPS(NAME)
#undef NAME
    };
    static const char *const classes[] = {
#define CLASS(id, name) name,
        PCT_CLASSES(CLASS)
#undef CLASS
    };
    pct_line_add(line, look->op < PCT_OP_COUNT ? names[look->op] : "something");
    if (look->op == PCT_OP_POINT && look->address) {
        pct_line_add(line, " ");
        pct_line_add_clean(line, (const char *)(uintptr_t)look->address);
        return;
    }
    if (!look->class_ || look->class_ >= sizeof classes / sizeof *classes)
        return;
    pct_line_add(line, " ");
    pct_line_add(line, classes[look->class_]);
    pct_line_add(line, " ");
    pct_line_add_number(line, look->number);
}
