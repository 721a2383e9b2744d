/* Reading /proc/PID: see relative.h. */
#include "relative.h"
#include <common/text.h>
#include <preload/core/kernel.h>
#include <preload/core/real.h>
#include <preload/core/shim.h>
#include <preload/core/sys.h>
#include <fcntl.h>
#include <sys/stat.h>

/* Fields of proc_pid_stat(5). */
enum { STATE = 3, THREADS = 20, START = 22 };

/* Not on the stack, which may be a handler's. */
static struct {
    char stat[1024];
    char folder[1024] __attribute__((aligned(8)));
} * room;

enum { PATH_SIZE = 64 };

static void write_path(char *path, int pid, const char *middle, const char *name, const char *end)
{
    struct pct_text text;
    pct_text_init(&text, path, PATH_SIZE);
    pct_text_add(&text, "/proc/");
    pct_text_add_u64(&text, (uint64_t)pid);
    pct_text_add(&text, middle);
    pct_text_add(&text, name);
    pct_text_add(&text, end);
}

static long open_path(int pid, const char *middle, const char *name, const char *end, int flags)
{
    char path[PATH_SIZE];
    write_path(path, pid, middle, name, end);
    return PCT_SYS3(SYS_open, path, flags | O_CLOEXEC, 0);
}

static bool begins_with(const char *text, const char *with)
{
    while (*with && *text == *with)
        text++, with++;
    return !*with;
}

/* What stands behind the name in a file `stat`; NULL: it cannot be read. Its first character is the state. */
static const char *read_stat(long fd)
{
    if (fd < 0)
        return NULL;
    long got = PCT_SYS3(SYS_read, fd, room->stat, sizeof room->stat - 1);
    PCT_SYS1(SYS_close, fd);
    room->stat[got > 0 ? got : 0] = 0;
    for (long i = got; i > 0; i--)
        if (room->stat[i - 1] == ')')
            return &room->stat[i] + 1;
    return NULL;
}

static uint64_t number(const char **at)
{
    uint64_t value = 0;
    for (; **at >= '0' && **at <= '9'; ++*at)
        value = 10 * value + (uint64_t)(**at - '0');
    return value;
}

static uint64_t field(const char *at, int which)
{
    for (int i = STATE; *at && i < which; at++)
        i += *at == ' ';
    return number(&at);
}

static enum pct_relative state_of(char letter)
{
    switch (letter) {
    case 'Z':
    case 'X':
        return PCT_RELATIVE_GONE;
    case 'T':
        return PCT_RELATIVE_STOPPED;
    case 'S':
        return PCT_RELATIVE_SLEEPS;
    case 'R':
        return PCT_RELATIVE_RUNS;
    default:
        return PCT_RELATIVE_BUSY;
    }
}

/* The function of the kernel's in which a thread sleeps; "0": it does not, or nobody may know. */
enum { WHERE_SIZE = 16 };
static void read_where(int pid, const char *middle, const char *name, char *where)
{
    long fd = open_path(pid, middle, name, "/wchan", O_RDONLY), got = 0;
    if (fd >= 0) {
        got = PCT_SYS3(SYS_read, fd, where, WHERE_SIZE - 1);
        PCT_SYS1(SYS_close, fd);
    }
    where[got > 0 ? got : 0] = 0;
}

/* A thread in state S need not sleep: in the kernel's loops it is in that state before it looks whether it has to, and
 * may lose the CPU there. One that awaits children takes them in that state. Only of one that is off its CPU's queue
 * the kernel says where it sleeps; or of none, to those who may not know. */
static bool is_queued(int pid, const char *middle, const char *name)
{
    char path[PATH_SIZE], where[WHERE_SIZE], target[1];
    read_where(pid, middle, name, where);
    if (where[0] != '0')
        return false;
    write_path(path, pid, "/cwd", "", "");
    return PCT_SYS3(SYS_readlink, path, target, sizeof target) > 0;
}

static bool has_room(void)
{
    if (!room)
        room = pct_map(sizeof *room);
    return room;
}

