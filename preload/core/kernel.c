/* What the shim gets from the kernel for itself: see kernel.h. */
#include "kernel.h"
#include "apart.h"
#include "child_file.h"
#include "real.h"
#include "shim.h"
#include "sys.h"
#include <common/text.h>
#include <pct/trace.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

static struct timespec started;

/* A raw clock, unless a sandbox leaves only libc's, which asks the vDSO. */
static struct timespec read_clock(void)
{
    struct timespec t = { 0 };
    if (PCT_SYS2(SYS_clock_gettime, CLOCK_MONOTONIC, &t))
        REAL(clock_gettime)(CLOCK_MONOTONIC, &t);
    return t;
}

uint64_t pct_real_now(void)
{
    struct timespec t = read_clock();
    return (uint64_t)((t.tv_sec - started.tv_sec) * 1000000000L + (t.tv_nsec - started.tv_nsec));
}

/* What is mapped for later pieces, and not used yet. */
static struct room {
    char *at;
    size_t left;
} pool, ahead;

void pct_map_ahead(void)
{
    enum { AHEAD = 64 << 20 };
    ahead.at = pct_apart_map(AHEAD);
    ahead.left = ahead.at ? AHEAD : 0;
}

static void *map_large(size_t size)
{
    if (size > ahead.left)
        return pct_apart_map(size);
    ahead.left -= size;
    ahead.at += size;
    return ahead.at - size;
}

/* Small pieces come from one mapping, which costs one system call; address space, not memory. Apart from the target's:
 * how much is needed depends on the strategy and on whether this is a replay, and the target's addresses must not. */
void *pct_map(size_t size)
{
    enum { POOL = 4 << 20 };
    size = (size + 63) & ~(size_t)63;
    if (size > POOL / 2)
        return map_large((size + 4095) & ~(size_t)4095);
    if (size > pool.left) {
        pool.at = map_large(POOL);
        pool.left = pool.at ? POOL : 0;
    }
    if (size > pool.left)
        return NULL;
    pool.left -= size;
    pool.at += size;
    return pool.at - size;
}

bool pct_populate(void *at, size_t size)
{
    /* A write to a page that the file system has no room for would be a SIGBUS; this says so instead (Linux 5.14). */
    uintptr_t page = (uintptr_t)at & ~(uintptr_t)4095;
    long failed = PCT_SYS3(SYS_madvise, page, (uintptr_t)at + size - page, 23 /* MADV_POPULATE_WRITE */);
    /* In a sandbox that forbids the question there mostly is room. */
    return !failed || pct_refused(failed);
}

void pct_real_start(void)
{
    started = read_clock();
}

void pct_real_shift(uint64_t now)
{
    const uint64_t by = pct_real_now() - now;
    started.tv_sec += (time_t)(by / 1000000000);
    started.tv_nsec += (long)(by % 1000000000);
}

PCT_STARTS uint64_t pct_address_space(void)
{
    struct rlimit limit = { .rlim_cur = RLIM_INFINITY };
    PCT_SYS4(SYS_prlimit64, 0, RLIMIT_AS, NULL, &limit);
    return limit.rlim_cur;
}

uint64_t pct_address_space_used(void)
{
    char text[64] = "";
    long fd = PCT_SYS3(SYS_open, "/proc/self/statm", O_RDONLY | O_CLOEXEC, 0);
    if (fd >= 0) {
        PCT_SYS3(SYS_read, fd, text, sizeof text - 1);
        PCT_SYS1(SYS_close, fd);
    }
    uint64_t pages = 0;
    for (const char *c = text; *c >= '0' && *c <= '9'; c++)
        pages = pages * 10 + (uint64_t)(*c - '0');
    return pages * 4096;
}

int pct_any_tid(void)
{
    return pct_self ? pct_self->tid : (int)PCT_SYS0(SYS_gettid);
}

int pct_tid(void)
{
    /* From where libc has it: no system call, which a sandbox may forbid. */
    if (pct_shim.libc_tid)
        return *(const int *)((const char *)pthread_self() + pct_shim.libc_tid);
    return (int)PCT_SYS0(SYS_gettid);
}

static uint64_t error_device, error_inode; /* 0: there is none */

void pct_error_note(void)
{
    struct stat now;
    bool there = !PCT_SYS2(SYS_fstat, 2, &now);
    error_device = there ? now.st_dev : 0;
    error_inode = there ? now.st_ino : 0;
}

bool pct_error_is_there(void)
{
    struct stat now;
    long failed = PCT_SYS2(SYS_fstat, 2, &now);
    if (failed)
        return pct_refused(failed);
    return now.st_dev == error_device && now.st_ino == error_inode;
}

bool pct_in_valgrind(void)
{
    uint64_t question[6] = { 0x1001 /* RUNNING_ON_VALGRIND */ }, answer = 0;
    __asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi; xchgq %%rbx, %%rbx"
                     : "+d"(answer)
                     : "a"(question)
                     : "cc", "memory", "rdi");
    return answer;
}

void pct_say(const char *line)
{
    char buffer[1400];
    struct pct_text text;
    if (pct_shim.quiet || (pct_shim.header && !pct_error_is_there()))
        return;
    pct_text_init(&text, buffer, sizeof buffer);
    pct_text_add(&text, "pct: ");
    pct_text_add(&text, line);
    pct_text_add(&text, "\n");
    PCT_SYS3(SYS_write, 2, buffer, text.length);
}

/* Nothing that the user asked for: pct itself has failed, not the target. */
void pct_fail_for_memory(void)
{
    static struct pct_trace_header none; /* of one whose run has not begun */
    struct pct_text text;
    pct_shim.quiet = false;
    pct_say("out of memory: libpct.so needs some for itself; ulimit -v, --memory-limit or, behind "
            "mlockall, ulimit -l may be too small for it");
    none.culprit = PCT_NO_THREAD;
    if (!pct_shim.header)
        pct_shim.header = &none;
    pct_text_init(&text, pct_shim.header->message, sizeof pct_shim.header->message);
    pct_text_add(&text, "out of memory");
    pct_shim.header->verdict = PCT_VERDICT_INTERNAL;
    if (pct_is_child())
        pct_child_file_leave();
    PCT_SYS1(SYS_exit_group, PCT_EXIT_INTERNAL);
    __builtin_unreachable();
}
