/* Keys behind ours: see keys.h.
 *
 * GLIBC: __nptl_deallocate_tsd goes through all keys, in order of their numbers, and does so up to four times, as long
 * as a destructor has set a value. Ours is number 31. In the first three rounds the thread is still under control when
 * libc comes to the later keys. */
#include "keys.h"
#include <preload/core/real.h>
#include <stdbool.h>

/* GLIBC: an entry of __pthread_keys. */
struct key {
    uintptr_t sequence; /* odd: in use */
    void (*destructor)(void *);
};
enum { FIRST_LATER = 32, PAGE = 4096 };

static const volatile struct key *keys; /* PTHREAD_KEYS_MAX; NULL: not found */

void pct_keys_find(void)
{
    const struct link_map *object;
    const Elf64_Sym *symbol = keys ? NULL : pct_real_symbol("__pthread_keys", &object);
    if (!symbol || symbol->st_size != PTHREAD_KEYS_MAX * sizeof *keys)
        return;
    keys = (const struct key *)(object->l_addr + symbol->st_value);
    /* Runs that are forked have the pages that their server has read. */
    for (pthread_key_t number = FIRST_LATER; number < PTHREAD_KEYS_MAX; number += PAGE / sizeof *keys)
        (void)keys[number].sequence;
}

void pct_keys_end(void)
{
    bool called = false;
    if (!keys)
        return;
    for (pthread_key_t number = FIRST_LATER; number < PTHREAD_KEYS_MAX; number++) {
        void *value = keys[number].sequence & 1 ? pthread_getspecific(number) : NULL;
        if (!value)
            continue;
        pthread_setspecific(number, NULL);
        void (*destructor)(void *) = keys[number].destructor;
        if (destructor)
            destructor(value);
        called = true;
    }
    /* Values that were set meanwhile stay behind, as this was the last round: libc, which comes to them now, must not
     * know. */
    for (pthread_key_t number = FIRST_LATER; called && number < PTHREAD_KEYS_MAX; number++)
        if (keys[number].sequence & 1 && pthread_getspecific(number))
            pthread_setspecific(number, NULL);
}
