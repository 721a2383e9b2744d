/* Where things are: see locate.h. */
#include "locate.h"
#include <cli/base/cli.h>
#include <cli/base/list.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pct/trace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static int check_executable(const char *path)
{
    struct stat status;
    if (stat(path, &status))
        return errno == EACCES ? 126 : 127;
    return S_ISREG(status.st_mode) && !access(path, X_OK) ? 0 : 126;
}

int pct_locate_command(const char *word, char *out, size_t size)
{
    if (!*word)
        return 127;
    if (strchr(word, '/')) {
        snprintf(out, size, "%s", word);
        return check_executable(word);
    }
    const char *path = getenv("PATH");
    if (!path)
        path = "/usr/local/bin:/usr/bin:/bin";
    int found = 127;
    for (;;) {
        size_t length = strcspn(path, ":");
        /* An empty entry is the current directory. */
        snprintf(out, size, "%.*s%s%s", (int)length, path, length ? "/" : "./", word);
        int status = check_executable(out);
        if (!status)
            return 0;
        struct stat what;
        if (status == 126 && !stat(out, &what) && S_ISREG(what.st_mode))
            found = 126;
        if (!path[length])
            return found;
        path += length + 1;
    }
}

const char *pct_locate_complaint(const char *word, int status)
{
    struct stat what;
    if (status != 126)
        return "command not found";
    if (!stat(word, &what) && S_ISDIR(what.st_mode))
        return "it is a directory";
    return "is there, but cannot be executed";
}

/* One of these places, from the folder of this executable; that folder stays in self. */
static bool beside_us(const char *const *places, size_t count, const char *name, char *self, char *found)
{
    ssize_t length = readlink("/proc/self/exe", self, PATH_MAX - 1);
    self[length > 0 ? length : 0] = 0;
    char *slash = strrchr(self, '/');
    if (!slash)
        return false;
    *slash = 0;
    for (size_t i = 0; i < count; i++) {
        char path[3 * PATH_MAX];
        snprintf(path, sizeof path, "%s/%s%s", self, places[i], name);
        if (realpath(path, found))
            return true;
    }
    return false;
}

int pct_locate_library(const char *given, char *out, size_t size, char *error, size_t error_size)
{
    char found[PATH_MAX];
    if (given) {
        if (!realpath(given, found)) {
            snprintf(error, error_size, "--lib=%s: %s", given, strerror(errno));
            return -ENOENT;
        }
        snprintf(out, size, "%s", found);
        return 0;
    }
    char self[PATH_MAX];
    static const char *const places[] = { "", "../lib/pct/", "../lib/" };
    if (beside_us(places, sizeof places / sizeof *places, "libpct.so", self, found)) {
        snprintf(out, size, "%s", found);
        return 0;
    }
    if (!*self) {
        snprintf(error, error_size,
                 "/proc is not mounted, by which pct finds its library: mount -t proc proc /proc, or name libpct.so "
                 "with --lib");
        return -ENOENT;
    }
    snprintf(error, error_size, "libpct.so was not found beside %s/pct nor in ../lib/pct or ../lib; name it with --lib",
             self);
    return -ENOENT;
}

int pct_locate_data(const char *name, char *out, size_t size)
{
    char self[PATH_MAX], found[PATH_MAX];
    static const char *const places[] = { "share/", "../share/pct/" };
    if (!beside_us(places, sizeof places / sizeof *places, name, self, found))
        return -ENOENT;
    snprintf(out, size, "%s", found);
    return 0;
}

enum { PLACES = PCT_LOCATE_PLACES };

static void list_places(const char **places, bool large)
{
    const char *const runtime = getenv("XDG_RUNTIME_DIR"), *const temporary = getenv("TMPDIR");
    const char *const all[PLACES] = { large ? temporary : runtime, large ? "/tmp" : "/dev/shm",
                                      large ? "/var/tmp" : temporary, large ? runtime : "/tmp", "/dev/shm" };
    for (size_t i = 0; i < PLACES; i++)
        places[i] = all[i] && all[i][0] == '/' ? all[i] : NULL;
}

void pct_locate_places(const char *places[PCT_LOCATE_PLACES])
{
    list_places(places, true); /* which has all of the others, too */
    for (size_t i = 0; i < PLACES; i++)
        for (size_t earlier = 0; earlier < i && places[i]; earlier++)
            if (places[earlier] && !strcmp(places[i], places[earlier]))
                places[i] = NULL;
}

