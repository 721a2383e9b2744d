/* `pct demon`: starts pct-demon (demon/), a program of its own, as it needs a solver that nothing else here does. */
#include "parse.h"
#include <cli/base/cli.h>
#include <cli/binary/libraries.h>
#include <cli/binary/locate.h>
#include <common/demon_options.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Beside the command, as it is built, or where the library is, as it is installed. */
static bool find(char *path, size_t size, char *own, size_t own_size)
{
    char library[PATH_MAX], error[512];
    ssize_t length = readlink("/proc/self/exe", own, own_size - 1);
    own[length > 0 ? length : 0] = 0;
    const char *slash = strrchr(own, '/');
    snprintf(path, size, "%.*s/pct-demon", slash ? (int)(slash - own) : 0, own);
    if (!access(path, X_OK))
        return true;
    if (pct_locate_library(NULL, library, sizeof library, error, sizeof error))
        return false;
    slash = strrchr(library, '/');
    return slash && (size_t)snprintf(path, size, "%.*s/pct-demon", (int)(slash - library), library) < size &&
           !access(path, X_OK);
}

/* Whether the program cannot be loaded, which is said. A solver that was removed is the likely cause. */
static bool lacks_library(const char *path)
{
    static const char told[] = "error while loading shared libraries: ";
    char *text = pct_libraries_of(path), *why = text ? strstr(text, told) : NULL;
    if (why) {
        why += sizeof told - 1;
        why[strcspn(why, "\n")] = 0;
        pct_cli_usage("pct demon cannot start: %s (the solver's library is in Debian's package libz3-4)", why);
    }
    free(text);
    return why;
}

/* It parses them; this is for who asks what there is. */
static const struct argp_option options[] = { PCT_DEMON_OPTIONS };
static const struct argp argp = { .options = options, .args_doc = PCT_DEMON_ARGUMENTS_DOC };

int pct_cmd_demon(int argc, char **argv)
{
    char path[PATH_MAX + 16], own[PATH_MAX];
    pct_parse_look(&argp, argc, argv, 0);
    if (!find(path, sizeof path, own, sizeof own))
        return pct_cli_usage("pct demon needs Z3, without which this pct was built: install libz3-dev and run `make`");
    if (lacks_library(path))
        return PCT_EXIT_USAGE;
    char **words = calloc((size_t)argc + 2, sizeof *words);
    if (!words)
        return pct_cli_no_memory("");
    words[0] = path;
    words[1] = own;
    memcpy(words + 2, argv + 1, (size_t)argc * sizeof *words);
    execv(path, words);
    pct_cli_say("%s: %m", path);
    free(words);
    return PCT_EXIT_INTERNAL;
}
