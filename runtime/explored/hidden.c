/* Functions of libc that read or change what all threads share, and are no scheduling points: the next random number,
 * the environment, a static buffer, the file system, streams. Each tells that it was called, and goes on to the real
 * one, whatever its arguments are: their registers are as they were. Those that libpct.so intercepts stand there.
 * Called by any thread. */
#include "explored.h"
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Which argument is the stream that the function writes to: the distance of its register from that of the first one.
 * OUTPUT: stdout, or stderr. */
enum { NONE = -1, FIRST, SECOND, FOURTH = 3, OUTPUT };

/* X(name, key, stream) */
#define LIBC PCT_KEY_RANDOM
#define FILES PCT_KEY_KERNEL
#define FUNCTIONS(X)                                                                                                   \
    X(rand, LIBC, NONE)                                                                                                \
    X(srand, LIBC, NONE)                                                                                               \
    X(random, LIBC, NONE)                                                                                              \
    X(srandom, LIBC, NONE)                                                                                             \
    X(drand48, LIBC, NONE)                                                                                             \
    X(lrand48, LIBC, NONE)                                                                                             \
    X(mrand48, LIBC, NONE)                                                                                             \
    X(srand48, LIBC, NONE)                                                                                             \
    X(strtok, LIBC, NONE)                                                                                              \
    X(localtime, LIBC, NONE)                                                                                           \
    X(gmtime, LIBC, NONE)                                                                                              \
    X(asctime, LIBC, NONE)                                                                                             \
    X(ctime, LIBC, NONE)                                                                                               \
    X(getenv, LIBC, NONE)                                                                                              \
    X(secure_getenv, LIBC, NONE)                                                                                       \
    X(setenv, LIBC, NONE)                                                                                              \
    X(unsetenv, LIBC, NONE)                                                                                            \
    X(putenv, LIBC, NONE)                                                                                              \
    X(clearenv, LIBC, NONE)                                                                                            \
    X(setlocale, LIBC, NONE)                                                                                           \
    X(fseek, FILES, NONE)                                                                                              \
    X(fseeko, FILES, NONE)                                                                                             \
    X(ftell, FILES, NONE)                                                                                              \
    X(ftello, FILES, NONE)                                                                                             \
    X(rewind, FILES, NONE)                                                                                             \
    X(fflush, FILES, NONE)                                                                                             \
    X(stat, FILES, NONE)                                                                                               \
    X(stat64, FILES, NONE)                                                                                             \
    X(fstat, FILES, NONE)                                                                                              \
    X(fstat64, FILES, NONE)                                                                                            \
    X(lstat, FILES, NONE)                                                                                              \
    X(lstat64, FILES, NONE)                                                                                            \
    X(fstatat, FILES, NONE)                                                                                            \
    X(access, FILES, NONE)                                                                                             \
    X(unlink, FILES, NONE)                                                                                             \
    X(unlinkat, FILES, NONE)                                                                                           \
    X(remove, FILES, NONE)                                                                                             \
    X(rename, FILES, NONE)                                                                                             \
    X(renameat, FILES, NONE)                                                                                           \
    X(mkdir, FILES, NONE)                                                                                              \
    X(mkdirat, FILES, NONE)                                                                                            \
    X(rmdir, FILES, NONE)                                                                                              \
    X(opendir, FILES, NONE)                                                                                            \
    X(readdir, FILES, NONE)                                                                                            \
    X(readdir64, FILES, NONE)                                                                                          \
    X(lseek, FILES, NONE)                                                                                              \
    X(lseek64, FILES, NONE)                                                                                            \
    X(truncate, FILES, NONE)                                                                                           \
    X(ftruncate, FILES, NONE)                                                                                          \
    X(truncate64, FILES, NONE)                                                                                         \
    X(ftruncate64, FILES, NONE)                                                                                        \
    X(link, FILES, NONE)                                                                                               \
    X(symlink, FILES, NONE)                                                                                            \
    X(readlink, FILES, NONE)                                                                                           \
    X(chdir, FILES, NONE)                                                                                              \
    X(getcwd, FILES, NONE)                                                                                             \
    X(chmod, FILES, NONE)                                                                                              \
    X(umask, FILES, NONE)                                                                                              \
    X(initstate, LIBC, NONE)                                                                                           \
    X(setstate, LIBC, NONE)                                                                                            \
    X(seed48, LIBC, NONE)                                                                                              \
    X(lcong48, LIBC, NONE)                                                                                             \
    X(erand48, LIBC, NONE)                                                                                             \
    X(nrand48, LIBC, NONE)                                                                                             \
    X(jrand48, LIBC, NONE)                                                                                             \
    X(localeconv, LIBC, NONE)                                                                                          \
    X(tzset, LIBC, NONE)                                                                                               \
    X(getopt, LIBC, NONE)                                                                                              \
    X(getopt_long, LIBC, NONE)                                                                                         \
    X(dprintf, FILES, NONE)                                                                                            \
    X(vdprintf, FILES, NONE)                                                                                           \
    X(__dprintf_chk, FILES, NONE)                                                                                      \
    X(__vdprintf_chk, FILES, NONE)                                                                                     \
    X(fgetpos, FILES, NONE)                                                                                            \
    X(fsetpos, FILES, NONE)                                                                                            \
    X(faccessat, FILES, NONE)                                                                                          \
    X(statx, FILES, NONE)                                                                                              \
    X(linkat, FILES, NONE)                                                                                             \
    X(symlinkat, FILES, NONE)                                                                                          \
    X(readlinkat, FILES, NONE)                                                                                         \
    X(fchdir, FILES, NONE)                                                                                             \
    X(fchmod, FILES, NONE)                                                                                             \
    X(fchmodat, FILES, NONE)                                                                                           \
    X(chown, FILES, NONE)                                                                                              \
    X(fchown, FILES, NONE)                                                                                             \
    X(utimensat, FILES, NONE)                                                                                          \
    X(futimens, FILES, NONE)                                                                                           \
    X(mkstemp, FILES, NONE)                                                                                            \
    X(mkdtemp, FILES, NONE)                                                                                            \
    X(tmpfile, FILES, NONE)                                                                                            \
    X(rewinddir, FILES, NONE)                                                                                          \
    X(fallocate, FILES, NONE)                                                                                          \
    X(posix_fallocate, FILES, NONE)                                                                                    \
    X(realpath, FILES, NONE)                                                                                           \
    X(pthread_getname_np, FILES, NONE)                                                                                 \
    X(getrlimit, FILES, NONE)                                                                                          \
    X(pread, FILES, NONE)                                                                                              \
    X(pread64, FILES, NONE)                                                                                            \
    X(__pread_chk, FILES, NONE)                                                                                        \
    X(__pread64_chk, FILES, NONE)                                                                                      \
    X(pwrite, FILES, NONE)                                                                                             \
    X(pwrite64, FILES, NONE)                                                                                           \
    X(preadv, FILES, NONE)                                                                                             \
    X(preadv64, FILES, NONE)                                                                                           \
    X(pwritev, FILES, NONE)                                                                                            \
    X(pwritev64, FILES, NONE)                                                                                          \
    X(copy_file_range, FILES, NONE)                                                                                    \
    X(signalfd, FILES, NONE)                                                                                           \
    X(inotify_init, FILES, NONE)                                                                                       \
    X(inotify_init1, FILES, NONE)                                                                                      \
    X(memfd_create, FILES, NONE)                                                                                       \
    X(pidfd_open, FILES, NONE)                                                                                         \
    X(posix_openpt, FILES, NONE)                                                                                       \
    X(shm_open, FILES, NONE)                                                                                           \
    X(shm_unlink, FILES, NONE)                                                                                         \
    X(sem_unlink, FILES, NONE)                                                                                         \
    X(mq_open, FILES, NONE)                                                                                            \
    X(mq_unlink, FILES, NONE)                                                                                          \
    X(fdopendir, FILES, NONE)                                                                                          \
    X(creat, FILES, NONE)                                                                                              \
    X(creat64, FILES, NONE)                                                                                            \
    X(mkfifo, FILES, NONE)                                                                                             \
    X(mkfifoat, FILES, NONE)                                                                                           \
    X(mknod, FILES, NONE)                                                                                              \
    X(mknodat, FILES, NONE)                                                                                            \
    X(mkostemp, FILES, NONE)                                                                                           \
    X(mkstemps, FILES, NONE)                                                                                           \
    X(mkostemps, FILES, NONE)                                                                                          \
    X(mkstemp64, FILES, NONE)                                                                                          \
    X(tmpfile64, FILES, NONE)                                                                                          \
    X(tmpnam, FILES, NONE)                                                                                             \
    X(tempnam, FILES, NONE)                                                                                            \
    X(mktemp, FILES, NONE)                                                                                             \
    X(renameat2, FILES, NONE)                                                                                          \
    X(lchown, FILES, NONE)                                                                                             \
    X(fchownat, FILES, NONE)                                                                                           \
    X(utime, FILES, NONE)                                                                                              \
    X(utimes, FILES, NONE)                                                                                             \
    X(futimes, FILES, NONE)                                                                                            \
    X(lutimes, FILES, NONE)                                                                                            \
    X(setxattr, FILES, NONE)                                                                                           \
    X(getxattr, FILES, NONE)                                                                                           \
    X(statfs, FILES, NONE)                                                                                             \
    X(statfs64, FILES, NONE)                                                                                           \
    X(fstatfs, FILES, NONE)                                                                                            \
    X(fstatfs64, FILES, NONE)                                                                                          \
    X(statvfs, FILES, NONE)                                                                                            \
    X(statvfs64, FILES, NONE)                                                                                          \
    X(fstatvfs, FILES, NONE)                                                                                           \
    X(fstatvfs64, FILES, NONE)                                                                                         \
    X(fstatat64, FILES, NONE)                                                                                          \
    X(telldir, FILES, NONE)                                                                                            \
    X(seekdir, FILES, NONE)                                                                                            \
    X(scandir, FILES, NONE)                                                                                            \
    X(scandir64, FILES, NONE)                                                                                          \
    X(nftw, FILES, NONE)                                                                                               \
    X(nftw64, FILES, NONE)                                                                                             \
    X(ftw, FILES, NONE)                                                                                                \
    X(ftw64, FILES, NONE)                                                                                              \
    X(glob, FILES, NONE)                                                                                               \
    X(glob64, FILES, NONE)                                                                                             \
    X(eaccess, FILES, NONE)                                                                                            \
    X(euidaccess, FILES, NONE)                                                                                         \
    X(getdents64, FILES, NONE)                                                                                         \
    X(getrlimit64, FILES, NONE)                                                                                        \
    X(setgid, FILES, NONE)                                                                                             \
    X(setegid, FILES, NONE)                                                                                            \
    X(setregid, FILES, NONE)                                                                                           \
    X(setresgid, FILES, NONE)                                                                                          \
    X(getuid, FILES, NONE)                                                                                             \
    X(geteuid, FILES, NONE)                                                                                            \
    X(getgid, FILES, NONE)                                                                                             \
    X(getegid, FILES, NONE)                                                                                            \
    X(setgroups, FILES, NONE)                                                                                          \
    X(getgroups, FILES, NONE)                                                                                          \
    X(setsid, FILES, NONE)                                                                                             \
    X(setpgid, FILES, NONE)                                                                                            \
    X(getpgid, FILES, NONE)                                                                                            \
    X(getpgrp, FILES, NONE)                                                                                            \
    X(getsid, FILES, NONE)                                                                                             \
    X(chroot, FILES, NONE)                                                                                             \
    X(shmget, FILES, NONE)                                                                                             \
    X(shmat, FILES, NONE)                                                                                              \
    X(shmdt, FILES, NONE)                                                                                              \
    X(shmctl, FILES, NONE)                                                                                             \
    X(semget, FILES, NONE)                                                                                             \
    X(msgget, FILES, NONE)                                                                                             \
    X(ioctl, FILES, NONE)                                                                                              \
    X(bind, FILES, NONE)                                                                                               \
    X(listen, FILES, NONE)                                                                                             \
    X(on_exit, LIBC, NONE)                                                                                             \
    X(__cxa_atexit, LIBC, NONE)                                                                                        \
    X(__cxa_at_quick_exit, LIBC, NONE)                                                                                 \
    X(pthread_key_create, LIBC, NONE)                                                                                  \
    X(pthread_key_delete, LIBC, NONE)                                                                                  \
    X(tss_create, LIBC, NONE)                                                                                          \
    X(tss_delete, LIBC, NONE)                                                                                          \
    X(getpwnam, LIBC, NONE)                                                                                            \
    X(getpwuid, LIBC, NONE)                                                                                            \
    X(getgrnam, LIBC, NONE)                                                                                            \
    X(getgrgid, LIBC, NONE)                                                                                            \
    X(getpwent, LIBC, NONE)                                                                                            \
    X(setpwent, LIBC, NONE)                                                                                            \
    X(endpwent, LIBC, NONE)                                                                                            \
    X(getgrent, LIBC, NONE)                                                                                            \
    X(setgrent, LIBC, NONE)                                                                                            \
    X(endgrent, LIBC, NONE)                                                                                            \
    X(gethostbyaddr, LIBC, NONE)                                                                                       \
    X(getservbyname, LIBC, NONE)                                                                                       \
    X(getservbyport, LIBC, NONE)                                                                                       \
    X(getprotobyname, LIBC, NONE)                                                                                      \
    X(getnetbyname, LIBC, NONE)                                                                                        \
    X(ttyname, LIBC, NONE)                                                                                             \
    X(ctermid, LIBC, NONE)                                                                                             \
    X(getlogin, LIBC, NONE)                                                                                            \
    X(ecvt, LIBC, NONE)                                                                                                \
    X(fcvt, LIBC, NONE)                                                                                                \
    X(qecvt, LIBC, NONE)                                                                                               \
    X(qfcvt, LIBC, NONE)                                                                                               \
    X(l64a, LIBC, NONE)                                                                                                \
    X(hcreate, LIBC, NONE)                                                                                             \
    X(hsearch, LIBC, NONE)                                                                                             \
    X(hdestroy, LIBC, NONE)                                                                                            \
    X(openlog, LIBC, NONE)                                                                                             \
    X(syslog, LIBC, NONE)                                                                                              \
    X(vsyslog, LIBC, NONE)                                                                                             \
    X(__syslog_chk, LIBC, NONE)                                                                                        \
    X(closelog, LIBC, NONE)                                                                                            \
    X(setlogmask, LIBC, NONE)                                                                                          \
    X(textdomain, LIBC, NONE)                                                                                          \
    X(bindtextdomain, LIBC, NONE)                                                                                      \
    X(getopt_long_only, LIBC, NONE)                                                                                    \
    X(getdate, LIBC, NONE)                                                                                             \
    X(getutent, LIBC, NONE)                                                                                            \
    X(getmntent, LIBC, NONE)                                                                                           \
    X(nl_langinfo, LIBC, NONE)                                                                                         \
    X(brk, LIBC, NONE)                                                                                                 \
    X(sbrk, LIBC, NONE)                                                                                                \
    X(fprintf, FILES, FIRST)                                                                                           \
    X(vfprintf, FILES, FIRST)                                                                                          \
    X(__fprintf_chk, FILES, FIRST)                                                                                     \
    X(__vfprintf_chk, FILES, FIRST)                                                                                    \
    X(fwprintf, FILES, FIRST)                                                                                          \
    X(vfwprintf, FILES, FIRST)                                                                                         \
    X(fputs, FILES, SECOND)                                                                                            \
    X(fputc, FILES, SECOND)                                                                                            \
    X(putc, FILES, SECOND)                                                                                             \
    X(fputs_unlocked, FILES, SECOND)                                                                                   \
    X(fputc_unlocked, FILES, SECOND)                                                                                   \
    X(putc_unlocked, FILES, SECOND)                                                                                    \
    X(fputwc, FILES, SECOND)                                                                                           \
    X(putwc, FILES, SECOND)                                                                                            \
    X(fputws, FILES, SECOND)                                                                                           \
    X(putw, FILES, SECOND)                                                                                             \
    X(ungetc, FILES, SECOND)                                                                                           \
    X(ungetwc, FILES, SECOND)                                                                                          \
    X(fwrite, FILES, FOURTH)                                                                                           \
    X(fwrite_unlocked, FILES, FOURTH)                                                                                  \
    X(printf, FILES, OUTPUT)                                                                                           \
    X(vprintf, FILES, OUTPUT)                                                                                          \
    X(__printf_chk, FILES, OUTPUT)                                                                                     \
    X(__vprintf_chk, FILES, OUTPUT)                                                                                    \
    X(puts, FILES, OUTPUT)                                                                                             \
    X(putchar, FILES, OUTPUT)                                                                                          \
    X(putchar_unlocked, FILES, OUTPUT)                                                                                 \
    X(perror, FILES, OUTPUT)                                                                                           \
    X(wprintf, FILES, OUTPUT)                                                                                          \
    X(putwchar, FILES, OUTPUT)                                                                                         \
    X(fgetc_unlocked, FILES, NONE)                                                                                     \
    X(getc_unlocked, FILES, NONE)                                                                                      \
    X(fread_unlocked, FILES, NONE)                                                                                     \
    X(fgets_unlocked, FILES, NONE)                                                                                     \
    X(fgetwc, FILES, NONE)                                                                                             \
    X(getwc, FILES, NONE)                                                                                              \
    X(fgetws, FILES, NONE)                                                                                             \
    X(getw, FILES, NONE)

