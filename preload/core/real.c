/* Looking up the real functions: see real.h. The main thread does it as it goes, as most programs need a few of them;
 * when a second thread is about to exist, all the others are looked up at once, because from then on the loader's lock,
 * which dlvsym takes, may be held by a parked thread. */
#include "real.h"
#include <common/text.h>
#include "shim.h"
#include <dlfcn.h>
#include <elf.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <link.h>

/* In .data, so that .bss stays small: see pct_page (shim.c). */
struct pct_real pct_real __attribute__((section(".data")));

/* Arrays, not pointers: the loader has nothing to relocate. */
static const struct {
    char name[36], version[12];
} rows[] = {
#define ROW(name, version, family, point, note) { #name, version },
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

/* The symbol of this name that an object defines, by its GNU hash table; NULL: none. Without libc's strcmp, which a
 * sanitizer that is about to start may not have found itself. */
static const Elf64_Sym *symbol_in(const struct link_map *object, const char *name, uint32_t hash)
{
    const uint32_t *table = (const uint32_t *)dynamic(object, DT_GNU_HASH);
    const Elf64_Sym *symbols = (const Elf64_Sym *)dynamic(object, DT_SYMTAB);
    const char *strings = (const char *)dynamic(object, DT_STRTAB);
    if (!table || !symbols || !strings || !table[0])
        return NULL;
    uint32_t bucket_count = table[0], first = table[1], words = table[2], shift = table[3];
    const Elf64_Addr *bloom = (const Elf64_Addr *)(table + 4);
    const uint32_t *buckets = (const uint32_t *)(bloom + words), *chains = buckets + bucket_count;
    enum { BITS = 8 * sizeof *bloom };
    Elf64_Addr word = bloom[hash / BITS % words];
    if (!(word >> hash % BITS & 1) || !(word >> (hash >> shift) % BITS & 1))
        return NULL;
    uint32_t at = buckets[hash % bucket_count];
    if (at < first)
        return NULL;
    for (;; at++) {
        uint32_t chain = chains[at - first];
        if ((chain | 1) == (hash | 1) && symbols[at].st_shndx != SHN_UNDEF &&
            pct_text_same(strings + symbols[at].st_name, name))
            return &symbols[at];
        if (chain & 1)
            return NULL;
    }
}

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 5381;
    for (const char *c = name; *c; c++)
        hash = 33 * hash + (unsigned char)*c;
    return hash;
}

/* NULL: the loader does not know us. */
static const struct link_map *ourselves(void)
{
    Dl_info unused;
    struct link_map *own = NULL;
    return dladdr1(rows, &unused, (void **)&own, RTLD_DL_LINKMAP) ? own : NULL;
}

const Elf64_Sym *pct_real_symbol(const char *name, const struct link_map **object)
{
    const struct link_map *own = ourselves();
    const uint32_t hash = hash_of(name);
    const Elf64_Sym *found = NULL;
    *object = NULL;
    for (const struct link_map *at = own ? own->l_next : NULL; at && !found; at = at->l_next) {
        *object = at;
        found = symbol_in(at, name, hash);
    }
    return found;
}

bool pct_real_is_replaced(const char *name)
{
    const struct link_map *own = ourselves();
    const uint32_t hash = hash_of(name);
    for (const struct link_map *at = own ? own->l_prev : NULL; at; at = at->l_prev)
        if (symbol_in(at, name, hash))
            return true;
    return false;
}

/* The loader's own functions, which find all others: without them. */
static void *find(const char *name)
{
    const struct link_map *object;
    const Elf64_Sym *symbol = pct_real_symbol(name, &object);
    return symbol ? (void *)(object->l_addr + symbol->st_value) : NULL;
}

#define ROW_OF(name) (offsetof(struct pct_real, name) / sizeof(void *))

PCT_STARTS void pct_real_resolve(unsigned row)
{
    const struct link_map *unused;
    void **real = &((void **)&pct_real)[row];
    if (row == ROW_OF(dlsym) || row == ROW_OF(dlvsym)) {
        *real = find(rows[row].name);
        return;
    }
    /* The loader would say so, too, but allocate memory for its answer, and shift what the program allocates; and take
     * ten times as long. */
    if (!rows[row].version[0] && !pct_real_symbol(rows[row].name, &unused))
        return;
    /* GLIBC: before 2.36, dlsym(RTLD_NEXT) gives the oldest of several versions. */
    void *at = rows[row].version[0] ? REAL(dlvsym)(RTLD_NEXT, rows[row].name, rows[row].version) : NULL;
    *real = at ? at : REAL(dlsym)(RTLD_NEXT, rows[row].name);
}

void pct_real_resolve_all(void)
{
    static bool done;
    if (done)
        return;
    done = true;
    for (unsigned row = 0; row < sizeof rows / sizeof *rows; row++)
        if (!((void **)&pct_real)[row])
            pct_real_resolve(row);
}

int pct_libc_minor(void)
{
    static int known; /* -1: it is no 2.x; 0: not asked for yet */
    if (known)
        return known > 0 ? known : INT_MAX;
    const char *version = gnu_get_libc_version();
    int minor = version[0] == '2' && version[1] == '.' ? 0 : -1;
    for (version += 2; minor >= 0 && *version >= '0' && *version <= '9'; version++)
        minor = 10 * minor + *version - '0';
    known = minor;
    return minor > 0 ? minor : INT_MAX;
}
