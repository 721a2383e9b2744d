/* The channel of an explored run: see channel.h. */
#include "channel.h"
#include "memory.h"
#include <preload/core/host.h>
#include <preload/core/host_stacks.h>
#include <preload/core/kernel.h>
#include <preload/core/maps.h>
#include <preload/core/point.h>
#include <preload/core/sys.h>
#include <sched/log.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

void pct_channel_open(const char *path)
{
    struct pct_channel head = { .magic = "" };
    if (!path)
        return;
    long fd = pct_host_sys4(SYS_open, (long)path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0, 0);
    if (fd < 0 || pct_host_sys4(SYS_read, fd, (long)&head, sizeof head, 0) != sizeof head ||
        memcmp(head.magic, PCT_CHANNEL_MAGIC, 8) != 0 || head.version != PCT_CHANNEL_VERSION)
        return; /* the command finds no log */
    const long arguments[] = {
        0, (long)pct_channel_size(head.plan_max, head.log_max), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0
    };
    const long at = pct_host_stacks_call(SYS_mmap, arguments);
    pct_host_sys4(SYS_close, fd, 0, 0, 0);
    if (at < 0 && at > -4096)
        pct_fail_for_memory();
    struct pct_channel *channel = (void *)at;
    if (!channel->began++)
        pct_log_start(&pct_S, channel);
}

PCT_EXPORT uint32_t pct_explored_thread(void)
{
    return pct_sched_log(&pct_S) && pct_self ? pct_self->core.id : 0;
}

PCT_EXPORT bool pct_explored_not(void)
{
    return pct_shim.mode != PCT_MODE_OFF && !pct_sched_log(&pct_S);
}

PCT_EXPORT void pct_explored_fresh(const volatile void *block, size_t size)
{
    if (pct_sched_log(&pct_S) && pct_memory_view.active)
        pct_memory_fresh(block, size);
}

/* Whoever gives a block up writes all of it, for those who still use it. */
PCT_EXPORT void pct_explored_gone(const volatile void *block, size_t size, bool told)
{
    if (!pct_sched_log(&pct_S) || !pct_memory_view.active || (!told && pct_shim.config.memory == PCT_PATCH_OFF) ||
        pct_sched_threads(&pct_S) < 2 || !pct_enter())
        return;
    pct_log_freed(&pct_S, (uintptr_t)block, size ? size : 1, told || pct_shim.config.memory >= PCT_PATCH_ALL);
}

PCT_EXPORT void pct_explored_hidden(uint64_t key, bool read)
{
    if (pct_sched_log(&pct_S) && pct_enter())
        pct_log_hidden(&pct_S, key, read);
}

PCT_EXPORT void pct_explored_doubt(enum pct_doubt doubt)
{
    if (pct_sched_log(&pct_S) && pct_enter())
        pct_log_doubt(&pct_S, doubt);
}

PCT_EXPORT void pct_explored_outside(void)
{
    if (pct_sched_log(&pct_S) && pct_enter())
        pct_log_assumption(&pct_S, PCT_ASSUMES_OUTSIDE);
}

/* Of itself a thread asks before its end. */
static void asks(const struct pct_shim_thread *thread)
{
    if (thread && thread != pct_self)
        pct_log_hidden(&pct_S, PCT_KEY_ENDED | thread->core.id, true);
}

PCT_EXPORT void pct_explored_asks(uintptr_t handle)
{
    if (!pct_sched_log(&pct_S) || !pct_enter())
        return;
    const struct pct_object *object = pct_object_known(&pct_S.objects, (void *)handle, PCT_CLASS_THREAD);
    asks(object ? &pct_shim.slots[object->model[0]] : NULL);
}

PCT_EXPORT void pct_explored_asks_number(int number)
{
    const bool told = pct_sched_log(&pct_S) && pct_enter();
    for (uint32_t id = 0; told && id < pct_sched_threads(&pct_S); id++)
        if (number && pct_shim.slots[id].tid == number)
            asks(&pct_shim.slots[id]);
}

PCT_EXPORT void pct_explored_asks_clock(int clock)
{
    enum { KIND = 7, OF_THREAD = 6 };
    if (clock < 0 && ((unsigned)clock & KIND) == OF_THREAD) /* the kernel's linux/posix-timers.h */
        pct_explored_asks_number(~clock >> 3);
}

/* Whether these show the same bytes, and one of them changes what the other shows. */
static bool are_alike(const struct pct_mapping *a, const struct pct_mapping *b)
{
    return a->file && a->device == b->device && a->inode == b->inode && a->offset < b->offset + (b->to - b->from) &&
           b->offset < a->offset + (a->to - a->from) && ((a->shared && a->writable) || (b->shared && b->writable));
}

PCT_EXPORT void pct_explored_mapped(const volatile void *at, uintptr_t pc)
{
    struct pct_mapping here, each;
    struct pct_maps maps;
    if (!pct_running() || !pct_sched_log(&pct_S) || !pct_maps_find(at, &here, NULL, 0) || !pct_maps_open(&maps))
        return;
    while (pct_maps_next(&maps, &each, NULL, 0))
        if (each.from != here.from && are_alike(&here, &each))
            pct_log_doubt_at(&pct_S, PCT_DOUBT_ALIAS, pc);
    pct_maps_close(&maps);
}

PCT_EXPORT void pct_explored_output(void)
{
    if (pct_sched_log(&pct_S) && pct_sched_log(&pct_S)->output)
        pct_explored_hidden(PCT_KEY_KERNEL, false);
}
