/* A scheduler with hand-made records, for the tests of the race detector and of what counts. */
#ifndef PCT_TESTS_RACES_SETUP_H
#define PCT_TESTS_RACES_SETUP_H

#include <sched/memory.h>
#include <sched/races.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
// cmocka wants these before it.
#include <cmocka.h>

static void *map(size_t size)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static struct pct_thread threads[8];
static struct pct_thread *thread_at(uint32_t id)
{
    return &threads[id];
}

static const struct pct_host host = { .map = map };
static uint64_t records[1000];
static struct pct_sched s;
static struct pct_races *r;
static _Alignas(16) char memory[64];
static const uintptr_t X = (uintptr_t)memory, Y = (uintptr_t)memory + 16;

enum { WRITE = 1, ATOMIC = 2 };

/* Thread 0 has made the threads 1 and 2. */
static int setup(void **unused)
{
    (void)unused;
    memset(&s, 0, sizeof s);
    memset(threads, 0, sizeof threads);
    s.host = &host;
    s.thread_at = thread_at;
    s.records = s.record = s.block = records;
    r = pct_races_start(&s);
    assert_non_null(r);
    for (uint32_t i = 0; i < 8; i++) {
        threads[i].id = i;
        threads[i].stamp = PCT_RECORD(i, 0, 0, 0);
    }
    pct_record(&s, &threads[0], PCT_OP_THREAD_CREATE, 0, 1);
    pct_record(&s, &threads[0], PCT_OP_THREAD_CREATE, 0, 2);
    return 0;
}

static inline const struct pct_snap_race *touch_at(uint32_t thread, uintptr_t at, size_t size, unsigned kind,
                                                   uintptr_t pc)
{
    const unsigned what = PCT_ACCESS_KNOWN | PCT_ACCESS_TOLD | (kind & WRITE ? PCT_ACCESS_WRITE : 0) |
                          (kind & ATOMIC ? 0 : PCT_ACCESS_PLAIN);
    return pct_races_access(r, &(struct pct_access){ at, size, pc, UINT64_MAX, thread, what });
}

/* The place in the code is another one for each thread and kind of access, so that each race is a new one. */
static inline const struct pct_snap_race *touch(uint32_t thread, uintptr_t at, size_t size, unsigned kind)
{
    static uintptr_t pc = 1000;
    return touch_at(thread, at, size, kind, pc++);
}

#endif
