/* The campaign file: see store.h. Opening, checking and making it, its parts and its commits; store_write.c
 * writes the tables, store_read.c reads them, store_checksum.c says whether they are as they were written,
 * store_merge.c makes one file of several. */
#include "store.h"
#include <cli/base/cli.h>
#include "store_sqlite.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* docs/CAMPAIGN-FILE.md says what the columns mean. The @ in a statement is what the names of the part's tables begin
 * with. */
static const char schema[] =
    "CREATE TABLE @facts(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;"
    "CREATE TABLE @findings(id INTEGER PRIMARY KEY, signature TEXT NOT NULL UNIQUE, verdict TEXT NOT NULL,"
    " code INTEGER NOT NULL, title TEXT NOT NULL, message TEXT NOT NULL, seed INTEGER NOT NULL, token TEXT NOT NULL,"
    " replay TEXT NOT NULL, report TEXT NOT NULL, output BLOB NOT NULL, uncontrolled TEXT NOT NULL,"
    " file TEXT NOT NULL, line INTEGER NOT NULL, replays INTEGER NOT NULL, same INTEGER NOT NULL,"
    " other INTEGER NOT NULL, identical INTEGER NOT NULL) STRICT;"
    "CREATE TABLE @runs(seed INTEGER PRIMARY KEY, k INTEGER NOT NULL, depth INTEGER NOT NULL, code INTEGER NOT NULL,"
    " finding INTEGER REFERENCES @findings(id), steps INTEGER NOT NULL, threads INTEGER NOT NULL,"
    " switches INTEGER NOT NULL, preemptions INTEGER NOT NULL, points INTEGER NOT NULL, spins INTEGER NOT NULL,"
    " complete INTEGER NOT NULL, hash INTEGER NOT NULL) STRICT;"
    "CREATE TABLE @frames(finding INTEGER NOT NULL REFERENCES @findings(id), stack INTEGER NOT NULL,"
    " level INTEGER NOT NULL, thread INTEGER NOT NULL, doing TEXT NOT NULL, function TEXT NOT NULL,"
    " file TEXT NOT NULL, line INTEGER NOT NULL, module TEXT NOT NULL, offset INTEGER NOT NULL,"
    " PRIMARY KEY(finding, stack, level)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE @coverage(pair INTEGER PRIMARY KEY, seed INTEGER NOT NULL) STRICT;"
    "CREATE TABLE @uncontrolled(kind INTEGER PRIMARY KEY, name TEXT NOT NULL, count INTEGER NOT NULL) STRICT;"
    "CREATE TABLE @sessions(id INTEGER PRIMARY KEY, started INTEGER NOT NULL, seconds REAL NOT NULL,"
    " runs INTEGER NOT NULL, jobs INTEGER NOT NULL) STRICT;";

