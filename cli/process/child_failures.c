/* What child processes left: see child_failures.h. */
#include "child_failures.h"
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Call visit with the path and the process id of each file of a child. */
static void walk(const char *trace_path, void (*visit)(const char *path, long pid, void *data), void *data)
{
    char folder[PATH_MAX], path[PATH_MAX + 32];
    snprintf(folder, sizeof folder, "%s", trace_path);
    char *slash = strrchr(folder, '/');
    if (!slash)
        return;
    *slash = 0;
    const char *name = slash + 1;
    size_t length = strlen(name);
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        char *end;
        if (strncmp(entry->d_name, name, length) || entry->d_name[length] != '.')
            continue;
        long pid = strtol(entry->d_name + length + 1, &end, 10);
        if (pid <= 0 || *end)
            continue;
        snprintf(path, sizeof path, "%s.%ld", trace_path, pid);
        visit(path, pid, data);
    }
    if (directory)
        closedir(directory);
}

struct search {
    enum pct_children which;
    struct pct_trace *trace;
    bool raced; /* those are looked for that did not fail, and had data races */
    unsigned count;
    long first;
};

static bool is_wanted(const struct search *search, const struct pct_trace_header *header)
{
    bool by_itself = header->verdict == PCT_VERDICT_EXIT && header->exit_status != PCT_STATUS_UNKNOWN;
    if (by_itself || search->raced)
        return by_itself && search->raced && (header->races || header->possible_races);
    /* A sanitizer's end (of unknown status) is one, too. */
    bool crash = header->verdict == PCT_VERDICT_CRASH || header->verdict == PCT_VERDICT_ASSERTION ||
                 header->verdict == PCT_VERDICT_EXIT;
    return search->which == PCT_CHILDREN_ALL || !crash;
}

static void look(const char *path, long pid, void *data)
{
    struct search *search = data;
    struct pct_trace trace;
    char error[256];
    if (pct_trace_open(&trace, path, error, sizeof error) != PCT_TRACE_GOOD)
        return;
    if (!is_wanted(search, &trace.header) || (search->count++ && pid > search->first)) {
        pct_trace_close(&trace);
        return;
    }
    if (search->count > 1)
        pct_trace_close(search->trace);
    *search->trace = trace;
    search->first = pid;
}

unsigned pct_children_find(const char *trace_path, enum pct_children which, struct pct_trace *trace, unsigned *raced)
{
    struct search failed = { .trace = trace, .which = which }, others = { .trace = trace, .raced = true };
    *raced = 0;
    if (which != PCT_CHILDREN_NONE)
        walk(trace_path, look, &failed);
    if (failed.count)
        return failed.count;
    walk(trace_path, look, &others);
    *raced = others.count;
    return 0;
}

static void forget(const char *path, long pid, void *data)
{
    (void)pid;
    (void)data;
    unlink(path);
}

void pct_children_remove(const char *trace_path)
{
    walk(trace_path, forget, NULL);
}
