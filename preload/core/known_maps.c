/* The memory map as it was: see known_maps.h. */
#include "known_maps.h"
#include "kernel.h"
#include "maps.h"
#include "real.h"
#include "shim.h"
#include "sys.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>

enum { TEXT_MOST = 1 << 16, FILES_MOST = 256 };

static struct {
    const struct r_debug *loader; /* its list of modules */
    uint64_t modules;             /* a hash of that */
    char *text;
    size_t size; /* 0: not known */
    struct {
        uintptr_t from, to;
    } files[FILES_MOST]; /* what is mapped of files */
    size_t count;
} known;

/* 0: the list is being changed. */
static uint64_t modules(void)
{
    uint64_t hash = 1;
    if (known.loader->r_state != RT_CONSISTENT)
        return 0;
    for (const struct link_map *m = known.loader->r_map; m; m = m->l_next)
        hash = (hash ^ m->l_addr ^ (uintptr_t)m->l_ld << 1) * UINT64_C(0x9e3779b97f4a7c15) + 1;
    return hash;
}

static size_t read_text(void)
{
    size_t size = 0;
    long got = 1;
    const long fd = PCT_SYS3(SYS_open, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    while (fd >= 0 && got > 0 && size < TEXT_MOST) {
        got = PCT_SYS3(SYS_read, fd, known.text + size, TEXT_MOST - size);
        size += got > 0 ? (size_t)got : 0;
    }
    PCT_SYS1(SYS_close, fd);
    return got == 0 ? size : 0;
}

static bool find_files(void)
{
    struct pct_maps maps;
    struct pct_mapping each;
    if (!pct_maps_open(&maps))
        return false;
    bool fits = true;
    while (fits && pct_maps_next(&maps, &each, NULL, 0)) {
        if (!each.file)
            continue;
        fits = known.count < FILES_MOST;
        if (fits) {
            known.files[known.count].from = each.from;
            known.files[known.count++].to = each.to;
        }
    }
    pct_maps_close(&maps);
    return fits;
}

void pct_known_maps_take(void)
{
    /* Not by its name: libpct.so would depend on the loader's library. */
    known.loader = REAL(dlsym)(RTLD_DEFAULT, "_r_debug");
    known.text = pct_map(TEXT_MOST);
    if (!known.loader || !known.text || !find_files())
        return;
    known.modules = modules();
    known.size = known.modules ? read_text() : 0;
}

/* In which of the files this address is; count: in none. */
static size_t file_of(uint64_t address)
{
    size_t at = 0;
    while (at < known.count && (address < known.files[at].from || address >= known.files[at].to))
        at++;
    return at;
}

const char *pct_known_maps(size_t *size)
{
    uintptr_t from = 0, to = 0; /* most places are in the file of the one before them */
    if (!known.size || !pct_sched_sites(&pct_S) || modules() != known.modules)
        return NULL;
    for (uint64_t i = pct_shim.header->first; i < pct_sched_sited(&pct_S); i++) {
        const uint64_t call = pct_sched_sites(&pct_S)[i].call;
        if (!call || (call >= from && call < to))
            continue;
        const size_t file = file_of(call);
        if (file == known.count)
            return NULL;
        from = known.files[file].from;
        to = known.files[file].to;
    }
    *size = known.size;
    return known.text;
}
