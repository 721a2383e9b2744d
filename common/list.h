/* Lists of strategies (PCT_LIST_CHARACTERS) packed, for tokens that would be too long. A packed list begins with
 * PCT_LIST_PACKED, which no list does; base64url follows. Free of libc, as it is unpacked inside targets. */
#ifndef PCT_COMMON_LIST_H
#define PCT_COMMON_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PCT_LIST_PACKED 'Z'
#define PCT_LIST_PACKED_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

enum { PCT_LIST_TEXT_MAX = 1 << 20 }; /* of a list, unpacked; with its end */

/* How likely each bit is, learned from those before it. Large: 45 KB. */
struct pct_list_model {
    uint32_t kind[4][32][32];
    uint32_t known[4][4], length[4][2][64], sign[4][2][8], top[4][34][8];
    uint32_t last[4096]; /* by the first number of an item: the second, plus 1 */
};

/* Returns the length, or 0: it does not fit into packed[size] with its end, or is no list. */
size_t pct_list_pack(struct pct_list_model *model, const char *text, char *packed, size_t size);

/* Returns the length; text may be NULL, which only measures. 0: it is no packed list, or does not fit. */
size_t pct_list_unpack(struct pct_list_model *model, const char *packed, char *text, size_t size);

#endif
