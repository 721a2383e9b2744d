/* Hash tables: from keys of 64 bits to values of one size, or sets of keys. Open addressing, at most half full. A key
 * may be any number, 0, too; what has more bits is hashed by the caller, who then compares what two keys stand for
 * where a mistake would matter. Where a value stands changes when another one is added. Memory from malloc.
 *
 *     struct pct_table runs = PCT_TABLE(uint32_t);
 *     uint32_t *run = pct_table_add(&runs, key);
 *     if (!run) there is no memory; else if (!*run) it is new: *run = number; */
#ifndef PCT_CLI_TABLE_H
#define PCT_CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pct_table {
    size_t size;          /* of a value, which is aligned to 8 bytes at most */
    size_t count;         /* keys */
    size_t room;          /* slots, a power of two; 0: none yet. One more, behind them, is that of the key 0 */
    uint64_t *key;        /* by slot; 0: it is free */
    unsigned char *value; /* by slot; in the memory of `key` */
    unsigned shift;       /* of a hash: its highest bits say the slot */
    bool zero;            /* the key 0 is there */
};

/* An empty table of values of this type; PCT_TABLE_OF_KEYS: a set. */
#define PCT_TABLE(type) ((struct pct_table){ .size = sizeof(type) })
#define PCT_TABLE_OF_KEYS ((struct pct_table){ .size = 0 })

/* Of table.c and of what follows, which is here to be inlined: traces have millions of steps, each with a key or two.
 */
static inline void *pct_table_value(const struct pct_table *table, size_t slot)
{
    return table->value + slot * table->size;
}

/* The slot of this key, which is not 0, or the free one where it goes; there is one. */
static inline size_t pct_table_slot(const struct pct_table *table, uint64_t key)
{
    /* Fibonacci hashing: keys are numbers in a row, addresses, or hashes, and what tells them apart may be anywhere. */
    size_t slot = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> table->shift);
    while (table->key[slot] && table->key[slot] != key)
        slot = (slot + 1) & (table->room - 1);
    return slot;
}

/* A key that is not there. */
void *pct_table_insert(struct pct_table *table, uint64_t key);

/* The value of this key; NULL: it has none. Of a set: whether it is there. */
static inline void *pct_table_find(const struct pct_table *table, uint64_t key)
{
    if (!key || !table->room)
        return table->zero ? pct_table_value(table, table->room) : NULL;
    const size_t slot = pct_table_slot(table, key);
    return table->key[slot] ? pct_table_value(table, slot) : NULL;
}

/* The same; a key that was not there is added, with a value of zeroes. NULL: there is no memory. */
static inline void *pct_table_add(struct pct_table *table, uint64_t key)
{
    void *value = pct_table_find(table, key);
    return value ? value : pct_table_insert(table, key);
}

/* Room for this many keys in all. False: there is no memory. */
bool pct_table_reserve(struct pct_table *table, size_t count);

/* The values, in no order, and their keys, if `key` is not NULL; NULL: that was the last one.
 *     for (size_t at = 0; (value = pct_table_next(&table, &at, &key));) */
void *pct_table_next(const struct pct_table *table, size_t *at, uint64_t *key);

/* It is as empty as it was made. */
void pct_table_free(struct pct_table *table);

#endif
