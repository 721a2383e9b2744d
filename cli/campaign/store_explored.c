/* The runs of an exploration in a campaign file: see store.h. Only files of `pct explore` have this table. */
#include "store_sqlite.h"
#include <cli/base/cli.h>

static const char table[] = "CREATE TABLE IF NOT EXISTS @explored(number INTEGER PRIMARY KEY, plan INTEGER NOT NULL,"
                            " flags INTEGER NOT NULL, threads INTEGER NOT NULL, doubts INTEGER NOT NULL,"
                            " assumes INTEGER NOT NULL, failure INTEGER NOT NULL, log BLOB NOT NULL) STRICT";

int pct_store_begin_explored(struct pct_store *store)
{
    int failed = pct_store_execute(store, table);
    int code =
        failed ? 0 : pct_store_prepare(store, "INSERT INTO @explored VALUES(?,?,?,?,?,?,?,?)", &store->add_explored);
    return failed ? failed : code ? pct_store_fail(store, code) : 0;
}

bool pct_store_has_explored(struct pct_store *store)
{
    return pct_store_ask(store, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = '@explored'") > 0;
}

int pct_store_add_explored(struct pct_store *store, const struct pct_store_explored *run)
{
    sqlite3_stmt *s = store->add_explored;
    sqlite3_bind_int64(s, 1, (int64_t)run->number);
    sqlite3_bind_int64(s, 2, (int64_t)run->plan);
    sqlite3_bind_int64(s, 3, run->flags);
    sqlite3_bind_int64(s, 4, run->threads);
    sqlite3_bind_int64(s, 5, run->doubts);
    sqlite3_bind_int64(s, 6, run->assumes);
    sqlite3_bind_int64(s, 7, (int64_t)run->failure);
    sqlite3_bind_blob(s, 8, run->log, (int)run->size, SQLITE_STATIC);
    int code = sqlite3_step(s);
    sqlite3_reset(s);
    sqlite3_bind_null(s, 8);
    return code == SQLITE_DONE ? 0 : pct_store_fail(store, code);
}

int pct_store_each_explored(struct pct_store *store, int (*each)(void *data, const struct pct_store_explored *run),
                            void *data)
{
    sqlite3_stmt *s = NULL;
    int stopped = 0, code = pct_store_prepare(store,
                                              "SELECT number, plan, flags, threads, doubts, assumes, failure, log"
                                              " FROM @explored ORDER BY number",
                                              &s);
    if (code)
        return pct_store_fail(store, code);
    while (!stopped && (code = sqlite3_step(s)) == SQLITE_ROW) {
        struct pct_store_explored run = {
            .number = (uint64_t)sqlite3_column_int64(s, 0),
            .plan = (uint64_t)sqlite3_column_int64(s, 1),
            .flags = (uint32_t)sqlite3_column_int64(s, 2),
            .threads = (uint32_t)sqlite3_column_int64(s, 3),
            .doubts = (uint32_t)sqlite3_column_int64(s, 4),
            .assumes = (uint32_t)sqlite3_column_int64(s, 5),
            .failure = (uint64_t)sqlite3_column_int64(s, 6),
            .log = sqlite3_column_blob(s, 7),
        };
        run.size = (size_t)sqlite3_column_bytes(s, 7);
        stopped = each(data, &run);
    }
    sqlite3_finalize(s);
    return stopped ? stopped : code == SQLITE_DONE ? 0 : pct_store_fail(store, code);
}
