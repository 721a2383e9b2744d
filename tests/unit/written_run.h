/* Runs that tests write as text: "0wx 1lm" is thread 0 that writes x, then thread 1 that takes the lock m. Objects are
 * letters, and have their number; threads are digits. Include it behind cmocka.h. */
#ifndef PCT_TEST_WRITTEN_RUN_H
#define PCT_TEST_WRITTEN_RUN_H

#include "../../cli/trace/accesses.h"

enum { WRITTEN_MOST = 128 };

/* What a letter stands for. */
struct written_kind {
    char letter;
    uint8_t op, argument;
    bool access, reads;
};

struct written_run {
    uint64_t records[WRITTEN_MOST];
    struct pct_access accesses[WRITTEN_MOST];
    size_t count; /* of accesses */
    struct pct_trace trace;
};

/* kinds: with each letter that the text has. The place of an access is the position of its step, from 1. */
static inline void written_run_read(struct written_run *run, const struct written_kind *kinds, const char *text)
{
    uint32_t made[8] = { 0 };
    size_t steps = 0;
    run->count = 0;
    for (const char *at = text; *at; at += at[3] ? 4 : 3) {
        const struct written_kind *kind = kinds;
        while (kind->letter != at[1])
            kind++;
        uint32_t thread = (uint32_t)(*at - '0'), object = kind->access ? (uint32_t)at[2] : (uint32_t)(at[2] - '0');
        assert_true(steps < WRITTEN_MOST);
        run->records[steps++] = PCT_RECORD(thread, kind->op, kind->argument, object);
        made[thread]++;
        if (kind->access)
            run->accesses[run->count++] = (struct pct_access){ .object = object,
                                                               .thread = thread,
                                                               .number = made[thread],
                                                               .place = (uint32_t)steps,
                                                               .index = (uint32_t)steps - 1,
                                                               .op = kind->op,
                                                               .writes = !kind->reads };
    }
    run->trace = (struct pct_trace){ .records = run->records, .count = steps, .complete = true };
}

#endif
