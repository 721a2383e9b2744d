/* From where a function was called: see callers.h. What stands here is what tables of C, C++ and Rust have: the frame
 * address by the stack's or the frame's pointer, and where the latter was saved. The tables are mapped with the code
 * that they are of. */
#include "callers.h"
#include "kernel.h"
#include "user_memory.h"
#include <dlfcn.h>
#include <sys/uio.h>

enum { ROWS = 1024, STATES = 4 };     /* ROWS: a power of two */
enum { BP = 6, SP = 7, RETURN = 16 }; /* DWARF's numbers of registers */
enum { FRAME_MOST = 1 << 20, PAGE = 4096 };
enum { PCREL = 0x10, DATAREL = 0x30, SDATA4 = 0x0b, UDATA4 = 0x03, SDATA8 = 0x0c, UDATA8 = 0x04, ABSOLUTE = 0x00 };

/* What the tables say of one place in the code. */
struct row {
    uint64_t pc; /* 0: a free one */
    int32_t cfa; /* what the frame's address is above the register's value */
    int32_t bp;  /* where the caller's frame pointer was saved, from that address on; 0: it is the same */
    uint8_t reg; /* BP or SP; 0: no table says it, or in a way that is not known here */
};

static struct row rows[ROWS];

#if defined __GLIBC__ && defined DLFO_STRUCT_HAS_EH_DBASE
#pragma weak _dl_find_object
/* The index of the tables of the file that the place is in. NULL: there is none. */
static const uint8_t *find_index(uint64_t pc)
{
    struct dl_find_object found;
    if (!_dl_find_object || _dl_find_object((void *)(uintptr_t)pc, &found))
        return NULL;
    return found.dlfo_eh_frame;
}
#else
static const uint8_t *find_index(uint64_t pc)
{
    (void)pc;
    return NULL;
}
#endif

/* --- Numbers ------------------------------------------------------------------------------------------------------ */

struct cursor {
    const uint8_t *at, *end;
};

static uint64_t take(struct cursor *c, unsigned size)
{
    uint64_t value = 0;
    if ((uint64_t)(c->end - c->at) < size) {
        c->at = c->end;
        return 0;
    }
    __builtin_memcpy(&value, c->at, size);
    c->at += size;
    return value;
}

/* LEB128, seven bits a byte. sign: the bits above the last one, if that is set. */
static uint64_t take_leb(struct cursor *c, bool sign)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
        byte = (uint8_t)take(c, 1);
        value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        shift += 7;
    } while (byte & 0x80);
    return sign && byte & 0x40 && shift < 64 ? value | ~UINT64_C(0) << shift : value;
}

static uint64_t take_uleb(struct cursor *c)
{
    return take_leb(c, false);
}

static int64_t take_sleb(struct cursor *c)
{
    return (int64_t)take_leb(c, true);
}

static unsigned size_of(uint8_t encoding)
{
    unsigned format = encoding & 0x0f;
    return format == SDATA4 || format == UDATA4                         ? 4
           : format == SDATA8 || format == UDATA8 || format == ABSOLUTE ? 8
                                                                        : 0;
}

/* A pointer in this encoding; 0: it is in another one, or there is none. */
static uint64_t take_pointer(struct cursor *c, uint8_t encoding)
{
    uint64_t here = (uintptr_t)c->at, value = take(c, size_of(encoding));
    if ((encoding & 0x0f) == SDATA4)
        value = (uint64_t)(int64_t)(int32_t)value;
    return !size_of(encoding) ? 0 : (encoding & 0x70) == PCREL ? here + value : value;
}

/* --- Tables ------------------------------------------------------------------------------------------------------- */

/* What is known of a function's tables. */
struct table {
    struct cursor common, own; /* their instructions */
    uint64_t begin, end, code_unit;
    int64_t data_unit;
};

/* An entry, without its length. Empty: it is the end, or too long. */
static struct cursor entry_at(const uint8_t *at)
{
    uint32_t length;
    __builtin_memcpy(&length, at, sizeof length);
    at += sizeof length;
    return (struct cursor){ at, length == UINT32_MAX ? at : at + length };
}

