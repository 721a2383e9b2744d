/* What programs call themselves: <sanitizer/tsan_interface.h>, and the older annotations of the same meaning. */
#include "events.h"

static void order(const volatile void *address, unsigned what)
{
    if (PCT_WATCHED)
        pct_memory_order(address, what);
}

/* Where the program says that races do not matter, or that it knows of one: also before it has a second thread. */
static void ignore(int change)
{
    if (pct_memory_ignore)
        pct_memory_ignore(change);
}

static void benign(const volatile void *address, size_t size)
{
    if (pct_memory_benign)
        pct_memory_benign(address, size);
}

#define CALL(name, arguments, ...)                                                                                     \
    PCT_RUNTIME void name arguments;                                                                                   \
    PCT_RUNTIME void name arguments                                                                                    \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

CALL(__tsan_acquire, (void *address), order(address, PCT_MEMORY_ACQUIRE);)
CALL(__tsan_release, (void *address), order(address, PCT_MEMORY_RELEASE);)

/* Locks of the program's own making. Their memory is what their threads wait for; here is only what they order. What
 * they do to their own memory is no race, as nobody knows what orders that. */
enum { TRY_FAILED = 1 << 5 };
CALL(__tsan_mutex_create, (void *mutex, unsigned flags), (void)mutex; (void)flags;)
CALL(__tsan_mutex_destroy, (void *mutex, unsigned flags), (void)mutex; (void)flags;)
CALL(__tsan_mutex_pre_lock, (void *mutex, unsigned flags), (void)mutex; (void)flags; ignore(1);)
CALL(__tsan_mutex_post_lock, (void *mutex, unsigned flags, int depth), (void)depth; ignore(-1);
     if (!(flags & TRY_FAILED)) order(mutex, PCT_MEMORY_ACQUIRE);)
CALL(__tsan_mutex_post_unlock, (void *mutex, unsigned flags), (void)mutex; (void)flags; ignore(-1);)
CALL(__tsan_mutex_pre_signal, (void *mutex, unsigned flags), (void)flags; ignore(1); order(mutex, PCT_MEMORY_RELEASE);)
CALL(__tsan_mutex_post_signal, (void *mutex, unsigned flags), (void)mutex; (void)flags; ignore(-1);)
CALL(__tsan_mutex_pre_divert, (void *mutex, unsigned flags), (void)mutex; (void)flags; ignore(-1);)
CALL(__tsan_mutex_post_divert, (void *mutex, unsigned flags), (void)mutex; (void)flags; ignore(1);)

PCT_RUNTIME int __tsan_mutex_pre_unlock(void *mutex, unsigned flags);
PCT_RUNTIME int __tsan_mutex_pre_unlock(void *mutex, unsigned flags)
{
    (void)flags;
    order(mutex, PCT_MEMORY_RELEASE);
    ignore(1);
    return 0;
}

CALL(AnnotateHappensBefore, (const char *file, int line, const volatile void *address), (void)file; (void)line;
     order(address, PCT_MEMORY_RELEASE);)
CALL(AnnotateHappensAfter, (const char *file, int line, const volatile void *address), (void)file; (void)line;
     order(address, PCT_MEMORY_ACQUIRE);)
CALL(AnnotateRWLockCreate, (const char *file, int line, const volatile void *lock), (void)file; (void)line; (void)lock;)
CALL(AnnotateRWLockCreateStatic, (const char *file, int line, const volatile void *lock), (void)file; (void)line;
     (void)lock;)
CALL(AnnotateRWLockDestroy, (const char *file, int line, const volatile void *lock), (void)file; (void)line;
     (void)lock;)
CALL(AnnotateRWLockAcquired, (const char *file, int line, const volatile void *lock, long write), (void)file;
     (void)line; (void)write; order(lock, PCT_MEMORY_ACQUIRE);)
CALL(AnnotateRWLockReleased, (const char *file, int line, const volatile void *lock, long write), (void)file;
     (void)line; (void)write; order(lock, PCT_MEMORY_RELEASE);)

CALL(__tsan_ignore_thread_begin, (void), ignore(1);)
CALL(__tsan_ignore_thread_end, (void), ignore(-1);)
CALL(AnnotateIgnoreReadsBegin, (const char *file, int line), (void)file; (void)line; ignore(1);)
CALL(AnnotateIgnoreReadsEnd, (const char *file, int line), (void)file; (void)line; ignore(-1);)
CALL(AnnotateIgnoreWritesBegin, (const char *file, int line), (void)file; (void)line; ignore(1);)
CALL(AnnotateIgnoreWritesEnd, (const char *file, int line), (void)file; (void)line; ignore(-1);)
CALL(AnnotateIgnoreSyncBegin, (const char *file, int line), (void)file; (void)line;)
CALL(AnnotateIgnoreSyncEnd, (const char *file, int line), (void)file; (void)line;)
CALL(AnnotateBenignRaceSized, (const char *file, int line, const volatile void *address, size_t size, const char *why),
     (void)file;
     (void)line; (void)why; benign(address, size);)
