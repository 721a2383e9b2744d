/* What operations do to their objects, for dependence.c. Pure. */
#ifndef PCT_CLI_ROWS_H
#define PCT_CLI_ROWS_H

#include <pct/trace.h>
#include <stdbool.h>
#include <stdint.h>

/* What stands in the place of an enum pct_use. */
enum {
    PCT_ROW_NOTHING = 255, /* no object */
    PCT_ROW_UNKNOWN = 254, /* there is no row for the operation */
    PCT_ROW_KERNEL = 253,  /* what the kernel keeps, all of it one object */
    PCT_ROW_END = 252      /* how the process ends */
};

struct pct_row {
    uint8_t use;    /* when the operation succeeds */
    uint8_t failed; /* and when it does not */
    bool waits;     /* it may be impossible until somebody else has done something */
};

struct pct_row pct_row_of(enum pct_op op);

#endif
