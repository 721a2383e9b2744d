/* What child processes left: see child_failures.h. */
#include "child_failures.h"
#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void pct_children_visit(const char *trace_path, void (*visit)(const char *path, long pid, void *data), void *data)
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

/* Of one sort: how many there are, and the trace of the first; if pct failed in one, or else one took other steps than
 * it should, of the first of those. */
struct found {
    unsigned count;
    long first;
    struct pct_trace trace;
};

struct search {
    enum pct_children which;
    struct found failed, raced;
};

/* Where a child of this end counts; NULL: nowhere. */
static struct found *sort(struct search *search, const struct pct_trace_header *header)
{
    if (header->verdict == PCT_VERDICT_EXIT && header->exit_status != PCT_STATUS_UNKNOWN)
        return header->races || header->possible_races ? &search->raced : NULL;
    /* A sanitizer's end (of unknown status) is a crash, too. */
    bool crash = header->verdict == PCT_VERDICT_CRASH || header->verdict == PCT_VERDICT_ASSERTION ||
                 header->verdict == PCT_VERDICT_EXIT;
    /* That is how the next one in a pipeline tells it that it reads no more. */
    if (header->verdict == PCT_VERDICT_CRASH && header->signal == SIGPIPE)
        return NULL;
    bool counts = search->which == PCT_CHILDREN_ALL || (search->which == PCT_CHILDREN_STUCK && !crash) ||
                  header->verdict == PCT_VERDICT_INTERNAL;
    return counts ? &search->failed : NULL;
}

/* What says most about all others comes first. */
static int rank(const struct pct_trace *trace)
{
    uint32_t verdict = trace->header.verdict;
    return verdict == PCT_VERDICT_INTERNAL ? 0 : verdict == PCT_VERDICT_DIVERGENCE ? 1 : 2;
}

static bool comes_before(const struct pct_trace *trace, long pid, const struct found *found)
{
    int own = rank(trace), other = rank(&found->trace);
    return own == other ? pid < found->first : own < other;
}

static void look(const char *path, long pid, void *data)
{
    struct pct_trace trace;
    char error[256];
    if (pct_trace_open(&trace, path, error, sizeof error) != PCT_TRACE_GOOD)
        return;
    struct found *found = sort(data, &trace.header);
    if (!found || (found->count++ && !comes_before(&trace, pid, found))) {
        pct_trace_close(&trace);
        return;
    }
    if (found->count > 1)
        pct_trace_close(&found->trace);
    found->trace = trace;
    found->first = pid;
}

unsigned pct_children_find(const char *trace_path, enum pct_children which, struct pct_trace *trace, unsigned *raced)
{
    struct search search = { .which = which };
    pct_children_visit(trace_path, look, &search);
    *raced = search.failed.count ? 0 : search.raced.count;
    if (search.failed.count && search.raced.count)
        pct_trace_close(&search.raced.trace);
    if (search.failed.count)
        *trace = search.failed.trace;
    else if (search.raced.count)
        *trace = search.raced.trace;
    return search.failed.count;
}

static void forget(const char *path, long pid, void *data)
{
    (void)pid;
    (void)data;
    unlink(path);
}

void pct_children_remove(const char *trace_path)
{
    pct_children_visit(trace_path, forget, NULL);
}
