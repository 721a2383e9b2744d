/* The environment of a target: see environment.h.
 *
 * The strings of the environment lie above the stack, so their total length moves the stack of the main thread.
 * Programs that decide by addresses (or whose library does, by alignment) must see the same addresses in a run and in
 * its replay, though paths, seeds and the shell's own variables differ in length. Hence a variable of padding that
 * rounds the block up; its name has no meaning to anybody. */
#include "environment.h"
#include <cli/base/cli.h>
#include "learned_sites.h"
#include <common/forkserver.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The bytes that a string takes on the new stack: itself and the pointer to it. */
static size_t footprint(const char *string)
{
    return strlen(string) + 1 + sizeof(char *);
}

/* Variables that the command sets, or keeps to itself. How patient the shim is, is between the user and the shim. */
static bool is_ours(const char *variable)
{
    if (!strncmp(variable, "PCT_WATCHDOG=", 13))
        return false;
    return !strncmp(variable, "PCT_", 4) || !strncmp(variable, "LD_PRELOAD=", 11) ||
           !strncmp(variable, PCT_PAD_NAME, sizeof PCT_PAD_NAME - 1);
}

/* The variables that pct sets, into the block at *room; room is enough for all. */
struct builder {
    char **next;
    char *room;
    size_t used; /* footprint so far */
};

/* One of them; NULL: it is not set. */
struct variable {
    const char *name, *value;
};

static void add(struct builder *b, const char *name, const char *value)
{
    size_t name_length = strlen(name), value_length = strlen(value);
    *b->next++ = b->room;
    memcpy(b->room, name, name_length);
    memcpy(b->room + name_length, value, value_length + 1);
    b->used += name_length + value_length + 1 + sizeof(char *);
    b->room += name_length + value_length + 1;
}

static bool is_temporary(const char *variable)
{
    return !strncmp(variable, "TMPDIR=", 7);
}

char **pct_environment_plain(void)
{
    return pct_environment_around(NULL);
}

char **pct_environment_around(const char *temporary)
{
    size_t count = 0, room = temporary ? strlen(temporary) + sizeof "TMPDIR=" : 0;
    for (char **at = environ; *at; at++)
        count++;
    char **vector = malloc((count + 2) * sizeof *vector + room), **next = vector;
    for (char **at = environ; vector && *at; at++)
        if (!is_ours(*at) && !(temporary && is_temporary(*at)))
            *next++ = *at;
    if (vector && temporary) {
        *next = (char *)(vector + count + 2);
        sprintf(*next++, "TMPDIR=%s", temporary);
    }
    if (vector)
        *next = NULL;
    return vector;
}

/* Where the plans of patched modules are kept from one run to the next; "" if there is no such place. */
static void find_plans(char *path, size_t size)
{
    const char *directory = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length = -1;
    if (directory && *directory == '/')
        length = snprintf(path, size, "%s/pct/plans/", directory);
    else if (home && *home == '/')
        length = snprintf(path, size, "%s/.cache/pct/plans/", home);
    bool made = length > 0 && (size_t)length < size && !pct_cli_make_directories(path);
    path[made ? length - 1 : 0] = 0;
}

/* Who has said so to the shim has said it to the command, too. */
static bool hides_values(void)
{
    const char *value = getenv("PCT_ENVIRONMENT");
    return value && !strcmp(value, "off");
}

