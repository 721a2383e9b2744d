/* Where things are: a command in PATH, libpct.so, a place for scratch files. For run, replay and doctor. */
#ifndef PCT_CLI_LOCATE_H
#define PCT_CLI_LOCATE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The file that a shell would execute for this word. Returns 0 with the path in out; 126 if there is one that may not
 * be executed, 127 if there is none: the exit statuses that a shell has for these. */
int pct_locate_command(const char *word, char *out, size_t size);

/* What is to be said of that word where it returned 126 or 127. */
const char *pct_locate_complaint(const char *word, int status);

/* libpct.so: `given` if not NULL, or beside this executable, or in ../lib/pct/ or ../lib/ from there. Returns 0 with an
 * absolute path in out, or -ENOENT with a message in error. */
int pct_locate_library(const char *given, char *out, size_t size, char *error, size_t error_size);

/* A file that is installed in share/pct under this name, or stands beside this executable. Returns 0 with an absolute
 * path in out, or -ENOENT. */
int pct_locate_data(const char *name, char *out, size_t size);

/* Make an empty scratch file (0600, opened for reading and writing, close-on-exec) in the first place that has room for
 * some more bytes. large: what goes into it has no bound, so $TMPDIR, /tmp and /var/tmp come first; otherwise the
 * places that are memory, $XDG_RUNTIME_DIR and /dev/shm. Its name has this process's id, and always the same length: it
 * stands in the target's environment, where it would move the strings before it. Returns its descriptor, or a negative
 * errno. The caller unlinks it, and leaves the descriptor open until then: its lock (flock) tells the commands of other
 * containers that the file is in use. */
int pct_locate_scratch(char *path, size_t size, bool large);

/* The directories in which scratch files may stand, each once; NULL: there is none here. */
enum { PCT_LOCATE_PLACES = 5 };
void pct_locate_places(const char *places[PCT_LOCATE_PLACES]);

/* The process that has made the scratch file of this name (without its directory), or the traces of its children, which
 * have their own ids behind that; 0: it is none. */
pid_t pct_locate_maker(const char *name);

/* The same for what has no bound, without a name: should we be killed, it does not stay. */
int pct_locate_nameless(void);

/* What the user has named is a file, or may be a token. Returns 0, or the exit status for bad usage after a message: it
 * is neither. */
int pct_locate_named(const char *name, bool *is_file);

#endif
