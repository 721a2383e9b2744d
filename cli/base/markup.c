/* Text from outside inside of XML, HTML and JSON: see markup.h. */
#include "markup.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

size_t pct_markup_character(const char *text, size_t left, uint32_t *code)
{
    const unsigned char *at = (const unsigned char *)text;
    *code = *at;
    if (*at < 0x80)
        return 1;
    size_t length = *at >= 0xf0 ? 4 : *at >= 0xe0 ? 3 : 2;
    static const uint32_t least[] = { [2] = 0x80, [3] = 0x800, [4] = 0x10000 };
    if (*at < 0xc0 || *at > 0xf4 || length > left)
        return 0;
    uint32_t c = *at & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (at[i] & 0x3f);
    }
    *code = c;
    return c < least[length] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : length;
}

/* Whether terminals write in another direction behind this character, or on another line: what stands there is not what
 * one reads. */
static bool turns(uint32_t c)
{
    return (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/* C1 controls are discouraged in XML, and terminals obey them. */
bool pct_markup_is_harmless(uint32_t c)
{
    return c < 0x20 ? c == '\t' || c == '\n' : (c < 0x7f || c >= 0xa0) && c != 0xfffe && c != 0xffff && !turns(c);
}

char *pct_markup_clean(const char *text)
{
    static const char replacement[] = "\xef\xbf\xbd";
    size_t left = strlen(text);
    char *clean = malloc(3 * left + 1), *to = clean;
    while (clean && left) {
        uint32_t code;
        size_t length = pct_markup_character(text, left, &code);
        if (length && pct_markup_is_harmless(code))
            to = mempcpy(to, text, length);
        else if (*text != '\r')
            to = mempcpy(to, replacement, sizeof replacement - 1);
        if (!length || !pct_markup_is_harmless(code))
            length = 1;
        text += length;
        left -= length;
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
        case '#': /* no `##vso[`, which the log of a CI would obey */
            fputs(at > clean && at[-1] == '#' ? "&#35;" : "#", out);
            break;
        default:
            fputc(*at, out);
        }
    free(clean);
}