/* For what is written first: then a full place, or `ulimit -f`, is known at once. Returns 0 or a negative errno. */
static int try_room(int fd)
{
    int error = posix_fallocate(fd, 0, 1 << 13);
    return error ? -error : ftruncate(fd, 0) ? -errno : 0;
}

/* Bytes that a file may get, as far as is known. */
static bool has_room(const char *place, uint64_t bytes)
{
    struct statvfs system;
    return statvfs(place, &system) || !system.f_blocks || system.f_bavail * system.f_frsize >= bytes;
}

static int open_nameless(const char *place)
{
    int fd = open(place, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0 || !try_room(fd))
        return fd;
    close(fd);
    return -1;
}

int pct_locate_nameless(void)
{
    /* Of an output the last 16 MB are kept (cli/process/launch.c); of several runs at once. To a program that has no
     * space for what it writes, the disk is full. */
    static const uint64_t enough = 64 << 20;
    const char *places[PLACES];
    char path[PATH_MAX];
    list_places(places, true);
    for (size_t i = 0; i < 2 * PLACES; i++) {
        const char *place = places[i % PLACES];
        int fd = place && has_room(place, i < PLACES ? enough : 0) ? open_nameless(place) : -1;
        if (fd >= 0)
            return fd;
    }
    /* Not every file system has such files. */
    int fd = pct_locate_scratch(path, sizeof path, true);
    if (fd >= 0)
        unlink(path);
    return fd;
}

#define START "pct-"
enum { DIGITS = 10, WHOLE = DIGITS + 7, PID_MOST = 1 << 22 };

/* Strict: by this name alone, files of users' are told from ours. */
pid_t pct_locate_maker(const char *name)
{
    static const char digits[] = "0123456789";
    if (strncmp(name, START, sizeof START - 1))
        return 0;
    name += sizeof START - 1;
    if (strspn(name, digits) != DIGITS || name[DIGITS] != '-' || strnlen(name, WHOLE) != WHOLE)
        return 0;
    const char *child = name + WHOLE;
    if (*child && (*child != '.' || child[1 + strspn(child + 1, digits)]))
        return 0;
    long pid = strtol(name, NULL, 10);
    return pid < PID_MOST ? (pid_t)pid : 0;
}

int pct_locate_scratch(char *path, size_t size, bool large)
{
    const char *places[PLACES];
    int failed = -ENOENT;
    list_places(places, large);
    for (size_t i = 0; i < PLACES; i++) {
        if (!places[i])
            continue;
        if ((size_t)snprintf(path, size, "%s/" START "%0*d-XXXXXX", places[i], DIGITS, getpid()) >= size)
            continue;
        int fd = mkostemp(path, O_CLOEXEC);
        if (fd >= 0)
            flock(fd, LOCK_SH | LOCK_NB);
        failed = fd < 0 ? -errno : try_room(fd);
        if (!failed)
            return fd;
        if (fd >= 0) {
            unlink(path);
            close(fd);
        }
    }
    return failed;
}

/* Without a look at whether it may be executed: on some file systems all files may. */
static bool is_program(const char *name)
{
    char head[4];
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool program = fd >= 0 && read(fd, head, sizeof head) == sizeof head &&
                   (!memcmp(head, "\177ELF", 4) || !memcmp(head, "#!", 2));
    if (fd >= 0)
        close(fd);
    return program;
}

int pct_locate_named(const char *name, bool *is_file)
{
    struct stat status;
    *is_file = !stat(name, &status);
    if (*is_file && S_ISDIR(status.st_mode))
        return pct_cli_usage("%s: %s", name, strerror(EISDIR));
    if (*is_file && is_program(name))
        return pct_cli_usage("%s is a program; the token, or the trace, stands before it: TOKEN -- %s", name, name);
    if (*is_file)
        return 0;
    if (strncmp(name, "pct", 3) && strchr(name, '/'))
        return pct_cli_usage("%s: %s", name, strerror(errno));
    if (strncmp(name, "pct", 3))
        return pct_cli_usage("'%s' is neither a file that is there nor a token, as "
                             "pct1:pct,depth=3,k=1207:42:671f3a20:8f1c22d0a1b2c3d4:33ab "
                             "is one: `pct run` prints them",
                             name);
    return strlen(name) < PCT_LONG_TOKEN_MAX ? 0 : pct_cli_usage("this is neither a token nor a file: it is too long");
}
