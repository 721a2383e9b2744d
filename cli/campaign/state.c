/* The state file: see state.h. Lines of "key value", the last one a check over all others. */
#include "state.h"
#include <cli/base/cli.h>
#include <cli/base/replacement.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define MAGIC "pct-state "
enum { VERSION = 1, TEXT_MAX = 2048, HALF_LIFE = 64 };

/* --- What is learned ---------------------------------------------------------------------------------------------- */

void pct_learned_add(struct pct_learned *learned, uint64_t steps, uint32_t threads)
{
    if (steps > learned->most)
        learned->most = steps;
    if (!learned->runs || steps < learned->least)
        learned->least = steps;
    if (threads > learned->threads)
        learned->threads = threads;
    learned->runs++;
}

struct pct_learned pct_learned_merge(const struct pct_learned *before, const struct pct_learned *now)
{
    if (!now->runs || !before->runs)
        return now->runs ? *now : *before;
    struct pct_learned merged = *now;
    double keeps = exp2(-(double)now->runs / HALF_LIFE);
    if (before->most > now->most)
        merged.most += (uint64_t)ceil((double)(before->most - now->most) * keeps);
    if (before->least < now->least)
        merged.least -= (uint64_t)ceil((double)(now->least - before->least) * keeps);
    if (before->threads > now->threads)
        merged.threads += (uint32_t)ceil((before->threads - now->threads) * keeps);
    if (before->plain > now->plain)
        merged.plain += (uint64_t)ceil((double)(before->plain - now->plain) * keeps);
    merged.runs = before->runs > UINT64_MAX - now->runs ? UINT64_MAX : before->runs + now->runs;
    return merged;
}

uint64_t pct_learned_k(const struct pct_learned *learned)
{
    return learned->most + (learned->most - learned->least) / 8;
}

/* --- The text ----------------------------------------------------------------------------------------------------- */

static uint64_t check_of(const char *text, size_t length)
{
    return XXH3_64bits(text, length);
}

size_t pct_state_format(const struct pct_state_file *state, char *text, size_t size)
{
    const struct pct_learned *l = &state->learned;
    int length =
        snprintf(text, size,
                 MAGIC "%d\nfor %s\ncommand %016llx\nbinary %016llx\nruns %llu\nmost %llu\nleast %llu\n"
                       "threads %u\n",
                 VERSION, state->title, (unsigned long long)state->command, (unsigned long long)state->binary,
                 (unsigned long long)l->runs, (unsigned long long)l->most, (unsigned long long)l->least, l->threads);
    if (state->ordered)
        length +=
            snprintf(text + length, size - (size_t)length, "ordered %016llx\n", (unsigned long long)state->ordered);
    if (l->plain)
        length += snprintf(text + length, size - (size_t)length, "plain %llu\n", (unsigned long long)l->plain);
    length += snprintf(text + length, size - (size_t)length, "check %016llx\n",
                       (unsigned long long)check_of(text, (size_t)length));
    return (size_t)length;
}

/* The number behind "key " on a line of its own. */
static bool get(const char *text, const char *key, int base, uint64_t max, uint64_t *value)
{
    char pattern[32], *end;
    snprintf(pattern, sizeof pattern, "\n%s ", key);
    const char *at = strstr(text, pattern);
    if (!at)
        return false;
    at += strlen(pattern);
    errno = 0;
    *value = strtoull(at, &end, base);
    return !errno && end != at && *end == '\n' && *at != '-' && *at != '+' && *at != ' ' && *value <= max;
}

/* Whether it was written for a command of these words. */
static bool is_titled(const char *text, const char *title)
{
    const char *at = strstr(text, "\nfor ");
    size_t length = strlen(title);
    return at && !strncmp(at + strlen("\nfor "), title, length) && at[strlen("\nfor ") + length] == '\n';
}

