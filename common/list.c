/* Packed lists: see list.h. A list is items of numbers, letters and '.', with '-' in between, and most numbers are near
 * some before them: a switch is from the thread to which the one before it was, counts of a thread rise. So each symbol
 * and each number goes through an arithmetic coder, bit by bit, as the bits before it make it likely. One function
 * describes the text for both directions. */
#include "list.h"

enum { COLUMNS = 4, END = 0, DASH, DOT, NUMBER, LETTERS, PROBABILITY_BITS = 22, LEARNED_MOST = 60 };

struct coder {
    struct pct_list_model *model;
    bool packs, failed;
    uint32_t low, high, value; /* value: of what is unpacked */
    uint32_t bits;             /* of characters, not yet made one or used */
    unsigned bit_count;
    const char *in; /* packed or text, by direction */
    char *out;      /* NULL: only measured */
    size_t size, used;
};

static void put(struct coder *c, char character)
{
    if (c->used + 1 >= c->size)
        c->failed = true;
    else if (c->out)
        c->out[c->used] = character;
    c->used++;
}

static void put_byte(struct coder *c, uint32_t byte)
{
    c->bits = c->bits << 8 | byte;
    for (c->bit_count += 8; c->bit_count >= 6; c->bit_count -= 6)
        put(c, PCT_LIST_PACKED_CHARACTERS[c->bits >> (c->bit_count - 6) & 63]);
}

/* Behind the end stand zeros. */
static uint32_t get_byte(struct coder *c)
{
    for (; c->bit_count < 8; c->bit_count += 6) {
        uint32_t digit = 0;
        while (*c->in && digit < 64 && PCT_LIST_PACKED_CHARACTERS[digit] != *c->in)
            digit++;
        c->failed |= digit == 64;
        c->in += *c->in != 0;
        c->bits = c->bits << 6 | (digit & 63);
    }
    c->bit_count -= 8;
    return c->bits >> c->bit_count & 255;
}

/* One bit; how likely it is to be 1 stands in *likely, in its upper bits, below them how often it was asked. NULL: as
 * likely as not. */
static unsigned code_bit(struct coder *c, uint32_t *likely, unsigned bit)
{
    uint32_t one = likely ? *likely >> 16 : 1U << 15; /* of 2^16 */
    one = one < 16 ? 16 : one > 65520 ? 65520 : one;
    uint32_t middle = c->low + (uint32_t)((uint64_t)(c->high - c->low) * one >> 16);
    if (!c->packs)
        bit = c->value <= middle;
    *(bit ? &c->high : &c->low) = middle + !bit;
    if (likely) {
        uint32_t asked = *likely & 1023, is = *likely >> (32 - PROBABILITY_BITS);
        int32_t error = (int32_t)(bit ? (1U << PROBABILITY_BITS) - 1 : 0) - (int32_t)is;
        is = (uint32_t)((int32_t)is + error * 2 / (int32_t)(2 * asked + 3));
        *likely = is << (32 - PROBABILITY_BITS) | (asked + (asked < LEARNED_MOST));
    }
    for (; !((c->low ^ c->high) >> 24); c->low <<= 8, c->high = c->high << 8 | 255) {
        if (c->packs)
            put_byte(c, c->high >> 24);
        else
            c->value = c->value << 8 | get_byte(c);
    }
    return bit;
}

/* A value of this many bits, each as likely as those above it make it. */
static uint32_t code_tree(struct coder *c, uint32_t *likely, unsigned bits, uint32_t value)
{
    uint32_t node = 1;
    while (bits--)
        node = node << 1 | code_bit(c, &likely[node], value >> bits & 1);
    return node;
}

static unsigned length_of(uint64_t value)
{
    return value ? 64 - (unsigned)__builtin_clzll(value) : 0;
}

/* A number, as its distance from another. */
static uint32_t code_distance(struct coder *c, unsigned column, bool known, uint32_t from, uint32_t value)
{
    struct pct_list_model *m = c->model;
    int64_t distance = (int64_t)value - from;
    uint64_t size = (uint64_t)(distance < 0 ? -distance : distance), made = 1;
    unsigned length = code_tree(c, m->length[column][known], 6, length_of(size)) & 63;
    if (length > 32) {
        c->failed = true;
        return 0;
    }
    if (!length)
        return from;
    bool less = code_bit(c, &m->sign[column][known][length < 7 ? length : 7], distance < 0);
    for (unsigned bit = length - 1; bit--;)
        made = made << 1 | code_bit(c, made < 8 ? &m->top[column][length][made] : NULL, size >> bit & 1);
    distance = less ? -(int64_t)made : (int64_t)made;
    c->failed |= from + distance < 0 || from + distance > UINT32_MAX;
    return (uint32_t)(from + distance);
}

