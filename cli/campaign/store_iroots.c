/* The iRoots of a campaign file: see store.h. Only files of campaigns of the strategy `maple` have these tables, and of
 * those with --sites. */
#include "code_files.h"
#include "store_sqlite.h"
#include <cli/base/cli.h>
#include <string.h>

#define IROOTS                                                                                                         \
    "(idiom INTEGER NOT NULL, a INTEGER NOT NULL, b INTEGER NOT NULL, c INTEGER NOT NULL, d INTEGER NOT NULL,"         \
    " number INTEGER NOT NULL, predicted INTEGER NOT NULL, exposed INTEGER NOT NULL,"                                  \
    " PRIMARY KEY(idiom, a, b, c, d)) STRICT, WITHOUT ROWID;"
static const char tables[] =
    "CREATE TABLE IF NOT EXISTS iroot_places(number INTEGER PRIMARY KEY, op INTEGER NOT NULL, code INTEGER NOT NULL,"
    " function TEXT NOT NULL, file TEXT NOT NULL, line INTEGER NOT NULL) STRICT;"
    "CREATE TABLE IF NOT EXISTS iroot_functions(number INTEGER PRIMARY KEY, line INTEGER NOT NULL) STRICT;"
    "CREATE TABLE IF NOT EXISTS iroots" IROOTS "CREATE TABLE IF NOT EXISTS iroot_further" IROOTS
    "CREATE TABLE IF NOT EXISTS iroot_code(code INTEGER PRIMARY KEY, module TEXT NOT NULL, function TEXT NOT NULL,"
    " hash INTEGER NOT NULL, at INTEGER NOT NULL) STRICT;"
    "CREATE TABLE IF NOT EXISTS iroot_memo(iroot TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS iroot_chances(number INTEGER NOT NULL, run INTEGER NOT NULL, next INTEGER NOT NULL,"
    " write INTEGER NOT NULL, again INTEGER NOT NULL, thread0 INTEGER NOT NULL, thread1 INTEGER NOT NULL,"
    " first INTEGER NOT NULL, visits INTEGER NOT NULL, segments INTEGER NOT NULL, PRIMARY KEY(number, run, first)) "
    "STRICT, WITHOUT ROWID;";
static const char add_place[] = "INSERT INTO iroot_places VALUES(?,?,?,?,?,?)";
static const char add_function[] = "INSERT INTO iroot_functions VALUES(?,?)";
static const char add_code[] = "INSERT OR IGNORE INTO iroot_code VALUES(?,?,?,?,?)";
static const char add_memo[] = "INSERT OR IGNORE INTO iroot_memo VALUES(?)";
static const char add_chance[] = "INSERT INTO iroot_chances VALUES(?,?,?,?,?,?,?,?,?,?)";
#define ADD(table)                                                                                                     \
    "INSERT INTO " table " VALUES(?,?,?,?,?,?6,?7,?8) ON CONFLICT(idiom, a, b, c, d) DO UPDATE SET"                    \
    " number = max(number, ?6), predicted = max(predicted, ?7), exposed = max(exposed, ?8)"
static const char add_iroot[] = ADD("iroots"), add_further[] = ADD("iroot_further");

static bool has_table(struct pct_store *store, const char *name)
{
    char sql[128];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = '%s'", name);
    return pct_store_ask(store, sql);
}

