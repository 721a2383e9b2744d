/* The real functions behind the wrappers, with the types of the system's headers; from the table. */
#ifndef PCT_PRELOAD_REAL_H
#define PCT_PRELOAD_REAL_H

#include <aio.h>
#include <dirent.h>
#include <dlfcn.h>
#include <assert.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <liburing.h>
#include <link.h>
#include <linux/openat2.h>
#include <mqueue.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <threads.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <utime.h>

/* What no header declares. */
int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end);
int __cxa_guard_acquire(uint64_t *guard);
void __cxa_guard_release(uint64_t *guard);
void __cxa_guard_abort(uint64_t *guard);
unsigned _ZNSt13random_device9_M_getvalEv(void *device); /* std::random_device::_M_getval() */
int pthread_yield(void);
int __sigpause(int argument, int is_signal);
int __xpg_sigpause(int signal);
__sighandler_t bsd_signal(int signal, __sighandler_t handler);
ssize_t __read_chk(int fd, void *buffer, size_t size, size_t room);
char *__fgets_chk(char *line, size_t room, int size, FILE *file);
int __dprintf_chk(int fd, int flag, const char *format, ...);
int __vdprintf_chk(int fd, int flag, const char *format, va_list arguments);
size_t __fread_chk(void *buffer, size_t room, size_t size, size_t count, FILE *file);
int __isoc99_vfscanf(FILE *file, const char *format, va_list arguments);
int __isoc99_fscanf(FILE *file, const char *format, ...);
int __isoc99_scanf(const char *format, ...);
int __isoc23_vfscanf(FILE *file, const char *format, va_list arguments);
int __isoc23_fscanf(FILE *file, const char *format, ...);
int __isoc23_scanf(const char *format, ...);
int pidfd_spawn(int *restrict pidfd, const char *restrict path, const posix_spawn_file_actions_t *restrict actions,
                const posix_spawnattr_t *restrict attributes, char *const *restrict arguments,
                char *const *restrict environment);
int pidfd_spawnp(int *restrict pidfd, const char *restrict file, const posix_spawn_file_actions_t *restrict actions,
                 const posix_spawnattr_t *restrict attributes, char *const *restrict arguments,
                 char *const *restrict environment);
ssize_t __recv_chk(int fd, void *buffer, size_t size, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *restrict buffer, size_t size, size_t room, int flags,
                       struct sockaddr *restrict address, socklen_t *restrict length);
int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t size);
int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask, size_t size);
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int folder, const char *path, int flags);
int __openat64_2(int folder, const char *path, int flags);
int openat2(int folder, const char *path, const struct open_how *how, size_t size); /* since glibc 2.43 */
int __xstat(int version, const char *path, struct stat *status); /* what stat called before glibc 2.33 */
int __xstat64(int version, const char *path, struct stat64 *status);
int __lxstat(int version, const char *path, struct stat *status);
int __lxstat64(int version, const char *path, struct stat64 *status);
int __fxstatat(int version, int folder, const char *path, struct stat *status, int flags);
int __fxstatat64(int version, int folder, const char *path, struct stat64 *status, int flags);
int __xmknod(int version, const char *path, mode_t mode, dev_t *device);
int __xmknodat(int version, int folder, const char *path, mode_t mode, dev_t *device);
ssize_t __readlink_chk(const char *path, char *to, size_t size, size_t room);
ssize_t __readlinkat_chk(int folder, const char *path, char *to, size_t size, size_t room);
mqd_t __mq_open_2(const char *name, int flags);
char *__realpath_chk(const char *path, char *to, size_t room);
int __cxa_at_quick_exit(void (*function)(void *), void *library);          /* what at_quick_exit calls */
int __cxa_atexit(void (*function)(void *), void *argument, void *library); /* what atexit calls */
int __cxa_thread_atexit_impl(void (*function)(void *), void *object, void *library);

/* libc's own name of sigaction. Nobody overrides it, so it need not be looked up, which every start would pay for. */
int __sigaction(int signal, const struct sigaction *new, struct sigaction *old);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
struct pct_real {
#define ROW(name, version, family, point, note) __typeof__(name) *name;
#include <preload/intercepts.def>
#undef ROW
};
#pragma GCC diagnostic pop

extern struct pct_real pct_real;

/* Look up the function of this row of the table; all that have not been looked up yet. */
void pct_real_resolve(unsigned row);
void pct_real_resolve_all(void);

/* Where libc's start of the program is, as REAL() would say. It is called once, by each process, most of which look up
 * nothing else: so it needs neither of the two tables. */
void *pct_real_start_main(void);

/* libc's function of this name and version, whoever replaces it; NULL: there is none. Also in a signal handler. */
void *pct_real_find(const char *name, const char *version);

/* The version of glibc: 36 of 2.36, by which what libc keeps to itself is known. INT_MAX: not a version 2. Anywhere. */
int pct_libc_minor(void);

/* The symbol of this name in the first object loaded behind us that defines one, whatever its version, and that object;
 * NULL: none does. GLIBC: this is how what libc keeps to itself is found. While there is one thread. */
const Elf64_Sym *pct_real_symbol(const char *name, const struct link_map **object);

/* The program headers of this object, and their number. */
const Elf64_Phdr *pct_real_parts(const struct link_map *object, unsigned *count);

/* libc's own function of this name, the version that programs are linked to now, whoever replaces it; NULL: there is
 * none. Likewise. */
void *pct_real_libc(const char *name);

/* Whether an object that was loaded before us defines this name: the program, or a library that it preloads, too. Then
 * calls of others lead there. Likewise. */
bool pct_real_is_replaced(const char *name);

/* Whether a library that is preloaded behind us defines this name. It must be called, where natively it is. Likewise.
 */
bool pct_real_is_preloaded(const char *name);

#define REAL(name)                                                                                                     \
    (*(__builtin_expect(!pct_real.name, 0)                                                                             \
           ? (pct_real_resolve(offsetof(struct pct_real, name) / sizeof(void *)), pct_real.name)                       \
           : pct_real.name))

#endif