static const char *const statements[PCT_STORE_STATEMENTS] = {
    [PCT_STORE_ADD_RUN] = "INSERT INTO @runs VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [PCT_STORE_ADD_FINDING] = "INSERT INTO @findings VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [PCT_STORE_ADD_FRAME] = "INSERT INTO @frames VALUES(?,?,?,?,?,?,?,?,?,?)",
    [PCT_STORE_ADD_PAIR] = "INSERT INTO @coverage VALUES(?1,?2) ON CONFLICT(pair) DO UPDATE SET seed = min(seed, ?2)",
    [PCT_STORE_ADD_UNCONTROLLED] =
        "INSERT INTO @uncontrolled VALUES(?1,?2,?3) ON CONFLICT(kind) DO UPDATE SET count = iif(?4, max(count, ?3),"
        " count + ?3)",
    [PCT_STORE_CONFIRM] =
        "UPDATE @findings SET replays=?2, same=?3, other=?4, identical=?5, uncontrolled=?6,"
        " report = ?7 || report, line = iif(?8 = '', line, ?9), file = iif(?8 = '', file, ?8) WHERE id=?1",
    [PCT_STORE_ADD_SESSION] = "INSERT INTO @sessions(started, seconds, runs, jobs) VALUES(?,?,?,?)",
    [PCT_STORE_UPDATE_SESSION] = "UPDATE @sessions SET seconds=?2, runs=?3 WHERE id=?1",
    [PCT_STORE_SET_FACT] = "INSERT INTO @facts VALUES(?1,?2) ON CONFLICT(key) DO UPDATE SET value=?2",
    [PCT_STORE_FACT] = "SELECT value FROM @facts WHERE key=?",
    [PCT_STORE_RUNS] = "SELECT seed, k, depth, code, finding, steps, threads, switches, preemptions, points, spins,"
                       " complete, hash FROM @runs ORDER BY seed",
    [PCT_STORE_FINDINGS] =
        "SELECT f.id, signature, verdict, f.code, title, message, f.seed, token, replay, report, output,"
        " uncontrolled, file, line, replays, same, other, identical, count(r.seed), sum((r.complete & 28) = 0)"
        " FROM @findings f LEFT JOIN @runs r ON r.finding = f.id GROUP BY f.id ORDER BY f.id",
    [PCT_STORE_FRAMES] = "SELECT finding, stack, level, thread, doing, function, file, line, module, offset"
                         " FROM @frames WHERE finding=? ORDER BY stack, level",
    [PCT_STORE_PAIRS] = "SELECT pair, seed FROM @coverage ORDER BY seed, pair",
    [PCT_STORE_UNCONTROLLED] = "SELECT kind, name, count FROM @uncontrolled ORDER BY kind",
    [PCT_STORE_SESSIONS] = "SELECT started, seconds, runs, jobs FROM @sessions ORDER BY id",
    [PCT_STORE_RUN] = "SELECT code, hash, k, depth, complete & 30 FROM @runs WHERE seed=?",
    [PCT_STORE_TOTALS] =
        "SELECT count(*), count(finding), count(DISTINCT hash), coalesce(max(steps), 0),"
        " coalesce(max(threads), 0), (SELECT count(*) FROM @findings), (SELECT count(*) FROM @coverage),"
        " (SELECT count(*) FROM @sessions), (SELECT coalesce(sum(seconds), 0) FROM @sessions),"
        " coalesce(sum((complete & 28) = 0), 0), coalesce(sum(seed <= (SELECT max(seed) FROM @coverage)), 0) FROM "
        "@runs",
};

/* --- Failing ------------------------------------------------------------------------------------------------------ */

int pct_store_fail(struct pct_store *store, int code)
{
    switch (code & 0xff) {
    case SQLITE_FULL:
        snprintf(store->error, sizeof store->error, "there is no space left on the disk");
        return -ENOSPC;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        snprintf(store->error, sizeof store->error,
                 "another campaign is writing to it; wait until that has ended, or name another file");
        return -EBUSY;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        snprintf(store->error, sizeof store->error, "the file is damaged (%s)", sqlite3_errmsg(store->db));
        return -EINVAL;
    case SQLITE_NOMEM:
        snprintf(store->error, sizeof store->error, "out of memory");
        return -ENOMEM;
    case SQLITE_READONLY:
        snprintf(store->error, sizeof store->error,
                 "it, or its directory, cannot be written to (%s); name another with --db, or make it writable",
                 sqlite3_errmsg(store->db));
        return -EACCES;
    default:
        snprintf(store->error, sizeof store->error, "%s", sqlite3_errmsg(store->db));
        return -EIO;
    }
}

const char *pct_store_error(const struct pct_store *store)
{
    return store->error;
}

/* The statement for this part: to be freed by sqlite3_free(). NULL: no memory. */
static char *of_part(unsigned part, const char *sql)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    for (const char *at = sql; *at; at++)
        if (*at != '@')
            sqlite3_str_appendchar(text, 1, *at);
        else if (part > 1)
            sqlite3_str_appendf(text, "e%u_", part);
    return sqlite3_str_finish(text);
}

