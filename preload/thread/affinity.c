/* Which CPUs there are. The target is pinned to one (start.c), but shall size its thread pools as it would without us:
 * it sees the CPUs that it had at the start, and what it sets is remembered and shown again, not done. */
#include "affinity.h"
#include <preload/core/host.h>
#include <preload/core/host_threads.h>
#include <preload/core/point.h>
#include <preload/core/sys.h>
#include <preload/memory/channel.h>
#include <preload/core/user_memory.h>
#include "thread.h"
#include <preload/time/clock.h>
#include <string.h>

static struct {
    unsigned long bits[1024 / (8 * sizeof(unsigned long))];
    size_t size; /* bytes that the kernel filled; 0: not pinned, so nothing is hidden */
} cpus;

PCT_OF_START static const char *choice; /* PCT_CPU */

void pct_affinity_start(const char *cpu)
{
    choice = cpu;
}

static unsigned chosen_cpu(void)
{
    unsigned cpu = 0;
    for (const char *c = choice; *c >= '0' && *c <= '9'; c++)
        cpu = 10 * cpu + (unsigned)(*c - '0');
    return cpu;
}

static long kept; /* bytes of cpus.bits that a fork server had at first */

void pct_affinity_wait_there(void)
{
    unsigned long mask[sizeof cpus.bits / sizeof *cpus.bits] = { 0 };
    unsigned cpu = choice && *choice >= '0' && *choice <= '9' ? chosen_cpu() : 1024;
    kept = PCT_SYS3(SYS_sched_getaffinity, 0, sizeof cpus.bits, cpus.bits);
    if (cpu >= 1024 || kept <= 0)
        return;
    mask[cpu / 64] = 1ul << cpu % 64;
    PCT_SYS3(SYS_sched_setaffinity, 0, sizeof mask, mask);
}

void pct_affinity_go_free(void)
{
    if (kept > 0)
        PCT_SYS3(SYS_sched_setaffinity, 0, kept, cpus.bits);
}

/* The second thread is about to exist. Now is early enough: libc asks how many CPUs there are when it makes a second
 * thread's malloc arena. */
void pct_affinity_pin(void)
{
    static bool done;
    unsigned cpu = 0;
    if (done || pct_shim.mode != PCT_MODE_CONTROLLED || (choice && !strcmp(choice, "any")))
        return;
    done = true;
    long size = pct_host_cpus(cpus.bits, &cpu);
    if (size > 0) {
        cpus.size = (size_t)size;
        pct_shim.cpu = cpu;
        pct_shim.one_cpu = true;
        return;
    }
    size = PCT_SYS3(SYS_sched_getaffinity, 0, sizeof cpus.bits, cpus.bits);
    if (size <= 0)
        return;
    if (choice)
        cpu = chosen_cpu();
    else
        PCT_SYS3(SYS_getcpu, &cpu, NULL, NULL);
    cpus.size = (size_t)size;
    pct_shim.cpu = cpu;
    pct_thread_pin();
    if (!pct_shim.one_cpu)
        cpus.size = 0;
    else
        pct_host_pinned(cpu);
}

/* Pin the calling thread. */
void pct_thread_pin(void)
{
    unsigned long mask[1024 / (8 * sizeof(unsigned long))] = { 0 };
    if (!cpus.size || pct_shim.cpu >= 1024)
        return;
    if (pct_host_contexts && pct_shim.one_cpu) /* all are one kernel thread */
        return;
    mask[pct_shim.cpu / 64] = 1ul << pct_shim.cpu % 64;
    pct_shim.one_cpu = !PCT_SYS3(SYS_sched_setaffinity, 0, sizeof mask, mask);
}

void pct_affinity_unpin(int32_t tid)
{
    if (cpus.size)
        PCT_SYS3(SYS_sched_setaffinity, tid, cpus.size, cpus.bits);
}

/* The thread of ours with this kernel id (0: the caller; the process's own id: the first thread), or NULL: then it is
 * the system's business. */
static struct pct_shim_thread *thread_of(pid_t tid)
{
    if (!cpus.size)
        return NULL;
    if (!tid)
        return pct_self;
    for (uint32_t id = 0; id < pct_sched_threads(&pct_S); id++)
        if (pct_shim.slots[id].tid == tid && pct_shim.slots[id].core.state != PCT_STATE_FINISHED)
            return &pct_shim.slots[id];
    return NULL;
}

static const unsigned long *mask_of(const struct pct_shim_thread *thread)
{
    return thread->cpus_set ? thread->cpus : cpus.bits;
}

static int remember(struct pct_shim_thread *thread, size_t size, const cpu_set_t *set)
{
    unsigned long mask[sizeof thread->cpus / sizeof *thread->cpus] = { 0 }, some = 0;
    if (!pct_user_copy_in(mask, set, size < cpus.size ? size : cpus.size))
        return EFAULT;
    for (size_t i = 0; i < sizeof mask / sizeof *mask; i++)
        some |= mask[i] &= cpus.bits[i];
    if (!some)
        return EINVAL;
    memcpy(thread->cpus, mask, sizeof mask);
    thread->cpus_set = true;
    return 0;
}

