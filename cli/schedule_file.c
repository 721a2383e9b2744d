/* The text file of a schedule: see schedule_file.h. */
#include "schedule_file.h"
#include "cli.h"
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

static int read_lines(FILE *file, char *token, size_t size, char *list, size_t list_size, char *error,
                      size_t error_size)
{
    char line[1024];
    for (unsigned number = 1; fgets(line, sizeof line, file); number++) {
        line[strcspn(line, "#\n")] = 0;
        char *rest, *word = strtok_r(line, " \t\r", &rest), *value = word ? strtok_r(NULL, " \t\r", &rest) : NULL;
        if (!word)
            continue;
        bool is_token = !strcmp(word, "token"), fine = value && (is_token || !strcmp(word, "switch"));
        if (!fine || strtok_r(NULL, " \t\r", &rest)) {
            snprintf(error, error_size,
                     "line %u: expected `token TOKEN` or `switch THREAD.OPERATIONS.THREAD`, and comments after #",
                     number);
            return -EINVAL;
        }
        if (is_token) {
            snprintf(token, size, "%s", value);
        } else if (strlen(list) + strlen(value) + 2 > list_size) {
            snprintf(error, error_size, "line %u: more switches than a token has room for", number);
            return -EINVAL;
        } else {
            strcat(list, *list ? "-" : "");
            strcat(list, value);
        }
    }
    return 0;
}

int pct_schedule_file_read(const char *path, char *token, size_t size, char *error, size_t error_size)
{
    char list[PCT_LIST_MAX] = "";
    struct pct_config config = { 0 };
    FILE *file = fopen(path, "re");
    if (!file) {
        int failed = -errno;
        snprintf(error, error_size, "%s", strerror(errno));
        return failed;
    }
    token[0] = 0;
    int failed = read_lines(file, token, size, list, sizeof list, error, error_size);
    fclose(file);
    if (failed)
        return failed;
    if (!token[0]) {
        snprintf(error, error_size, "there is no line `token TOKEN` in it");
        return -EINVAL;
    }
    failed = pct_config_parse_token(&config, token, pct_cli_find_strategy, error, error_size);
    if (failed)
        return failed;
    if (strcmp(config.strategy, "schedule")) {
        snprintf(error, error_size, "its token is of strategy %s, and only schedule follows switches", config.strategy);
        return -EINVAL;
    }
    if (strcmp(config.list, list))
        config.has_hash = false;
    strcpy(config.list, list);
    pct_config_format_token(token, size, &config, pct_cli_find_strategy(config.strategy, error, error_size));
    return 0;
}
