/* How a script (pct-script(1)) says which operations of a run are meant: by words, the names of variables and
 * functions, and how often the thread makes such since its entry before. */
#ifndef PCT_CLI_WORDING_H
#define PCT_CLI_WORDING_H

#include "order_script.h"

/* An operation of the run. */
struct pct_worded {
    uint32_t thread, op;
    uint64_t step; /* in `of`; its count, where its thread still waits for it */
    uint64_t rank; /* where it stands in the script */
    const struct pct_narrative *of;
    bool made; /* the entry is over when the operation has been made */
};

/* What a script has of one process: its entries, and what they need. */
struct pct_wording {
    const struct pct_narrative *narrative;
    enum pct_order_script_detail detail;
    bool nameless;      /* it runs another program than the first process, whose names a script has */
    const char *margin; /* of each line */
    struct pct_worded *entry;
    size_t count;
    uint32_t *named; /* threads, in the order in which the script names them */
    size_t names;
};

/* The step at which a thread makes its count-th operation of this kind; trace->count: nowhere. */
uint64_t pct_wording_find(const struct pct_trace *trace, uint32_t thread, uint32_t op, uint32_t count);

/* Lines: the local variable of this thread; and what pct_choose() returns. */
void pct_wording_thread(FILE *out, const struct pct_wording *wording, uint32_t thread);
void pct_wording_choices(FILE *out, const struct pct_wording *wording);

/* An entry, "{ t1, locks "queue", 2 }", between these texts. False: scripts have no word for it. */
bool pct_wording_entry(FILE *out, const struct pct_wording *wording, size_t index, const char *before,
                       const char *behind);

/* The entries of a whole schedule, one for each turn of a thread: its last operation. False: there are none, more than
 * anybody would read, or there is no memory. To be freed in any case. */
bool pct_turns_take(struct pct_wording *wording);
/* Write them, a line each. held: threads stand where no line lets them go on. False: scripts have no word for one. */
bool pct_turns_write(FILE *out, struct pct_wording *wording, bool held);
void pct_wording_free(struct pct_wording *wording);

#endif
