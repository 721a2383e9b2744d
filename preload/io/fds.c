/* What is known of the descriptors of this process: which of them never block, and which the outside world has nothing
 * to do with. The first saves a question to the kernel; the second makes time jump, and deadlocks show, while threads
 * wait for each other through pipes and eventfds.
 *
 * Descriptors come and go in ways that no wrapper sees. So a descriptor counts as inside only while it still is the
 * file that it was when it was made (its inode), and while no child has been made since, that would have a copy. */
#include "io.h"
#include <common/text.h>
#include <preload/core/kernel.h>
#include <preload/core/shim.h>
#include <preload/core/sys.h>
#include <preload/thread/foreign_threads.h>
#include <preload/watchdog/watchdog.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

enum { MOST = 1 << 16 };

struct fd {
    uint8_t kind;
    uint8_t watches; /* an epoll: enum pct_reach of what is in it */
    bool elsewhere;  /* an epoll: it is in another one, or has another name */
    bool no_socket;  /* this is known */
    bool socket;     /* or this */
    bool random;     /* was one of the system's random devices */
    uint16_t era;    /* when it was made: of the children, and of what strangers may have got */
    uint16_t stranger_era;
    uint32_t inode; /* low bits */
    uint16_t timer; /* a timerfd: the number of its timer; 0: none */
    uint8_t others; /* enum pct_fd_others */
};

static struct fd *table; /* address space for MOST */
static uint16_t era, stranger_era;

/* The standard output and error that the program was started with, as bits. What they are differs between a terminal, a
 * CI job and a replay, and shall not decide what a scheduling point is: each is taken for one that may block, even a
 * file. */
static unsigned standard = 1u << 1 | 1u << 2;

/* Those that were open when the program started, as bits: who is at the other end is not known. Not the standard input:
 * several runs get the same one, as a file. */
enum { FIRST = 256 };
static uint64_t first[FIRST / 64];

static bool is_first(int fd)
{
    return fd >= 0 && fd < FIRST && first[fd / 64] >> (fd % 64) & 1;
}

PCT_STARTS void pct_fd_start(void)
{
    struct pollfd fds[FIRST];
    for (int fd = 0; fd < FIRST; fd++)
        fds[fd] = (struct pollfd){ .fd = fd };
    PCT_SYS3(SYS_poll, fds, FIRST, 0); /* one that fails says of none that it is closed */
    for (int fd = 3; fd < FIRST; fd++)
        first[fd / 64] |= (uint64_t) !(fds[fd].revents & POLLNVAL) << (fd % 64);
}

static bool is_standard(int fd)
{
    return fd >= 0 && fd <= 2 && standard >> fd & 1;
}

static void replaced(int fd)
{
    if (fd >= 0 && fd <= 2)
        standard &= ~(1u << fd);
    if (fd >= 0 && fd < FIRST)
        first[fd / 64] &= ~(UINT64_C(1) << (fd % 64));
}

static struct fd *entry(int fd)
{
    if (fd < 0 || fd >= MOST)
        return NULL;
    if (PCT_UNLIKELY(!table))
        table = pct_map(MOST * sizeof *table);
    return table ? &table[fd] : NULL;
}

static bool is_file(unsigned mode)
{
    return S_ISREG(mode) || S_ISDIR(mode) || S_ISBLK(mode);
}

/* /dev/random, /dev/urandom. */
static bool is_random(const struct stat *status)
{
    return S_ISCHR(status->st_mode) && major(status->st_rdev) == 1 &&
           (minor(status->st_rdev) == 8 || minor(status->st_rdev) == 9);
}

static void note_type(struct fd *e, unsigned mode)
{
    e->socket = S_ISSOCK(mode);
    e->no_socket = !e->socket;
}

/* The low bits of the inode, and whether it is a file that never blocks. Returns 0 or a negative errno. */
static long look(int fd, uint32_t *inode, bool *file)
{
    struct stat status;
    long failed = PCT_SYS2(SYS_fstat, fd, &status);
    if (failed)
        return failed;
    *inode = (uint32_t)status.st_ino;
    *file = is_file(status.st_mode);
    return 0;
}

void pct_fd_made(int fd, enum pct_fd_kind kind)
{
    struct fd *e = entry(fd);
    bool file;
    replaced(fd);
    if (!e)
        return;
    *e = (struct fd){ .kind = (uint8_t)kind, .era = era, .stranger_era = stranger_era };
    if (kind >= PCT_FD_INSIDE && look(fd, &e->inode, &file))
        e->kind = PCT_FD_UNKNOWN;
}

void pct_fd_copied(int fd, int copy)
{
    struct fd *from = entry(fd), *to = entry(copy);
    if (is_standard(fd) || is_first(fd))
        pct_fd_blocks(fd); /* the copy is like it */
    if (copy != fd) {
        replaced(copy);
        pct_watchdog_settle();
    }
    if (from && from->kind == PCT_FD_EPOLL)
        from->elsewhere = true;
    if (to)
        *to = from ? *from : (struct fd){ .kind = PCT_FD_UNKNOWN };
}

void pct_fd_forget(int fd)
{
    replaced(fd);
    pct_watchdog_settle();
    if (table && entry(fd))
        *entry(fd) = (struct fd){ .kind = PCT_FD_UNKNOWN };
}

void pct_fd_forget_range(unsigned first, unsigned last)
{
    for (unsigned fd = first; fd < MOST && fd <= last && (table || fd <= 2); fd++)
        pct_fd_forget((int)fd);
}

