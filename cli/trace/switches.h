/* A schedule as a list of switches, the list of the strategy `schedule`: taken from a trace, written as text, read
 * back. */
#ifndef PCT_CLI_SWITCHES_H
#define PCT_CLI_SWITCHES_H

#include "trace_read.h"
#include <common/config.h>

struct pct_switch {
    uint32_t thread, made; /* when this thread has made this many operations, */
    uint32_t value;        /* this one goes on; or, */
    bool wake;             /* if its next operation wakes a waiter, the one of this index */
    bool awaits;           /* the process waits until that thread can go on */
    bool back;             /* `thread` has come back from outside, and stands before its next operation */
    uint64_t step;         /* in the trace it came from: the index of the thread's last record before it */
};

struct pct_switches {
    struct pct_switch *item;
    size_t count;
};

/* Which of its thread's operations each record is, from 1; as strategies count. What comes from outside (op outside) is
 * nobody's own: 0. NULL if there is no memory; to be freed. */
uint32_t *pct_switches_number(const struct pct_trace *trace);

/* All switches of the trace, and all wakes that did not choose the first waiter. Returns 0, or -ENOMEM. */
int pct_switches_from_trace(struct pct_switches *switches, const struct pct_trace *trace);

/* The same, with whom the process waited for where nobody could go on. */
int pct_switches_from_outside(struct pct_switches *switches, const struct pct_trace *trace);

/* The switch to this thread where another one has just come back from outside, by the record of this index. number: of
 * this trace. */
struct pct_switch pct_switches_back(const struct pct_trace *trace, const uint32_t *number, uint64_t at, uint32_t to);

/* What stands before its value in the list. */
const char *pct_switch_letter(const struct pct_switch *item);

/* As the strategy reads it: those for which keep is true, or (NULL) all. To be freed; NULL if there is no memory. */
char *pct_switches_format(const struct pct_switches *switches, const bool *keep);

/* Read such text; items without a step. Returns 0, -EINVAL or -ENOMEM. */
int pct_switches_parse(struct pct_switches *switches, const char *text);
void pct_switches_free(struct pct_switches *switches);

/* Make of this configuration that of a run by the strategy `schedule`, whose list is given apart. */
void pct_switches_prepare(struct pct_config *config);

/* Make of this configuration that of a run by the strategy `schedule` with this list (NULL: there is none). False: it
 * does not fit into a token. */
bool pct_switches_configure(struct pct_config *config, const char *list);

#endif