/* What functions have in common. *encoding: of their addresses; *more: they have more about them. */
static bool read_common(struct cursor c, struct table *t, uint8_t *encoding, bool *more)
{
    const uint8_t version = (take(&c, 4), (uint8_t)take(&c, 1));
    const char *augmentation = (const char *)c.at;
    while (take(&c, 1) && c.at < c.end)
        ;
    if (version != 1 && version != 3)
        return false;
    t->code_unit = take_uleb(&c);
    t->data_unit = take_sleb(&c);
    if ((version == 1 ? take(&c, 1) : take_uleb(&c)) != RETURN)
        return false;
    *encoding = ABSOLUTE;
    *more = augmentation[0] == 'z';
    if (!*more && augmentation[0])
        return false;
    const uint64_t size = *more ? take_uleb(&c) : 0;
    struct cursor data = { c.at, c.end };
    t->common = (struct cursor){ c.at + size, c.end };
    for (const char *a = augmentation; *more && *++a;) {
        if (*a == 'R')
            *encoding = (uint8_t)take(&data, 1);
        else if (*a == 'P')
            take(&data, size_of((uint8_t)take(&data, 1)));
        else if (*a == 'L')
            take(&data, 1);
        else
            return false; /* such as a frame that the kernel has made for a signal */
    }
    return t->common.at <= c.end;
}

/* The tables of the function that this place is in. */
static bool read_table(const uint8_t *entry, uint64_t pc, struct table *t)
{
    struct cursor c = entry_at(entry);
    const uint8_t *field = c.at;
    const uint64_t back = take(&c, 4);
    uint8_t encoding;
    bool more;
    if (!back || !read_common(entry_at(field - back), t, &encoding, &more))
        return false;
    t->begin = take_pointer(&c, encoding);
    t->end = t->begin + take_pointer(&c, encoding & 0x0f);
    const uint64_t size = more ? take_uleb(&c) : 0;
    t->own = (struct cursor){ c.at + size, c.end };
    return t->own.at <= c.end && pc >= t->begin && pc < t->end;
}

/* The table of the function that begins last before this place. NULL: there is none. */
static const uint8_t *find_entry(const uint8_t *index, uint64_t pc)
{
    struct cursor c = { index, index + 12 };
    const uint8_t version = (uint8_t)take(&c, 1), of_frames = (uint8_t)take(&c, 1), of_count = (uint8_t)take(&c, 1),
                  of_rows = (uint8_t)take(&c, 1);
    if (version != 1 || size_of(of_frames) != 4 || of_count != UDATA4 || of_rows != (DATAREL | SDATA4))
        return NULL;
    take(&c, 4);
    const uint32_t count = (uint32_t)take(&c, 4);
    const int32_t(*row)[2] = (const void *)(index + 12), wanted = (int32_t)(pc - (uintptr_t)index);
    uint32_t from = 0, to = count;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (row[middle][0] <= wanted)
            from = middle + 1;
        else
            to = middle;
    }
    return from ? index + row[from - 1][1] : NULL;
}

/* --- Instructions ------------------------------------------------------------------------------------------------- */

struct machine {
    struct table *table;
    uint64_t at, pc;
    struct row now, first, kept[STATES];
    unsigned count;
    bool bad;
};

static void set_saved(struct machine *m, uint64_t reg, int64_t offset)
{
    if (reg == BP)
        m->now.bp = (int32_t)(offset * m->table->data_unit);
}

static void undo_saved(struct machine *m, uint64_t reg)
{
    if (reg == BP)
        m->now.bp = m->first.bp;
}

static void set_frame(struct machine *m, uint64_t reg, int64_t offset)
{
    m->now.reg = reg == BP || reg == SP ? (uint8_t)reg : 0;
    m->now.cfa = (int32_t)offset;
}

static void skip_block(struct cursor *c)
{
    const uint64_t size = take_uleb(c);
    c->at = size < (uint64_t)(c->end - c->at) ? c->at + size : c->end;
}

static void advance(struct machine *m, uint64_t by)
{
    m->at += by * m->table->code_unit;
}

