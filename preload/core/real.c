/* Looking up the real functions: see real.h. The main thread does it as it goes, as most programs need a few of them;
 * when a second thread is about to exist, all the others are looked up at once.
 *
 * Libraries that are preloaded behind us (LD_PRELOAD) come first, as natively: they replace functions without saying a
 * version. Not for signals: the handlers are ours, and a crash is no moment to wait for another library's lock.
 *
 * Not by dlvsym: it takes the loader's lock, which a parked thread may hold, and frees what it said of an earlier
 * failure. An allocator of the target's own (a sanitizer's) may read a clock for that, which has to be looked up. */
#include "real.h"
#include "bind.h"
#include <common/text.h>
#include "shim.h"
#include <dlfcn.h>
#include <elf.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <link.h>

struct pct_real pct_real;

/* Arrays, not pointers: the loader has nothing to relocate. */
static const struct {
    char name[36], version[12];
    bool of_signals;
} rows[] = {
#define ROW(name, version, family, point, note) { #name, version, !__builtin_strcmp(#family, "signal") },
#include <preload/intercepts.def>
#undef ROW
};

/* The value of this entry of an object's dynamic section, 0: none. GLIBC: the loader has made addresses of them, but
 * for the vDSO. */
static uintptr_t dynamic(const struct link_map *object, Elf64_Sxword tag)
{
    for (const Elf64_Dyn *entry = object->l_ld; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == tag)
            return entry->d_un.d_ptr < object->l_addr ? entry->d_un.d_ptr + object->l_addr : entry->d_un.d_ptr;
    return 0;
}

/* The name of a version that an object defines, by its number; NULL: none. */
static const char *version_name(const struct link_map *object, unsigned number)
{
    const char *at = (const char *)dynamic(object, DT_VERDEF);
    while (at) {
        const Elf64_Verdef *version = (const Elf64_Verdef *)(const void *)at;
        if (version->vd_ndx == number) {
            const Elf64_Verdaux *name = (const Elf64_Verdaux *)(const void *)(at + version->vd_aux);
            return (const char *)dynamic(object, DT_STRTAB) + name->vda_name;
        }
        at = version->vd_next ? at + version->vd_next : NULL;
    }
    return NULL;
}

/* Stands for a version: any. */
static const char any_version[] = "*";

/* Whether the symbol of this index has the version, as dlvsym means it; as the default, as dlsym does, where it is "";
 * none, where it is NULL. */
static bool has_version(const struct link_map *object, uint32_t symbol, const char *version)
{
    enum { NUMBER = 0x7fff, HIDDEN = 0x8000 };
    const Elf64_Versym *versions = (const Elf64_Versym *)dynamic(object, DT_VERSYM);
    if (!versions || version == any_version)
        return true;
    if (!version)
        return versions[symbol] == VER_NDX_GLOBAL;
    if (!version[0])
        return !(versions[symbol] & HIDDEN);
    const char *name = version_name(object, versions[symbol] & NUMBER);
    return name && pct_text_same(name, version);
}

/* Whether the symbol of this index is that of this name and version, and defined. Without libc's strcmp, which a
 * sanitizer that is about to start may not have found itself. */
static bool is_symbol(const struct link_map *object, uint32_t at, const char *name, const char *version)
{
    const Elf64_Sym *symbol = (const Elf64_Sym *)dynamic(object, DT_SYMTAB) + at;
    const char *strings = (const char *)dynamic(object, DT_STRTAB);
    return symbol->st_shndx != SHN_UNDEF && pct_text_same(strings + symbol->st_name, name) &&
           has_version(object, at, version);
}

/* By the older kind of hash table: `ld --hash-style=sysv` makes no other. 0: none. */
static uint32_t index_by_old_hash(const struct link_map *object, const char *name, const char *version)
{
    const uint32_t *table = (const uint32_t *)dynamic(object, DT_HASH);
    uint32_t hash = 0;
    if (!table || !table[0])
        return 0;
    for (const char *c = name; *c; c++) {
        hash = (hash << 4) + (unsigned char)*c;
        hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
    }
    const uint32_t *buckets = table + 2, *chains = buckets + table[0];
    uint32_t at = buckets[hash % table[0]];
    while (at && !is_symbol(object, at, name, version))
        at = chains[at];
    return at;
}

/* hash: the name's. 0: none. */
static uint32_t index_by_hash(const struct link_map *object, const char *name, uint32_t hash, const char *version)
{
    const uint32_t *table = (const uint32_t *)dynamic(object, DT_GNU_HASH);
    if (!table)
        return index_by_old_hash(object, name, version);
    if (!table[0])
        return 0;
    uint32_t bucket_count = table[0], first = table[1], words = table[2], shift = table[3];
    const Elf64_Addr *bloom = (const Elf64_Addr *)(table + 4);
    const uint32_t *buckets = (const uint32_t *)(bloom + words), *chains = buckets + bucket_count;
    enum { BITS = 8 * sizeof *bloom };
    Elf64_Addr word = bloom[hash / BITS % words];
    if (!(word >> hash % BITS & 1) || !(word >> (hash >> shift) % BITS & 1))
        return 0;
    uint32_t at = buckets[hash % bucket_count];
    if (at < first)
        return 0;
    for (;; at++) {
        uint32_t chain = chains[at - first];
        if ((chain | 1) == (hash | 1) && is_symbol(object, at, name, version))
            return at;
        if (chain & 1)
            return 0;
    }
}

/* The symbol of this name and version (see has_version) that an object defines; NULL: none. */
static const Elf64_Sym *symbol_in(const struct link_map *object, const char *name, uint32_t hash, const char *version)
{
    const uint32_t at = index_by_hash(object, name, hash, version);
    return at ? (const Elf64_Sym *)dynamic(object, DT_SYMTAB) + at : NULL;
}

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 5381;
    for (const char *c = name; *c; c++)
        hash = 33 * hash + (unsigned char)*c;
    return hash;
}

