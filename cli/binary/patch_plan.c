/* Making the plan of a module: see patch_plan.h.
 *
 * What is code is taken from the table of functions that unwinding needs (.eh_frame): it names where each begins and
 * ends, in stripped files too, and what lies outside of them (tables in hand-written code) is left alone. Each function
 * must decode to its very end; if one does not, nothing of the module is trusted. */
#include "patch_plan.h"
#include "elf_facts.h"
#include "frames.h"
#include "function_sites.h"
#include "instruction_scan.h"
#include "linker_slots.h"
#include "segments.h"
#include "short_sites.h"
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RELATIVE_4 = 0x1b, TABLE_4 = 0x3b, COUNT_4 = 0x03 }; /* encodings of pointers: DW_EH_PE_* */

struct module {
    Elf *elf;
    size_t segments;
    GElf_Ehdr head;
    struct pct_frame *functions;
    size_t count;
    struct pct_range globals[64];
    struct pct_instruction_scan sites;
    const struct pct_plan_function *named;
    size_t named_count;
    uint64_t no_entry, no_return;
    struct pct_plan_range image;
    struct pct_slot *slots;
    size_t slot_count;
};

/* Size bytes of the file that are loaded at this address; NULL: they are not there. */
static const uint8_t *at_address(const struct module *m, uint64_t address, uint64_t size)
{
    return pct_segment_bytes(m->elf, address, size, 0);
}

static bool is_code(const struct module *m, uint64_t from, uint64_t to)
{
    GElf_Phdr segment;
    for (size_t i = 0; i < m->segments; i++)
        if (gelf_getphdr(m->elf, (int)i, &segment) && segment.p_type == PT_LOAD && segment.p_flags & PF_X &&
            !(segment.p_flags & PF_W) && from >= segment.p_vaddr && to <= segment.p_vaddr + segment.p_filesz)
            return true;
    return false;
}

/* NULL: it has none. */
static const char *section_name(const struct module *m, Elf_Scn *section, GElf_Shdr *head)
{
    size_t names = 0;
    elf_getshdrstrndx(m->elf, &names);
    return gelf_getshdr(section, head) ? elf_strptr(m->elf, names, head->sh_name) : NULL;
}

/* --- The table of functions --------------------------------------------------------------------------------------- */

