/* What the files of the store share; nobody else includes this. */
#ifndef PCT_CLI_STORE_SQLITE_H
#define PCT_CLI_STORE_SQLITE_H

#include <sys/types.h>
#include "store.h"
#include <sqlite3.h>

enum pct_store_statement {
    PCT_STORE_ADD_RUN,
    PCT_STORE_ADD_FINDING,
    PCT_STORE_ADD_FRAME,
    PCT_STORE_ADD_PAIR,
    PCT_STORE_ADD_UNCONTROLLED,
    PCT_STORE_CONFIRM,
    PCT_STORE_ADD_SESSION,
    PCT_STORE_UPDATE_SESSION,
    PCT_STORE_SET_FACT,
    PCT_STORE_FACT,
    PCT_STORE_RUNS,
    PCT_STORE_FINDINGS,
    PCT_STORE_FRAMES,
    PCT_STORE_PAIRS,
    PCT_STORE_UNCONTROLLED,
    PCT_STORE_SESSIONS,
    PCT_STORE_RUN,
    PCT_STORE_TOTALS,
    PCT_STORE_STATEMENTS
};

enum { PCT_STORE_FACTS = 64 /* more than there are keys */ };

struct pct_store {
    sqlite3 *db;
    sqlite3_stmt *statements[PCT_STORE_STATEMENTS];
    sqlite3_stmt *add_explored;                                       /* store_explored.c; NULL: not used */
    sqlite3_stmt *add_place, *add_function, *add_iroot, *add_further; /* store_iroots.c; likewise */
    sqlite3_stmt *add_code, *add_memo, *add_chance;
    unsigned part;       /* from 1 */
    sqlite3 *remembered; /* what it had, or NULL */
    bool writes;         /* a transaction is open */
    char *path;          /* of a file that is written to, */
    dev_t device;        /* and which file that is */
    ino_t inode;
    int64_t session;
    uint64_t session_runs;
    struct pct_store_known {
        char *key, *value;
    } facts[PCT_STORE_FACTS]; /* those that were asked for */
    unsigned fact_count;
    char error[512];
};

/* Put the message for this code of SQLite into store->error. Returns a negative errno. */
int pct_store_fail(struct pct_store *store, int code);

/* In the text of a statement, an @ stands in front of the name of each table of the part (store.h). */
int pct_store_execute(struct pct_store *store, const char *sql);

/* Returns a code of SQLite. */
int pct_store_prepare(struct pct_store *store, const char *sql, sqlite3_stmt **statement);

/* One value of one row; -1: there is none, or it cannot be had. */
int64_t pct_store_ask(struct pct_store *store, const char *sql);

/* Run a statement that gives no rows. Returns 0 or a negative errno. */
int pct_store_step(struct pct_store *store, sqlite3_stmt *statement);

/* A prepared statement, ready to be bound and stepped. */
sqlite3_stmt *pct_store_statement(struct pct_store *store, enum pct_store_statement which);

/* The checksum of the file, which those have that have iRoots: --memo takes what is known from there. A writer takes it
 * away with its first commit, and puts it there when it closes the file; if it was killed, there is none, as in files
 * of earlier versions. begin: in the open transaction; put: in none, what fails is left out; check: if there is one, is
 * it right? Nothing is written. begin and check return 0 or a negative errno. store_checksum.c */
int pct_store_begin_checksum(struct pct_store *store);
void pct_store_put_checksum(struct pct_store *store);
int pct_store_check_checksum(struct pct_store *store);

#endif
