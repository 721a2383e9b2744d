/* Looking up the real functions: see real.h. The main thread does it as it goes, as most programs need a few of them; when
 * a second thread is about to exist, all the others are looked up at once, because from then on the loader's lock, which
 * dlvsym takes, may be held by a parked thread. */
#include "shim.h"
#include <dlfcn.h>

/* In .data, so that .bss stays small: see pct_page (shim.c). */
struct pct_real pct_real __attribute__((section(".data")));

/* Arrays, not pointers: the loader has nothing to relocate. */
static const struct {
    char name[36], version[12];
} rows[] = {
#define ROW(name, version, family, point, note) { #name, version },
#include "intercepts.def"
#undef ROW
};

PCT_STARTS void pct_real_resolve(unsigned row)
{
    /* GLIBC: before 2.36, dlsym(RTLD_NEXT) gives the oldest of several versions. */
    void *at = rows[row].version[0] ? dlvsym(RTLD_NEXT, rows[row].name, rows[row].version) : NULL;
    if (!at)
        at = dlsym(RTLD_NEXT, rows[row].name);
    ((void **)&pct_real)[row] = at;
}

void pct_real_resolve_all(void)
{
    for (unsigned row = 0; row < sizeof rows / sizeof *rows; row++)
        if (!((void **)&pct_real)[row])
            pct_real_resolve(row);
}