static int32_t get32(const uint8_t *at)
{
    int32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* Skip a number in LEB128. False: it does not end. */
static bool skip_leb(const uint8_t **at, const uint8_t *end)
{
    while (*at < end)
        if (!(*(*at)++ & 0x80))
            return true;
    return false;
}

/* Bytes of a pointer of this encoding; 0: not known. */
static size_t pointer_size(uint8_t encoding)
{
    static const uint8_t sizes[16] = { 8, 0, 2, 4, 8, 0, 0, 0, 0, 0, 2, 4, 8 };
    return encoding == 0xff ? 0 : sizes[encoding & 15];
}

/* Whether the entries of this CIE name their functions by four bytes from where they stand, as all compilers write it.
 */
static bool has_plain_pointers(const struct module *m, uint64_t address)
{
    const uint8_t *at = at_address(m, address, 9);
    if (!at || get32(at) <= 4 || get32(at + 4))
        return false;
    const uint8_t *end = at + 4 + get32(at), *letters = at + 9;
    if (!at_address(m, address, (uint64_t)(end - at)) || (at[8] != 1 && at[8] != 3) || *letters != 'z')
        return false;
    const uint8_t *data = memchr(letters, 0, (size_t)(end - letters));
    if (!data)
        return false;
    bool byte = at[8] == 1; /* the return address's column is one byte in version 1 */
    data++;
    bool whole = skip_leb(&data, end); /* the factors of code and data */
    whole = whole && skip_leb(&data, end);
    if (byte)
        data++;
    whole = whole && (byte ? data < end : skip_leb(&data, end));
    if (!whole || !skip_leb(&data, end))
        return false;
    for (letters++; *letters && data < end; letters++) {
        if (*letters == 'R')
            return *data == RELATIVE_4;
        if (*letters == 'P' && !pointer_size(*data))
            return false;
        if (*letters == 'P')
            data += 1 + pointer_size(*data);
        else if (*letters == 'L')
            data++;
        else if (*letters != 'S' && *letters != 'B')
            return false;
    }
    return false;
}

static bool read_function(const struct module *m, uint64_t begin, uint64_t entry, struct pct_frame *function)
{
    const uint8_t *at = at_address(m, entry, 16);
    if (!at)
        return false;
    /* The place of the CIE counts backwards from its own field. */
    uint64_t cie = entry + 4 - (uint32_t)get32(at + 4);
    uint64_t from = entry + 8 + (uint64_t)(int64_t)get32(at + 8);
    *function = (struct pct_frame){ .from = from, .to = from + (uint32_t)get32(at + 12) };
    if (get32(at) <= 8 || from != begin || function->to < from || !has_plain_pointers(m, cie))
        return false;
    const uint8_t *end = at + 4 + get32(at), *unwinds = at + 16;
    if (!at_address(m, entry, (uint64_t)(end - at)))
        return false;
    /* Behind what the CIE's 'z' says is there: a length, and as many bytes. */
    uint64_t length = 0;
    for (unsigned bits = 0; unwinds < end && bits < 63; bits += 7) {
        length |= (uint64_t)(*unwinds & 0x7f) << bits;
        if (!(*unwinds++ & 0x80))
            break;
    }
    function->part = length > (uint64_t)(end - unwinds) || pct_frames_begins_within(unwinds + length, end);
    return true;
}

static int by_begin(const void *a, const void *b)
{
    const struct pct_frame *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

static enum pct_plan_refusal read_functions(struct module *m)
{
    GElf_Phdr segment;
    size_t i = 0;
    while (i < m->segments && (!gelf_getphdr(m->elf, (int)i, &segment) || segment.p_type != PT_GNU_EH_FRAME))
        i++;
    const uint8_t *table = i < m->segments ? at_address(m, segment.p_vaddr, 12) : NULL;
    if (!table || table[0] != 1 || table[1] != RELATIVE_4 || table[2] != COUNT_4 || table[3] != TABLE_4)
        return PCT_PLAN_UNWIND;
    size_t count = (uint32_t)get32(table + 8);
    if (!at_address(m, segment.p_vaddr, 12 + count * 8))
        return PCT_PLAN_DAMAGED;
    m->functions = calloc(count + 1, sizeof *m->functions);
    if (!m->functions)
        return PCT_PLAN_UNWIND;
    for (i = 0; i < count; i++) {
        const uint8_t *entry = table + 12 + i * 8;
        struct pct_frame function;
        if (!read_function(m, segment.p_vaddr + (uint64_t)(int64_t)get32(entry),
                           segment.p_vaddr + (uint64_t)(int64_t)get32(entry + 4), &function))
            return PCT_PLAN_UNWIND;
        if (function.to > function.from && is_code(m, function.from, function.to))
            m->functions[m->count++] = function;
    }
    if (!m->count)
        return PCT_PLAN_UNWIND;
    qsort(m->functions, m->count, sizeof *m->functions, by_begin);
    for (i = 1; i < m->count; i++)
        if (m->functions[i].from < m->functions[i - 1].to)
            return PCT_PLAN_DATA; /* two functions in the same place: one of them is none */
    return PCT_PLAN_NONE;
}

/* The handlers of a program that tells of its accesses itself (pct-cc) are not to tell of their own. */
static void leave_out_handlers(struct module *m)
{
    for (Elf_Scn *section = elf_nextscn(m->elf, NULL); section; section = elf_nextscn(m->elf, section)) {
        GElf_Shdr head;
        const char *name = section_name(m, section, &head);
        if (!name || strcmp(name, PCT_HANDLERS_SECTION))
            continue;
        size_t kept = 0;
        for (size_t i = 0; i < m->count; i++)
            if (m->functions[i].from < head.sh_addr || m->functions[i].from >= head.sh_addr + head.sh_size)
                m->functions[kept++] = m->functions[i];
        m->count = kept;
    }
}

/* --- Compilers ---------------------------------------------------------------------------------------------------- */

/* Whether gcc has made all of the module, by what it says of itself: it makes no plain instruction that reads and
 * writes of an atomic load and an atomic store, as clang does. */
static bool is_by_gcc(const struct module *m)
{
    static const char gcc[] = "GCC: (";
    bool is = false;
    for (Elf_Scn *section = elf_nextscn(m->elf, NULL); section; section = elf_nextscn(m->elf, section)) {
        GElf_Shdr head;
        const char *name = section_name(m, section, &head);
        const Elf_Data *data = name && !strcmp(name, ".comment") ? elf_getdata(section, NULL) : NULL;
        const char *at = data ? data->d_buf : NULL, *end = at ? at + data->d_size : NULL;
        while (at && at < end) {
            size_t length = strnlen(at, (size_t)(end - at));
            if (length && (length < sizeof gcc - 1 || strncmp(at, gcc, sizeof gcc - 1) != 0))
                return false;
            is = is || length;
            at += length + 1;
        }
    }
    return is;
}

/* --- Data --------------------------------------------------------------------------------------------------------- */

/* Take [from, to) out of the ranges. */
static void take_out(struct module *m, uint64_t from, uint64_t to)
{
    struct pct_instruction_scan *s = &m->sites;
    for (size_t i = s->globals_count; i-- > 0;) {
        struct pct_range *range = &m->globals[i], rest = { to, range->to };
        if (from >= range->to || to <= range->from)
            continue;
        range->to = from > range->from ? from : range->from;
        if (rest.from < rest.to && s->globals_count < sizeof m->globals / sizeof *m->globals)
            m->globals[s->globals_count++] = rest;
    }
}

/* What is writable once the program runs, but for the linker's own table of addresses. */
static void find_globals(struct module *m)
{
    GElf_Phdr segment;
    m->sites.globals = m->globals;
    for (size_t i = 0; i < m->segments && m->sites.globals_count < 8; i++)
        if (gelf_getphdr(m->elf, (int)i, &segment) && segment.p_type == PT_LOAD && segment.p_flags & PF_W)
            m->globals[m->sites.globals_count++] =
                (struct pct_range){ segment.p_vaddr, segment.p_vaddr + segment.p_memsz };
    for (size_t i = 0; i < m->segments; i++)
        if (gelf_getphdr(m->elf, (int)i, &segment) && segment.p_type == PT_GNU_RELRO)
            take_out(m, segment.p_vaddr, segment.p_vaddr + segment.p_memsz);
    for (Elf_Scn *section = elf_nextscn(m->elf, NULL); section; section = elf_nextscn(m->elf, section)) {
        GElf_Shdr head;
        const char *name = section_name(m, section, &head);
        if (name && (!strcmp(name, ".got") || !strcmp(name, ".got.plt") || !strcmp(name, ".dynamic")))
            take_out(m, head.sh_addr, head.sh_addr + head.sh_size);
    }
}

/* Slots outside of the module are of a damaged file. False: no memory. */
static bool find_slots(struct module *m)
{
    GElf_Phdr segment;
    size_t kept = 0;
    if (m->sites.level < PCT_PATCH_GLOBALS)
        return true;
    m->image.from = UINT64_MAX;
    for (size_t i = 0; i < m->segments; i++) {
        if (!gelf_getphdr(m->elf, (int)i, &segment) || segment.p_type != PT_LOAD)
            continue;
        uint64_t to = segment.p_vaddr + segment.p_memsz;
        m->image.from = segment.p_vaddr < m->image.from ? segment.p_vaddr : m->image.from;
        m->image.to = to > m->image.to ? to : m->image.to;
    }
    if (!pct_linker_slots(m->elf, &m->slots, &m->slot_count))
        return false;
    for (size_t i = 0; i < m->slot_count; i++)
        if (m->slots[i].address >= m->image.from && m->slots[i].address < m->image.to)
            m->slots[kept++] = m->slots[i];
    m->slot_count = kept;
    return true;
}

static bool relocates_code(const struct module *m)
{
    GElf_Phdr segment;
    for (size_t i = 0; i < m->segments; i++) {
        if (!gelf_getphdr(m->elf, (int)i, &segment) || segment.p_type != PT_DYNAMIC)
            continue;
        for (uint64_t at = 0; at + 16 <= segment.p_filesz; at += 16) {
            const uint8_t *entry = at_address(m, segment.p_vaddr + at, 16);
            uint64_t tag = 0, value = 0;
            if (entry) {
                memcpy(&tag, entry, 8);
                memcpy(&value, entry + 8, 8);
            }
            if (tag == DT_TEXTREL || (tag == DT_FLAGS && value & DF_TEXTREL))
                return true;
            if (tag == DT_NULL)
                break;
        }
    }
    return false;
}

static const uint8_t *bytes_of(const void *file, uint64_t address, uint64_t size)
{
    return at_address(file, address, size);
}

static uint64_t start_of(const void *file, uint64_t address)
{
    const struct module *m = file;
    for (size_t i = 0; i < m->count; i++)
        if (address >= m->functions[i].from && address < m->functions[i].to)
            return m->functions[i].from;
    return 0;
}

/* --- The plan ----------------------------------------------------------------------------------------------------- */

static enum pct_plan_refusal scan(struct module *m)
{
    struct pct_instruction_scan *s = &m->sites;
    bool ended = false;
    s->from = m->functions[0].from;
    s->to = m->functions[m->count - 1].to;
    s->fixed = m->head.e_type == ET_EXEC;
    if (!pct_instruction_scan_start(s) ||
        (s->level >= PCT_PATCH_STACKS && !pct_frames_look(m->functions, m->count, bytes_of, m)))
        return PCT_PLAN_DATA;
    for (size_t i = 0; i < m->count; i++) {
        const struct pct_frame *f = &m->functions[i];
        uint64_t before = i ? m->functions[i - 1].to : f->from;
        if (before < f->from && is_code(m, before, f->from))
            pct_instruction_scan_gap(s, at_address(m, before, f->from - before), f->from - before, before, ended);
        s->pointed = f->pointed;
        if (!pct_instruction_scan_function(s, at_address(m, f->from, f->to - f->from), f->to - f->from, f->from,
                                           &ended))
            return PCT_PLAN_DATA;
    }
    struct pct_function_sites sites = {
        .scan = s, .functions = m->named, .count = m->named_count, .bytes = bytes_of, .start = start_of, .file = m
    };
    pct_function_sites_add(&sites);
    m->no_entry = sites.no_entry;
    m->no_return = sites.no_return;
    pct_instruction_scan_finish(s);
    pct_short_sites_extend(s, m->functions, m->count, bytes_of, m);
    return s->no_memory ? PCT_PLAN_DATA : PCT_PLAN_NONE;
}

static enum pct_plan_refusal examine(struct module *m)
{
    if (!m->elf || elf_kind(m->elf) != ELF_K_ELF || !gelf_getehdr(m->elf, &m->head))
        return PCT_PLAN_NOT_ELF;
    if (m->head.e_machine != EM_X86_64 || m->head.e_ident[EI_CLASS] != ELFCLASS64)
        return PCT_PLAN_ARCHITECTURE;
    if (!elf_rawfile(m->elf, NULL) || elf_getphdrnum(m->elf, &m->segments))
        return PCT_PLAN_DAMAGED;
    if (relocates_code(m))
        return PCT_PLAN_TEXTREL;
    enum pct_plan_refusal refusal = read_functions(m);
    if (refusal != PCT_PLAN_NONE)
        return refusal;
    leave_out_handlers(m);
    find_globals(m);
    m->sites.no_memory |= !find_slots(m);
    refusal = m->count ? scan(m) : PCT_PLAN_UNWIND;
    if (refusal == PCT_PLAN_NONE && is_by_gcc(m))
        for (size_t i = 0; i < m->sites.count; i++)
            if (m->sites.sites[i].kind == PCT_SITE_UPDATE)
                m->sites.sites[i].flags |= PCT_SITE_PLAIN;
    return refusal;
}

static struct pct_plan *write_plan(const struct module *m, enum pct_plan_refusal refusal)
{
    const struct pct_instruction_scan *s = &m->sites;
    bool refused = refusal != PCT_PLAN_NONE;
    size_t sites = refused ? 0 : s->count, pads = refused ? 0 : s->pad_count, slots = refused ? 0 : m->slot_count,
           ranges = refused ? 0 : s->globals_count, written = 0;
    size_t size =
        sizeof(struct pct_plan) + sites * sizeof *s->sites + pads * sizeof *s->pads + slots * sizeof *m->slots;
    struct pct_plan *plan = calloc(1, size);
    if (!plan)
        return NULL;
    memcpy(plan->magic, PCT_PLAN_MAGIC, sizeof plan->magic);
    plan->level = s->level;
    plan->refusal = refusal;
    plan->size = size;
    plan->sites = sites;
    plan->pads = pads;
    plan->slots = slots;
    plan->image = m->image;
    for (size_t i = 0; i < ranges && written < PCT_PLAN_WRITTEN; i++)
        if (m->globals[i].to > m->globals[i].from)
            plan->written[written++] = (struct pct_plan_range){ m->globals[i].from, m->globals[i].to };
    plan->from = s->from;
    plan->to = s->to;
    plan->no_entry = refused ? 0 : m->no_entry;
    plan->no_return = refused ? 0 : m->no_return;
    memcpy(plan->omitted, s->omitted, sizeof plan->omitted);
    plan->untold = s->untold;
    for (size_t i = 0; i < sites; i++)
        plan->by_kind[s->sites[i].kind]++;
    if (sites)
        memcpy(plan + 1, s->sites, sites * sizeof *s->sites);
    if (pads)
        memcpy((struct pct_plan_site *)(plan + 1) + sites, s->pads, pads * sizeof *s->pads);
    if (slots)
        memcpy((void *)pct_plan_slots(plan), m->slots, slots * sizeof *m->slots);
    return plan;
}

/* What it checks, calls and locks would be points, too, and it works before the program does. */
static bool holds_sanitizer(const char *path)
{
    static const char *const starts[] = { "__asan_init", "__hwasan_init", "__lsan_init", "__msan_init" };
    for (unsigned i = 0; i < sizeof starts / sizeof *starts; i++)
        if (pct_elf_defines(path, starts[i]))
            return true;
    return false;
}

struct pct_plan *pct_plan_make(const char *path, unsigned level, const struct pct_plan_function *functions,
                               size_t count)
{
    struct module m = { .sites.level = level, .named = functions, .named_count = count };
    struct stat status;
    elf_version(EV_CURRENT);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && !fstat(fd, &status) && S_ISREG(status.st_mode))
        m.elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    enum pct_plan_refusal refusal = holds_sanitizer(path) ? PCT_PLAN_SANITIZER : examine(&m);
    struct pct_plan *plan = m.sites.no_memory ? NULL : write_plan(&m, refusal);
    pct_instruction_scan_free(&m.sites);
    free(m.functions);
    free(m.slots);
    if (m.elf)
        elf_end(m.elf);
    if (fd >= 0)
        close(fd);
    return plan;
}

const char *pct_plan_level_name(unsigned level)
{
    static const char *const names[] = PCT_MEMORY_WORDS;
    return level < PCT_PATCH_COUNT ? names[level] : "?";
}

const char *pct_plan_refusal(unsigned refusal)
{
    static const char *const texts[] = {
#define TEXT(id, text) text,
        PCT_PLAN_REFUSALS(TEXT)
#undef TEXT
    };
    return refusal < PCT_PLAN_REFUSALS_COUNT ? texts[refusal] : "?";
}
