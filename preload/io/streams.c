/* The locks of streams. flockfile() is a lock like any other. libc's own functions take it inside, where a thread that
 * has to wait would sleep unseen. So they wait here, before libc is called: then it can be had, and nobody else runs
 * until libc has given it back, unless it calls the target (an allocator, fopencookie()).
 *
 * Where no flockfile() keeps a lock beyond a scheduling point, no such call waits, and none is a point. From the first
 * flockfile() of a stream on, each is one, as what comes before and behind it differs; in explored runs, and their
 * replays, each of any stream (`streams=all` in tokens). */
#include "streams.h"
#include <preload/core/arguments.h>
#include <preload/core/pass.h>
#include <preload/core/real.h>
#include <sched/log.h>
#include <errno.h>

/* GLIBC: the recursive lock of a stream, and what is set in a stream whose functions do not take it. */
struct lock {
    int lock, count;
    void *owner;
};
enum { USER_LOCK = 0x8000 };

/* Whether the functions of streams.def are looked at. Whoever sets it has the baton, but all threads look; the stubs,
 * too. */
extern uint8_t pct_streams_watched;
uint8_t pct_streams_watched;

static bool is_free(const FILE *file, const struct pct_shim_thread *thread)
{
    const struct lock *lock = (const struct lock *)(const void *)file->_lock;
    return !lock->lock || lock->owner == (void *)thread->handle;
}

static bool available(const struct pct_thread *thread)
{
    return is_free(thread->wait.ready_arg, pct_shim_of(thread));
}

uint32_t pct_stream_holder(const struct pct_thread *thread)
{
    const FILE *file = thread->wait.ready_arg;
    if (thread->wait.ready != available)
        return PCT_NO_THREAD;
    const struct lock *lock = (const struct lock *)(const void *)file->_lock;
    for (uint32_t id = 0; lock->lock && id < pct_sched_threads(&pct_S); id++)
        if ((void *)pct_shim.slots[id].handle == lock->owner && pct_shim.slots[id].core.state != PCT_STATE_FINISHED)
            return id;
    return PCT_NO_THREAD;
}

static void wait_for(struct pct_shim_thread *self, enum pct_op op, struct pct_object *object, const FILE *file)
{
    /* Of a lock that libc has while it calls the target, nobody tells when it is given back. */
    const struct pct_wait wait = {
        .op = op, .object = object, .ready = available, .ready_arg = file, .often = true, .deadline = PCT_NEVER
    };
    do
        pct_wait(self, &wait);
    while (!is_free(file, self));
}

/* Whether a call of libc takes the lock, as far as the stream says. */
static bool locks(const FILE *file)
{
    return file && file->_lock && !(file->_flags & USER_LOCK);
}

static void pass(FILE *file)
{
    PCT_ENTER(self);
    struct pct_object *object = self ? pct_object_known(&pct_S.objects, file, PCT_CLASS_MUTEX) : NULL;
    if (!self || (!object && !pct_shim.config.streams && is_free(file, self)))
        return;
    wait_for(self, PCT_OP_STREAM, object ? object : pct_object_at(&pct_S.objects, file, PCT_CLASS_MUTEX), file);
    pct_done(self, PCT_OP_STREAM, 0, pct_object_at(&pct_S.objects, file, PCT_CLASS_MUTEX));
}

void pct_stream_pass(FILE *file)
{
    const int error = errno;
    /* Where there was no other thread yet, there is nobody to wait for. */
    if (pct_streams_watched && locks(file) && pct_sched_is_on(&pct_S) && !pct_shim.ended &&
        pct_sched_threads(&pct_S) > 1)
        pass(file);
    errno = error;
}

bool pct_stream_is_taken(const FILE *file)
{
    const bool looks = pct_streams_watched && locks(file) && pct_sched_is_on(&pct_S);
    const struct pct_shim_thread *self = looks ? pct_enter() : NULL;
    return self && !is_free(file, self);
}

void pct_streams_start(void)
{
    pct_streams_watched |= pct_shim.config.streams;
}

/* The program keeps locks of streams beyond scheduling points. */
static void watch(void)
{
    pct_streams_watched = true;
    if (!pct_shim.config.streams)
        pct_log_doubt(&pct_S, PCT_DOUBT_STREAMS);
}

PCT_EXPORT void flockfile(FILE *file)
{
    PCT_ENTER(self);
    if (!self) {
        REAL(flockfile)(file);
        pct_passed(PCT_OP_MUTEX_LOCK, PCT_CLASS_MUTEX, file);
        return;
    }
    watch();
    struct pct_object *object = pct_object_at(&pct_S.objects, file, PCT_CLASS_MUTEX);
    do
        wait_for(self, PCT_OP_MUTEX_LOCK, object, file);
    while (REAL(ftrylockfile)(file));
    pct_done(self, PCT_OP_MUTEX_LOCK, 0, pct_object_at(&pct_S.objects, file, PCT_CLASS_MUTEX));
}

PCT_EXPORT int ftrylockfile(FILE *file)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_MUTEX_TRYLOCK, PCT_CLASS_MUTEX, file, REAL(ftrylockfile)(file));
    watch();
    struct pct_object *object = pct_at(self, PCT_OP_MUTEX_TRYLOCK, file, PCT_CLASS_MUTEX);
    int failed = REAL(ftrylockfile)(file);
    pct_done(self, PCT_OP_MUTEX_TRYLOCK, failed ? PCT_ARG_BUSY : 0, object);
    if (failed)
        pct_sched_spin(&pct_S, &self->core);
    return failed;
}