/* Returns a code of SQLite. */
static int run_text(struct pct_store *store, const char *sql)
{
    char *text = of_part(store->part, sql);
    int code = text ? sqlite3_exec(store->db, text, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(text);
    return code;
}

int pct_store_prepare(struct pct_store *store, const char *sql, sqlite3_stmt **statement)
{
    char *text = of_part(store->part, sql);
    int code =
        text ? sqlite3_prepare_v3(store->db, text, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL) : SQLITE_NOMEM;
    sqlite3_free(text);
    return code;
}

int pct_store_execute(struct pct_store *store, const char *sql)
{
    int code = run_text(store, sql);
    return code ? pct_store_fail(store, code) : 0;
}

sqlite3_stmt *pct_store_statement(struct pct_store *store, enum pct_store_statement which)
{
    sqlite3_stmt *statement = store->statements[which];
    sqlite3_reset(statement);
    return statement;
}

int pct_store_step(struct pct_store *store, sqlite3_stmt *statement)
{
    int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? 0 : pct_store_fail(store, code);
}

/* --- Making ------------------------------------------------------------------------------------------------------- */

/* The tables of a part, with these facts. Returns a code of SQLite. */
static int make_tables(struct pct_store *store, const struct pct_store_fact *facts)
{
    sqlite3_stmt *statement = NULL;
    int code = run_text(store, schema);
    if (!code)
        code = pct_store_prepare(store, "INSERT INTO @facts VALUES(?,?)", &statement);
    for (; !code && facts->key; facts++) {
        sqlite3_bind_text(statement, 1, facts->key, -1, SQLITE_STATIC);
        sqlite3_bind_text(statement, 2, facts->value, -1, SQLITE_STATIC);
        code = sqlite3_step(statement);
        code = code == SQLITE_DONE ? sqlite3_reset(statement) : code;
    }
    sqlite3_finalize(statement);
    return code;
}

static int fill(struct pct_store *store, const struct pct_store_fact *facts)
{
    char pragmas[128];
    snprintf(pragmas, sizeof pragmas, "BEGIN; PRAGMA application_id=%u; PRAGMA user_version=%d;", PCT_STORE_APPLICATION,
             PCT_STORE_VERSION);
    int code = run_text(store, pragmas);
    if (!code)
        code = make_tables(store, facts);
    return code ? code : run_text(store, "COMMIT");
}

/* The name of a new file is in its directory, which is a file of its own to the disk. If that fails, nothing is lost
 * but time. */
static void sync_directory(const char *path)
{
    char directory[4096];
    const char *slash = strrchr(path, '/');
    snprintf(directory, sizeof directory, "%.*s", slash ? (int)(slash - path + 1) : 1, slash ? path : ".");
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    fsync(fd);
    close(fd);
}

int pct_store_create(const char *path, const struct pct_store_fact *facts, char *error, size_t size)
{
    char temporary[4096];
    struct pct_store making = { .part = 1 };
    if ((size_t)snprintf(temporary, sizeof temporary, "%s.%ld.tmp", path, (long)getpid()) >= sizeof temporary) {
        snprintf(error, size, "the name is too long");
        return -ENAMETOOLONG;
    }
    unlink(temporary);
    int failed = 0, code = sqlite3_open_v2(temporary, &making.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (!code)
        code = fill(&making, facts);
    if (code) {
        failed = pct_store_fail(&making, code);
        snprintf(error, size, "%s", making.error);
    }
    sqlite3_close(making.db);
    /* Unlike rename(), this does not replace what somebody else made in the meantime. */
    if (!failed && link(temporary, path)) {
        failed = -errno;
        snprintf(error, size, "%s",
                 failed == -EEXIST
                     ? "another campaign has just made it; wait until that has ended, or name another file"
                     : strerror(-failed));
    }
    unlink(temporary);
    if (!failed)
        sync_directory(path);
    return failed;
}

/* --- Opening ------------------------------------------------------------------------------------------------------ */

int64_t pct_store_ask(struct pct_store *store, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    int64_t value = -1;
    if (!pct_store_prepare(store, sql, &statement) && sqlite3_step(statement) == SQLITE_ROW)
        value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

static int check_facts(struct pct_store *store)
{
    if (pct_store_ask(
            store, "SELECT count(*) FROM @facts WHERE key IN ('seed', 'runs', 'shard', 'of', 'spec', 'command')") == 6)
        return 0;
    snprintf(store->error, sizeof store->error, "the file is damaged (its tables contradict each other)");
    return -EINVAL;
}

/* Nothing here writes. */
static int check(struct pct_store *store)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(store->db, "PRAGMA integrity_check(1)", -1, &statement, NULL);
    if (!code)
        code = sqlite3_step(statement);
    const char *verdict = code == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    bool good = verdict && !strcmp(verdict, "ok");
    const char *line = verdict ? strrchr(verdict, '\n') : NULL; /* behind a heading */
    if (!good && verdict)
        snprintf(store->error, sizeof store->error, "the file is damaged (%s)", line ? line + 1 : verdict);
    sqlite3_finalize(statement);
    if (!good)
        return verdict ? -EINVAL : pct_store_fail(store, code);
    if (pct_store_ask(store, "SELECT count(*) FROM pragma_foreign_key_check") != 0) {
        snprintf(store->error, sizeof store->error, "the file is damaged (its tables contradict each other)");
        return -EINVAL;
    }
    int failed = check_facts(store);
    return failed ? failed : pct_store_check_checksum(store);
}

static int prepare(struct pct_store *store)
{
    for (unsigned i = 0; i < PCT_STORE_STATEMENTS; i++) {
        int code = pct_store_prepare(store, statements[i], &store->statements[i]);
        if (code == SQLITE_ERROR) {
            snprintf(store->error, sizeof store->error, "the file is damaged (%s)", sqlite3_errmsg(store->db));
            return -EINVAL;
        }
        if (code)
            return pct_store_fail(store, code);
    }
    return 0;
}

/* Once for looking: a connection that may write also tidies up when it is closed, and a damaged file is to stay as it
 * is. */
static int connect_to(struct pct_store *store, const char *path, bool write)
{
    int code = sqlite3_open_v2(path, &store->db, write ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY, NULL);
    if (!code)
        code = sqlite3_busy_timeout(store->db, 1000);
    /* Counting the different hashes of a million runs needs room: in memory, or it thrashes in a temporary file. */
    if (!code)
        code = sqlite3_exec(store->db, "PRAGMA temp_store=MEMORY; PRAGMA cache_size=-65536", NULL, NULL, NULL);
    return code ? pct_store_fail(store, code) : 0;
}

static void finalize(struct pct_store *store)
{
    for (unsigned i = 0; i < PCT_STORE_STATEMENTS; i++) {
        sqlite3_finalize(store->statements[i]);
        store->statements[i] = NULL;
    }
    sqlite3_stmt **const own[] = { &store->add_explored, &store->add_place, &store->add_function, &store->add_iroot,
                                   &store->add_further,  &store->add_code,  &store->add_memo,     &store->add_chance };
    for (unsigned i = 0; i < sizeof own / sizeof *own; i++) {
        sqlite3_finalize(*own[i]);
        *own[i] = NULL;
    }
}

static void disconnect(struct pct_store *store)
{
    finalize(store);
    sqlite3_close(store->db);
    sqlite3_close(store->remembered);
    store->db = store->remembered = NULL;
}

static int begin(struct pct_store *store)
{
    return pct_store_execute(store, "BEGIN IMMEDIATE");
}

/* --- Remembering -------------------------------------------------------------------------------------------------- */

/* A copy of all, where no transaction is open. Returns a code of SQLite. */
static int copy(sqlite3 *to, sqlite3 *from)
{
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
    if (!backup)
        return sqlite3_errcode(to);
    sqlite3_backup_step(backup, -1);
    return sqlite3_backup_finish(backup);
}

/* In a file of SQLite's own that has no name. */
int pct_store_remember(struct pct_store *store)
{
    int failed = pct_store_execute(store, "COMMIT");
    if (failed)
        return failed;
    int code = sqlite3_open("", &store->remembered);
    if (!code)
        code = copy(store->remembered, store->db);
    return code ? pct_store_fail(store, code) : begin(store);
}

int pct_store_recall(struct pct_store *store)
{
    finalize(store);
    sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    int code = copy(store->db, store->remembered);
    return code ? pct_store_fail(store, code) : 0;
}

/* Which file it is that is written to: its name may come to mean another one, or none. */
static int remember_file(struct pct_store *store, const char *path)
{
    struct stat status;
    store->path = strdup(path);
    if (!store->path || stat(path, &status)) {
        snprintf(store->error, sizeof store->error, "%s", strerror(errno));
        return -errno;
    }
    store->device = status.st_dev;
    store->inode = status.st_ino;
    return 0;
}

static int check_file(struct pct_store *store)
{
    struct stat status;
    if (!stat(store->path, &status) && status.st_dev == store->device && status.st_ino == store->inode)
        return 0;
    snprintf(store->error, sizeof store->error,
             "the file was removed or replaced while the campaign wrote to it, and what it had is lost; prevent that "
             "(a target that tidies up the directory?), or name another place with --db, and begin again");
    return -ESTALE;
}

static int look_inside(struct pct_store *store, const char *path)
{
    int failed = connect_to(store, path, false);
    if (!failed)
        failed = check(store);
    return failed ? failed : prepare(store);
}

/* The power failed in the middle of a change that was written with a journal, as the one to the write-ahead log is: the
 * file has to be put back as it was before, which takes a connection that may write. */
static bool is_half_changed(const struct pct_store *store)
{
    return store->db && sqlite3_extended_errcode(store->db) == SQLITE_READONLY_ROLLBACK;
}

static int put_back(struct pct_store *store, const char *path)
{
    disconnect(store);
    int failed = connect_to(store, path, true);
    if (!failed)
        failed = pct_store_execute(store, "SELECT count(*) FROM sqlite_master");
    disconnect(store);
    return failed;
}

/* All that is read from now on is of one moment, whatever a campaign adds meanwhile. A file without a log has none that
 * writes to it, and is not to be held against one. */
static int hold(struct pct_store *store)
{
    sqlite3_stmt *mode = NULL;
    int code = sqlite3_prepare_v2(store->db, "PRAGMA journal_mode", -1, &mode, NULL);
    const char *name = !code && sqlite3_step(mode) == SQLITE_ROW ? (const char *)sqlite3_column_text(mode, 0) : NULL;
    const bool logged = name && !strcmp(name, "wal");
    sqlite3_finalize(mode);
    return logged ? pct_store_execute(store, "BEGIN") : 0;
}

static int open_all(struct pct_store *store, const char *path, bool write)
{
    int failed = look_inside(store, path);
    if (failed && is_half_changed(store)) {
        failed = put_back(store, path);
        if (!failed)
            failed = look_inside(store, path);
    }
    if (failed || !write)
        return failed ? failed : hold(store);
    disconnect(store);
    failed = connect_to(store, path, true);
    if (!failed)
        failed = pct_store_execute(store, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL");
    if (!failed)
        failed = begin(store);
    store->writes = !failed;
    if (!failed)
        failed = pct_store_begin_checksum(store);
    if (!failed)
        failed = remember_file(store, path);
    return failed ? failed : prepare(store);
}

struct pct_store *pct_store_open(const char *path, bool write, char *error, size_t size)
{
    errno = 0;
    switch (pct_store_look(path, error, size)) {
    case PCT_STORE_ABSENT:
        snprintf(error, size, "%s", strerror(ENOENT));
        return NULL;
    case PCT_STORE_FOREIGN:
    case PCT_STORE_NEWER:
        return NULL;
    case PCT_STORE_OURS:
        break;
    }
    struct pct_store *store = calloc(1, sizeof *store);
    if (!store) {
        snprintf(error, size, "out of memory");
        return NULL;
    }
    store->part = 1;
    int failed = open_all(store, path, write);
    if (!failed)
        return store;
    snprintf(error, size, "%s%s", store->error,
             failed == -EINVAL ? "; it was left as it is; name another file, or move it away" : "");
    pct_store_close(store);
    errno = -failed;
    return NULL;
}

static void forget_facts(struct pct_store *store)
{
    for (unsigned i = 0; i < store->fact_count; i++) {
        free(store->facts[i].key);
        free(store->facts[i].value);
    }
    store->fact_count = 0;
}

void pct_store_close(struct pct_store *store)
{
    forget_facts(store);
    if (store->writes) {
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
        for (unsigned i = 0; i < PCT_STORE_STATEMENTS; i++)
            sqlite3_reset(store->statements[i]);
        sqlite3_reset(store->add_explored);
        sqlite3_reset(store->add_place);
        sqlite3_reset(store->add_function);
        sqlite3_reset(store->add_iroot);
        sqlite3_reset(store->add_further);
        sqlite3_reset(store->add_code);
        sqlite3_reset(store->add_memo);
        sqlite3_reset(store->add_chance);
        pct_store_put_checksum(store);
        /* The log goes into the file, which is alone then, and can be read where nobody may write. A reader may be in
         * the way; then it stays, and belongs to the file. */
        sqlite3_exec(store->db, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL);
    }
    disconnect(store);
    free(store->path);
    free(store);
}

/* --- Parts -------------------------------------------------------------------------------------------------------- */

unsigned pct_store_parts(struct pct_store *store)
{
    int64_t more = pct_store_ask(store, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name GLOB "
                                        "'e[0-9]*_facts'");
    return more > 0 ? (unsigned)more + 1 : 1;
}

unsigned pct_store_part(const struct pct_store *store)
{
    return store->part;
}

unsigned pct_store_find_part(struct pct_store *store, const struct pct_store_fact *facts)
{
    unsigned parts = pct_store_parts(store), chosen = store->part, found = 0;
    for (store->part = 1; store->part <= parts && !found; store->part++) {
        bool same = true;
        for (const struct pct_store_fact *fact = facts; fact->key && same; fact++) {
            sqlite3_stmt *s = NULL;
            same = !pct_store_prepare(store, "SELECT 1 FROM @facts WHERE key = ? AND value = ?", &s) &&
                   !sqlite3_bind_text(s, 1, fact->key, -1, SQLITE_STATIC) &&
                   !sqlite3_bind_text(s, 2, fact->value, -1, SQLITE_STATIC) && sqlite3_step(s) == SQLITE_ROW;
            sqlite3_finalize(s);
        }
        found = same ? store->part : 0;
    }
    store->part = chosen;
    return found;
}

static int turn_to(struct pct_store *store, unsigned part)
{
    finalize(store);
    forget_facts(store);
    store->part = part;
    int failed = check_facts(store);
    return failed ? failed : prepare(store);
}

int pct_store_choose(struct pct_store *store, unsigned part)
{
    return part == store->part ? 0 : turn_to(store, part);
}

int pct_store_add_part(struct pct_store *store, const struct pct_store_fact *facts)
{
    unsigned part = pct_store_parts(store) + 1, chosen = store->part;
    store->part = part;
    int code = make_tables(store, facts);
    store->part = chosen;
    return code ? pct_store_fail(store, code) : turn_to(store, part);
}

/* --- Writing ------------------------------------------------------------------------------------------------------ */

int pct_store_commit(struct pct_store *store, double seconds)
{
    int failed = 0;
    if (store->session) {
        sqlite3_stmt *s = pct_store_statement(store, PCT_STORE_UPDATE_SESSION);
        sqlite3_bind_int64(s, 1, store->session);
        sqlite3_bind_double(s, 2, seconds);
        sqlite3_bind_int64(s, 3, (int64_t)store->session_runs);
        failed = pct_store_step(store, s);
    }
    if (!failed)
        failed = pct_store_execute(store, "COMMIT");
    if (!failed && store->path)
        failed = check_file(store);
    return failed ? failed : begin(store);
}
