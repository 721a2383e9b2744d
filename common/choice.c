/* Choices from a few words: see config.h. */
#include "config.h"
#include "text.h"
#include <errno.h>

static const char *const points_words[] = PCT_POINTS_WORDS;
static const char *const races_words[] = PCT_RACES_WORDS;
static const char *const memory_words[] = PCT_MEMORY_WORDS;

static bool same(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

int pct_config_parse_word(uint8_t *value, const char *text, const char *const *words, unsigned count, const char *what,
                          char *error, size_t size)
{
    for (unsigned i = 0; i < count; i++)
        if (same(text, words[i])) {
            *value = (uint8_t)i;
            return 0;
        }
    struct pct_text message;
    pct_text_init(&message, error, size);
    pct_text_add(&message, what);
    pct_text_add(&message, ": ");
    pct_text_add_quoted(&message, text);
    pct_text_add(&message, " is no choice; it must be ");
    for (unsigned i = 0; i < count; i++) {
        pct_text_add(&message, !i ? "" : i + 1 < count ? ", " : " or ");
        pct_text_add(&message, words[i]);
    }
    return -EINVAL;
}

int pct_config_parse_points(struct pct_config *config, const char *text, const char *what, char *error, size_t size)
{
    return pct_config_parse_word(&config->memory_points, text, points_words, PCT_POINTS_COUNT, what, error, size);
}

int pct_config_parse_races(struct pct_config *config, const char *text, const char *what, char *error, size_t size)
{
    return pct_config_parse_word(&config->races, text, races_words, PCT_RACES_COUNT, what, error, size);
}

int pct_config_parse_memory(struct pct_config *config, const char *text, const char *what, char *error, size_t size)
{
    return pct_config_parse_word(&config->memory, text, memory_words, PCT_PATCH_COUNT, what, error, size);
}

int pct_config_parse_modules(struct pct_config *config, const char *text, const char *what, char *error, size_t size)
{
    size_t i = 0;
    for (; text[i] && i + 1 < sizeof config->modules; i++) {
        char c = text[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '+' && c <= '9') ||
              c == '_')) /* + , - . / 0-9 */
            break;
        config->modules[i] = c == ',' ? '/' : c;
    }
    config->modules[i] = '\0';
    if (!text[i])
        return 0;
    struct pct_text message;
    pct_text_init(&message, error, size);
    pct_text_add(&message, what);
    pct_text_add(&message, ": expected names of libraries, such as libz,libstdc++; at most 47 letters");
    return -EINVAL;
}