static int prepare(struct pct_store *store, const char *sql, sqlite3_stmt **statement)
{
    int code = *statement ? 0 : sqlite3_prepare_v3(store->db, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
    return code ? pct_store_fail(store, code) : 0;
}

int pct_store_begin_iroots(struct pct_store *store)
{
    int failed = pct_store_execute(store, tables);
    if (!failed)
        failed = prepare(store, add_place, &store->add_place);
    if (!failed)
        failed = prepare(store, add_function, &store->add_function);
    if (!failed)
        failed = prepare(store, add_code, &store->add_code);
    if (!failed)
        failed = prepare(store, add_memo, &store->add_memo);
    if (!failed)
        failed = prepare(store, add_chance, &store->add_chance);
    if (!failed)
        failed = prepare(store, add_further, &store->add_further);
    return failed ? failed : prepare(store, add_iroot, &store->add_iroot);
}

bool pct_store_has_iroots(struct pct_store *store)
{
    return pct_store_ask(store, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ('iroots', "
                                "'iroot_places')") == 2;
}

bool pct_store_is_directed(struct pct_store *store)
{
    static const char name[] = "maple";
    const char *spec = pct_store_fact(store, "spec");
    return pct_store_has_iroots(store) && strcspn(spec, ",") == sizeof name - 1 &&
           !strncmp(spec, name, sizeof name - 1);
}

int pct_store_add_place(struct pct_store *store, const struct pct_store_place *place)
{
    sqlite3_stmt *s = store->add_place;
    sqlite3_bind_int64(s, 1, place->number);
    sqlite3_bind_int64(s, 2, place->op);
    sqlite3_bind_int64(s, 3, place->code);
    sqlite3_bind_text(s, 4, place->function, -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(s, 5, place->file, -1, SQLITE_TRANSIENT);
    sqlite3_bind_int64(s, 6, place->line);
    const int failed = pct_store_step(store, s);
    if (failed || !place->begins)
        return failed;
    sqlite3_bind_int64(store->add_function, 1, place->number);
    sqlite3_bind_int64(store->add_function, 2, place->begins);
    return pct_store_step(store, store->add_function);
}

int pct_store_add_iroot(struct pct_store *store, const struct pct_store_iroot *root)
{
    sqlite3_stmt *s = root->further ? store->add_further : store->add_iroot;
    sqlite3_bind_int64(s, 1, root->idiom);
    for (int i = 0; i < 4; i++)
        sqlite3_bind_int64(s, 2 + i, root->place[i]);
    sqlite3_bind_int64(s, 6, (int64_t)root->number);
    sqlite3_bind_int64(s, 7, (int64_t)root->predicted);
    sqlite3_bind_int64(s, 8, (int64_t)root->exposed);
    return pct_store_step(store, s);
}

int pct_store_add_code(struct pct_store *store, uint32_t code, const struct pct_code_position *position)
{
    sqlite3_stmt *s = store->add_code;
    sqlite3_bind_int64(s, 1, code);
    sqlite3_bind_text(s, 2, position->module, -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(s, 3, position->function, -1, SQLITE_TRANSIENT);
    sqlite3_bind_int64(s, 4, (int64_t)position->hash);
    sqlite3_bind_int64(s, 5, (int64_t)position->at);
    return pct_store_step(store, s);
}

int pct_store_add_memo(struct pct_store *store, const char *iroot)
{
    sqlite3_bind_text(store->add_memo, 1, iroot, -1, SQLITE_TRANSIENT);
    return pct_store_step(store, store->add_memo);
}

int pct_store_add_chance(struct pct_store *store, const struct pct_store_chance *row)
{
    sqlite3_stmt *s = store->add_chance;
    sqlite3_bind_int64(s, 1, (int64_t)row->number);
    sqlite3_bind_int64(s, 2, (int64_t)row->run);
    for (int i = 0; i < 3; i++)
        sqlite3_bind_int64(s, 3 + i, (int64_t)row->step[i]);
    sqlite3_bind_int64(s, 6, row->thread[0]);
    sqlite3_bind_int64(s, 7, row->thread[1]);
    sqlite3_bind_int64(s, 8, row->first);
    sqlite3_bind_int64(s, 9, (int64_t)row->visits);
    sqlite3_bind_int64(s, 10, (int64_t)row->segments);
    return pct_store_step(store, s);
}

static int each(struct pct_store *store, const char *sql, int (*row)(void *data, sqlite3_stmt *s), void *data)
{
    sqlite3_stmt *s = NULL;
    int code = sqlite3_prepare_v2(store->db, sql, -1, &s, NULL), stopped = 0;
    if (code)
        return pct_store_fail(store, code);
    while (!stopped && (code = sqlite3_step(s)) == SQLITE_ROW)
        stopped = row(data, s);
    sqlite3_finalize(s);
    return stopped ? stopped : code == SQLITE_DONE ? 0 : pct_store_fail(store, code);
}

struct places {
    int (*each)(void *data, const struct pct_store_place *place);
    void *data;
};

static int read_place(void *data, sqlite3_stmt *s)
{
    const struct places *to = data;
    const struct pct_store_place place = { .number = (uint32_t)sqlite3_column_int64(s, 0),
                                           .op = (uint32_t)sqlite3_column_int64(s, 1),
                                           .code = (uint32_t)sqlite3_column_int64(s, 2),
                                           .function = (const char *)sqlite3_column_text(s, 3),
                                           .file = (const char *)sqlite3_column_text(s, 4),
                                           .line = sqlite3_column_int(s, 5),
                                           .begins = sqlite3_column_int(s, 6) };
    return to->each(to->data, &place);
}

int pct_store_each_place(struct pct_store *store, int (*row)(void *data, const struct pct_store_place *place),
                         void *data)
{
    struct places to = { row, data };
    return each(store,
                has_table(store, "iroot_functions")
                    ? "SELECT p.number, op, code, function, file, p.line, f.line FROM iroot_places p LEFT JOIN"
                      " iroot_functions f ON p.number = f.number ORDER BY p.number"
                    : "SELECT number, op, code, function, file, line, 0 FROM iroot_places ORDER BY number",
                read_place, &to);
}

struct iroots {
    bool further;
    int (*each)(void *data, const struct pct_store_iroot *root);
    void *data;
};

#define EACH(table) "SELECT idiom, a, b, c, d, number, predicted, exposed FROM " table " ORDER BY number, exposed"

static int read_iroot(void *data, sqlite3_stmt *s)
{
    const struct iroots *to = data;
    struct pct_store_iroot root = { .further = to->further, .idiom = (uint32_t)sqlite3_column_int64(s, 0) };
    for (int i = 0; i < 4; i++)
        root.place[i] = (uint32_t)sqlite3_column_int64(s, 1 + i);
    root.number = (uint64_t)sqlite3_column_int64(s, 5);
    root.predicted = (uint64_t)sqlite3_column_int64(s, 6);
    root.exposed = (uint64_t)sqlite3_column_int64(s, 7);
    return to->each(to->data, &root);
}

int pct_store_each_iroot(struct pct_store *store, int (*row)(void *data, const struct pct_store_iroot *root),
                         void *data)
{
    struct iroots to = { false, row, data };
    return each(store, EACH("iroots"), read_iroot, &to);
}

int pct_store_each_further(struct pct_store *store, int (*row)(void *data, const struct pct_store_iroot *root),
                           void *data)
{
    struct iroots to = { true, row, data };
    return has_table(store, "iroot_further") ? each(store, EACH("iroot_further"), read_iroot, &to) : 0;
}

struct chances {
    int (*each)(void *data, const struct pct_store_chance *chance);
    void *data;
};

static int read_chance(void *data, sqlite3_stmt *s)
{
    const struct chances *to = data;
    struct pct_store_chance row = { .number = (uint64_t)sqlite3_column_int64(s, 0),
                                    .run = (uint64_t)sqlite3_column_int64(s, 1),
                                    .thread = { (uint32_t)sqlite3_column_int64(s, 5),
                                                (uint32_t)sqlite3_column_int64(s, 6) },
                                    .first = (uint32_t)sqlite3_column_int64(s, 7),
                                    .visits = (uint64_t)sqlite3_column_int64(s, 8),
                                    .segments = (uint64_t)sqlite3_column_int64(s, 9) };
    for (int i = 0; i < 3; i++)
        row.step[i] = (uint64_t)sqlite3_column_int64(s, 2 + i);
    return to->each(to->data, &row);
}

int pct_store_each_chance(struct pct_store *store, int (*row)(void *data, const struct pct_store_chance *chance),
                          void *data)
{
    struct chances to = { row, data };
    if (!has_table(store, "iroot_chances"))
        return 0;
    return each(store,
                "SELECT number, run, next, write, again, thread0, thread1, first, visits, segments FROM iroot_chances"
                " ORDER BY number, run, first",
                read_chance, &to);
}

/* Files of earlier versions lack these. */
bool pct_store_has_memo(struct pct_store *store)
{
    return pct_store_ask(store, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ('iroot_code', "
                                "'iroot_memo')") == 2;
}

struct codes {
    int (*each)(void *data, uint32_t code, const struct pct_code_position *position);
    void *data;
};

static int read_code(void *data, sqlite3_stmt *s)
{
    const struct codes *to = data;
    const struct pct_code_position position = { .module = (const char *)sqlite3_column_text(s, 1),
                                                .function = (const char *)sqlite3_column_text(s, 2),
                                                .hash = (uint64_t)sqlite3_column_int64(s, 3),
                                                .at = (uint64_t)sqlite3_column_int64(s, 4) };
    return position.module && position.function ? to->each(to->data, (uint32_t)sqlite3_column_int64(s, 0), &position)
                                                : 0;
}

int pct_store_each_code(struct pct_store *store,
                        int (*row)(void *data, uint32_t code, const struct pct_code_position *position), void *data)
{
    struct codes to = { row, data };
    return pct_store_has_memo(store)
               ? each(store, "SELECT code, module, function, hash, at FROM iroot_code ORDER BY code", read_code, &to)
               : 0;
}

struct memos {
    int (*each)(void *data, const char *iroot);
    void *data;
};

static int read_memo(void *data, sqlite3_stmt *s)
{
    const struct memos *to = data;
    const char *iroot = (const char *)sqlite3_column_text(s, 0);
    return iroot ? to->each(to->data, iroot) : 0;
}

int pct_store_each_memo(struct pct_store *store, int (*row)(void *data, const char *iroot), void *data)
{
    struct memos to = { row, data };
    return pct_store_has_memo(store) ? each(store, "SELECT iroot FROM iroot_memo ORDER BY iroot", read_memo, &to) : 0;
}

static int read_totals(void *data, sqlite3_stmt *s)
{
    *(struct pct_store_iroot_totals *)data =
        (struct pct_store_iroot_totals){ .exposed = (uint64_t)sqlite3_column_int64(s, 0),
                                         .newest = (uint64_t)sqlite3_column_int64(s, 1),
                                         .predicted = (uint64_t)sqlite3_column_int64(s, 2),
                                         .left = (uint64_t)sqlite3_column_int64(s, 3) };
    return 0;
}

/* Of idiom 5, either dependency may be the first, as in pct_iroots_find_either(). */
static const char totals_of[] =
    "SELECT coalesce(sum(exposed > 0), 0), coalesce(max(exposed), 0), coalesce(sum(predicted > 0), 0),"
    " coalesce(sum(predicted > 0 AND exposed = 0 AND NOT EXISTS (SELECT 1 FROM iroots AS other WHERE it.idiom = 5 AND"
    " other.idiom = 5 AND other.a = it.c AND other.b = it.d AND other.c = it.a AND other.d = it.b AND"
    " other.exposed > 0)), 0) FROM iroots AS it";

int pct_store_iroot_totals(struct pct_store *store, struct pct_store_iroot_totals *totals)
{
    *totals = (struct pct_store_iroot_totals){ 0 };
    int failed = pct_store_has_iroots(store) ? each(store, totals_of, read_totals, totals) : 0;
    if (has_table(store, "iroot_further"))
        totals->combined =
            (uint64_t)pct_store_ask(store, "SELECT count(*) FROM iroot_further WHERE exposed > 0 AND idiom > 6");
    if (pct_store_has_memo(store))
        totals->memo = (uint64_t)pct_store_ask(store, "SELECT count(*) FROM iroot_memo");
    const uint64_t end = pct_store_number(store, "saturated");
    totals->saturated = end && (uint64_t)pct_store_ask(store, "SELECT count(*) FROM runs") == end;
    return failed;
}
