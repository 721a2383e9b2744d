/* The loader's list of modules. Who goes through it holds a lock of the loader's, for which others wait where pct does not see it:
 * they load, unload, throw. So the thread keeps the baton meanwhile, as natively nobody could take its place at the list.
 *
 * LeakSanitizer stops the world from within such a call, at the end of the program or when it is asked to: it yields until a
 * process of its own has looked at all threads, stopped, as often as the machine happens to take. Those yields let nobody go
 * first, and are no steps. */
#include "loader.h"
#include "order.h"

static const char lock; /* the loader's, to the race detector */

PCT_EXPORT int dl_iterate_phdr(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data)
{
    struct pct_shim_thread *self = pct_holder();
    if (!self || pct_loader_is_held(self))
        return REAL(dl_iterate_phdr)(callback, data);
    struct pct_thread *pinned = pct_S.pinned;
    pct_S.pinned = &self->core;
    self->loader = __builtin_frame_address(0);
    pct_order_at(self, &lock, PCT_ACQUIRES);
    int result = MAY_SLEEP(self, REAL(dl_iterate_phdr)(callback, data));
    pct_order_at(self, &lock, PCT_RELEASES);
    self->loader = NULL;
    if (pct_S.pinned == &self->core)
        pct_S.pinned = pinned;
    return result;
}
