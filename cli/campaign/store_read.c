/* Reading the tables of a campaign file: see store.h. */
#include "store_sqlite.h"
#include <stdlib.h>
#include <string.h>

static const char *text_of(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return text ? text : "";
}

static uint64_t number_of(sqlite3_stmt *statement, int column)
{
    return (uint64_t)sqlite3_column_int64(statement, column);
}

const char *pct_store_fact(struct pct_store *store, const char *key)
{
    for (unsigned i = 0; i < store->fact_count; i++)
        if (!strcmp(store->facts[i].key, key))
            return store->facts[i].value;
    sqlite3_stmt *s = pct_store_statement(store, PCT_STORE_FACT);
    sqlite3_bind_text(s, 1, key, -1, SQLITE_TRANSIENT);
    char *value = sqlite3_step(s) == SQLITE_ROW ? strdup(text_of(s, 0)) : NULL;
    sqlite3_reset(s);
    char *kept = value && store->fact_count < PCT_STORE_FACTS ? strdup(key) : NULL;
    if (!kept) {
        free(value);
        return "";
    }
    store->facts[store->fact_count].key = kept;
    store->facts[store->fact_count++].value = value;
    return value;
}

uint64_t pct_store_number(struct pct_store *store, const char *key)
{
    return strtoull(pct_store_fact(store, key), NULL, 10);
}

/* The end of a loop over rows: code is what sqlite3_step() said, stopped what the caller's function did. */
static int end(struct pct_store *store, sqlite3_stmt *statement, int code, int stopped)
{
    sqlite3_reset(statement);
    return stopped ? stopped : code == SQLITE_DONE ? 0 : pct_store_fail(store, code);
}

int pct_store_each_run(struct pct_store *store, int (*each)(void *data, const struct pct_store_run *run), void *data)
{
    sqlite3_stmt *s = pct_store_statement(store, PCT_STORE_RUNS);
    int code, stopped = 0;
    while (!stopped && (code = sqlite3_step(s)) == SQLITE_ROW) {
        struct pct_store_run run = {
            .seed = number_of(s, 0),
            .k = number_of(s, 1),
            .depth = number_of(s, 2),
            .code = sqlite3_column_int(s, 3),
            .finding = sqlite3_column_int64(s, 4),
            .steps = number_of(s, 5),
            .threads = (uint32_t)number_of(s, 6),
            .switches = number_of(s, 7),
            .preemptions = number_of(s, 8),
            .points = number_of(s, 9),
            .spins = number_of(s, 10),
            .complete = sqlite3_column_int(s, 11) & 1,
            .other = (sqlite3_column_int(s, 11) & 30) == 2,
            .systematic = sqlite3_column_int(s, 11) & 4,
            .forced = sqlite3_column_int(s, 11) & 8,
            .directed = sqlite3_column_int(s, 11) & 16,
            .hash = number_of(s, 12),
        };
        stopped = each(data, &run);
    }
    return end(store, s, code, stopped);
}

int pct_store_each_finding(struct pct_store *store, int (*each)(void *data, const struct pct_store_finding *finding),
                           void *data)
{
    sqlite3_stmt *s = pct_store_statement(store, PCT_STORE_FINDINGS);
    int code, stopped = 0;
    while (!stopped && (code = sqlite3_step(s)) == SQLITE_ROW) {
        struct pct_store_finding finding = {
            .id = sqlite3_column_int64(s, 0),
            .signature = strtoull(text_of(s, 1), NULL, 16),
            .verdict = text_of(s, 2),
            .code = sqlite3_column_int(s, 3),
            .title = text_of(s, 4),
            .message = text_of(s, 5),
            .seed = number_of(s, 6),
            .token = text_of(s, 7),
            .replay = text_of(s, 8),
            .report = text_of(s, 9),
            .output = sqlite3_column_blob(s, 10),
            .output_size = (size_t)sqlite3_column_bytes(s, 10),
            .uncontrolled = text_of(s, 11),
            .file = text_of(s, 12),
            .line = sqlite3_column_int(s, 13),
            .replays = (unsigned)number_of(s, 14),
            .same = (unsigned)number_of(s, 15),
            .other = (unsigned)number_of(s, 16),
            .identical = (unsigned)number_of(s, 17),
            .count = number_of(s, 18),
            .drawn = number_of(s, 19),
        };
        stopped = each(data, &finding);
    }
    return end(store, s, code, stopped);
}