#pragma weak _dl_find_object

/* NULL: the loader does not know us. It is asked once. GLIBC: before 2.35 it takes its lock for that, and reads all of
 * our symbols. */
static const struct link_map *ourselves(void)
{
    PCT_OF_START static struct link_map *own;
    struct dl_find_object found;
    Dl_info unused;
    if (!own && _dl_find_object && !_dl_find_object((void *)rows, &found))
        own = found.dlfo_link_map;
    return own || dladdr1(rows, &unused, (void **)&own, RTLD_DL_LINKMAP) ? own : NULL;
}

static const char *string_of(const struct link_map *object, Elf64_Xword offset)
{
    return (const char *)dynamic(object, DT_STRTAB) + offset;
}

/* What others call an object. */
static const char *soname(const struct link_map *object)
{
    for (const Elf64_Dyn *entry = object->l_ld; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_SONAME)
            return string_of(object, entry->d_un.d_val);
    return pct_text_base_name(object->l_name);
}

/* Whether an object needs the other one by itself. */
static bool needs(const struct link_map *object, const struct link_map *other)
{
    const char *name = soname(other);
    for (const Elf64_Dyn *entry = object->l_ld; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_NEEDED && pct_text_same(string_of(object, entry->d_un.d_val), name))
            return true;
    return false;
}

/* What preloaded libraries define in libc's place. In the loader's list they stand before all that the program needs.
 */
static const Elf64_Sym *symbol_preloaded(const char *name, const struct link_map **object)
{
    const struct link_map *own = ourselves(), *program = own;
    const uint32_t hash = hash_of(name);
    while (program && program->l_prev)
        program = program->l_prev;
    for (const struct link_map *at = own ? own->l_next : NULL; at && !needs(program, at) && !needs(own, at);
         at = at->l_next) {
        const Elf64_Sym *found = symbol_in(at, name, hash, NULL);
        *object = at;
        if (found)
            return found;
    }
    return NULL;
}

/* See has_version for the version. */
static const Elf64_Sym *symbol_behind_us(const char *name, const char *version, const struct link_map **object)
{
    const struct link_map *own = ourselves();
    const uint32_t hash = hash_of(name);
    const Elf64_Sym *found = NULL;
    *object = NULL;
    for (const struct link_map *at = own ? own->l_next : NULL; at && !found; at = at->l_next) {
        *object = at;
        found = symbol_in(at, name, hash, version);
    }
    return found;
}

const Elf64_Sym *pct_real_symbol(const char *name, const struct link_map **object)
{
    return symbol_behind_us(name, any_version, object);
}

const Elf64_Phdr *pct_real_parts(const struct link_map *object, unsigned *count)
{
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)object->l_addr;
    *count = head->e_phnum;
    return (const Elf64_Phdr *)(object->l_addr + head->e_phoff);
}

void *pct_real_libc(const char *name)
{
    static const struct link_map *libc;
    if (!libc)
        pct_real_symbol("gnu_get_libc_version", &libc); /* which nobody replaces */
    const Elf64_Sym *symbol = libc ? symbol_in(libc, name, hash_of(name), "") : NULL;
    return symbol ? (void *)(libc->l_addr + symbol->st_value) : NULL;
}

bool pct_real_is_replaced(const char *name)
{
    const struct link_map *own = ourselves();
    const uint32_t hash = hash_of(name);
    for (const struct link_map *at = own ? own->l_prev : NULL; at; at = at->l_prev)
        if (symbol_in(at, name, hash, any_version))
            return true;
    return false;
}

bool pct_real_is_preloaded(const char *name)
{
    const struct link_map *object;
    return symbol_preloaded(name, &object);
}

/* The function of this name and version. preloaded: of a library that is preloaded behind us, if one has it. */
static void *find(const char *name, const char *version, bool preloaded)
{
    const struct link_map *object;
    const Elf64_Sym *symbol = preloaded ? symbol_preloaded(name, &object) : NULL;
    if (!symbol)
        symbol = symbol_behind_us(name, version, &object);
    if (!symbol && version[0])
        symbol = symbol_behind_us(name, "", &object);
    if (!symbol)
        return NULL;
    const uintptr_t at = object->l_addr + symbol->st_value;
    const bool chosen_at_run_time = ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC;
    return chosen_at_run_time ? ((void *(*)(void))at)() : (void *)at;
}

void *pct_real_start_main(void)
{
    return find("__libc_start_main", "GLIBC_2.34", true);
}

void *pct_real_find(const char *name, const char *version)
{
    return find(name, version, false);
}

void pct_real_resolve(unsigned row)
{
    void *function = find(rows[row].name, rows[row].version, !rows[row].of_signals);
    if (function)
        ((void **)&pct_real)[row] = function;
}

void pct_real_resolve_all(void)
{
    static bool done;
    if (done)
        return;
    done = true;
    pct_bind_all();
    for (unsigned row = 0; row < sizeof rows / sizeof *rows; row++)
        if (!((void **)&pct_real)[row])
            pct_real_resolve(row);
}

int pct_libc_minor(void)
{
    PCT_OF_START static int known; /* -1: it is no 2.x; 0: not asked for yet */
    if (known)
        return known > 0 ? known : INT_MAX;
    const char *version = gnu_get_libc_version();
    int minor = version[0] == '2' && version[1] == '.' ? 0 : -1;
    for (version += 2; minor >= 0 && *version >= '0' && *version <= '9'; version++)
        minor = 10 * minor + *version - '0';
    known = minor;
    return minor > 0 ? minor : INT_MAX;
}
