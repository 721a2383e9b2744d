/* Writing the tables of a campaign file: see store.h. */
#include "store_sqlite.h"
#include <cli/base/cli.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    sqlite3_bind_text(statement, at, text ? text : "", -1, SQLITE_TRANSIENT);
}

static void bind_number(sqlite3_stmt *statement, int at, uint64_t number)
{
    sqlite3_bind_int64(statement, at, (int64_t)number);
}

int pct_store_add_session(struct pct_store *store, const struct pct_store_session *session)
{
    sqlite3_stmt *s = pct_store_statement(store, PCT_STORE_ADD_SESSION);
    sqlite3_bind_int64(s, 1, session->started);
    sqlite3_bind_double(s, 2, session->seconds);
    bind_number(s, 3, session->runs);
    bind_number(s, 4, session->jobs);
    return pct_store_step(store, s);
}

int pct_store_begin_session(struct pct_store *store, int64_t started, unsigned jobs)
{
    const struct pct_store_session session = { .started = started, .jobs = jobs };
    int failed = pct_store_add_session(store, &session);
    store->session = sqlite3_last_insert_rowid(store->db);
    store->session_runs = 0;
    return failed;
}

int pct_store_set_fact(struct pct_store *store, const char *key, const char *value)
{
    sqlite3_stmt *s = pct_store_statement(store, PCT_STORE_SET_FACT);
    bind_text(s, 1, key);
    bind_text(s, 2, value);
    for (unsigned i = 0; i < store->fact_count; i++)
        if (!strcmp(store->facts[i].key, key)) {
            free(store->facts[i].key);
            free(store->facts[i].value);
            store->facts[i] = store->facts[--store->fact_count];
            break;
        }
    return pct_store_step(store, s);
}

int pct_store_add_run(struct pct_store *store, const struct pct_store_run *run)
{
    sqlite3_stmt *s = pct_store_statement(store, PCT_STORE_ADD_RUN);
    bind_number(s, 1, run->seed);
    bind_number(s, 2, run->k);
    bind_number(s, 3, run->depth);
    sqlite3_bind_int(s, 4, run->code);
    if (run->finding)
        sqlite3_bind_int64(s, 5, run->finding);
    else
        sqlite3_bind_null(s, 5);
    bind_number(s, 6, run->steps);
    bind_number(s, 7, run->threads);
    bind_number(s, 8, run->switches);
    bind_number(s, 9, run->preemptions);
    bind_number(s, 10, run->points);
    bind_number(s, 11, run->spins);
    bind_number(s, 12,
                run->complete | (unsigned)(run->other || run->systematic || run->forced || run->directed) << 1 |
                    (unsigned)run->systematic << 2 | (unsigned)run->forced << 3 | (unsigned)run->directed << 4);
    bind_number(s, 13, run->hash);
    int code = sqlite3_step(s);
    sqlite3_reset(s);
    if (code == SQLITE_CONSTRAINT)
        return -EEXIST;
    store->session_runs++;
    return code == SQLITE_DONE ? 0 : pct_store_fail(store, code);
}

int pct_store_add_finding(struct pct_store *store, struct pct_store_finding *finding)
{
    sqlite3_stmt *s = pct_store_statement(store, PCT_STORE_ADD_FINDING);
    char signature[17];
    snprintf(signature, sizeof signature, "%016llx", (unsigned long long)finding->signature);
    sqlite3_bind_null(s, 1);
    bind_text(s, 2, signature);
    bind_text(s, 3, finding->verdict);
    sqlite3_bind_int(s, 4, finding->code);
    bind_text(s, 5, finding->title);
    bind_text(s, 6, finding->message);
    bind_number(s, 7, finding->seed);
    bind_text(s, 8, finding->token);
    bind_text(s, 9, finding->replay);
    bind_text(s, 10, finding->report);
    sqlite3_bind_blob(s, 11, finding->output ? finding->output : "", (int)finding->output_size, SQLITE_TRANSIENT);
    bind_text(s, 12, finding->uncontrolled);
    bind_text(s, 13, finding->file);
    sqlite3_bind_int(s, 14, finding->line);
    bind_number(s, 15, finding->replays);
    bind_number(s, 16, finding->same);
    bind_number(s, 17, finding->other);
    bind_number(s, 18, finding->identical);
    int failed = pct_store_step(store, s);
    finding->id = sqlite3_last_insert_rowid(store->db);
    return failed;
}

int pct_store_add_frame(struct pct_store *store, const struct pct_store_frame *frame)
{
    sqlite3_stmt *s = pct_store_statement(store, PCT_STORE_ADD_FRAME);
    sqlite3_bind_int64(s, 1, frame->finding);
    bind_number(s, 2, frame->stack);
    bind_number(s, 3, frame->level);
    bind_number(s, 4, frame->thread);
    bind_text(s, 5, frame->doing);
    bind_text(s, 6, frame->function);
    bind_text(s, 7, frame->file);
    sqlite3_bind_int(s, 8, frame->line);
    bind_text(s, 9, frame->module);
    bind_number(s, 10, frame->offset);
    return pct_store_step(store, s);
}

int pct_store_add_pair(struct pct_store *store, uint64_t pair, uint64_t seed)
{
    sqlite3_stmt *s = pct_store_statement(store, PCT_STORE_ADD_PAIR);
    bind_number(s, 1, pair);
    bind_number(s, 2, seed);
    return pct_store_step(store, s);
}

int pct_store_add_uncontrolled(struct pct_store *store, unsigned kind, const char *name, uint64_t count)
{
    sqlite3_stmt *s = pct_store_statement(store, PCT_STORE_ADD_UNCONTROLLED);
    bind_number(s, 1, kind);
    bind_text(s, 2, name);
    bind_number(s, 3, count);
    /* What was not patched is the same in each run. */
    sqlite3_bind_int(s, 4, pct_name_is_blind(kind) && !pct_name_is_aside(kind));
    return pct_store_step(store, s);
}

int pct_store_confirm(struct pct_store *store, const struct pct_store_finding *finding)
{
    sqlite3_stmt *s = pct_store_statement(store, PCT_STORE_CONFIRM);
    sqlite3_bind_int64(s, 1, finding->id);
    bind_number(s, 2, finding->replays);
    bind_number(s, 3, finding->same);
    bind_number(s, 4, finding->other);
    bind_number(s, 5, finding->identical);
    bind_text(s, 6, finding->uncontrolled);
    bind_text(s, 7, finding->report ? finding->report : "");
    bind_text(s, 8, finding->file ? finding->file : "");
    sqlite3_bind_int(s, 9, finding->line);
    return pct_store_step(store, s);
}