PCT_EXPORT void funlockfile(FILE *file)
{
    PCT_ENTER(self);
    if (!self) {
        pct_passed(PCT_OP_MUTEX_UNLOCK, PCT_CLASS_MUTEX, file);
        REAL(funlockfile)(file);
        return;
    }
    struct pct_object *object = pct_at(self, PCT_OP_MUTEX_UNLOCK, file, PCT_CLASS_MUTEX);
    REAL(funlockfile)(file);
    pct_done(self, PCT_OP_MUTEX_UNLOCK, 0, object);
    pct_program_changed(object);
}

/* --- libc's functions ----------------------------------------------------------------------------------------------
 */

enum { FIRST, SECOND, PUSHES, MANY, LINE, OUT, ERR, BOTH, IN, ALL };

static const struct {
    char name[26];
    uint8_t stream;
} functions[] = {
#define X(name, stream) { #name, stream },
#include "streams.def"
#undef X
};

/* The real ones: what stands behind us. */
extern void *pct_streams_real[sizeof functions / sizeof *functions];
void *pct_streams_real[sizeof functions / sizeof *functions];

/* Each stream that is open, one after the other, as fflush(NULL) does. While one is waited for, others may come and go.
 */
static void pass_all(void)
{
    static FILE *const *list;
    const struct link_map *object;
    const Elf64_Sym *symbol = list ? NULL : pct_real_symbol("_IO_list_all", &object);
    if (symbol)
        list = (FILE *const *)(object->l_addr + symbol->st_value);
    for (unsigned n = 0; list; n++) {
        FILE *file = *list;
        for (unsigned i = 0; i < n && file; i++)
            file = file->_chain;
        if (!file)
            return;
        if (pct_stream_is_taken(file)) /* libc has the lock of the list meanwhile, which nobody sees */
            pct_log_doubt(&pct_S, PCT_DOUBT_STREAMS);
        pct_stream_pass(file);
    }
}

/* What the stubs call: the arguments of the function, the last of six first. Returns the real one. */
void *pct_streams_call(unsigned index, const uint64_t *arguments);
void *pct_streams_call(unsigned index, const uint64_t *arguments)
{
    const struct link_map *object;
    const Elf64_Sym *symbol = pct_streams_real[index] ? NULL : pct_real_symbol(functions[index].name, &object);
    const uint64_t first = arguments[5], second = arguments[4], third = arguments[3], fourth = arguments[2];
    const unsigned stream = functions[index].stream;
    if (symbol)
        __atomic_store_n(&pct_streams_real[index], (void *)(object->l_addr + symbol->st_value), __ATOMIC_RELAXED);
    if (!pct_streams_watched)
        return pct_streams_real[index];
    if (stream == ALL || (stream == FIRST && !first))
        pass_all();
    if (stream == OUT || stream == BOTH)
        pct_stream_pass(stdout);
    if (stream == ERR || stream == BOTH)
        pct_stream_pass(stderr);
    if (stream == IN)
        pct_stream_pass(stdin);
    const uint64_t argument = stream == FIRST                         ? first
                              : stream == SECOND                      ? second
                              : stream == PUSHES && (int)first != EOF ? second
                              : stream == MANY && second && third     ? fourth
                              : stream == LINE && (int)second > 1     ? third
                                                                      : 0;
    pct_stream_pass((FILE *)argument);
    return pct_streams_real[index];
}

/* What all stubs have alike; the index is in r11. */
__asm__(".text\n"
        ".type pct_streams_stub, @function\n"
        "pct_streams_stub:\n"
        ".cfi_startproc\n"
        "lea pct_streams_real(%rip), %r10\n"
        "mov (%r10,%r11,8), %r10\n"
        "cmpb $0, pct_streams_watched(%rip)\n"
        "jne 1f\n"
        "test %r10, %r10\n"
        "je 1f\n"
        "jmp *%r10\n"
        "1:\n" PCT_KEEP_ARGUMENTS "mov %r11d, %edi\n"
        "lea 136(%rsp), %rsi\n"
        "call pct_streams_call\n"
        "mov %rax, %r11\n" PCT_GIVE_ARGUMENTS_BACK "jmp *%r11\n"
        ".cfi_endproc\n"
        ".size pct_streams_stub, . - pct_streams_stub\n"
        ".set pct_streams_index, 0\n");

/* Which of them a stub is stands in its code as a number. */
#define X(name, stream)                                                                                                \
    __asm__(".text\n"                                                                                                  \
            ".globl " #name "\n"                                                                                       \
            ".type " #name ", @function\n" #name ":\n"                                                                 \
            ".cfi_startproc\n"                                                                                         \
            "mov $pct_streams_index, %r11d\n"                                                                          \
            ".set pct_streams_index, pct_streams_index + 1\n"                                                          \
            "jmp pct_streams_stub\n"                                                                                   \
            ".cfi_endproc\n"                                                                                           \
            ".size " #name ", . - " #name "\n");
#include "streams.def"
#undef X