void pct_fd_watched(int epoll, int fd)
{
    struct fd *e = entry(epoll), *watched = entry(fd);
    enum pct_reach reach = pct_fd_reach(fd);
    if (watched && watched->kind == PCT_FD_EPOLL)
        watched->elsewhere = true;
    if (!e || reach <= e->watches)
        return;
    e->watches = (uint8_t)reach;
    /* Whoever waits for one that this is in, or by its other name, waits for what it watches. Which these are nobody
     * has noted. */
    for (int other = 0; e->elsewhere && other < MOST; other++)
        if (table[other].kind == PCT_FD_EPOLL && table[other].watches < reach)
            table[other].watches = (uint8_t)reach;
    pct_io_reach_again();
}

void pct_fd_set_timer(int fd, uint16_t timer)
{
    if (entry(fd))
        entry(fd)->timer = timer;
}

uint16_t pct_fd_timer(int fd)
{
    struct fd *e = entry(fd);
    uint32_t inode;
    bool file;
    return e && e->timer && !look(fd, &inode, &file) && inode == e->inode ? e->timer : 0;
}

int pct_fd_of_timer(uint16_t timer, int probably)
{
    if (pct_fd_timer(probably) == timer)
        return probably;
    for (int fd = 0; table && fd < MOST; fd++)
        if (table[fd].timer == timer && pct_fd_timer(fd) == timer)
            return fd;
    return -1;
}

void pct_fd_inherit_all(void)
{
    era++;
    pct_io_reach_again();
}

void pct_fd_share_all(void)
{
    era++;
    stranger_era++;
    pct_io_reach_again();
}

const char *pct_fd_anonymous(int fd, char name[PCT_FD_NAME])
{
    static const char begin[] = "anon_inode:[";
    struct pct_text text;
    pct_text_init(&text, name, PCT_FD_NAME);
    pct_text_add(&text, "/proc/thread-self/fd/");
    pct_text_add_u64(&text, (uint64_t)fd);
    const long length = pct_shim.confined ? 0 : PCT_SYS3(SYS_readlink, name, name, PCT_FD_NAME - 1);
    name[length > 0 ? length : 0] = 0;
    return length <= 0 ? NULL : __builtin_memcmp(name, begin, sizeof begin - 1) ? "" : name + sizeof begin - 1;
}

static bool is_signals(int fd)
{
    char name[PCT_FD_NAME];
    const char *kind = pct_fd_anonymous(fd, name);
    return kind && pct_text_same(kind, "signalfd]");
}

bool pct_fd_blocks(int fd)
{
    struct fd *e = entry(fd);
    struct stat status;
    if (PCT_LIKELY(e && e->kind))
        return e->kind != PCT_FD_FILE;
    long failed = PCT_SYS2(SYS_fstat, fd, &status);
    if (failed) /* the call itself knows what is wrong with it; a sandbox that does not tell: it may */
        return pct_refused(failed);
    bool blocks = !is_file(status.st_mode) || is_standard(fd);
    if (e) {
        e->kind = blocks ? PCT_FD_OUTSIDE : PCT_FD_FILE;
        note_type(e, status.st_mode);
        e->random = is_random(&status);
        if (is_first(fd) && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)))
            e->others |= PCT_FD_GIVEN;
        if (!(status.st_mode & S_IFMT) && is_signals(fd))
            e->others |= PCT_FD_SIGNALS;
    }
    return blocks;
}

void pct_fd_add_others(int fd, enum pct_fd_others others)
{
    if (entry(fd))
        entry(fd)->others |= (uint8_t)others;
}

unsigned pct_fd_others(int fd)
{
    return PCT_LIKELY(table != NULL) && fd >= 0 && fd < MOST ? table[fd].others : 0;
}

bool pct_fd_is_random(int fd)
{
    struct stat status;
    return table && fd >= 0 && fd < MOST && PCT_UNLIKELY(table[fd].random) && !PCT_SYS2(SYS_fstat, fd, &status) &&
           is_random(&status);
}

bool pct_fd_may_be_socket(int fd)
{
    const struct fd *e = entry(fd);
    return !e || !e->no_socket;
}

bool pct_fd_is_no_socket(int fd)
{
    struct fd *e = entry(fd);
    struct stat status;
    if (PCT_LIKELY(e && (e->socket || e->no_socket)))
        return e->no_socket;
    if (PCT_SYS2(SYS_fstat, fd, &status))
        return false;
    if (e)
        note_type(e, status.st_mode);
    return !S_ISSOCK(status.st_mode);
}

bool pct_fd_is_file(int fd)
{
    uint32_t inode;
    bool file;
    return !look(fd, &inode, &file) && file;
}

enum pct_reach pct_fd_reach(int fd)
{
    const struct fd *e = entry(fd);
    uint32_t inode;
    bool file;
    /* A ring's requests end when the kernel likes, which counts them in an eventfd, or writes to a pipe. */
    if (!e || e->kind < PCT_FD_INSIDE || e->stranger_era != stranger_era || pct_foreign_threads_has_kernel() ||
        look(fd, &inode, &file) || inode != e->inode)
        return PCT_REACH_WORLD;
    enum pct_reach own = e->era != era ? PCT_REACH_FAMILY : PCT_REACH_INSIDE;
    return e->watches > own ? e->watches : own;
}

long pct_fd_reopen(int fd, int flags)
{
    char link[64];
    struct pct_text text;
    pct_text_init(&text, link, sizeof link);
    pct_text_add(&text, "/proc/thread-self/fd/");
    pct_text_add_u64(&text, (uint64_t)fd);
    return PCT_SYS3(SYS_open, link, flags | O_CLOEXEC, 0);
}
