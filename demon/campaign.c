/* A confirmed finding as a campaign file: see campaign.h. The command makes the file, which then has all that those of
 * campaigns have: replays, stacks, the report. What pct-demon adds is the cause. */
#include "campaign.h"
#include <cli/base/replacement.h>
#include <cli/campaign/store.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool demon_campaign_check(const char *path)
{
    char error[512];
    if (!*path) {
        demon_say("--db: the name of the file is empty");
        return false;
    }
    int failed = pct_replacement_check(path);
    if (failed) {
        demon_say("--db: %s: %s", path, strerror(-failed));
        return false;
    }
    enum pct_store_state state = pct_store_look(path, error, sizeof error);
    if (state == PCT_STORE_FOREIGN || state == PCT_STORE_NEWER) {
        demon_say("--db: %s: %s", path, error);
        return false;
    }
    return true;
}

struct kept {
    struct pct_store *store;
    const struct demon_finding *finding;
    bool done;
};

/* Our cause goes before what stands there. */
static int add_cause(void *context, const struct pct_store_finding *row)
{
    struct kept *k = context;
    struct pct_store_finding more = *row;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return -1;
    demon_finding_print_cause(out, k->finding);
    fclose(out);
    more.report = text;
    more.file = k->finding->enters->path;
    more.line = k->finding->enters->file_line;
    int failed = pct_store_confirm(k->store, &more);
    free(text);
    k->done = !failed && row->same > 0;
    return failed ? failed : 1; /* there is one */
}

static bool add_to_file(const struct demon_finding *f, const char *path)
{
    char error[512] = "it has no finding that its replays confirm";
    struct kept k = { .store = pct_store_open(path, true, error, sizeof error), .finding = f };
    bool fine =
        k.store && pct_store_each_finding(k.store, add_cause, &k) >= 0 && k.done && !pct_store_commit(k.store, 0);
    if (!fine)
        demon_say("--db: %s: %s", path, k.store && *pct_store_error(k.store) ? pct_store_error(k.store) : error);
    if (k.store)
        pct_store_close(k.store);
    return fine;
}

bool demon_campaign_write(const struct demon_search *s, const char *path)
{
    const struct demon_finding *f = &s->finding[s->findings - 1];
    char *said = demon_run_campaign(s->program, f->plan, f->operations, path);
    if (!said || access(path, R_OK)) {
        demon_show(said ? said : "");
        demon_say("--db: %s is not written", path);
        free(said);
        return false;
    }
    free(said);
    return add_to_file(f, path);
}