/* A new thread has its creator's mask, or that of its attributes. */
void pct_affinity_inherit(struct pct_shim_thread *thread, const pthread_attr_t *attr)
{
    const struct pct_shim_thread *creator = pct_self;
    thread->cpus_set = creator && creator->cpus_set;
    if (thread->cpus_set)
        memcpy(thread->cpus, creator->cpus, sizeof thread->cpus);
    unsigned long mask[sizeof thread->cpus / sizeof *thread->cpus] = { 0 };
    /* GLIBC: without a mask of its own, an attribute object answers that all bits are set. */
    if (attr && cpus.size && !pthread_attr_getaffinity_np(attr, sizeof mask, (cpu_set_t *)mask) &&
        ~mask[sizeof mask / sizeof *mask - 1])
        remember(thread, sizeof mask, (cpu_set_t *)mask);
}

static int show(const struct pct_shim_thread *thread, size_t size, cpu_set_t *set)
{
    if (size < cpus.size)
        return EINVAL;
    if (!pct_user_copy_out(set, mask_of(thread), cpus.size))
        return EFAULT;
    memset((char *)set + cpus.size, 0, size - cpus.size);
    return 0;
}

static int as_libc(int error)
{
    if (!error)
        return 0;
    errno = error;
    return -1;
}

PCT_EXPORT int sched_getaffinity(pid_t tid, size_t size, cpu_set_t *set)
{
    pct_explored_hidden(PCT_KEY_KERNEL, true);
    pct_explored_asks_number(tid);
    struct pct_shim_thread *thread = thread_of(tid);
    return thread ? as_libc(show(thread, size, set)) : REAL(sched_getaffinity)(tid, size, set);
}

PCT_EXPORT int sched_setaffinity(pid_t tid, size_t size, const cpu_set_t *set)
{
    pct_explored_hidden(PCT_KEY_KERNEL, false);
    pct_explored_asks_number(tid);
    struct pct_shim_thread *thread = thread_of(tid);
    return thread ? as_libc(remember(thread, size, set)) : REAL(sched_setaffinity)(tid, size, set);
}

static struct pct_shim_thread *thread_by(pthread_t handle)
{
    if (!cpus.size)
        return NULL;
    return pct_self && pct_self->handle == handle ? pct_self : pct_thread_find(handle);
}

PCT_EXPORT int pthread_getaffinity_np(pthread_t handle, size_t size, cpu_set_t *set)
{
    pct_explored_hidden(PCT_KEY_KERNEL, true);
    pct_explored_asks(handle);
    struct pct_shim_thread *thread = thread_by(handle);
    return thread ? show(thread, size, set) : REAL(pthread_getaffinity_np)(handle, size, set);
}

PCT_EXPORT int pthread_setaffinity_np(pthread_t handle, size_t size, const cpu_set_t *set)
{
    pct_explored_hidden(PCT_KEY_KERNEL, false);
    pct_explored_asks(handle);
    struct pct_shim_thread *thread = thread_by(handle);
    return thread ? remember(thread, size, set) : REAL(pthread_setaffinity_np)(handle, size, set);
}

/* The attributes of a running thread tell its mask, too, and the guard of its stack. */
PCT_EXPORT int pthread_getattr_np(pthread_t handle, pthread_attr_t *attr)
{
    pct_explored_hidden(PCT_KEY_KERNEL, true);
    pct_explored_asks(handle);
    int error = REAL(pthread_getattr_np)(handle, attr);
    const struct pct_shim_thread *thread = error ? NULL : thread_by(handle);
    if (!thread)
        return error;
    if (thread->guard_pages)
        pthread_attr_setguardsize(attr, (size_t)thread->guard_pages << 12);
    error = pthread_attr_setaffinity_np(attr, cpus.size, (const cpu_set_t *)mask_of(thread));
    if (error)
        pthread_attr_destroy(attr);
    return error;
}

/* The CPU that the calling thread would be on: the first of its own. */
static int own_cpu(void)
{
    const unsigned long *mask = pct_self ? mask_of(pct_self) : cpus.bits;
    for (int i = 0; i < 1024; i++)
        if (mask[i / 64] >> (i % 64) & 1)
            return i;
    return 0;
}

PCT_EXPORT int sched_getcpu(void)
{
    PCT_ENTER(self);
    if (self)
        pct_read_may_spin(self);
    return cpus.size ? own_cpu() : REAL(sched_getcpu)();
}

PCT_EXPORT int getcpu(unsigned *cpu, unsigned *node)
{
    PCT_ENTER(self);
    if (self)
        pct_read_may_spin(self);
    int failed = REAL(getcpu)(cpu, node);
    if (!failed && cpu && cpus.size)
        *cpu = (unsigned)own_cpu();
    return failed;
}