CALL(AnnotateBenignRace, (const char *file, int line, const volatile void *address, const char *why), (void)file;
     (void)line; (void)why; benign(address, 8);)
CALL(AnnotateNewMemory, (const char *file, int line, const volatile void *address, size_t size), (void)file; (void)line;
     if (PCT_WATCHED) pct_memory_fresh(address, size);)
CALL(AnnotateThreadName, (const char *file, int line, const char *name), (void)file; (void)line; (void)name;)
CALL(AnnotateFlushState, (const char *file, int line), (void)file; (void)line;)
CALL(AnnotateEnableRaceDetection, (const char *file, int line, int on), (void)file; (void)line; ignore(on ? -1 : 1);)

/* Fibers: the memory events of one are those of the thread that it runs on. */
CALL(__tsan_destroy_fiber, (void *fiber), (void)fiber;)
CALL(__tsan_switch_to_fiber, (void *fiber, unsigned flags), (void)fiber; (void)flags;)
CALL(__tsan_set_fiber_name, (void *fiber, const char *name), (void)fiber; (void)name;)

PCT_RUNTIME void *__tsan_get_current_fiber(void);
PCT_RUNTIME void *__tsan_get_current_fiber(void)
{
    return (void *)1; /* not NULL, and nobody looks behind it */
}

PCT_RUNTIME void *__tsan_create_fiber(unsigned flags);
PCT_RUNTIME void *__tsan_create_fiber(unsigned flags)
{
    (void)flags;
    return (void *)1;
}

CALL(__tsan_flush_memory, (void), )

/* What old headers of annotations (dynamic_annotations.h) also call, of which the compilers' library makes nothing. */
#define NOTHING(name, ...)                                                                                             \
    PCT_RUNTIME void name(const char *file, int line __VA_ARGS__);                                                     \
    PCT_RUNTIME void name(const char *file __attribute__((unused)), int line __attribute__((unused)) __VA_ARGS__)      \
    {                                                                                                                  \
    }
#define PLACE , const volatile void *place __attribute__((unused))
#define OTHER PLACE, const volatile void *other __attribute__((unused))
#define RANGE PLACE, size_t size __attribute__((unused))
NOTHING(AnnotateCondVarSignal, PLACE)
NOTHING(AnnotateCondVarSignalAll, PLACE)
NOTHING(AnnotateCondVarWait, OTHER)
NOTHING(AnnotateExpectRace, OTHER)
NOTHING(AnnotateFlushExpectedRaces, )
NOTHING(AnnotateMemoryIsInitialized, RANGE)
NOTHING(AnnotateMemoryIsUninitialized, RANGE)
NOTHING(AnnotateMutexIsNotPHB, PLACE)
NOTHING(AnnotateMutexIsUsedAsCondVar, PLACE)
NOTHING(AnnotateNoOp, PLACE)
NOTHING(AnnotatePCQCreate, PLACE)
NOTHING(AnnotatePCQDestroy, PLACE)
NOTHING(AnnotatePCQGet, PLACE)
NOTHING(AnnotatePCQPut, PLACE)
NOTHING(AnnotatePublishMemoryRange, RANGE)
NOTHING(AnnotateTraceMemory, PLACE)
NOTHING(AnnotateUnpublishMemoryRange, RANGE)

CALL(WTFAnnotateHappensBefore, (const char *file, int line, const volatile void *address),
     AnnotateHappensBefore(file, line, address);)
CALL(WTFAnnotateHappensAfter, (const char *file, int line, const volatile void *address),
     AnnotateHappensAfter(file, line, address);)
CALL(WTFAnnotateBenignRaceSized,
     (const char *file, int line, const volatile void *address, size_t size, const char *why),
     AnnotateBenignRaceSized(file, line, address, size, why);)

PCT_RUNTIME int RunningOnValgrind(void);
PCT_RUNTIME int RunningOnValgrind(void)
{
    return 0;
}

PCT_RUNTIME double ValgrindSlowdown(void);
PCT_RUNTIME double ValgrindSlowdown(void)
{
    return 10; /* as the compilers' library says: for the program's own timeouts */
}

PCT_RUNTIME const char *ThreadSanitizerQuery(const char *query);
PCT_RUNTIME const char *ThreadSanitizerQuery(const char *query)
{
    static const char wanted[] = "pure_happens_before";
    unsigned i = 0;
    while (wanted[i] && query[i] == wanted[i])
        i++;
    return wanted[i] == query[i] ? "1" : "0";
}