bool pct_state_parse(struct pct_state_file *state, const char *text, size_t length, const char **other)
{
    *other = NULL;
    if (strncmp(text, MAGIC, sizeof MAGIC - 1)) {
        *other = "it is not a state file of pct";
        return true;
    }
    if (strtoul(text + sizeof MAGIC - 1, NULL, 10) > VERSION) {
        *other = "it was written by a newer version of pct";
        return true;
    }
    const char *last = strstr(text, "\ncheck ");
    uint64_t check, command, binary, threads;
    struct pct_learned l;
    if (!last || strlen(text) != length || strchr(last + 1, '\n') != text + length - 1 ||
        !get(text, "check", 16, UINT64_MAX, &check) || check != check_of(text, (size_t)(last + 1 - text)) ||
        !get(text, "command", 16, UINT64_MAX, &command) || !get(text, "binary", 16, UINT64_MAX, &binary) ||
        !get(text, "runs", 10, UINT64_MAX, &l.runs) || !get(text, "most", 10, UINT64_MAX, &l.most) ||
        !get(text, "least", 10, l.most, &l.least) || !get(text, "threads", 10, UINT32_MAX, &threads))
        return false;
    l.threads = (uint32_t)threads;
    if (command != state->command)
        *other = is_titled(text, state->title)
                     ? "it is of other options, another directory or an earlier version of pct"
                     : "it is of another command";
    else if (binary == state->binary) {
        if (!get(text, "plain", 10, UINT64_MAX, &l.plain))
            l.plain = 0;
        state->learned = l;
        if (!get(text, "ordered", 16, UINT64_MAX, &state->ordered))
            state->ordered = 0;
    }
    return true;
}

/* --- The file ----------------------------------------------------------------------------------------------------- */

uint64_t pct_state_hash_file(const char *path)
{
    uint64_t hash = 0;
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && !fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_size > 0) {
        void *map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map != MAP_FAILED) {
            hash = XXH3_64bits(map, (size_t)status.st_size);
            munmap(map, (size_t)status.st_size);
        }
    }
    if (fd >= 0)
        close(fd);
    return hash;
}

static void identify(struct pct_state_file *state, const char *program, char *const *command, uint64_t strategy)
{
    char *real = realpath(program, NULL);
    const char *path = real ? real : program;
    state->command = XXH3_64bits_withSeed(path, strlen(path) + 1, strategy);
    for (char *const *word = command + 1; *word; word++) {
        uint64_t pair[2] = { state->command, XXH3_64bits(*word, strlen(*word)) };
        state->command = XXH3_64bits(pair, sizeof pair);
    }
    free(real);
    state->binary = pct_state_hash_file(program);
    size_t used = 0;
    for (char *const *word = command; *word && used < sizeof state->title; word++)
        used += (size_t)snprintf(state->title + used, sizeof state->title - used, "%s%s", used ? " " : "", *word);
    for (char *at = state->title; *at; at++)
        if ((unsigned char)*at < ' ' || (unsigned char)*at > '~')
            *at = '?';
}

uint64_t pct_state_counts_by(const struct pct_config *config, const struct pct_strategy *strategy)
{
    uint64_t hash = XXH3_64bits(config->strategy, strlen(config->strategy));
    for (unsigned i = 0; strategy->params && i < PCT_MAX_PARAMS && strategy->params[i].name; i++) {
        const char *name = strategy->params[i].name;
        if (!(config->given >> i & 1) || !strcmp(name, "k") || !strcmp(name, "depth"))
            continue;
        uint64_t pair[2] = { config->run.param[i], XXH3_64bits(name, strlen(name)) };
        hash = XXH3_64bits_withSeed(pair, sizeof pair, hash);
    }
    if (config->memory) {
        hash = XXH3_64bits_withSeed(config->modules, strlen(config->modules), hash);
        hash = XXH3_64bits_withSeed(&config->memory, sizeof config->memory, hash);
    }
    if (config->memory_points == PCT_POINTS_LEARNED)
        hash = XXH3_64bits_withSeed(&config->memory_points, sizeof config->memory_points, hash);
    if (config->focus[0] || config->sample) {
        hash = XXH3_64bits_withSeed(config->focus, strlen(config->focus), hash);
        hash = XXH3_64bits_withSeed(&config->sample, sizeof config->sample, hash);
    }
    if (config->functions[0])
        hash = XXH3_64bits_withSeed(config->functions, strlen(config->functions), hash);
    if (config->watch[0])
        hash = XXH3_64bits_withSeed(config->watch, strlen(config->watch), hash);
    /* A wait that ends early is a step more. */
    if (config->slack != PCT_SLACK_DEFAULT && !strategy->list)
        hash = XXH3_64bits_withSeed(&config->slack, sizeof config->slack, hash);
    return hash;
}

