/* A file that is replaced at once or not at all: whoever reads it sees the old one or the whole new one. Called by the
 * commands that write results where one may be. */
#ifndef PCT_CLI_REPLACEMENT_H
#define PCT_CLI_REPLACEMENT_H

#include <limits.h>
#include <stdio.h>
#include <sys/types.h>

struct pct_replacement {
    FILE *out; /* to be written to */
    /* Private. */
    char path[PATH_MAX], aside[PATH_MAX]; /* aside: "": it is written directly */
};

/* Begin to replace this file. What is no regular file (a pipe, /dev/stdout) is written directly; a link stays, and what
 * it leads to is replaced. Returns 0 or a negative errno. */
int pct_replacement_open(struct pct_replacement *file, const char *path);

/* The new one takes the place of the old, with its permissions. If anything could not be written, the old one stays as
 * it is. Returns likewise. */
int pct_replacement_close(struct pct_replacement *file);

/* Or the old one stays. */
void pct_replacement_drop(struct pct_replacement *file);

/* Make a new file beside this one, so that rename() can put it there, of a name that no other command has left, or
 * has. Its name is in aside then. Returns its descriptor, or a negative errno. */
int pct_replacement_aside(char *aside, size_t size, const char *path, mode_t mode);

/* The permissions of files that are made anew. */
mode_t pct_replacement_mode(void);

/* Whether it could be replaced now: for those who write after much work. Returns 0 or a negative errno. */
int pct_replacement_check(const char *path);

#endif
