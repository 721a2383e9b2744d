/* What earlier campaigns knew: see memo.h. */
#include "memo.h"
#include "campaign.h"
#include "code_files.h"
#include "directed_state.h"
#include "store.h"
#include <cli/base/grow.h>
#include <cli/base/cli.h>
#include <common/text.h>
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

struct pct_memo_code {
    uint32_t there, here; /* in the build of the other file, and in this one */
    char *module, *function;
    uint64_t hash, at;
};

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

bool pct_memo_has(const struct pct_memo *memo, const char *iroot)
{
    return tfind(iroot, &memo->tree, compare);
}

static int add(void *data, const char *iroot)
{
    struct pct_memo *memo = data;
    char *copy = pct_memo_has(memo, iroot) ? NULL : strdup(iroot);
    if (!copy)
        return pct_memo_has(memo, iroot) ? 0 : -ENOMEM;
    if (!tsearch(copy, &memo->tree, compare)) {
        free(copy);
        return -ENOMEM;
    }
    memo->count++;
    return 0;
}

void pct_memo_free(struct pct_memo *memo)
{
    tdestroy(memo->tree, free);
    for (size_t i = 0; i < memo->codes; i++) {
        free(memo->code[i].module);
        free(memo->code[i].function);
    }
    free(memo->code);
    *memo = (struct pct_memo){ .tree = NULL };
}

/* --- In the campaign's own file ----------------------------------------------------------------------------------- */

struct saving {
    struct pct_store *store;
    int failed;
};

static void save(const void *node, VISIT visit, void *data)
{
    struct saving *saving = data;
    if ((visit == postorder || visit == leaf) && !saving->failed)
        saving->failed = pct_store_add_memo(saving->store, *(char *const *)node);
}

int pct_memo_save(const struct pct_memo *memo, struct pct_store *store)
{
    struct saving saving = { store, 0 };
    twalk_r(memo->tree, save, &saving);
    for (size_t i = 0; i < memo->codes && !saving.failed; i++) {
        const struct pct_memo_code *code = &memo->code[i];
        const struct pct_code_position position = {
            .module = code->module, .function = code->function, .hash = code->hash, .at = code->at
        };
        saving.failed = pct_store_add_code(store, code->here, &position);
    }
    return saving.failed;
}

int pct_memo_load(struct pct_memo *memo, struct pct_store *store)
{
    return pct_store_each_memo(store, add, memo);
}

/* --- From another one --------------------------------------------------------------------------------------------- */

struct taking {
    struct pct_memo *memo;
    struct pct_directed there;
    struct pct_code_files *files;
    size_t room, forgotten;
};

/* A place of the other build: as far as it is in this one. They come in the order of their numbers. */
static int take_code(void *data, uint32_t code, const struct pct_code_position *position)
{
    struct taking *t = data;
    struct pct_memo *memo = t->memo;
    uint32_t here = pct_code_files_find(t->files, position);
    if (!here)
        return 0;
    if (!PCT_GROW(memo->code, memo->codes, t->room))
        return -ENOMEM;
    struct pct_memo_code *to = &memo->code[memo->codes++];
    *to = (struct pct_memo_code){ .there = code,
                                  .here = here,
                                  .module = strdup(position->module),
                                  .function = strdup(position->function),
                                  .hash = position->hash,
                                  .at = position->at };
    return to->module && to->function ? 0 : -ENOMEM;
}

static int by_code(const void *a, const void *b)
{
    const struct pct_memo_code *x = a, *y = b;
    return x->there < y->there ? -1 : x->there > y->there;
}

/* An iRoot of the other build: as it is in this one, if all of its places are. */
static int take(void *data, const char *iroot)
{
    struct taking *t = data;
    char text[PCT_DIRECTED_TEXT], *end;
    const unsigned long idiom = strtoul(iroot, &end, 10);
    if (!idiom || idiom > PCT_IDIOMS)
        return -EINVAL;
    size_t length = (size_t)snprintf(text, sizeof text, "%lu", idiom);
    for (unsigned k = 0; k < pct_idiom_accesses((uint32_t)idiom); k++) {
        const unsigned long op = *end == '-' ? strtoul(end + 1, &end, 10) : PCT_OP_COUNT;
        const struct pct_memo_code wanted = { .there = *end == '.' ? (uint32_t)strtoul(end + 1, &end, 16) : 0 };
        if (op >= PCT_OP_COUNT || !wanted.there)
            return -EINVAL;
        const struct pct_memo_code *code =
            t->memo->codes ? bsearch(&wanted, t->memo->code, t->memo->codes, sizeof wanted, by_code) : NULL;
        if (!code) {
            t->forgotten++;
            return 0;
        }
        length += (size_t)snprintf(text + length, sizeof text - length, "-%lu.%08x", op, code->here);
    }
    return *end ? -EINVAL : add(t->memo, text);
}

