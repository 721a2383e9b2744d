/* The checksum of a campaign file: see store_sqlite.h. SQLite sees damage to its own structures, not a bit that is
 * another one in a row. */
#include "store_sqlite.h"
#include <cli/base/cli.h>
#include <errno.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* The fact: 16 hexadecimal digits, a space, and the number of sessions that the file had. An older pct leaves it as it
 * is when it goes on with the file, which has more sessions then. */
#define TAKE_AWAY "DELETE FROM facts WHERE key = 'checksum';"

static uint64_t hash_value(sqlite3_stmt *row, int column, uint64_t before)
{
    const int type = sqlite3_column_type(row, column);
    const int64_t number = type == SQLITE_INTEGER ? sqlite3_column_int64(row, column) : 0;
    const double real = type == SQLITE_FLOAT ? sqlite3_column_double(row, column) : 0;
    const void *bytes = type == SQLITE_INTEGER ? &number
                        : type == SQLITE_FLOAT ? (const void *)&real
                                               : sqlite3_column_blob(row, column);
    const int size = type == SQLITE_INTEGER || type == SQLITE_FLOAT ? 8 : sqlite3_column_bytes(row, column);
    const uint64_t head[3] = { before, (uint64_t)type, (uint64_t)size };
    const uint64_t hash = XXH3_64bits(head, sizeof head);
    return size ? XXH3_64bits_withSeed(bytes, (size_t)size, hash) : hash;
}

/* Add the hash of each row, which begins with this one, to *sum: the order in which rows come says nothing. Returns a
 * code of SQLite. */
static int add_rows(struct pct_store *store, const char *sql, uint64_t begin, uint64_t *sum)
{
    sqlite3_stmt *row = NULL;
    int code = sqlite3_prepare_v2(store->db, sql, -1, &row, NULL);
    while (!code && (code = sqlite3_step(row)) == SQLITE_ROW) {
        uint64_t hash = begin;
        for (int i = 0; i < sqlite3_column_count(row); i++)
            hash = hash_value(row, i, hash);
        *sum += hash;
        code = SQLITE_OK;
    }
    sqlite3_finalize(row);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* Over all rows of all tables, but the checksum itself. Returns a code of SQLite. */
static int sum_up(struct pct_store *store, uint64_t *sum)
{
    static const char tables[] =
        "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*'";
    sqlite3_stmt *table = NULL;
    *sum = 0;
    int code = add_rows(store, tables, 0, sum);
    if (!code)
        code = sqlite3_prepare_v2(store->db, tables, -1, &table, NULL);
    while (!code && (code = sqlite3_step(table)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(table, 0);
        char *sql =
            sqlite3_mprintf("SELECT * FROM \"%w\"%s", name, strcmp(name, "facts") ? "" : " WHERE key <> 'checksum'");
        code = sql ? add_rows(store, sql, XXH3_64bits(name, strlen(name)), sum) : SQLITE_NOMEM;
        sqlite3_free(sql);
    }
    sqlite3_finalize(table);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* As the fact has it. Returns a code of SQLite. */
static int format(struct pct_store *store, char *text, size_t size)
{
    uint64_t sum;
    int code = sum_up(store, &sum);
    snprintf(text, size, "%016llx %lld", (unsigned long long)sum,
             (long long)pct_store_ask(store, "SELECT count(*) FROM sessions"));
    return code;
}

int pct_store_begin_checksum(struct pct_store *store)
{
    return pct_store_execute(store, TAKE_AWAY);
}

void pct_store_put_checksum(struct pct_store *store)
{
    char text[64];
    if (!pct_store_has_iroots(store) || sqlite3_exec(store->db, "BEGIN IMMEDIATE", NULL, NULL, NULL))
        return;
    char *sql = format(store, text, sizeof text)
                    ? NULL
                    : sqlite3_mprintf(TAKE_AWAY "INSERT INTO facts VALUES('checksum', '%q'); COMMIT;", text);
    if (!sql || sqlite3_exec(store->db, sql, NULL, NULL, NULL))
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_free(sql);
}

/* In a transaction: the campaign that writes to the file may take the checksum away meanwhile. */
static int compare(struct pct_store *store)
{
    char text[64], is[64] = "";
    sqlite3_stmt *fact = NULL;
    int code = sqlite3_prepare_v2(store->db, "SELECT value FROM facts WHERE key = 'checksum'", -1, &fact, NULL);
    if (!code && (code = sqlite3_step(fact)) == SQLITE_ROW)
        snprintf(is, sizeof is, "%s", (const char *)sqlite3_column_text(fact, 0));
    sqlite3_finalize(fact);
    if (code == SQLITE_DONE)
        return 0;
    code = code == SQLITE_ROW ? format(store, text, sizeof text) : code;
    if (code)
        return pct_store_fail(store, code);
    const char *sessions = strrchr(is, ' ');
    if (!strcmp(is, text) || (sessions && strcmp(sessions, strrchr(text, ' ')) != 0))
        return 0;
    snprintf(store->error, sizeof store->error, "the file is damaged (its checksum is of other contents)");
    return -EINVAL;
}

int pct_store_check_checksum(struct pct_store *store)
{
    int failed = pct_store_execute(store, "BEGIN");
    if (!failed)
        failed = compare(store);
    sqlite3_exec(store->db, "COMMIT", NULL, NULL, NULL);
    return failed;
}