/* Numbers of this item and the one before it. */
struct item {
    uint32_t now[COLUMNS], before[COLUMNS], last;
    unsigned column, hits[COLUMNS];
};

static uint32_t code_number(struct coder *c, struct item *item, uint32_t value)
{
    struct pct_list_model *m = c->model;
    unsigned column = item->column < COLUMNS - 1 ? item->column : COLUMNS - 1;
    uint32_t *last = &m->last[item->now[0] % (sizeof m->last / sizeof *m->last)];
    bool has_last = column == 1 && *last;
    uint32_t likely = column == 0 ? item->last : has_last ? *last - 1 : item->before[column == 1];
    bool same = code_bit(c, &m->known[column][item->hits[column] & 3], value == likely);
    item->hits[column] = item->hits[column] << 1 | same;
    if (same)
        value = likely;
    else
        value = code_distance(c, column, has_last, has_last ? likely : item->before[column], value);
    item->now[column] = value;
    if (column == 1)
        *last = value + 1;
    item->column++;
    return value;
}

static unsigned next_kind(const struct coder *c)
{
    char at = *c->in;
    return !at                      ? END
           : at == '-'              ? DASH
           : at == '.'              ? DOT
           : at >= '0' && at <= '9' ? NUMBER
           : at >= 'a' && at <= 'z' ? LETTERS + (unsigned)(at - 'a')
                                    : 31;
}

/* The digits at c->in, as a number. */
static uint32_t take_number(struct coder *c)
{
    const char *from = c->in;
    uint64_t value = 0;
    for (; *c->in >= '0' && *c->in <= '9' && value <= UINT32_MAX; c->in++)
        value = value * 10 + (uint64_t)(*c->in - '0');
    c->failed |= value > UINT32_MAX || (*from == '0' && c->in > from + 1);
    return (uint32_t)value;
}

static void write_number(struct coder *c, uint32_t value)
{
    char digits[10];
    unsigned count = 0;
    for (; !count || value; value /= 10)
        digits[count++] = (char)('0' + value % 10);
    while (count)
        put(c, digits[--count]);
}

static void code_list(struct coder *c)
{
    struct item item = { 0 };
    unsigned before = DASH;
    while (!c->failed) {
        unsigned column = item.column < COLUMNS - 1 ? item.column : COLUMNS - 1;
        unsigned kind = code_tree(c, c->model->kind[column][before], 5, c->packs ? next_kind(c) : 0) & 31;
        c->failed |= kind > LETTERS + 'z' - 'a' || (kind == NUMBER && before == NUMBER);
        if (c->failed || kind == END)
            break;
        if (kind == NUMBER) {
            uint32_t value = code_number(c, &item, c->packs ? take_number(c) : 0);
            item.last = value;
            if (!c->packs)
                write_number(c, value);
        } else if (c->packs) {
            c->in++;
        } else {
            put(c, kind == DASH ? '-' : kind == DOT ? '.' : (char)('a' + (kind - LETTERS)));
        }
        if (kind == DASH) {
            for (unsigned i = 0; i < COLUMNS; i++)
                item.before[i] = i < item.column ? item.now[i] : item.before[i];
            item.column = 0;
        }
        before = kind;
    }
}

static void begin(struct coder *c)
{
    uint32_t *at = (uint32_t *)c->model, *end = c->model->last;
    while (at < end)
        *at++ = 1U << 31;
    for (unsigned i = 0; i < sizeof c->model->last / sizeof *c->model->last; i++)
        c->model->last[i] = 0;
}

size_t pct_list_pack(struct pct_list_model *model, const char *text, char *packed, size_t size)
{
    struct coder c = { .model = model, .packs = true, .high = UINT32_MAX, .in = text, .out = packed, .size = size };
    begin(&c);
    put(&c, PCT_LIST_PACKED);
    code_list(&c);
    /* The least that, with zeros behind it, is in the range. */
    put_byte(&c, (c.low >> 24) + 1);
    if (c.bit_count)
        put(&c, PCT_LIST_PACKED_CHARACTERS[c.bits << (6 - c.bit_count) & 63]);
    if (c.failed)
        return 0;
    packed[c.used] = 0;
    return c.used;
}

size_t pct_list_unpack(struct pct_list_model *model, const char *packed, char *text, size_t size)
{
    struct coder c = { .model = model, .high = UINT32_MAX, .in = packed + 1, .out = text, .size = size };
    if (*packed != PCT_LIST_PACKED)
        return 0;
    begin(&c);
    for (unsigned i = 0; i < 4; i++)
        c.value = c.value << 8 | get_byte(&c);
    code_list(&c);
    if (c.failed)
        return 0;
    if (text)
        text[c.used] = 0;
    return c.used;
}
