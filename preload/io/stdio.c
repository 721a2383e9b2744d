/* Standard input and output, as far as it waits: reading from a stream that has nothing in its buffer, and opening one.
 * libc reads inside, where nobody sees it; so the descriptor is waited for before libc is called.
 * That is all that there is to it unless a line comes in pieces: then libc waits for the rest by itself, and the
 * watchdog sees to it.
 *
 * Writing to a stream waits only when a pipe is full; that too is left to the watchdog. */
/* The headers would define some of these functions themselves. */
#define __NO_INLINE__ 1
#include "fifo.h"
#include "news.h"
#include "streams.h"
#include <common/exploration.h>
#include <preload/core/kernel.h>
#include <preload/core/order.h>
#include <preload/core/real.h>
#include <preload/memory/calls.h>
#include <preload/core/sys.h>
#include <preload/memory/channel.h>
#include <preload/time/absent.h>
#include <sched/log.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <wchar.h>

/* GLIBC: what is set in a stream that cannot be read, or is at its end, or when an error has happened; or that has its
 * buffer put aside, as something was pushed back. */
enum { NO_READS = 4, END_SEEN = 0x10, ERROR_SEEN = 0x20, IN_BACKUP = 0x100 };

static int fail(FILE *file)
{
    file->_flags |= ERROR_SEEN;
    return -1;
}

/* Bytes of a random device are the seed's: those that libc has put into the stream's buffer. */
static void replace(FILE *file)
{
    size_t size = (size_t)(file->_IO_read_end - file->_IO_read_ptr);
    if (file->_IO_read_ptr < file->_IO_read_end)
        pct_random_replace(file->_fileno, &(struct iovec){ file->_IO_read_ptr, size }, size);
}

/* The same as await() for such a stream: its buffer is filled. GLIBC: what is read goes into a buffer, also of a stream
 * without one. */
static void fill(FILE *file)
{
    if (REAL(fgetc)(file) == EOF)
        return;
    file->_IO_read_ptr--;
    replace(file);
}

/* GLIBC: about to fill the buffer of a stream that is read by lines, it writes out what stands in standard output, if
 * that is written by lines: a prompt, which whoever answers is to see. So that comes before the wait. */
enum { UNBUFFERED = 2, NO_WRITES = 8, LINKED = 0x80, BY_LINES = 0x200 };

static void show_prompt(const FILE *file)
{
    struct termios settings;
    const int error = errno;
    const bool lines = file->_flags & (UNBUFFERED | BY_LINES) ||
                       (!file->_IO_buf_base && !PCT_SYS3(SYS_ioctl, file->_fileno, TCGETS, &settings));
    if (lines && (stdout->_flags & (LINKED | NO_WRITES | BY_LINES)) == (LINKED | BY_LINES) &&
        stdout->_IO_write_ptr > stdout->_IO_write_base)
        fflush(stdout);
    errno = error;
}

/* What is to be read from a stream. */
struct wanted {
    const FILE *file;
    size_t size; /* at once, if that may go past its buffer; else 0 */
};

/* Whether libc does not ask the kernel: something is in the buffer; or the end was seen, beyond which it looks only for
 * what goes past the buffer. */

static bool asks_nobody(const struct wanted *wanted)
{
    const FILE *file = wanted->file;
    const bool past = wanted->size && wanted->size >= (size_t)(file->_IO_buf_end - file->_IO_buf_base);
    return file->_IO_read_ptr < file->_IO_read_end ||
           (file->_flags & IN_BACKUP && file->_IO_save_base < file->_IO_save_end) ||
           (file->_flags & (NO_READS | END_SEEN) && !past);
}

/* Another thread may have read more than it wanted. */
static bool goes(const struct pct_io *io)
{
    return asks_nobody(io->arg) || pct_poll_now(io->fds, io->count);
}

/* Wait until the stream has something, or has ended. size: as in struct wanted. Returns 0, or -1 with errno EINTR and
 * the stream's error set. */
static int await_data(FILE *file, size_t size)
{
    int fd = file->_fileno;
    const struct wanted wanted = { file, size };
    pct_explored_hidden(PCT_KEY_KERNEL, false); /* the stream's place in its file */
    if (!pct_sched_is_on(&pct_S) || asks_nobody(&wanted) || fd < 0 || !pct_fd_blocks(fd))
        return 0;
    PCT_ENTER(self);
    if (!self) {
        pct_passed(PCT_OP_READ, PCT_CLASS_FD, pct_io_key(fd));
    } else {
        show_prompt(file);
        pct_ensure_baton(self);
        if (pct_shim.config.streams && !pct_poll_now(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1))
            pct_log_doubt(&pct_S, PCT_DOUBT_STREAMS); /* libc has its lock while it waits */
        if (pct_io_begin_read(self, fd, goes, &wanted))
            return fail(file);
        pct_io_done(self, PCT_OP_READ, 0, pct_io_object(fd));
    }
    if (pct_fd_is_random(fd))
        fill(file);
    return 0;
}

