/* When is a server ready? What `--ready` asks for, and looking whether it has come. For drive.c.
 *
 * Looking does not touch the server: a port is looked up in the kernel's table of listening sockets, not connected to,
 * because a connection would be one more client in the server's schedule. */
#ifndef PCT_CLI_READINESS_H
#define PCT_CLI_READINESS_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

enum pct_readiness_kind {
    PCT_READINESS_LINE,  /* a line of its output contains this text */
    PCT_READINESS_REGEX, /* a line of its output matches */
    PCT_READINESS_PORT,  /* something listens on this TCP port */
    PCT_READINESS_UNIX,  /* something listens on this Unix socket */
    PCT_READINESS_FILE,  /* this file is new, or has changed */
};

struct pct_readiness {
    enum pct_readiness_kind kind;
    const char *what; /* behind the colon; the caller's string */
    unsigned port;
    regex_t regex;
    struct stat before; /* the file, before the server began; all 0: there was none */
    off_t from;         /* what is looked at next in its output: always the beginning of a line */
};

/* Understand KIND:WHAT. Returns 0 or -1 with a message in error. */
int pct_readiness_parse(struct pct_readiness *ready, const char *text, char *error, size_t size);
void pct_readiness_free(struct pct_readiness *ready);

/* Before the server starts. Returns 0, or -1 with a message in error: then it is there already, so that nobody could
 * tell when this server has it. */
int pct_readiness_begin(struct pct_readiness *ready, char *error, size_t size);

/* Is it there now? output: the file with what the server wrote so far. */
bool pct_readiness_check(struct pct_readiness *ready, int output);

/* What has not come, as a clause ("nothing listened on TCP port 80"), and what the user might do about it. */
void pct_readiness_format(const struct pct_readiness *ready, char *buffer, size_t size);
const char *pct_readiness_advice(const struct pct_readiness *ready);

#endif
