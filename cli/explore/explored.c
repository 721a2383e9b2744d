/* A run as exploration keeps it: see explored.h. Packed, a number has seven bits a byte, the lowest first; a key is
 * its place among the keys of the log so far, or one more and its eight bytes. */
#include "explored.h"
#include <cli/base/table.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 2048 };

/* The keys that the log has had, the first ones. */
struct keys {
    uint64_t key[KEYS];
    uint32_t count;
    struct pct_table place; /* uint32_t */
};

void pct_explored_free(struct pct_explored *run)
{
    free(run->log);
    free(run->records);
    *run = (struct pct_explored){ 0 };
}

int pct_explored_read(const struct pct_explored *run, struct pct_execution *x)
{
    int failed = pct_execution_read(x, run->log, run->log_count, run->records, run->record_count,
                                    run->flags & PCT_EXPLORED_ENDED);
    if (!failed) {
        x->doubts |= run->doubts;
        x->blocked = run->flags & PCT_EXPLORED_BLOCKED;
    }
    return failed;
}

/* None so far, and room for those of a log of this many entries. NULL: there is no memory. */
static struct keys *keys_new(uint32_t entries)
{
    struct keys *keys = malloc(sizeof *keys);
    if (!keys)
        return NULL;
    keys->count = 0;
    keys->place = PCT_TABLE(uint32_t);
    if (pct_table_reserve(&keys->place, (entries < KEYS ? entries : KEYS) + 1))
        return keys;
    free(keys);
    return NULL;
}

static void keys_free(struct keys *keys)
{
    if (keys)
        pct_table_free(&keys->place);
    free(keys);
}

/* The place of this key; count: it is new, and has that from now on, if there is room. */
static uint32_t place_of(struct keys *keys, uint64_t key)
{
    const uint32_t *known = pct_table_find(&keys->place, key), place = keys->count;
    if (known)
        return *known;
    if (place < KEYS) {
        keys->key[keys->count++] = key;
        *(uint32_t *)pct_table_add(&keys->place, key) = place; /* for which there is room */
    }
    return place;
}

static bool same_entry(const struct pct_log_entry *a, const struct pct_log_entry *b)
{
    return a->kind == b->kind && a->op == b->op && a->thread == b->thread && a->value == b->value && a->key == b->key;
}

/* How much of both begins alike. */
static void compare(const struct pct_explored *run, const struct pct_explored *before, uint32_t *log, uint32_t *records)
{
    *log = *records = 0;
    if (!before)
        return;
    while (*log < run->log_count && *log < before->log_count && same_entry(&run->log[*log], &before->log[*log]))
        ++*log;
    while (*records < run->record_count && *records < before->record_count &&
           run->records[*records] == before->records[*records])
        ++*records;
}

/* --- Packing ------------------------------------------------------------------------------------------------------ */

static uint8_t *put(uint8_t *to, uint64_t number)
{
    for (; number > 127; number >>= 7)
        *to++ = (uint8_t)(number | 128);
    *to++ = (uint8_t)number;
    return to;
}

static uint8_t *put_entry(uint8_t *to, const struct pct_log_entry *entry, struct keys *keys)
{
    uint32_t known = keys->count, place = place_of(keys, entry->key);
    *to++ = entry->kind;
    *to++ = entry->op;
    to = put(to, entry->thread);
    to = put(to, entry->value);
    to = put(to, place);
    if (place < known)
        return to;
    memcpy(to, &entry->key, sizeof entry->key);
    return to + sizeof entry->key;
}

int pct_explored_pack(const struct pct_explored *run, const struct pct_explored *before, uint8_t **bytes, size_t *size)
{
    enum { NUMBER = 10, ENTRY = 2 + 3 + 5 + 2 + 8 };
    struct keys *keys = keys_new(run->log_count);
    uint8_t *to = *bytes = malloc(4 * NUMBER + (size_t)run->log_count * ENTRY + (size_t)run->record_count * NUMBER);
    uint32_t log, records;
    if (!keys || !to) {
        keys_free(keys);
        free(to);
        *bytes = NULL;
        return -ENOMEM;
    }
    compare(run, before, &log, &records);
    for (uint32_t i = 0; i < log; i++)
        place_of(keys, run->log[i].key);
    to = put(put(to, log), run->log_count - log);
    for (uint32_t i = log; i < run->log_count; i++)
        to = put_entry(to, &run->log[i], keys);
    to = put(put(to, records), run->record_count - records);
    for (uint32_t i = records; i < run->record_count; i++)
        to = put(to, run->records[i]);
    *size = (size_t)(to - *bytes);
    keys_free(keys);
    return 0;
}

/* --- Unpacking ---------------------------------------------------------------------------------------------------- */

struct from {
    const uint8_t *at, *end;
    bool broken; /* there is less than there was to be */
};

static uint64_t get(struct from *from)
{
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (from->at == from->end)
            break;
        uint8_t byte = *from->at++;
        number |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return number;
    }
    from->broken = true;
    return 0;
}

static void get_bytes(struct from *from, void *to, size_t size)
{
    if ((size_t)(from->end - from->at) < size) {
        from->broken = true;
        return;
    }
    memcpy(to, from->at, size);
    from->at += size;
}

static void get_entry(struct from *from, struct pct_log_entry *entry, struct keys *keys)
{
    get_bytes(from, &entry->kind, 1);
    get_bytes(from, &entry->op, 1);
    entry->thread = (uint16_t)get(from);
    entry->value = (uint32_t)get(from);
    uint64_t place = get(from);
    if (place < keys->count) {
        entry->key = keys->key[place];
        return;
    }
    get_bytes(from, &entry->key, sizeof entry->key);
    place_of(keys, entry->key);
}

/* How many entries, and how many of them are those of the run before. */
static void get_counts(struct from *from, uint32_t before, uint32_t *shared, uint32_t *count)
{
    uint64_t same = get(from), more = get(from);
    /* Each takes a byte at least. */
    from->broken |= same > before || more > (uint64_t)(from->end - from->at);
    *shared = from->broken ? 0 : (uint32_t)same;
    *count = from->broken ? 0 : (uint32_t)(same + more);
}

/* Returns 0 or -ENOMEM. */
static int get_log(struct from *from, struct pct_explored *run, const struct pct_explored *before)
{
    uint32_t shared, count;
    get_counts(from, before ? before->log_count : 0, &shared, &count);
    run->log = calloc(count + 1, sizeof *run->log);
    struct keys *keys = run->log ? keys_new(count) : NULL;
    if (!keys)
        return -ENOMEM;
    run->log_count = count;
    for (uint32_t i = 0; i < count; i++) {
        if (i >= shared) {
            get_entry(from, &run->log[i], keys);
            continue;
        }
        run->log[i] = before->log[i];
        place_of(keys, run->log[i].key);
    }
    keys_free(keys);
    return 0;
}

static int get_records(struct from *from, struct pct_explored *run, const struct pct_explored *before)
{
    uint32_t shared, count;
    get_counts(from, before ? before->record_count : 0, &shared, &count);
    run->records = calloc(count + 1, sizeof *run->records);
    if (!run->records)
        return -ENOMEM;
    run->record_count = count;
    for (uint32_t i = 0; i < count; i++)
        run->records[i] = i < shared ? before->records[i] : get(from);
    return 0;
}

int pct_explored_unpack(struct pct_explored *run, const struct pct_explored *before, const uint8_t *bytes, size_t size)
{
    struct from from = { .at = bytes, .end = bytes + size };
    if (get_log(&from, run, before) || get_records(&from, run, before))
        return -ENOMEM;
    return from.broken || from.at != from.end ? -EINVAL : 0;
}