int pct_relative_children(int thread, int *children, int most)
{
    char name[16];
    struct pct_text text;
    pct_text_init(&text, name, sizeof name);
    pct_text_add_u64(&text, (uint64_t)thread);
    long fd = has_room() ? open_path(thread, "/task/", name, "/children", O_RDONLY) : -1;
    if (fd < 0)
        return 0;
    long got = PCT_SYS3(SYS_read, fd, room->stat, sizeof room->stat - 1);
    PCT_SYS1(SYS_close, fd);
    room->stat[got > 0 ? got : 0] = 0;
    int count = 0;
    for (const char *at = room->stat; *at && count < most; at++)
        children[count++] = (int)number(&at);
    return count;
}

/* Of a thread in state S whose file `stat` has just been read: whether all that it sleeps for is a child, and all that
 * it has made are such ones. The watchdog waits for nothing. */
static bool awaits_child(int pid, const char *name, bool (*is_such)(uint32_t child))
{
    enum { MOST = 16 };
    int children[MOST];
    char where[WHERE_SIZE];
    for (const char *at = room->stat; *at; at++)
        if (begins_with(at, "(pct-watchdog)"))
            return true;
    read_where(pid, "/task/", name, where);
    if (!begins_with(where, "do_wait"))
        return false;
    int count = pct_relative_children((int)number(&name), children, MOST), i = 0;
    while (i < count && is_such((uint32_t)children[i]))
        i++;
    return count < MOST && i == count;
}

/* Of several threads but this one: what keeps the process from being asleep, if anything does. exactly: see
 * is_queued(). is_such: see awaits_child(); NULL: they may sleep for anything. */
static enum pct_relative look_at_threads(int pid, int but, bool exactly, bool (*is_such)(uint32_t child))
{
    struct entry {
        uint64_t inode, offset;
        uint16_t size;
        uint8_t type;
        char name[];
    };
    enum pct_relative found = PCT_RELATIVE_GONE;
    long got, folder = open_path(pid, "/task", "", "", O_RDONLY | O_DIRECTORY);
    if (folder < 0)
        return PCT_RELATIVE_BUSY;
    while ((got = PCT_SYS3(SYS_getdents64, folder, room->folder, sizeof room->folder)) > 0)
        for (long at = 0; at < got;) {
            const struct entry *entry = (const void *)(room->folder + at);
            const char *name = entry->name;
            at += entry->size;
            if (name[0] == '.' || number(&name) == (uint64_t)but)
                continue;
            const char *stat = read_stat(open_path(pid, "/task/", entry->name, "/stat", O_RDONLY));
            enum pct_relative state = stat ? state_of(*stat) : PCT_RELATIVE_GONE;
            if (exactly && state == PCT_RELATIVE_SLEEPS && found <= state && is_queued(pid, "/task/", entry->name))
                state = PCT_RELATIVE_RUNS;
            if (is_such && state == PCT_RELATIVE_SLEEPS && !awaits_child(pid, entry->name, is_such))
                state = PCT_RELATIVE_RUNS;
            if (state > found)
                found = state;
        }
    PCT_SYS1(SYS_close, folder);
    return got < 0 ? PCT_RELATIVE_BUSY : found;
}

bool pct_relative_others_sleep(int pid, int but)
{
    return has_room() && look_at_threads(pid, but, true, NULL) <= PCT_RELATIVE_SLEEPS;
}

bool pct_relative_awaits_child(int pid, bool (*is_such)(uint32_t child))
{
    return has_room() && look_at_threads(pid, 0, false, is_such) == PCT_RELATIVE_SLEEPS;
}

bool pct_relative_sleeps(int pid)
{
    const char *stat = has_room() ? read_stat(open_path(pid, "/stat", "", "", O_RDONLY)) : NULL;
    if (!stat || field(stat, THREADS) > 1)
        return pct_relative_others_sleep(pid, 0);
    return state_of(*stat) <= PCT_RELATIVE_SLEEPS && !is_queued(pid, "", "");
}

