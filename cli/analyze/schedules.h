/* The file of schedules that once broke a program: what `pct add` writes and `pct check` reads. docs/SCHEDULES.md has
 * the format, which people read, edit and merge. */
#ifndef PCT_CLI_SCHEDULES_H
#define PCT_CLI_SCHEDULES_H

#include <cli/campaign/oracle.h>
#include <cli/process/launch.h>
#include <argp.h>
#include <wordexp.h>

#define PCT_SCHEDULES_FILE "pct.schedules"

/* The fields of an entry: X(member, name). */
#define PCT_SCHEDULE_FIELDS(X)                                                                                         \
    X(schedule, "Schedule")                                                                                            \
    X(command, "Command")                                                                                              \
    X(options, "Options")                                                                                              \
    X(found, "Found")                                                                                                  \
    X(note, "Note")

struct pct_entry {
    unsigned line; /* where it begins, from 1 */
    /* The values, or NULL where the entry has no such field; Schedule and Command are always there. */
#define PCT_SCHEDULE_MEMBER(member, name) char *member;
    PCT_SCHEDULE_FIELDS(PCT_SCHEDULE_MEMBER)
#undef PCT_SCHEDULE_MEMBER
};

struct pct_schedules {
    struct pct_entry *entries;
    size_t count;
};

/* Read the file. Returns 0, or -errno with a message of one line in error (it names the file and the line); -ENOENT if
 * there is no such file. What was read is given back by pct_schedules_free(), in any case. */
int pct_schedules_read(struct pct_schedules *schedules, const char *path, char *error, size_t size);
void pct_schedules_free(struct pct_schedules *schedules);

/* Append an entry; a file that does not exist begins with a line that says what it is. Returns 0, or a negative errno.
 */
int pct_schedules_append(const char *path, const struct pct_entry *entry);

/* What an entry means, beside its token. */
struct pct_entry_options {
    struct pct_launch *launch; /* gets the options of the target, and the command */
    bool ok[256];              /* exit statuses that are no failure */
    struct pct_oracle oracle;  /* what else is one; its ok is this one */
    uint64_t near;             /* how far neighbours are away, in steps; UINT64_MAX: not said */
};

/* The parser of these options, for a struct pct_entry_options: those of the target, --near, --ok-status, --expect and
 * --oracle. */
extern const struct argp pct_entry_argp;

/* The words of a field as a POSIX shell reads them, in a vector with room for one word before them, to be freed by
 * wordfree(). place ("FILE:LINE") and the field's name stand before messages. Returns 0 or an exit status after one. */
int pct_entry_split(const char *place, const char *name, const char *text, wordexp_t *words);

/* Turn the fields Command and Options into a launch: words as a POSIX shell reads them, with variables of the
 * environment. place ("FILE:LINE") stands before messages. Returns 0, or PCT_EXIT_USAGE after a message. The words live
 * as long as the process. */
int pct_entry_parse(const struct pct_entry *entry, const char *place, struct pct_entry_options *options);

#endif
