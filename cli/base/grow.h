/* Arrays that grow, in the place of the same lines for each type. */
#ifndef PCT_CLI_GROW_H
#define PCT_CLI_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* Room for one more behind `count` items in an array that has `room`: both it and its room change. False: there is no
 * memory, and all is as it was.
 *     if (!PCT_GROW(list->item, list->count, list->room))
 *         return -ENOMEM;
 *     list->item[list->count++] = ...; */
#define PCT_GROW(item, count, room)                                                                                    \
    ({                                                                                                                 \
        bool pct_fits_ = (size_t)(count) < (size_t)(room);                                                             \
        if (!pct_fits_) {                                                                                              \
            const size_t pct_room_ = (room) ? 2 * (size_t)(room) : 64;                                                 \
            __typeof__(item) pct_item_ = realloc(item, pct_room_ * sizeof(__typeof__(*(item))));                       \
            pct_fits_ = pct_item_ != NULL;                                                                             \
            if (pct_fits_) {                                                                                           \
                (item) = pct_item_;                                                                                    \
                (room) = (__typeof__(room))pct_room_;                                                                  \
            }                                                                                                          \
        }                                                                                                              \
        pct_fits_;                                                                                                     \
    })

#endif