/* Its place if the user names none. An XDG variable that is not absolute is to be ignored, says its specification. */
static bool place(struct pct_state_file *state)
{
    const char *directory = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int length = -1;
    if (directory && *directory == '/')
        length =
            snprintf(state->path, sizeof state->path, "%s/pct/%016llx", directory, (unsigned long long)state->command);
    else if (home && *home == '/')
        length = snprintf(state->path, sizeof state->path, "%s/.local/state/pct/%016llx", home,
                          (unsigned long long)state->command);
    return length > 0 && (size_t)length < sizeof state->path;
}

static void read_file(struct pct_state_file *state)
{
    char text[TEXT_MAX + 1];
    const char *other = NULL;
    struct stat status;
    int fd = open(state->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) {
        state->kind = PCT_STATE_NEW;
        return;
    }
    ssize_t got = -1;
    if (fd >= 0 && !fstat(fd, &status) && S_ISREG(status.st_mode))
        got = read(fd, text, TEXT_MAX);
    else if (fd >= 0)
        errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
    int failed = errno;
    if (fd >= 0)
        close(fd);
    state->kind = PCT_STATE_OTHER;
    if (got < 0) {
        pct_cli_say("cannot read the state file %s: %s; going on without it", state->path, strerror(failed));
        return;
    }
    if (!got) { /* as from mktemp(1) */
        state->kind = PCT_STATE_NEW;
        return;
    }
    text[got] = 0;
    if (!pct_state_parse(state, text, (size_t)got, &other)) {
        state->kind = PCT_STATE_DAMAGED;
        pct_cli_say("the state file %s is damaged: k is measured anew, and the file kept as %s.damaged", state->path,
                    state->path);
    } else if (other)
        pct_cli_say(
            "the state file %s is not used, and left as it is: %s; move it away, and pct keeps what it learns there",
            state->path, other);
    else
        state->kind = PCT_STATE_OWN;
}

void pct_state_open(struct pct_state_file *state, const char *where, const char *program, char *const *command,
                    uint64_t strategy)
{
    memset(state, 0, sizeof *state);
    if (where && !strcmp(where, "none"))
        return;
    identify(state, program, command, strategy);
    if (where ? (size_t)snprintf(state->path, sizeof state->path, "%s", where) < sizeof state->path : place(state))
        read_file(state);
}

static int replace(const struct pct_state_file *state, const char *text, size_t length)
{
    char aside[PATH_MAX + 32];
    if (state->kind == PCT_STATE_DAMAGED) {
        snprintf(aside, sizeof aside, "%s.damaged", state->path);
        if (rename(state->path, aside))
            return -errno;
    }
    int fd = pct_replacement_aside(aside, sizeof aside, state->path, pct_replacement_mode());
    if (fd < 0)
        return fd;
    int failed = pct_cli_write_all(fd, text, length);
    if (close(fd) && !failed)
        failed = -errno;
    if (!failed && rename(aside, state->path))
        failed = -errno;
    if (failed)
        unlink(aside);
    return failed;
}

void pct_state_save(struct pct_state_file *state, const struct pct_learned *learned, bool quiet)
{
    if (state->kind == PCT_STATE_OFF || state->kind == PCT_STATE_OTHER || !learned->runs)
        return;
    state->learned = *learned;
    char text[TEXT_MAX];
    size_t length = pct_state_format(state, text, sizeof text);
    int failed = pct_cli_make_directories(state->path);
    if (!failed)
        failed = replace(state, text, length);
    /* A user without a home has no place for it, and knows. */
    if (failed && failed != -ENOENT && !quiet)
        pct_cli_say("what was learned is not kept: %s: %s (--state none asks for no file)", state->path,
                    strerror(-failed));
}