enum index {
#define INDEX(name, key, stream) OF_##name,
    FUNCTIONS(INDEX) COUNT
};

static const struct {
    const char *name;
    uint64_t key;
    int stream;
} functions[] = {
#define ROW(name, key, stream) { #name, key, stream },
    FUNCTIONS(ROW)
};

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
    if (is_output(functions[index].stream, r))
        pct_explored_output();
    else
        pct_explored_hidden(functions[index].key);
    return found;
}

/* What all stubs have alike; the index is in r11. fprintf has arguments in vector registers, too. */
__asm__(".text\n"
        "pct_hidden_stub:\n"
        "push %rdi\n"
        "push %rsi\n"
        "push %rdx\n"
        "push %rcx\n"
        "push %r8\n"
        "push %r9\n"
        "push %rax\n"
        "sub $128, %rsp\n"
        "movups %xmm0, (%rsp)\n"
        "movups %xmm1, 16(%rsp)\n"
        "movups %xmm2, 32(%rsp)\n"
        "movups %xmm3, 48(%rsp)\n"
        "movups %xmm4, 64(%rsp)\n"
        "movups %xmm5, 80(%rsp)\n"
        "movups %xmm6, 96(%rsp)\n"
        "movups %xmm7, 112(%rsp)\n"
        "mov %r11d, %edi\n"
        "mov %rsp, %rsi\n"
        "call pct_hidden_call\n"
        "mov %rax, %r11\n"
        "movups (%rsp), %xmm0\n"
        "movups 16(%rsp), %xmm1\n"
        "movups 32(%rsp), %xmm2\n"
        "movups 48(%rsp), %xmm3\n"
        "movups 64(%rsp), %xmm4\n"
        "movups 80(%rsp), %xmm5\n"
        "movups 96(%rsp), %xmm6\n"
        "movups 112(%rsp), %xmm7\n"
        "add $128, %rsp\n"
        "pop %rax\n"
        "pop %r9\n"
        "pop %r8\n"
        "pop %rcx\n"
        "pop %rdx\n"
        "pop %rsi\n"
        "pop %rdi\n"
        "jmp *%r11\n"
        ".set pct_hidden_index, 0\n");

/* Which of them a stub is stands in its code as a number. */
#define STUB(name, key, stream)                                                                                        \
    __asm__(".text\n"                                                                                                  \
            ".globl " #name "\n"                                                                                       \
            ".type " #name ", @function\n" #name ":\n"                                                                 \
            "mov $pct_hidden_index, %r11d\n"                                                                           \
            ".set pct_hidden_index, pct_hidden_index + 1\n"                                                            \
            "jmp pct_hidden_stub\n"                                                                                    \
            ".size " #name ", . - " #name "\n");
FUNCTIONS(STUB)
