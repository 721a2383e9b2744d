/* Binary search, in the place of one function for each type that is sorted. */
#ifndef PCT_COMMON_BISECT_H
#define PCT_COMMON_BISECT_H

#include <stddef.h>

/* The first index from `low` on for which `before`, an expression of `index`, is not true; `high`: there is none below
 * it. It is to be true for those before that, and for none behind it.
 *     size_t first = PCT_BISECT(i, 0, count, item[i].address < address); */
#define PCT_BISECT(index, low, high, before)                                                                           \
    ({                                                                                                                 \
        size_t pct_low_ = (low), pct_high_ = (high);                                                                   \
        while (pct_low_ < pct_high_) {                                                                                 \
            const size_t index = pct_low_ + (pct_high_ - pct_low_) / 2;                                                \
            if (before)                                                                                                \
                pct_low_ = index + 1;                                                                                  \
            else                                                                                                       \
                pct_high_ = index;                                                                                     \
        }                                                                                                              \
        pct_low_;                                                                                                      \
    })

#endif