char **pct_environment_make(const struct pct_process *process, const char *trace)
{
    const struct pct_launch *launch = process->launch;
    char *const *command = process->command;
    const char *token = process->token;
    char temporary[PATH_MAX];
    pct_setup_teardown_directory(launch, process->worker, temporary, sizeof temporary);
    const char *preload = getenv("LD_PRELOAD");
    size_t count = 0, used = 0;
    for (char **at = environ; *at; at++)
        count++;
    for (char *const *at = command; *at; at++)
        used += footprint(*at);
    used += strlen(launch->program) + 1; /* the kernel stores it too, as AT_EXECFN */
    char plans[PATH_MAX];
    find_plans(plans, sizeof plans); /* a fork server's runs may want them, though its own token does not */
    char ordered[PATH_MAX] = "";
    if (strstr(token, ",memory-points=learned"))
        pct_ordered_find(ordered, sizeof ordered);
    char number[24];
    snprintf(number, sizeof number, "%d", process->cpu);
    const char *cpu = getenv("PCT_CPU");
    if (!cpu && process->cpu >= 0)
        cpu = number;
    const struct pct_run_extras *extras = &process->extras;
    const struct variable ours[] = {
        { "PCT_TOKEN=", token },
        { "PCT_TRACE=", trace },
        { "PCT_LOG=", "quiet" },
        { "PCT_PLANS=", *plans ? plans : NULL },
        { "PCT_REPLAY=", launch->replay },
        { "PCT_SCHEDULE=", extras->schedule },
        { "PCT_EXPLORE=", extras->channel },
        { "PCT_ENVIRONMENT=", launch->no_environment || hides_values() ? "off" : NULL },
        { "PCT_SITES=", extras->sites },
        { "PCT_ORDERED=", *ordered ? ordered : NULL },
        { "PCT_DEMON=", *launch->plan ? launch->plan : NULL },
        { "PCT_SCOPE=", *launch->scope ? launch->scope : NULL },
        { "PCT_CPU=", cpu },
        { "TMPDIR=", *temporary ? temporary : NULL },
    };
    enum { OURS = sizeof ours / sizeof *ours, MORE = 3 }; /* LD_PRELOAD, the padding, the end */
    size_t room = strlen(launch->library_path) + (preload ? strlen(preload) : 0) + PCT_PAD_UNIT + 64;
    for (size_t i = 0; i < OURS; i++)
        room += ours[i].value ? strlen(ours[i].name) + strlen(ours[i].value) + 1 : 0;
    char **vector = malloc((count + OURS + MORE) * sizeof *vector + room);
    if (!vector)
        return NULL;
    struct builder b = { .next = vector, .room = (char *)(vector + count + OURS + MORE), .used = used };
    for (char **at = environ; *at; at++) {
        if (is_ours(*at) || (temporary[0] && is_temporary(*at)))
            continue;
        *b.next++ = *at;
        b.used += footprint(*at);
    }
    for (size_t i = 0; i < OURS; i++)
        if (ours[i].value)
            add(&b, ours[i].name, ours[i].value);
    /* Ours first: the first library in the list is the first in look-up. */
    size_t length = strlen(launch->library_path);
    char *list = b.room;
    add(&b, "LD_PRELOAD=", launch->library_path);
    if (preload && *preload) {
        b.room = list + sizeof "LD_PRELOAD=" - 1 + length;
        b.room += sprintf(b.room, ":%s", preload) + 1;
        b.used += 1 + strlen(preload);
    }
    size_t whole = b.used + sizeof PCT_PAD_NAME + sizeof(char *);
    size_t pad = (PCT_PAD_UNIT - whole % PCT_PAD_UNIT) % PCT_PAD_UNIT;
    *b.next++ = b.room;
    memcpy(b.room, PCT_PAD_NAME, sizeof PCT_PAD_NAME - 1);
    memset(b.room + sizeof PCT_PAD_NAME - 1, '.', pad);
    b.room[sizeof PCT_PAD_NAME - 1 + pad] = 0;
    *b.next = NULL;
    return vector;
}

int pct_environment_check(bool replaying)
{
    for (char **at = environ; *at; at++) {
        if (strncmp(*at, "PCT_", 4))
            continue;
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(*at, "="), *at);
        const char *closest = pct_config_unknown_variable(name);
        if (closest && *closest)
            return pct_cli_usage("unknown variable %s in the environment; did you mean %s?", name, closest);
        if (closest)
            return pct_cli_usage("unknown variable %s in the environment; docs/VARIABLES.md lists those that pct knows",
                                 name);
        bool excluded = !strcmp(name, "PCT_TOKEN") || !strcmp(name, "PCT_REPLAY");
        if (excluded && !replaying)
            return pct_cli_usage("%s is set in the environment: use `pct replay`, or unset it", name);
    }
    const char *value = getenv("PCT_ENVIRONMENT");
    if (value && *value && strcmp(value, "on") != 0 && !hides_values())
        return pct_cli_usage("PCT_ENVIRONMENT: '%s' is neither on nor off", value);
    return 0;
}