enum pct_relative pct_relative_look(int pid, uint64_t *start)
{
    if (!has_room())
        return PCT_RELATIVE_BUSY;
    const char *stat = read_stat(open_path(pid, "/stat", "", "", O_RDONLY));
    if (!stat) /* it is gone, or there is no /proc */
        return PCT_SYS2(SYS_kill, pid, 0) == -ESRCH ? PCT_RELATIVE_GONE : PCT_RELATIVE_BUSY;
    enum pct_relative state = state_of(*stat);
    *start = field(stat, START);
    /* The first thread of several may have ended before the others. */
    if (field(stat, THREADS) > 1 && state != PCT_RELATIVE_STOPPED)
        state = look_at_threads(pid, 0, false, NULL);
    /* A process is a zombie before its parent is told; both under a lock of the kernel's, which this takes, too. */
    if (state == PCT_RELATIVE_GONE)
        PCT_SYS6(SYS_waitid, P_PID, pid, NULL, WEXITED | WNOHANG | WNOWAIT | __WALL, NULL, 0);
    return state;
}

uint64_t pct_relative_cpu(int pid)
{
    struct timespec time;
    /* The CPU clock of a process: linux/posix-timers.h. */
    if (PCT_SYS2(SYS_clock_gettime, (long)(~(uint32_t)pid << 3 | 2), &time))
        return 0;
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* The file schedstat (sched-stats.rst of Linux): ns on a CPU, ns for which it waited for one, and how often it got one.
 * Where the kernel does not count these, they are zeros. */
static bool read_waited(int pid, uint64_t *waited)
{
    const char *at = has_room() ? read_stat(open_path(pid, "/stat", "", "", O_RDONLY)) : NULL;
    if (!at || field(at, THREADS) != 1)
        return false;
    long fd = open_path(pid, "/schedstat", "", "", O_RDONLY);
    long got = fd < 0 ? 0 : PCT_SYS3(SYS_read, fd, room->stat, sizeof room->stat - 1);
    if (fd >= 0)
        PCT_SYS1(SYS_close, fd);
    room->stat[got > 0 ? got : 0] = 0;
    *waited = field(room->stat, STATE + 1);
    return field(room->stat, STATE + 2);
}

uint64_t pct_relative_waited(int pid)
{
    uint64_t waited;
    return read_waited(pid, &waited) ? waited : 0;
}

uint64_t pct_relative_went_by(int pid, uint64_t real, uint64_t waited)
{
    enum { TRIES = 100 }; /* ms, at least */
    const struct timespec moment = { .tv_nsec = 1000000 };
    uint64_t cpu = pct_relative_cpu(pid), now, tries = 0;
    if (cpu >= real || !cpu)
        return cpu < real ? cpu : real;
    while ((now = pct_relative_cpu(pid)) == cpu && tries++ < TRIES)
        PCT_SYS2(SYS_nanosleep, &moment, NULL);
    uint64_t until = 0;
    if (now == cpu || !read_waited(pid, &until) || until < waited)
        return cpu;
    uint64_t rest = real > until - waited ? real - (until - waited) : 0;
    return rest > cpu ? rest : cpu;
}

uint64_t pct_relative_namespace(const char *path)
{
    struct stat status;
    return PCT_SYS2(SYS_stat, path, &status) ? 0 : status.st_ino;
}

uint64_t pct_relative_now(void)
{
    struct timespec now = { 0 };
    if (PCT_SYS2(SYS_clock_gettime, CLOCK_MONOTONIC, &now))
        REAL(clock_gettime)(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int pct_relative_of_pidfd(int pidfd)
{
    static const char label[] = "\nPid:\t";
    char path[64], info[512];
    struct pct_text text;
    pct_text_init(&text, path, sizeof path);
    pct_text_add(&text, "/proc/self/fdinfo/");
    pct_text_add_u64(&text, (uint64_t)pidfd);
    long fd = PCT_SYS3(SYS_open, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return 0;
    long got = PCT_SYS3(SYS_read, fd, info, sizeof info - 1);
    PCT_SYS1(SYS_close, fd);
    info[got > 0 ? got : 0] = 0;
    for (const char *at = info; *at; at++) {
        size_t same = 0;
        while (label[same] && at[same] == label[same])
            same++;
        if (!label[same]) {
            at += same;
            return (int)number(&at);
        }
    }
    return 0;
}
