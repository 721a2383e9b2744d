/* Functions of libc that read or change what all threads share, and are no scheduling points: the next random number,
 * the environment, a static buffer, the file system, streams. Each tells that it was called, and goes on to the real
 * one, whatever its arguments are: their registers are as they were. Those that libpct.so intercepts stand there.
 * Called by any thread. */
#include "explored.h"
#include <preload/core/arguments.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Which argument is the stream that the function writes to: the distance of its register from that of the first one.
 * OUTPUT: stdout, or stderr. */
enum { NONE = -1, FIRST, SECOND, FOURTH = 3, OUTPUT };

/* What threads share by libc and the kernel: bits. */
enum {
    STATICS = 1,     /* the next random number, static buffers, places in databases */
    FILES = 2,       /* files, streams, descriptors, and whatever else the kernel keeps for the process */
    LOCALE = 4,      /* and what messages are translated by */
    ENVIRONMENT = 8, /* and time zones */
    KEYS = 16,       /* of threads' own data */
    HANDLERS = 32,   /* that exit calls */
    EVERYTHING = 15,
    THREADS = 64,    /* what the next thread is made with */
    ALLOCATED = 128, /* what all threads have allocated */
    OUTSIDE = 256,   /* what is another one in each run */
    /* What is said of a thread, which may have ended: the first argument is its handle, the kernel's number (or that
     * is the second one), or that of its clock. */
    ASKS = 512,
    ASKS_NUMBER = 1024,
    ASKS_SECOND = 2048,
    ASKS_CLOCK = 4096,
    COOKIES = 8192 /* libc has a stream's lock while functions of the program run */
};

enum index {
#define X(name, changes, reads, stream) OF_##name,
#include "hidden.def"
#undef X
    COUNT
};

static const struct {
    const char *name;
    uint16_t changes, reads;
    int8_t stream;
} functions[] = {
#define X(name, changes, reads, stream) { #name, changes, reads, stream },
#include "hidden.def"
#undef X
};

static const uint64_t keys[] = { PCT_KEY_RANDOM, PCT_KEY_KERNEL, PCT_KEY_LOCALE, PCT_KEY_ENVIRONMENT,
                                 PCT_KEY_KEYS,   PCT_KEY_END,    PCT_KEY_THREADS };

static void *real[COUNT];

/* The caller's registers, as the stubs leave them on the stack. */
struct registers {
    uint64_t vectors[16];
    uint64_t count;        /* rax: how many of the vectors are arguments */
    uint64_t arguments[6]; /* the last one first */
};

/* The program does not see what has come out of these: their order counts only where somebody else judges it. */
static bool is_output(int stream, const struct registers *r)
{
    if (stream == NONE || stream == OUTPUT)
        return stream == OUTPUT;
    uint64_t file = r->arguments[5 - stream];
    return file == (uintptr_t)stdout || file == (uintptr_t)stderr;
}

/* Of which thread the function says something. */
static void ask(unsigned reads, const struct registers *r)
{
    const uint64_t first = r->arguments[5], second = r->arguments[4];
    if (reads & ASKS)
        pct_explored_asks(first);
    if (reads & (ASKS_NUMBER | ASKS_SECOND))
        pct_explored_asks_number((int)(reads & ASKS_SECOND ? second : first));
    if (reads & ASKS_CLOCK)
        pct_explored_asks_clock((int)first);
}

/* What the stubs call. Returns the real function. */
__attribute__((used, visibility("hidden"))) void *pct_hidden_call(unsigned index, const struct registers *r);
void *pct_hidden_call(unsigned index, const struct registers *r)
{
    void *found = __atomic_load_n(&real[index], __ATOMIC_RELAXED);
    if (!found) {
        found = dlsym(RTLD_NEXT, functions[index].name);
        __atomic_store_n(&real[index], found, __ATOMIC_RELAXED);
    }
    if (!pct_explored_hidden)
        return found;
    unsigned changes = functions[index].changes;
    if (is_output(functions[index].stream, r)) {
        pct_explored_output();
        changes &= ~(unsigned)FILES;
    }
    for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++)
        if ((changes | functions[index].reads) >> i & 1)
            pct_explored_hidden(keys[i], !(changes >> i & 1));
    if (changes & ALLOCATED)
        pct_explored_doubt(PCT_DOUBT_ALLOCATED);
    if (changes & COOKIES)
        pct_explored_doubt(PCT_DOUBT_STREAMS);
    ask(functions[index].reads, r);
    if (functions[index].reads & OUTSIDE)
        pct_explored_outside();
    return found;
}

/* What all stubs have alike; the index is in r11. */
__asm__(".text\n"
        "pct_hidden_stub:\n"
        ".cfi_startproc\n" PCT_KEEP_ARGUMENTS "mov %r11d, %edi\n"
        "mov %rsp, %rsi\n"
        "call pct_hidden_call\n"
        "mov %rax, %r11\n" PCT_GIVE_ARGUMENTS_BACK "jmp *%r11\n"
        ".cfi_endproc\n"
        ".set pct_hidden_index, 0\n");

/* Which of them a stub is stands in its code as a number. */
#define X(name, changes, reads, stream)                                                                                \
    __asm__(".text\n"                                                                                                  \
            ".globl " #name "\n"                                                                                       \
            ".type " #name ", @function\n" #name ":\n"                                                                 \
            "mov $pct_hidden_index, %r11d\n"                                                                           \
            ".set pct_hidden_index, pct_hidden_index + 1\n"                                                            \
            "jmp pct_hidden_stub\n"                                                                                    \
            ".size " #name ", . - " #name "\n");
#include "hidden.def"
#undef X
