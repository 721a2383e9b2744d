/* Packed lists and long tokens: see list.h. */
#include "list.h"
#include "cli.h"
#include <errno.h>
#include <pct/random.h>
#include <stdlib.h>
#include <string.h>

static struct pct_list_model model; /* large */

bool pct_list_take(struct pct_config *config, const struct pct_strategy *strategy, const char *list)
{
    bool plain = strlen(list) < sizeof config->list;
    if (plain)
        strcpy(config->list, list);
    if (plain && pct_config_fits(config, strategy))
        return true;
    if (pct_list_pack(&model, list, config->list, sizeof config->list) && pct_config_fits(config, strategy))
        return true;
    config->list[0] = 0;
    return false;
}

char *pct_list_text(const char *list)
{
    if (*list != PCT_LIST_PACKED)
        return strdup(list);
    size_t length = pct_list_unpack(&model, list, NULL, PCT_LIST_TEXT_MAX);
    char *text = length ? malloc(length + 1) : NULL;
    if (text)
        pct_list_unpack(&model, list, text, length + 1);
    return text;
}

/* The head of the token, the list, its tail without the check digits, and new ones. NULL: no memory. */
static char *join(const char *token, size_t head, const char *list, const char *tail)
{
    char *joined;
    size_t length = strlen(tail) - (sizeof ":33ab" - 1);
    int size = asprintf(&joined, "%.*s%s%.*s", (int)head, token, list, (int)length, tail);
    char *whole = NULL;
    if (size < 0)
        return NULL;
    if (asprintf(&whole, "%s:%04x", joined, (unsigned)(XXH3_64bits(joined, (size_t)size) & 0xffff)) < 0)
        whole = NULL;
    free(joined);
    return whole;
}

static char *format(const struct pct_config *config, const struct pct_strategy *strategy, const char *list)
{
    char token[PCT_TOKEN_MAX], before[64], *packed = malloc(PCT_LONG_TOKEN_MAX - PCT_TOKEN_MAX), *whole = NULL;
    pct_config_format_token(token, sizeof token, config, strategy);
    snprintf(before, sizeof before, ",%s=", strategy->list);
    const char *at = strstr(token, before);
    if (packed && at && pct_list_pack(&model, list, packed, PCT_LONG_TOKEN_MAX - PCT_TOKEN_MAX)) {
        at += strlen(before);
        whole = join(token, (size_t)(at - token), packed, at + strcspn(at, ",:"));
    }
    free(packed);
    return whole;
}

char *pct_long_token_of(const char *token, const char *list)
{
    struct pct_config config = { 0 };
    char error[256];
    if (!list || pct_config_parse_token(&config, token, pct_cli_find_strategy, error, sizeof error) || config.list[0])
        return strdup(token);
    const struct pct_strategy *strategy = pct_cli_find_strategy(config.strategy, error, sizeof error);
    return *list && strategy->list ? format(&config, strategy, list) : strdup(token);
}

int pct_long_token_part(const char *token, char parted[PCT_TOKEN_MAX], char **list, char *error, size_t size)
{
    const char mark[] = { '=', PCT_LIST_PACKED, 0 }, *at = strstr(token, mark);
    const char *tail = at ? at + 1 + strcspn(at + 1, ",:") : NULL;
    *list = NULL;
    if (strlen(token) < PCT_TOKEN_MAX && (!at || tail - at <= (ptrdiff_t)(PCT_LIST_MAX - 1))) {
        strcpy(parted, token);
        return 0;
    }
    char *again = NULL, *packed = NULL, *whole = NULL;
    bool fine = at && strlen(token) < PCT_LONG_TOKEN_MAX && strlen(tail) > sizeof ":33ab" &&
                (again = join(token, 0, "", token)) && !strcmp(again, token) &&
                (packed = strndup(at + 1, (size_t)(tail - at) - 1)) && (*list = pct_list_text(packed)) &&
                (whole = join(token, (size_t)(at - token) + 1, "none", tail)) && strlen(whole) < PCT_TOKEN_MAX;
    if (fine)
        strcpy(parted, whole);
    else
        snprintf(error, size,
                 "token '%.80s...' is damaged or cut short (its check digits do not match): copy all of it again",
                 token);
    if (!fine) {
        free(*list);
        *list = NULL;
    }
    free(again);
    free(packed);
    free(whole);
    return fine ? 0 : -EINVAL;
}

int pct_long_token_parse(struct pct_config *config, const char *token, char **list, char *error, size_t size)
{
    char parted[PCT_TOKEN_MAX];
    int failed = pct_long_token_part(token, parted, list, error, size);
    return failed ? failed : pct_config_parse_token(config, parted, pct_cli_find_strategy, error, size);
}
