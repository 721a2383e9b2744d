/* What files and streams tell: see news.h. */
#include "news.h"
#include "io.h"
#include <common/exploration.h>
#include <preload/core/order.h>
#include <preload/core/real.h>
#include <preload/core/sys.h>
#include <preload/memory/channel.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

static PCT_OF_RUN time_t began;

/* --- Files -------------------------------------------------------------------------------------------------------- */

/* Those of the kernel's own file systems are made as they are read, and mostly have no size. */
static bool is_news(const struct stat *status)
{
    return status->st_ctim.tv_sec >= began || (S_ISREG(status->st_mode) && !status->st_size);
}

void pct_news_acquire(void)
{
    const int error = errno;
    const struct pct_shim_thread *self = pct_vforking ? NULL : pct_enter();
    if (self)
        pct_races_all(pct_sched_races(&pct_S), self->core.id);
    errno = error;
}

void pct_news_found(int folder, const char *path, bool failed)
{
    struct stat link, file;
    /* Of a link, both it and what it leads to. */
    if (failed || PCT_SYS4(SYS_newfstatat, folder, path, &link, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) ||
        is_news(&link) ||
        (S_ISLNK(link.st_mode) && (PCT_SYS4(SYS_newfstatat, folder, path, &file, AT_EMPTY_PATH) || is_news(&file))))
        pct_news_acquire();
}

void pct_news_read(int fd)
{
    struct stat status;
    if (PCT_SYS2(SYS_fstat, fd, &status))
        return;
    const unsigned kind = status.st_mode & S_IFMT;
    /* What has no kind is the kernel's: events of files, among others. Those of this process's own tell in steps. */
    const bool told = kind == 0 ? pct_fd_reach(fd) == PCT_REACH_WORLD
                                : (kind == S_IFREG || kind == S_IFDIR || kind == S_IFBLK) && is_news(&status);
    if (told)
        pct_news_acquire();
}

/* --- Streams ------------------------------------------------------------------------------------------------------ */

/* GLIBC: how a stream reads and writes. */
typedef ssize_t write_of_stream(FILE *file, const void *from, ssize_t size);
typedef ssize_t read_of_stream(FILE *file, void *to, ssize_t size);
static write_of_stream *libc_write;
static read_of_stream *libc_read;

static void order_as(enum pct_op op, int fd)
{
    if (PCT_LIKELY(pct_sched_races(&pct_S) == NULL) || pct_vforking || !pct_fd_blocks(fd))
        return;
    const int error = errno;
    const struct pct_shim_thread *self = pct_enter();
    if (self)
        pct_order_as(self, op);
    errno = error;
}

/* The same, and who waits for that goes on. */
static void moved(enum pct_op op, int fd)
{
    const int error = errno;
    order_as(op, fd);
    if (PCT_UNLIKELY(pct_fd_others(fd)) && op == PCT_OP_WRITE)
        pct_io_went(fd);
    if (PCT_UNLIKELY(pct_sched_kernel_waits(&pct_S) != NULL) && !pct_vforking && pct_enter())
        pct_sched_kernel_changed(&pct_S);
    errno = error;
}

/* Before: others may read it before this thread goes on; behind: they may have made room for it. */
static ssize_t write_stream(FILE *file, const void *from, ssize_t size)
{
    order_as(PCT_OP_WRITE, file->_fileno);
    ssize_t sent = libc_write(file, from, size);
    moved(PCT_OP_WRITE, file->_fileno);
    return sent;
}

static ssize_t read_stream(FILE *file, void *to, ssize_t size)
{
    ssize_t got = libc_read(file, to, size);
    moved(PCT_OP_READ, file->_fileno);
    if (got >= 0 && pct_holder() && pct_fd_blocks(file->_fileno))
        pct_io_came(file->_fileno);
    return pct_news_of(file->_fileno, got);
}

/* GLIBC: the tables of all kinds of streams are in the part of libc that is read only once it is loaded. */
PCT_STARTS bool pct_news_lead(void)
{
    enum { PAGE = 4096 };
    const struct link_map *libc;
    bool writes = false, reads = false;
    unsigned count;
    if (!pct_real_symbol("gnu_get_libc_version", &libc))
        return false;
    libc_write = (write_of_stream *)pct_real_libc("_IO_file_write");
    libc_read = (read_of_stream *)pct_real_libc("_IO_file_read");
    if (!libc_write || !libc_read)
        return false;
    const Elf64_Phdr *part = pct_real_parts(libc, &count);
    for (; count; count--, part++) {
        const uintptr_t from = libc->l_addr + part->p_vaddr, page = from & -(uintptr_t)PAGE,
                        end = (from + part->p_memsz) & -(uintptr_t)PAGE;
        if (part->p_type != PT_GNU_RELRO || end <= page ||
            PCT_SYS3(SYS_mprotect, page, end - page, PROT_READ | PROT_WRITE))
            continue;
        for (uintptr_t *at = (uintptr_t *)from; (uintptr_t)at < end; at++) {
            if (*at == (uintptr_t)libc_write) {
                *at = (uintptr_t)write_stream;
                writes = true;
            } else if (*at == (uintptr_t)libc_read) {
                *at = (uintptr_t)read_stream;
                reads = true;
            }
        }
        PCT_SYS3(SYS_mprotect, page, end - page, PROT_READ);
    }
    return writes && reads;
}

void pct_news_begin(void)
{
    struct timespec now;
    PCT_SYS2(SYS_clock_gettime, CLOCK_REALTIME_COARSE, &now); /* the clock of files */
    began = now.tv_sec - 1;
}

/* Since glibc 2.37, these write by themselves. */
static void before_printing(int fd)
{
    pct_explored_hidden(PCT_KEY_KERNEL, false);
    pct_explored_hidden(PCT_KEY_LOCALE, true);
    order_as(PCT_OP_WRITE, fd);
}

PCT_EXPORT int vdprintf(int fd, const char *format, va_list arguments)
{
    before_printing(fd);
    int sent = REAL(vdprintf)(fd, format, arguments);
    moved(PCT_OP_WRITE, fd);
    return sent;
}

PCT_EXPORT int dprintf(int fd, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int sent = vdprintf(fd, format, arguments);
    va_end(arguments);
    return sent;
}

PCT_EXPORT int __vdprintf_chk(int fd, int flag, const char *format, va_list arguments)
{
    before_printing(fd);
    int sent = REAL(__vdprintf_chk)(fd, flag, format, arguments);
    moved(PCT_OP_WRITE, fd);
    return sent;
}

PCT_EXPORT int __dprintf_chk(int fd, int flag, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int sent = __vdprintf_chk(fd, flag, format, arguments);
    va_end(arguments);
    return sent;
}