/* All that its runs have exposed, and what they have tried in vain. */
static int take_sets(struct taking *t, struct pct_store *store)
{
    struct pct_store_totals totals;
    struct pct_directed *there = &t->there;
    char text[PCT_DIRECTED_TEXT];
    int failed = pct_store_totals(store, &totals);
    if (!failed)
        failed = pct_directed_read(there, store, totals.runs);
    if (!failed)
        failed = pct_store_each_code(store, take_code, t);
    for (size_t i = 0; i < there->sets.exposed.count && !failed; i++)
        failed = take(t, pct_directed_format(text, &there->sets, there->sets.exposed.item[i]));
    for (size_t i = 0; i < there->candidates && i < there->sets.predicted.count && !failed; i++)
        if (there->candidate[i].tried >= PCT_DIRECTED_TRIES &&
            !pct_iroots_find_either(&there->sets.exposed, there->sets.predicted.item[i]))
            failed = take(t, pct_directed_format(text, &there->sets, there->sets.predicted.item[i]));
    return failed ? failed : pct_store_each_memo(store, take, t);
}

static int read_memo(struct pct_campaign *c, struct pct_store *store, const char *path)
{
    struct taking t = { .memo = &c->directed->memo, .there = { .sets = { .places = { .by_instruction = true } } } };
    const bool has_code = pct_store_has_memo(store);
    t.files = pct_code_files_new(c->launch.program);
    int failed = t.files ? take_sets(&t, store) : -ENOMEM;
    pct_directed_close(&t.there);
    pct_code_files_free(t.files);
    if (failed == -ENOMEM)
        return pct_cli_no_memory("");
    if (failed)
        return pct_cli_usage("--memo=%s: %s", path,
                             *pct_store_error(store) ? pct_store_error(store)
                                                     : "the file is damaged (its iRoots contradict each other)");
    pct_cli_say("--memo=%s: %zu iRoots are known, and not tried again", path, t.memo->count);
    if (t.forgotten && !has_code)
        pct_cli_say(
            "--memo=%s: %zu iRoots are forgotten: this file was written before campaigns kept where the code of "
            "their places is; begin it anew",
            path, t.forgotten);
    else if (t.forgotten)
        pct_cli_say("--memo=%s: %zu iRoots are forgotten, as their functions have changed", path, t.forgotten);
    return 0;
}

int pct_memo_take(struct pct_campaign *c, const char *path)
{
    char error[512];
    if (pct_store_look(path, error, sizeof error) == PCT_STORE_ABSENT) {
        pct_cli_say("--memo=%s: there is no such file yet: all iRoots are tried", path);
        return 0;
    }
    struct pct_store *store = pct_store_open(path, false, error, sizeof error);
    if (!store)
        return pct_cli_usage("--memo=%s: %s", path, error);
    const char *there = pct_text_base_name(pct_store_fact(store, "program"));
    const char *here = pct_text_base_name(c->launch.program);
    struct pct_store_totals totals;
    int status = 0;
    if (pct_store_totals(store, &totals))
        status = pct_cli_usage("--memo=%s: %s", path, pct_store_error(store));
    else if (strcmp(there, here) != 0)
        status = pct_cli_usage("--memo=%s: it is of another program: '%s', not '%s'", path, there, here);
    else if (!totals.runs) /* it may have begun just now; what it looks at stands there with its first runs */
        pct_cli_say("--memo=%s: there are no runs in it yet: all iRoots are tried", path);
    else if (!pct_store_has_iroots(store))
        status =
            pct_cli_usage("--memo=%s: this campaign has not looked at interleavings: only those of -S maple do", path);
    else
        status = read_memo(c, store, path);
    pct_store_close(store);
    return status;
}
