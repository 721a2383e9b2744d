/* The text file of a schedule: see schedule_file.h. */
#include "schedule_file.h"
#include <cli/base/cli.h>
#include <cli/base/list.h>
#include <cli/base/demangle.h>
#include <cli/binary/code_hash.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool pct_schedule_file_is(const char *path)
{
    char start[sizeof PCT_SCHEDULE_FILE_MAGIC] = "";
    FILE *file = fopen(path, "re");
    size_t got = file ? fread(start, 1, sizeof start - 1, file) : 0;
    if (file)
        fclose(file);
    return got == sizeof start - 1 && !strcmp(start, PCT_SCHEDULE_FILE_MAGIC);
}

/* *line: room for one, which grows. *token: to be freed. */
static int read_lines(FILE *file, char **line, size_t *room, char **token, FILE *list, char *error, size_t error_size)
{
    for (unsigned number = 1; getline(line, room, file) >= 0; number++) {
        (*line)[strcspn(*line, "#\n")] = 0;
        char *rest, *word = strtok_r(*line, " \t\r", &rest), *value = word ? strtok_r(NULL, " \t\r", &rest) : NULL;
        if (!word)
            continue;
        bool is_token = !strcmp(word, "token"), fine = value && (is_token || !strcmp(word, "switch"));
        if (!strcmp(word, "function"))
            continue; /* for pct_schedule_file_compare() */
        if (!fine || strtok_r(NULL, " \t\r", &rest)) {
            snprintf(error, error_size,
                     "line %u: expected `token TOKEN` or `switch THREAD.OPERATIONS.THREAD`, and comments after #",
                     number);
            return -EINVAL;
        }
        if (is_token) {
            free(*token);
            *token = strdup(value);
        } else {
            fprintf(list, "%s%s", ftell(list) > 0 ? "-" : "", value);
        }
    }
    return 0;
}

/* The token in the file, with these switches. */
static int join(const char *given, const char *switches, char *token, char **list, char *error, size_t error_size)
{
    struct pct_config config = { 0 };
    if (pct_long_token_parse(&config, given, list, error, error_size))
        return -EINVAL;
    if (strcmp(config.strategy, "schedule")) {
        snprintf(error, error_size, "its token is of strategy %s, and only schedule follows switches", config.strategy);
        return -EINVAL;
    }
    if (!*list)
        *list = pct_list_text(config.list);
    if (!*list || strcmp(*list, switches))
        config.has_hash = false;
    free(*list);
    const struct pct_strategy *strategy = pct_cli_find_strategy(config.strategy, error, error_size);
    *list = pct_list_take(&config, strategy, switches) ? NULL : strdup(switches);
    pct_config_format_token(token, PCT_TOKEN_MAX, &config, strategy);
    return 0;
}

int pct_schedule_file_read(const char *path, char token[PCT_TOKEN_MAX], char **list, char *error, size_t error_size)
{
    *list = NULL;
    FILE *file = fopen(path, "re");
    if (!file) {
        int failed = -errno;
        snprintf(error, error_size, "%s", strerror(errno));
        return failed;
    }
    char *line = NULL, *given = NULL, *switches = NULL;
    size_t room = 0, size;
    FILE *out = open_memstream(&switches, &size);
    int failed = out ? read_lines(file, &line, &room, &given, out, error, error_size) : -ENOMEM;
    if (!out || fclose(out))
        failed = -ENOMEM;
    fclose(file);
    if (!failed && !given) {
        snprintf(error, error_size, "there is no line `token TOKEN` in it");
        failed = -EINVAL;
    } else if (failed == -ENOMEM) {
        snprintf(error, error_size, "%s", strerror(ENOMEM));
    }
    failed = failed ? failed : join(given, switches, token, list, error, error_size);
    free(line);
    free(given);
    free(switches);
    return failed;
}

void pct_schedule_file_compare(const char *path, const char *program)
{
    struct pct_code code;
    char *line = NULL;
    size_t room = 0;
    unsigned same = 0, changed = 0;
    FILE *file = fopen(path, "re");
    if (!file || pct_code_read(&code, program)) {
        if (file)
            fclose(file);
        return;
    }
    if (!code.count)
        pct_cli_say("the program has no symbols, so it cannot be told which of its functions have changed");
    while (code.count && getline(&line, &room, file) >= 0) {
        char *rest, *word = strtok_r(line, " \t\r\n", &rest);
        if (!word || strcmp(word, "function") != 0)
            continue;
        const char *hash = strtok_r(NULL, " \t\r\n", &rest), *name = strtok_r(NULL, " \t\r\n", &rest);
        if (!hash || !name)
            continue;
        const struct pct_code_function *now = pct_code_find(&code, name);
        if (now && pct_code_hash(&code, now) == strtoull(hash, NULL, 16)) {
            same++;
            continue;
        }
        char *plain = pct_demangle(name);
        pct_cli_say("function %s %s since this schedule was made", plain ? plain : name,
                    now ? "has changed" : "is gone");
        free(plain);
        changed++;
    }
    if (same && !changed)
        pct_cli_say("the %u functions of the program that the schedule goes through have not changed since it was made",
                    same);
    free(line);
    pct_code_free(&code);
    fclose(file);
}
