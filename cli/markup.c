/* Text from outside inside of XML, HTML and JSON: see markup.h. */
#include "markup.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The length of the character at `at`, 0 if it is not a whole one that XML 1.0 (2.2, "Characters") allows. C1 controls are
 * left out as well: they are discouraged there, and terminals obey them. */
static size_t measure(const unsigned char *at)
{
    if (*at < 0x80)
        return *at >= 0x20 ? *at != 0x7f : *at == '\t' || *at == '\n';
    size_t length = *at >= 0xf0 ? 4 : *at >= 0xe0 ? 3 : 2;
    static const uint32_t least[] = { [2] = 0x80, [3] = 0x800, [4] = 0x10000 };
    if (*at < 0xc0 || *at > 0xf4)
        return 0;
    uint32_t c = *at & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80) /* also at the end of the text */
            return 0;
        c = c << 6 | (at[i] & 0x3f);
    }
    bool control = c < 0xa0, surrogate = c >= 0xd800 && c < 0xe000, none = c == 0xfffe || c == 0xffff;
    return c < least[length] || c > 0x10ffff || control || surrogate || none ? 0 : length;
}

char *pct_markup_clean(const char *text)
{
    static const char replacement[] = "\xef\xbf\xbd";
    const unsigned char *at = (const unsigned char *)text;
    char *clean = malloc(3 * strlen(text) + 1), *to = clean;
    while (clean && *at) {
        size_t length = measure(at);
        if (length)
            to = mempcpy(to, at, length);
        else if (*at != '\r')
            to = mempcpy(to, replacement, sizeof replacement - 1);
        at += length ? length : 1;
    }
    if (clean)
        *to = 0;
    return clean;
}

void pct_markup_print(FILE *out, const char *text)
{
    char *clean = pct_markup_clean(text);
    for (const char *at = clean; at && *at; at++)
        switch (*at) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            fputc(*at, out);
        }
    free(clean);
}
