/* Child processes that failed: see child_failures.h. */
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
    unsigned count;
    long first;
};

static void look(const char *path, long pid, void *data)
{
    struct search *search = data;
    struct pct_trace trace;
    char error[256];
    if (pct_trace_open(&trace, path, error, sizeof error) != PCT_TRACE_GOOD)
        return;
    bool crash = trace.header.verdict == PCT_VERDICT_CRASH || trace.header.verdict == PCT_VERDICT_ASSERTION;
    if (crash && search->which != PCT_CHILDREN_ALL) {
        pct_trace_close(&trace);
        return;
    }
    if (search->count++ && pid > search->first) {
        pct_trace_close(&trace);
        return;
    }
    if (search->count > 1)
        pct_trace_close(search->trace);
    *search->trace = trace;
    search->first = pid;
}

unsigned pct_children_find(const char *trace_path, enum pct_children which, struct pct_trace *trace)
{
    struct search search = { .trace = trace, .which = which };
    if (which == PCT_CHILDREN_NONE)
        return 0;
    walk(trace_path, look, &search);
    return search.count;
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