/* The same, and its lock can be had: another thread may have taken it meanwhile. */
static int await(FILE *file, size_t size)
{
    int failed;
    do {
        pct_stream_pass(file);
        failed = await_data(file, size);
    } while (!failed && pct_stream_is_taken(file));
    return failed;
}

/* Behind libc's call: others may wait for what is in the buffer now. */
static void filled(const FILE *file)
{
    const int error = errno;
    if (PCT_UNLIKELY(pct_sched_kernel_waits(&pct_S) != NULL) && asks_nobody(&(struct wanted){ file, 0 }) &&
        !pct_vforking && pct_enter())
        pct_sched_kernel_changed(&pct_S);
    errno = error;
}

/* A call that reads; `failed` where the wait for that was ended. size: as in struct wanted. */
#define READS(file, size, failed, call)                                                                                \
    ({                                                                                                                 \
        __typeof__(call) result_ = failed;                                                                             \
        if (!await(file, size)) {                                                                                      \
            result_ = (call);                                                                                          \
            filled(file);                                                                                              \
        }                                                                                                              \
        result_;                                                                                                       \
    })

/* Much goes past the stream's buffer. */
static size_t came(FILE *file, void *buffer, size_t size, size_t count, const void *pc)
{
    int fd = file->_fileno;
    const struct iovec part = { buffer, size * count };
    pct_memory_of_call(&part, 1, part.iov_len, true, pc);
    if (pct_fd_is_random(fd)) {
        pct_random_replace(fd, &part, part.iov_len);
        replace(file);
    }
    return count;
}

PCT_EXPORT int fgetc(FILE *file)
{
    return READS(file, 0, EOF, REAL(fgetc)(file));
}

PCT_EXPORT int getc(FILE *file)
{
    return READS(file, 0, EOF, REAL(getc)(file));
}

PCT_EXPORT int getchar(void)
{
    return READS(stdin, 0, EOF, REAL(getchar)());
}

PCT_EXPORT char *fgets(char *line, int size, FILE *file)
{
    if (size <= 1) /* libc looks at nothing */
        return REAL(fgets)(line, size, file);
    return READS(file, 0, NULL, REAL(fgets)(line, size, file));
}

PCT_EXPORT char *__fgets_chk(char *line, size_t room, int size, FILE *file)
{
    return READS(file, 0, NULL, REAL(__fgets_chk)(line, room, size, file));
}

PCT_EXPORT ssize_t getdelim(char **line, size_t *size, int delimiter, FILE *file)
{
    return READS(file, 0, -1, REAL(getdelim)(line, size, delimiter, file));
}

PCT_EXPORT ssize_t __getdelim(char **line, size_t *size, int delimiter, FILE *file)
{
    return getdelim(line, size, delimiter, file);
}

PCT_EXPORT ssize_t getline(char **line, size_t *size, FILE *file)
{
    return getdelim(line, size, '\n', file);
}

PCT_EXPORT size_t fread(void *buffer, size_t size, size_t count, FILE *file)
{
    if (!size || !count)
        return REAL(fread)(buffer, size, count, file);
    return READS(file, size * count, 0, came(file, buffer, size, REAL(fread)(buffer, size, count, file), PCT_CALLER));
}

PCT_EXPORT size_t __fread_chk(void *buffer, size_t room, size_t size, size_t count, FILE *file)
{
    if (!size || !count)
        return REAL(__fread_chk)(buffer, room, size, count, file);
    return READS(file, size * count, 0,
                 came(file, buffer, size, REAL(__fread_chk)(buffer, room, size, count, file), PCT_CALLER));
}

/* The headers make one of these names the other, depending on the standard. */
PCT_EXPORT int old_vfscanf(FILE *file, const char *format, va_list arguments) __asm__("vfscanf");
PCT_EXPORT int old_vfscanf(FILE *file, const char *format, va_list arguments)
{
    return READS(file, 0, EOF, REAL(vfscanf)(file, format, arguments));
}

PCT_EXPORT int new_vfscanf(FILE *file, const char *format, va_list arguments) __asm__("__isoc99_vfscanf");
PCT_EXPORT int new_vfscanf(FILE *file, const char *format, va_list arguments)
{
    return READS(file, 0, EOF, REAL(__isoc99_vfscanf)(file, format, arguments));
}

PCT_EXPORT int __isoc99_fscanf(FILE *file, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int result = new_vfscanf(file, format, arguments);
    va_end(arguments);
    return result;
}

PCT_EXPORT int __isoc99_scanf(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int result = new_vfscanf(stdin, format, arguments);
    va_end(arguments);
    return result;
}

