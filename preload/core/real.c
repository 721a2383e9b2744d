/* Looking up the real functions: see real.h. The main thread does it as it goes, as most programs need a few of them; when
 * a second thread is about to exist, all the others are looked up at once, because from then on the loader's lock, which
 * dlvsym takes, may be held by a parked thread. */
#include "shim.h"
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>

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

/* The value of this entry of an object's dynamic section, 0: none. GLIBC: the loader has made addresses of them, but for the
 * vDSO. */
static uintptr_t dynamic(const struct link_map *object, Elf64_Sxword tag)
{
    for (const Elf64_Dyn *entry = object->l_ld; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == tag)
            return entry->d_un.d_ptr < object->l_addr ? entry->d_un.d_ptr + object->l_addr : entry->d_un.d_ptr;
    return 0;
}

/* Whether an object defines this symbol, by its GNU hash table. */
static bool defines(const struct link_map *object, const char *name, uint32_t hash)
{
    const uint32_t *table = (const uint32_t *)dynamic(object, DT_GNU_HASH);
    const Elf64_Sym *symbols = (const Elf64_Sym *)dynamic(object, DT_SYMTAB);
    const char *strings = (const char *)dynamic(object, DT_STRTAB);
    if (!table || !symbols || !strings || !table[0])
        return false;
    uint32_t bucket_count = table[0], first = table[1], words = table[2], shift = table[3];
    const Elf64_Addr *bloom = (const Elf64_Addr *)(table + 4);
    const uint32_t *buckets = (const uint32_t *)(bloom + words), *chains = buckets + bucket_count;
    enum { BITS = 8 * sizeof *bloom };
    Elf64_Addr word = bloom[hash / BITS % words];
    if (!(word >> hash % BITS & 1) || !(word >> (hash >> shift) % BITS & 1))
        return false;
    uint32_t at = buckets[hash % bucket_count];
    if (at < first)
        return false;
    for (;; at++) {
        uint32_t chain = chains[at - first];
        if ((chain | 1) == (hash | 1) && symbols[at].st_shndx != SHN_UNDEF &&
            !strcmp(strings + symbols[at].st_name, name))
            return true;
        if (chain & 1)
            return false;
    }
}

/* Whether anybody but us has this function. The loader would say so, too, but allocate memory for its answer, and shift what
 * the program allocates; and take ten times as long. While there is one thread. */
static bool is_there(const char *name)
{
    uint32_t hash = 5381;
    for (const char *c = name; *c; c++)
        hash = 33 * hash + (unsigned char)*c;
    Dl_info unused;
    struct link_map *own = NULL;
    if (!dladdr1(rows, &unused, (void **)&own, RTLD_DL_LINKMAP) || !own)
        return true; /* ask the loader */
    const struct link_map *object = own;
    while (object->l_prev)
        object = object->l_prev;
    for (; object; object = object->l_next)
        if (object != own && defines(object, name, hash))
            return true;
    return false;
}

PCT_STARTS void pct_real_resolve(unsigned row)
{
    /* GLIBC: before 2.36, dlsym(RTLD_NEXT) gives the oldest of several versions. */
    if (!rows[row].version[0] && !is_there(rows[row].name))
        return;
    void *at = rows[row].version[0] ? dlvsym(RTLD_NEXT, rows[row].name, rows[row].version) : NULL;
    if (!at)
        at = dlsym(RTLD_NEXT, rows[row].name);
    ((void **)&pct_real)[row] = at;
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