/* The instructions with operands of their own. */
static void step(struct machine *m, struct cursor *c, uint8_t op)
{
    uint64_t reg;
    switch (op) {
    case 0x00: /* nop */
        break;
    case 0x02: /* advance_loc1, 2, 4 */
    case 0x03:
    case 0x04:
        advance(m, take(c, op == 0x04 ? 4 : op - 1U));
        break;
    case 0x05: /* offset_extended */
        reg = take_uleb(c);
        set_saved(m, reg, (int64_t)take_uleb(c));
        break;
    case 0x06: /* restore_extended */
        undo_saved(m, take_uleb(c));
        break;
    case 0x07: /* undefined: of the return address, there is no caller */
        m->bad = take_uleb(c) == RETURN;
        break;
    case 0x08: /* same_value */
        if (take_uleb(c) == BP)
            m->now.bp = 0;
        break;
    case 0x0a: /* remember_state */
        m->bad = m->count == STATES;
        if (!m->bad)
            m->kept[m->count++] = m->now;
        break;
    case 0x0b: /* restore_state */
        m->bad = !m->count;
        if (!m->bad)
            m->now = m->kept[--m->count];
        break;
    case 0x0c: /* def_cfa, def_cfa_sf */
        reg = take_uleb(c);
        set_frame(m, reg, (int64_t)take_uleb(c));
        break;
    case 0x12:
        reg = take_uleb(c);
        set_frame(m, reg, take_sleb(c) * m->table->data_unit);
        break;
    case 0x0d: /* def_cfa_register */
        set_frame(m, take_uleb(c), m->now.cfa);
        break;
    case 0x0e: /* def_cfa_offset */
        m->now.cfa = (int32_t)take_uleb(c);
        break;
    case 0x0f: /* def_cfa_expression */
        skip_block(c);
        m->now.reg = 0;
        break;
    case 0x10: /* expression, val_expression */
    case 0x16:
        m->bad = take_uleb(c) == BP;
        skip_block(c);
        break;
    case 0x11: /* offset_extended_sf */
        reg = take_uleb(c);
        set_saved(m, reg, take_sleb(c));
        break;
    case 0x2e: /* GNU_args_size */
        take_uleb(c);
        break;
    default:
        m->bad = true;
    }
}

static void execute(struct machine *m, struct cursor c)
{
    while (c.at < c.end && m->at <= m->pc && !m->bad) {
        const uint8_t op = (uint8_t)take(&c, 1), low = op & 0x3f;
        switch (op & 0xc0) {
        case 0x40:
            advance(m, low);
            break;
        case 0x80:
            set_saved(m, low, (int64_t)take_uleb(&c));
            break;
        case 0xc0:
            undo_saved(m, low);
            break;
        default:
            step(m, &c, op);
        }
    }
}

static struct row look_up(uint64_t pc)
{
    struct table table;
    const uint8_t *index = find_index(pc), *entry = index ? find_entry(index, pc) : NULL;
    struct row none = { .pc = pc };
    if (!entry || !read_table(entry, pc, &table))
        return none;
    struct machine m = { .table = &table, .at = table.begin, .pc = pc };
    execute(&m, table.common);
    m.first = m.now;
    execute(&m, table.own);
    m.now.pc = pc;
    return m.bad ? none : m.now;
}

/* --- Frames ------------------------------------------------------------------------------------------------------- */

uint64_t pct_caller_copy(void *out, uint64_t from, uint64_t size)
{
    struct iovec here = { out, size }, there = { (void *)(uintptr_t)from, size };
    long got = pct_user_copy_pieces(&here, &there, 1);
    return got < 0 ? 0 : (uint64_t)got;
}

/* A word of the stack. Mostly it is in the page of the stack's pointer, and a call of the system for each would take
 * longer than a step. */
static bool read_word(uint64_t *word, uint64_t sp, uint64_t from)
{
    if (from % sizeof *word || (sp - 1) / PAGE != from / PAGE)
        return pct_caller_copy(word, from, sizeof *word) == sizeof *word;
    *word = *(const uint64_t *)(uintptr_t)from;
    return true;
}

bool pct_caller_next(struct pct_caller *at)
{
    const uint64_t pc = at->pc - 1; /* of the call, or of the instruction */
    struct row *row = &rows[(pc * UINT64_C(0x9e3779b97f4a7c15) >> 40) % ROWS];
    if (row->pc != pc)
        *row = look_up(pc);
    /* Code without tables mostly has frame pointers. */
    const struct row pointers = { .reg = BP, .cfa = 16, .bp = -16 }, *use = row->reg ? row : &pointers;
    const uint64_t frame = (use->reg == BP ? at->bp : at->sp) + (uint64_t)(int64_t)use->cfa;
    struct pct_caller next = { .sp = frame, .bp = at->bp };
    if (frame <= at->sp || frame - at->sp > FRAME_MOST || !read_word(&next.pc, at->sp, frame - sizeof next.pc) ||
        !next.pc || (use->bp && !read_word(&next.bp, at->sp, frame + (uint64_t)(int64_t)use->bp)))
        return false;
    *at = next;
    return true;
}
