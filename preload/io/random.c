/* Random numbers that the target would get from the system: from the seed instead, so that a replay is one. Not for
 * keeping secrets: nobody runs a tested program for that. */
#include "io.h"
#include <pct/random.h>
#include <preload/core/real.h>
#include <preload/core/sys.h>
#include <preload/core/user_memory.h>
#include <sched/log.h>
#include <elf.h>
#include <errno.h>
#include <string.h>

static uint64_t draw(void)
{
    pct_log_hidden(&pct_S, PCT_KEY_RANDOM, false);
    return pct_random(pct_shim.config.run.seed, PCT_STREAM_TARGET,
                      __atomic_add_fetch(&pct_shim.randoms, 1, __ATOMIC_RELAXED));
}

static bool seeded(void)
{
    return pct_running() && pct_shim.mode == PCT_MODE_CONTROLLED;
}

static void fill(void *buffer, size_t size)
{
    for (size_t done = 0; done < size; done += 8) {
        uint64_t bits = draw();
        memcpy((char *)buffer + done, &bits, size - done < 8 ? size - done : 8);
    }
}

void pct_random_replace(int fd, const struct iovec *parts, size_t size)
{
    if (!pct_fd_is_random(fd) || !seeded())
        return;
    for (size_t length; size; size -= length, parts++) {
        length = parts->iov_len < size ? parts->iov_len : size;
        fill(parts->iov_base, length);
    }
}

static ssize_t given(void *buffer, ssize_t got)
{
    if (seeded() && got > 0)
        fill(buffer, (size_t)got);
    return got;
}

long pct_random_syscall(void *buffer, size_t size, unsigned flags)
{
    long result = PCT_SYS3(SYS_getrandom, buffer, size, flags);
    if (result >= 0)
        return given(buffer, result);
    errno = (int)-result;
    return -1;
}

PCT_STARTS void pct_random_begin(char **environment)
{
    enum { SIZE = 16, BYTE = 0x5a };
    while (*environment)
        environment++;
    for (const Elf64_auxv_t *entry = (const void *)(environment + 1); entry->a_type != AT_NULL; entry++)
        if (entry->a_type == AT_RANDOM) /* by single bytes: compilers would read all from another page */
            for (volatile uint8_t *byte = (void *)entry->a_un.a_val, *end = byte + SIZE; byte < end; byte++)
                *byte = BYTE;
}

PCT_EXPORT ssize_t getrandom(void *buffer, size_t size, unsigned flags)
{
    /* The kernel knows what is wrong with the arguments, and how much it would give. GLIBC: since 2.41 its own goes to
     * the vDSO, which writes to a bad pointer itself. */
    __asm__(""
            :
            : "r"(buffer)
            : "memory"); /* what is there is not read: compilers warn that it need not be anything yet */
    if (!pct_user_readable(buffer, size))
        return pct_random_syscall(buffer, size, flags);
    return given(buffer, REAL(getrandom)(buffer, size, flags));
}

PCT_EXPORT int getentropy(void *buffer, size_t size)
{
    int failed = REAL(getentropy)(buffer, size);
    if (seeded() && !failed)
        fill(buffer, size);
    return failed;
}

PCT_EXPORT uint32_t arc4random(void)
{
    return seeded() ? (uint32_t)draw() : REAL(arc4random)();
}

PCT_EXPORT void arc4random_buf(void *buffer, size_t size)
{
    if (seeded())
        fill(buffer, size);
    else
        REAL(arc4random_buf)(buffer, size);
}

PCT_EXPORT uint32_t arc4random_uniform(uint32_t bound)
{
    if (!seeded())
        return REAL(arc4random_uniform)(bound);
    return bound ? (uint32_t)(((unsigned __int128)draw() * bound) >> 64) : 0;
}

/* std::random_device: libstdc++'s takes rdrand, rdseed, arc4random() or a device, whatever there is. What is wrong with
 * it, it knows itself. */
PCT_EXPORT unsigned _ZNSt13random_device9_M_getvalEv(void *device)
{
    unsigned value = REAL(_ZNSt13random_device9_M_getvalEv)(device);
    return seeded() ? (unsigned)draw() : value;
}