/* What <stdio.h> makes of these names where C23 is spoken, and with _GNU_SOURCE, since glibc 2.38. */
PCT_EXPORT int __isoc23_vfscanf(FILE *file, const char *format, va_list arguments)
{
    return READS(file, 0, EOF, REAL(__isoc23_vfscanf)(file, format, arguments));
}

PCT_EXPORT int __isoc23_fscanf(FILE *file, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int result = __isoc23_vfscanf(file, format, arguments);
    va_end(arguments);
    return result;
}

PCT_EXPORT int __isoc23_scanf(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int result = __isoc23_vfscanf(stdin, format, arguments);
    va_end(arguments);
    return result;
}

/* fopen of a named pipe waits for its other end, inside libc. What opens it is open(), then, and libc gets the
 * descriptor. */

/* The flags of open() for a mode of fopen(3), or -1 for those that it does not wait with, or that fdopen() does not
 * know. */
static int open_flags(const char *mode)
{
    int flags = *mode == 'r' ? O_RDONLY : *mode == 'w' ? O_WRONLY | O_CREAT | O_TRUNC : O_WRONLY | O_CREAT | O_APPEND;
    for (const char *c = mode; *c; c++) {
        if (*c == '+' || *c == ',' || *c == 'x')
            return -1;
        flags |= *c == 'e' ? O_CLOEXEC : 0;
    }
    return *mode == 'r' || *mode == 'w' || *mode == 'a' ? flags : -1;
}

static bool reads_and_writes(const char *mode)
{
    while (*mode && *mode != '+')
        mode++;
    return *mode;
}

static FILE *open_by(FILE *(*real)(const char *, const char *), const char *path, const char *mode)
{
    int flags = pct_sched_is_on(&pct_S) && pct_enter() ? open_flags(mode) : -1;
    pct_explored_hidden(PCT_KEY_KERNEL, false);
    if (flags < 0 || !pct_fifo_waits(AT_FDCWD, path, flags)) {
        FILE *plain = real(path, mode);
        if (plain && reads_and_writes(mode) && pct_enter())
            pct_fifo_opened(plain->_fileno, O_RDWR);
        pct_news_at(AT_FDCWD, path, pct_absent_note(plain ? 0 : -1));
        return plain;
    }
    PCT_ENTER(self);
    int fd = pct_fifo_open(self, &REAL(openat), AT_FDCWD, path, flags, 0666, NULL);
    FILE *file = fd < 0 ? NULL : CALL_MAY_BLOCK(self, fdopen(fd, mode));
    if (fd >= 0 && !file) {
        pct_fd_forget(fd);
        PCT_SYS1(SYS_close, fd);
    }
    return file;
}

PCT_EXPORT FILE *fopen(const char *path, const char *mode)
{
    return open_by(&REAL(fopen), path, mode);
}

PCT_EXPORT FILE *fopen64(const char *path, const char *mode)
{
    return open_by(&REAL(fopen64), path, mode);
}

/* Closing a stream or directory closes its descriptor inside libc. No scheduling point. */

static void closed(int fd, bool blocks)
{
    pct_explored_hidden(PCT_KEY_KERNEL, false);
    if (fd < 0 || !pct_sched_is_on(&pct_S))
        return;
    pct_fd_forget(fd);
    struct pct_shim_thread *self = blocks ? pct_enter() : NULL;
    if (self) {
        pct_order_world(self, PCT_RELEASES);
        pct_sched_kernel_changed(&pct_S); /* somebody may wait for the other end */
    }
}

static bool may_block(int fd)
{
    return fd >= 0 && pct_sched_is_on(&pct_S) && pct_fd_blocks(fd);
}

PCT_EXPORT int fclose(FILE *file)
{
    pct_stream_pass(file);
    int fd = file->_fileno;
    bool blocks = may_block(fd);
    int failed = REAL(fclose)(file), error = errno;
    closed(fd, blocks);
    errno = error;
    return failed;
}

static FILE *reopen(FILE *(*real)(const char *, const char *, FILE *), const char *path, const char *mode, FILE *file)
{
    pct_stream_pass(file);
    int fd = file->_fileno;
    bool blocks = may_block(fd);
    FILE *again = real(path, mode, file);
    int error = errno;
    closed(fd, blocks);
    if (fd == STDERR_FILENO && again)
        pct_error_note();
    errno = error;
    return again;
}

PCT_EXPORT FILE *freopen(const char *path, const char *mode, FILE *file)
{
    return reopen(&REAL(freopen), path, mode, file);
}

PCT_EXPORT FILE *freopen64(const char *path, const char *mode, FILE *file)
{
    return reopen(&REAL(freopen64), path, mode, file);
}

PCT_EXPORT int closedir(DIR *directory)
{
    int fd = dirfd(directory), failed = REAL(closedir)(directory), error = errno;
    closed(fd, false);
    errno = error;
    return failed;
}
