/* Functions of libc that read or change what all threads share, and are no scheduling points: the next random number,
 * the environment, a static buffer, the file system. Each tells that it was called, and goes on to the real one,
 * whatever its arguments are: their registers are as they were. Those that libpct.so intercepts stand there. Called by
 * any thread. */
#include "explored.h"
#include <dlfcn.h>
#include <stddef.h>

/* X(name, key) */
#define LIBC PCT_KEY_RANDOM
#define FILES PCT_KEY_KERNEL
#define FUNCTIONS(X)                                                                                                   \
    X(rand, LIBC)                                                                                                      \
    X(srand, LIBC)                                                                                                     \
    X(random, LIBC)                                                                                                    \
    X(srandom, LIBC)                                                                                                   \
    X(drand48, LIBC)                                                                                                   \
    X(lrand48, LIBC)                                                                                                   \
    X(mrand48, LIBC)                                                                                                   \
    X(srand48, LIBC)                                                                                                   \
    X(strtok, LIBC)                                                                                                    \
    X(localtime, LIBC)                                                                                                 \
    X(gmtime, LIBC)                                                                                                    \
    X(asctime, LIBC)                                                                                                   \
    X(ctime, LIBC)                                                                                                     \
    X(getenv, LIBC)                                                                                                    \
    X(secure_getenv, LIBC)                                                                                             \
    X(setenv, LIBC)                                                                                                    \
    X(unsetenv, LIBC)                                                                                                  \
    X(putenv, LIBC)                                                                                                    \
    X(clearenv, LIBC)                                                                                                  \
    X(setlocale, LIBC)                                                                                                 \
    X(fseek, FILES)                                                                                                    \
    X(fseeko, FILES)                                                                                                   \
    X(ftell, FILES)                                                                                                    \
    X(ftello, FILES)                                                                                                   \
    X(rewind, FILES)                                                                                                   \
    X(fflush, FILES)                                                                                                   \
    X(stat, FILES)                                                                                                     \
    X(stat64, FILES)                                                                                                   \
    X(fstat, FILES)                                                                                                    \
    X(fstat64, FILES)                                                                                                  \
    X(lstat, FILES)                                                                                                    \
    X(lstat64, FILES)                                                                                                  \
    X(fstatat, FILES)                                                                                                  \
    X(access, FILES)                                                                                                   \
    X(unlink, FILES)                                                                                                   \
    X(unlinkat, FILES)                                                                                                 \
    X(remove, FILES)                                                                                                   \
    X(rename, FILES)                                                                                                   \
    X(renameat, FILES)                                                                                                 \
    X(mkdir, FILES)                                                                                                    \
    X(mkdirat, FILES)                                                                                                  \
    X(rmdir, FILES)                                                                                                    \
    X(opendir, FILES)                                                                                                  \
    X(readdir, FILES)                                                                                                  \
    X(readdir64, FILES)                                                                                                \
    X(lseek, FILES)                                                                                                    \
    X(lseek64, FILES)                                                                                                  \
    X(truncate, FILES)                                                                                                 \
    X(ftruncate, FILES)                                                                                                \
    X(truncate64, FILES)                                                                                               \
    X(ftruncate64, FILES)                                                                                              \
    X(link, FILES)                                                                                                     \
    X(symlink, FILES)                                                                                                  \
    X(readlink, FILES)                                                                                                 \
    X(chdir, FILES)                                                                                                    \
    X(getcwd, FILES)                                                                                                   \
    X(chmod, FILES)                                                                                                    \
    X(umask, FILES)

enum index {
#define INDEX(name, key) OF_##name,
    FUNCTIONS(INDEX) COUNT
};

static const struct {
    const char *name;
    uint64_t key;
} functions[] = {
#define ROW(name, key) { #name, key },
    FUNCTIONS(ROW)
};

static void *real[COUNT];

/* What the stubs call. Returns the real function. */
__attribute__((used, visibility("hidden"))) void *pct_hidden_call(unsigned index);
void *pct_hidden_call(unsigned index)
{
    void *found = __atomic_load_n(&real[index], __ATOMIC_RELAXED);
    if (!found) {
        found = dlsym(RTLD_NEXT, functions[index].name);
        __atomic_store_n(&real[index], found, __ATOMIC_RELAXED);
    }
    if (pct_explored_hidden)
        pct_explored_hidden(functions[index].key);
    return found;
}

/* Which of them a stub is stands in its code as a number. */
__asm__(".set pct_hidden_index, 0\n");
#define STUB(name, key)                                                                                                \
    __asm__(".text\n"                                                                                                  \
            ".globl " #name "\n"                                                                                       \
            ".type " #name ", @function\n" #name ":\n"                                                                 \
            "push %rdi\n"                                                                                              \
            "push %rsi\n"                                                                                              \
            "push %rdx\n"                                                                                              \
            "push %rcx\n"                                                                                              \
            "push %r8\n"                                                                                               \
            "push %r9\n"                                                                                               \
            "push %rax\n"                                                                                              \
            "mov $pct_hidden_index, %edi\n"                                                                            \
            ".set pct_hidden_index, pct_hidden_index + 1\n"                                                            \
            "call pct_hidden_call\n"                                                                                   \
            "mov %rax, %r11\n"                                                                                         \
            "pop %rax\n"                                                                                               \
            "pop %r9\n"                                                                                                \
            "pop %r8\n"                                                                                                \
            "pop %rcx\n"                                                                                               \
            "pop %rdx\n"                                                                                               \
            "pop %rsi\n"                                                                                               \
            "pop %rdi\n"                                                                                               \
            "jmp *%r11\n"                                                                                              \
            ".size " #name ", . - " #name "\n");
FUNCTIONS(STUB)
