/* The script of a run: see script.h. */
#include "script.h"
#include "end.h"
#include <preload/core/kernel.h>
#include <preload/core/shim.h>
#include <preload/core/sys.h>
#include <common/script.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>

static bool look(uint32_t id, struct pct_script_look *out)
{
    if (id >= pct_S.threads)
        return false;
    const struct pct_shim_thread *t = &pct_shim.slots[id];
    const struct pct_object *object = t->core.wait.object;
    *out = (struct pct_script_look){ .op = (uint8_t)t->core.wait.op,
                                     .place = t->core.site.call,
                                     .start = (uintptr_t)t->start,
                                     .holder = PCT_NO_THREAD,
                                     .finished = t->core.state == PCT_STATE_FINISHED,
                                     .ready = pct_state(&t->core) == PCT_STATE_ENABLED && !t->core.early,
                                     .deadline = t->core.wait.deadline != PCT_NEVER };
    if (object) {
        out->class_ = object->class_;
        out->number = object->number;
        out->address = object->class_ == PCT_CLASS_THREAD ? 0 : object->address;
        out->holder =
            object->class_ == PCT_CLASS_NONE || object->class_ == PCT_CLASS_THREAD ? PCT_NO_THREAD : object->holder;
    }
    if (!out->ready && out->holder == PCT_NO_THREAD && pct_S.host->holder)
        out->holder = pct_S.host->holder(&t->core);
    return true;
}

static void name(uint32_t id, char out[16])
{
    memset(out, 0, 16);
    if (id < pct_S.threads)
        pct_end_read_name(pct_shim.slots[id].tid, out);
}

/* By the kernel, for which a wrong address is no fault. */
static bool read_bytes(uint64_t address, void *bytes, size_t size)
{
    struct iovec here = { bytes, size }, there = { (void *)address, size };
    return PCT_SYS6(SYS_process_vm_readv, pct_any_tid(), &here, 1, &there, 1, 0) == (long)size;
}

static const struct pct_script_host host = { .look = look, .name = name, .read = read_bytes };

const struct pct_script_engine *pct_script_open(const char *path)
{
    struct pct_script_channel head = { .magic = "" };
    struct stat status = { .st_size = 0 };
    if (!path || !pct_script_engine_open)
        return NULL;
    long fd = PCT_SYS3(SYS_open, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
    if (fd < 0 || PCT_SYS3(SYS_read, fd, &head, sizeof head) != sizeof head || PCT_SYS2(SYS_fstat, fd, &status) ||
        memcmp(head.magic, PCT_SCRIPT_MAGIC, 8) != 0 || head.version != PCT_SCRIPT_VERSION)
        return NULL; /* the command finds that it never began */
    long at = PCT_SYS6(SYS_mmap, NULL, status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    PCT_SYS1(SYS_close, fd);
    if (at < 0 && at > -4096)
        pct_fail_for_memory();
    struct pct_script_channel *channel = (void *)at;
    return channel->began++ ? NULL : pct_script_engine_open(&host, channel);
}