int pct_store_each_frame(struct pct_store *store, int64_t finding,
                         int (*each)(void *data, const struct pct_store_frame *frame), void *data)
{
    sqlite3_stmt *s = pct_store_statement(store, PCT_STORE_FRAMES);
    sqlite3_bind_int64(s, 1, finding);
    int code, stopped = 0;
    while (!stopped && (code = sqlite3_step(s)) == SQLITE_ROW) {
        struct pct_store_frame frame = {
            .finding = sqlite3_column_int64(s, 0),
            .stack = (unsigned)number_of(s, 1),
            .level = (unsigned)number_of(s, 2),
            .thread = (unsigned)number_of(s, 3),
            .doing = text_of(s, 4),
            .function = text_of(s, 5),
            .file = text_of(s, 6),
            .line = sqlite3_column_int(s, 7),
            .module = text_of(s, 8),
            .offset = number_of(s, 9),
        };
        stopped = each(data, &frame);
    }
    return end(store, s, code, stopped);
}

int pct_store_each_pair(struct pct_store *store, int (*each)(void *data, uint64_t pair, uint64_t seed), void *data)
{
    sqlite3_stmt *s = pct_store_statement(store, PCT_STORE_PAIRS);
    int code, stopped = 0;
    while (!stopped && (code = sqlite3_step(s)) == SQLITE_ROW)
        stopped = each(data, number_of(s, 0), number_of(s, 1));
    return end(store, s, code, stopped);
}

int pct_store_each_uncontrolled(struct pct_store *store,
                                int (*each)(void *data, unsigned kind, const char *name, uint64_t count), void *data)
{
    sqlite3_stmt *s = pct_store_statement(store, PCT_STORE_UNCONTROLLED);
    int code, stopped = 0;
    while (!stopped && (code = sqlite3_step(s)) == SQLITE_ROW)
        stopped = each(data, (unsigned)number_of(s, 0), text_of(s, 1), number_of(s, 2));
    return end(store, s, code, stopped);
}

int pct_store_each_session(struct pct_store *store, int (*each)(void *data, const struct pct_store_session *session),
                           void *data)
{
    sqlite3_stmt *s = pct_store_statement(store, PCT_STORE_SESSIONS);
    int code, stopped = 0;
    while (!stopped && (code = sqlite3_step(s)) == SQLITE_ROW) {
        const struct pct_store_session session = { .started = sqlite3_column_int64(s, 0),
                                                   .seconds = sqlite3_column_double(s, 1),
                                                   .runs = number_of(s, 2),
                                                   .jobs = (unsigned)number_of(s, 3) };
        stopped = each(data, &session);
    }
    return end(store, s, code, stopped);
}

int pct_store_totals(struct pct_store *store, struct pct_store_totals *totals)
{
    sqlite3_stmt *s = pct_store_statement(store, PCT_STORE_TOTALS);
    int code = sqlite3_step(s);
    if (code == SQLITE_ROW) {
        *totals = (struct pct_store_totals){
            .runs = number_of(s, 0),
            .failures = number_of(s, 1),
            .schedules = number_of(s, 2),
            .max_steps = number_of(s, 3),
            .max_threads = (uint32_t)number_of(s, 4),
            .findings = number_of(s, 5),
            .pairs = number_of(s, 6),
            .sessions = number_of(s, 7),
            .seconds = sqlite3_column_double(s, 8),
            .drawn = number_of(s, 9),
            .newest = number_of(s, 10),
        };
        code = SQLITE_DONE;
    }
    return end(store, s, code, 0);
}
