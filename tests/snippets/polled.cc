/* Looking at files, making, changing and removing them: one thread does so again and again until another one has made,
 * or taken away, what it is about; then it reads what that one has written before. With the name of a way, by that
 * alone; --list has their names: tests/cases/polled.cc has the race detector look at each. */
/* ops: SLEEP AWAKE */
/* tests: __mq_open_2 __readlink_chk __readlinkat_chk __realpath_chk __xmknod __xmknodat canonicalize_file_name chdir
 * chmod chown eaccess euidaccess fchmodat fchownat fdopendir fgetxattr flistxattr fremovexattr fsetxattr
 * fts64_children fts64_read fts_children fts_read ftw ftw64 futimesat getdents64 getdirentries getdirentries64
 * getxattr glob glob64 lchmod lchown lgetxattr linkat listxattr llistxattr lremovexattr lseek lseek64
 * lsetxattr lutimes mkdirat mkfifo mkfifoat mknod mknodat mq_open mq_unlink nftw nftw64 opendir readdir64_r
 * readdir_r readlink readlinkat realpath remove removexattr renameat renameat2 rmdir scandir scandir64
 * scandirat scandirat64 sem_unlink setxattr shm_open shm_unlink statfs statfs64 statvfs statvfs64 symlink
 * symlinkat truncate truncate64 unlinkat utime utimensat utimes */
#include "check.h"
#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <mqueue.h>
#include <semaphore.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <utime.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

extern "C" {
ssize_t __readlink_chk(const char *path, char *to, size_t size, size_t room);
ssize_t __readlinkat_chk(int folder, const char *path, char *to, size_t size, size_t room);
char *__realpath_chk(const char *path, char *to, size_t room);
mqd_t __mq_open_2(const char *name, int flags);
int __xmknod(int version, const char *path, mode_t mode, dev_t *device);
int __xmknodat(int version, int folder, const char *path, mode_t mode, dev_t *device);
}
__asm__(".symver __xmknod, __xmknod@GLIBC_2.2.5\n.symver __xmknodat, __xmknodat@GLIBC_2.4");

namespace
{

/* What the other thread does: it makes this (GOES: takes it away). */
enum deed { A_FILE, A_FOLDER, A_LINK, A_BYTE, AN_ATTRIBUTE, SHARED, A_SEM, A_QUEUE, GOES };

/* The folder is open, and has a file that is open, too; what is polled is in it. name: of objects of other kinds. */
char folder[] = "/tmp/pct-polled-XXXXXX";
std::string file, polled, name;
int folder_fd, file_fd;
FILE *stream;
DIR *list;

/* What calls fill. */
char bytes[4096];
struct statfs fs;
struct statfs64 fs64;
struct statvfs vfs;
struct statvfs64 vfs64;
dirent **entries;
dirent64 **entries64;
off_t base;
off64_t base64;
dev_t none;
int visits;

int data; /* what is read then */

/* The call has come upon the file, whatever it says of it. */
bool there(long result)
{
    return result >= 0 || errno != ENOENT;
}

bool opened(int fd)
{
    return fd >= 0 && !close(fd);
}

bool opened(sem_t *sem)
{
    return sem != SEM_FAILED && !sem_close(sem);
}

bool opened(DIR *directory)
{
    return directory && !closedir(directory);
}

bool freed(char *path)
{
    free(path);
    return path;
}

template <typename entry> bool named(const entry &found)
{
    return !strcmp(found.d_name, "polled");
}

int is_polled(const dirent *entry)
{
    return named(*entry);
}

int is_polled64(const dirent64 *entry)
{
    return named(*entry);
}

template <typename entry> bool in_list(entry *(*next)(DIR *))
{
    rewinddir(list);
    while (entry *found = next(list))
        if (named(*found))
            return true;
    return false;
}

template <typename entry, int (*next)(DIR *, entry *, entry **)> entry *next_of(DIR *directory)
{
    static entry filled;
    entry *found;
    return next(directory, &filled, &found) ? nullptr : found;
}

bool in_copy()
{
    DIR *directory = fdopendir(openat(folder_fd, ".", O_RDONLY | O_DIRECTORY));
    bool any = false;
    while (dirent *found = readdir(directory))
        any |= named(*found);
    return opened(directory) && any;
}

/* The folder has few entries: one call reads them all. */
bool in_bytes(ssize_t got)
{
    return got > 0 && memmem(bytes, static_cast<size_t>(got), "polled", sizeof "polled");
}

int from_the_start()
{
    CHECK_EQ(lseek(folder_fd, 0, SEEK_SET), 0);
    return folder_fd;
}

template <typename entry> bool chosen(int count, entry **&found)
{
    for (int i = 0; i < count; i++)
        free(found[i]);
    if (count >= 0)
        free(found);
    return count > 0;
}

template <typename status> int visit(const char *path, const status *of, int kind)
{
    visits += path == polled && of && kind == FTW_F;
    return 0;
}

template <typename status> int visit_more(const char *path, const status *of, int kind, FTW *where)
{
    return visit(path, of, where->level == 1 ? kind : -1);
}

bool visited(int failed)
{
    CHECK_EQ(failed, 0);
    const int count = visits;
    visits = 0;
    return count;
}

/* Through the folder, or by its list of children. */
template <auto open, auto read, auto children, auto close> bool walked(bool listed)
{
    char *paths[] = { folder, nullptr };
    auto *tree = open(paths, FTS_PHYSICAL | FTS_NOCHDIR, nullptr);
    bool any = false;
    while (auto *entry = read(tree)) {
        for (auto *child = listed && entry->fts_info == FTS_D ? children(tree, 0) : nullptr; child;
             child = child->fts_link)
            any |= !strcmp(child->fts_name, "polled");
        any |= !listed && !strcmp(entry->fts_name, "polled");
    }
    close(tree);
    return any;
}

template <typename matches, auto find, auto free> bool globbed()
{
    matches found;
    return !find((std::string(folder) + "/po*d").c_str(), 0, nullptr, &found) && (free(&found), true);
}

bool longer()
{
    CHECK_EQ(fseek(stream, 0, SEEK_END), 0);
    return ftell(stream) > 0;
}

struct way {
    const char *name;
    deed does;
    bool (*seen)();
};

const way ways[] = {
    { "statfs", A_FILE, [] { return there(statfs(polled.c_str(), &fs)); } },
    { "statfs64", A_FILE, [] { return there(statfs64(polled.c_str(), &fs64)); } },
    { "statvfs", A_FILE, [] { return there(statvfs(polled.c_str(), &vfs)); } },
    { "statvfs64", A_FILE, [] { return there(statvfs64(polled.c_str(), &vfs64)); } },
    { "euidaccess", A_FILE, [] { return there(euidaccess(polled.c_str(), R_OK)); } },
    { "eaccess", A_FILE, [] { return there(eaccess(polled.c_str(), R_OK)); } },
    { "readlink", A_LINK, [] { return readlink(polled.c_str(), bytes, sizeof bytes) == 9; } },
    { "readlinkat", A_LINK, [] { return readlinkat(folder_fd, "polled", bytes, sizeof bytes) == 9; } },
    { "__readlink_chk", A_LINK, [] { return __readlink_chk(polled.c_str(), bytes, sizeof bytes, sizeof bytes) == 9; } },
    { "__readlinkat_chk", A_LINK,
      [] { return __readlinkat_chk(folder_fd, "polled", bytes, sizeof bytes, sizeof bytes) == 9; } },
    { "realpath", A_LINK, [] { return realpath(polled.c_str(), bytes) == bytes; } },
    { "__realpath_chk", A_LINK, [] { return __realpath_chk(polled.c_str(), bytes, sizeof bytes) == bytes; } },
    { "canonicalize_file_name", A_FILE, [] { return freed(canonicalize_file_name(polled.c_str())); } },
    { "opendir", A_FOLDER, [] { return opened(opendir(polled.c_str())); } },
    { "chdir", A_FOLDER, [] { return !chdir(polled.c_str()); } },
    { "getxattr", A_FILE, [] { return there(getxattr(polled.c_str(), "user.x", bytes, sizeof bytes)); } },
    { "lgetxattr", A_FILE, [] { return there(lgetxattr(polled.c_str(), "user.x", bytes, sizeof bytes)); } },
    { "listxattr", A_FILE, [] { return there(listxattr(polled.c_str(), bytes, sizeof bytes)); } },
    { "llistxattr", A_FILE, [] { return there(llistxattr(polled.c_str(), bytes, sizeof bytes)); } },
    { "fgetxattr", AN_ATTRIBUTE, [] { return fgetxattr(file_fd, "user.x", bytes, sizeof bytes) == 1; } },
    { "flistxattr", AN_ATTRIBUTE, [] { return flistxattr(file_fd, bytes, sizeof bytes) >= (int)sizeof "user.x"; } },
    { "removexattr", AN_ATTRIBUTE, [] { return !removexattr(file.c_str(), "user.x"); } },
    { "lremovexattr", AN_ATTRIBUTE, [] { return !lremovexattr(file.c_str(), "user.x"); } },
    { "fremovexattr", AN_ATTRIBUTE, [] { return !fremovexattr(file_fd, "user.x"); } },
    { "fsetxattr", AN_ATTRIBUTE, [] { return !fsetxattr(file_fd, "user.x", "y", 1, XATTR_REPLACE); } },
    { "setxattr", A_FILE, [] { return there(setxattr(polled.c_str(), "user.x", "x", 1, 0)); } },
    { "lsetxattr", A_FILE, [] { return there(lsetxattr(polled.c_str(), "user.x", "x", 1, 0)); } },
    { "lseek", A_BYTE, [] { return lseek(file_fd, 0, SEEK_END) == 1; } },
    { "lseek64", A_BYTE, [] { return lseek64(file_fd, 0, SEEK_END) == 1; } },
    { "fseek", A_BYTE, [] { return longer(); } },
    { "fdopendir", A_FILE, [] { return in_copy(); } },
    { "readdir", A_FILE, [] { return in_list(readdir); } },
    { "readdir_r", A_FILE, [] { return in_list(next_of<dirent, readdir_r>); } },
    { "readdir64_r", A_FILE, [] { return in_list(next_of<dirent64, readdir64_r>); } },
    { "getdents64", A_FILE, [] { return in_bytes(getdents64(from_the_start(), bytes, sizeof bytes)); } },
    { "getdirentries", A_FILE, [] { return in_bytes(getdirentries(from_the_start(), bytes, sizeof bytes, &base)); } },
    { "getdirentries64", A_FILE,
      [] { return in_bytes(getdirentries64(from_the_start(), bytes, sizeof bytes, &base64)); } },
    { "mkdir", GOES, [] { return !mkdir(polled.c_str(), 0700); } },
    { "mkdirat", GOES, [] { return !mkdirat(folder_fd, "polled", 0700); } },
    { "mkfifo", GOES, [] { return !mkfifo(polled.c_str(), 0600); } },
    { "mkfifoat", GOES, [] { return !mkfifoat(folder_fd, "polled", 0600); } },
    { "mknod", GOES, [] { return !mknod(polled.c_str(), S_IFREG | 0600, 0); } },
    { "mknodat", GOES, [] { return !mknodat(folder_fd, "polled", S_IFREG | 0600, 0); } },
    { "__xmknod", GOES, [] { return !__xmknod(0, polled.c_str(), S_IFREG | 0600, &none); } },
    { "__xmknodat", GOES, [] { return !__xmknodat(0, folder_fd, "polled", S_IFREG | 0600, &none); } },
    { "symlink", GOES, [] { return !symlink("/dev/null", polled.c_str()); } },
    { "symlinkat", GOES, [] { return !symlinkat("/dev/null", folder_fd, "polled"); } },
    { "linkat", GOES, [] { return !linkat(folder_fd, "file", folder_fd, "polled", 0); } },
    { "renameat2", GOES, [] { return !renameat2(folder_fd, "file", folder_fd, "polled", RENAME_NOREPLACE); } },
    { "renameat", A_FILE, [] { return !renameat(folder_fd, "polled", folder_fd, "other"); } },
    { "unlinkat", A_FILE, [] { return !unlinkat(folder_fd, "polled", 0); } },
    { "rmdir", A_FOLDER, [] { return !rmdir(polled.c_str()); } },
    { "remove", A_FILE, [] { return !remove(polled.c_str()); } },
    { "shm_open", SHARED, [] { return opened(shm_open(name.c_str(), O_RDWR, 0)); } },
    { "shm_unlink", SHARED, [] { return !shm_unlink(name.c_str()); } },
    { "sem_unlink", A_SEM, [] { return !sem_unlink(name.c_str()); } },
    { "sem_open", A_SEM, [] { return opened(sem_open(name.c_str(), 0)); } },
    { "mq_open", A_QUEUE, [] { return opened(mq_open(name.c_str(), O_RDWR)); } },
    { "__mq_open_2", A_QUEUE, [] { return opened(__mq_open_2(name.c_str(), O_RDWR)); } },
    { "mq_unlink", A_QUEUE, [] { return !mq_unlink(name.c_str()); } },
    { "truncate", A_FILE, [] { return !truncate(polled.c_str(), 9); } },
    { "truncate64", A_FILE, [] { return !truncate64(polled.c_str(), 9); } },
    { "chmod", A_FILE, [] { return !chmod(polled.c_str(), 0400); } },
    { "lchmod", A_FILE, [] { return there(lchmod(polled.c_str(), 0400)); } },
    { "fchmodat", A_FILE, [] { return !fchmodat(folder_fd, "polled", 0400, 0); } },
    { "chown", A_FILE, [] { return !chown(polled.c_str(), (uid_t)-1, (gid_t)-1); } },
    { "lchown", A_FILE, [] { return !lchown(polled.c_str(), (uid_t)-1, (gid_t)-1); } },
    { "fchownat", A_FILE, [] { return !fchownat(folder_fd, "polled", (uid_t)-1, (gid_t)-1, 0); } },
    { "utime", A_FILE, [] { return !utime(polled.c_str(), NULL); } },
    { "utimes", A_FILE, [] { return !utimes(polled.c_str(), NULL); } },
    { "lutimes", A_FILE, [] { return !lutimes(polled.c_str(), NULL); } },
    { "futimesat", A_FILE, [] { return !futimesat(folder_fd, "polled", NULL); } },
    { "utimensat", A_FILE, [] { return !utimensat(folder_fd, "polled", NULL, 0); } },
    { "glob", A_FILE, [] { return globbed<glob_t, glob, globfree>(); } },
    { "glob64", A_FILE, [] { return globbed<glob64_t, glob64, globfree64>(); } },
    { "scandir", A_FILE, [] { return chosen(scandir(folder, &entries, is_polled, alphasort), entries); } },
    { "scandirat", A_FILE,
      [] { return chosen(scandirat(AT_FDCWD, folder, &entries, is_polled, alphasort), entries); } },
    { "scandir64", A_FILE, [] { return chosen(scandir64(folder, &entries64, is_polled64, alphasort64), entries64); } },
    { "scandirat64", A_FILE,
      [] { return chosen(scandirat64(AT_FDCWD, folder, &entries64, is_polled64, alphasort64), entries64); } },
    { "ftw", A_FILE, [] { return visited(ftw(folder, visit<struct stat>, 4)); } },
    { "ftw64", A_FILE, [] { return visited(ftw64(folder, visit<struct stat64>, 4)); } },
    { "nftw", A_FILE, [] { return visited(nftw(folder, visit_more<struct stat>, 4, FTW_PHYS)); } },
    { "nftw64", A_FILE, [] { return visited(nftw64(folder, visit_more<struct stat64>, 4, FTW_PHYS)); } },
    { "fts_read", A_FILE, [] { return walked<fts_open, fts_read, fts_children, fts_close>(false); } },
    { "fts_children", A_FILE, [] { return walked<fts_open, fts_read, fts_children, fts_close>(true); } },
    { "fts64_read", A_FILE, [] { return walked<fts64_open, fts64_read, fts64_children, fts64_close>(false); } },
    { "fts64_children", A_FILE, [] { return walked<fts64_open, fts64_read, fts64_children, fts64_close>(true); } },
};

/* False: such cannot be had here. */
bool make(deed what)
{
    const int new_one = O_RDWR | O_CREAT | O_EXCL;
    switch (what) {
    case A_FILE:
        return opened(open(polled.c_str(), new_one, 0600));
    case A_FOLDER:
        return !mkdir(polled.c_str(), 0700);
    case A_LINK:
        return !symlink("/dev/null", polled.c_str());
    case A_BYTE:
        return pwrite(file_fd, "x", 1, 0) == 1;
    case AN_ATTRIBUTE:
        return !fsetxattr(file_fd, "user.x", "x", 1, 0);
    case SHARED:
        return opened(shm_open(name.c_str(), new_one, 0600));
    case A_SEM:
        return opened(sem_open(name.c_str(), new_one, 0600, 0));
    case A_QUEUE:
        return opened(mq_open(name.c_str(), new_one, 0600, nullptr));
    case GOES:
        return !unlink(polled.c_str());
    }
    return false;
}

void remove_all()
{
    CHECK_EQ(chdir("/"), 0);
    unlink(polled.c_str());
    rmdir(polled.c_str());
    unlink((std::string(folder) + "/other").c_str());
    unlink(file.c_str());
    fremovexattr(file_fd, "user.x");
    shm_unlink(name.c_str());
    sem_unlink(name.c_str());
    mq_unlink(name.c_str());
}

void prepare(deed what)
{
    CHECK((file_fd = open(file.c_str(), O_RDWR | O_CREAT, 0600)) >= 0);
    CHECK(stream = fopen(file.c_str(), "r"));
    if (what == GOES)
        CHECK_EQ(make(A_FILE), true);
}

void *other(void *way)
{
    data = 1;
    CHECK(make(static_cast<const struct way *>(way)->does));
    return nullptr;
}

void poll_by(const way &way)
{
    pthread_t thread;
    prepare(way.does);
    data = 0;
    CHECK_EQ(way.seen(), false);
    CHECK_EQ(pthread_create(&thread, nullptr, other, const_cast<struct way *>(&way)), 0);
    while (!way.seen())
        usleep(100);
    CHECK_EQ(data, 1);
    CHECK_EQ(pthread_join(thread, nullptr), 0);
    fclose(stream);
    close(file_fd);
    remove_all();
}

} // namespace

int main(int count, char **arguments)
{
    const std::string wanted = count == 2 ? arguments[1] : "";
    if (wanted == "--list") {
        for (const way &way : ways)
            puts(way.name);
        return 0;
    }
    CHECK(mkdtemp(folder));
    CHECK((folder_fd = open(folder, O_RDONLY | O_DIRECTORY)) >= 0);
    CHECK(list = opendir(folder));
    file = std::string(folder) + "/file", polled = std::string(folder) + "/polled", name = folder + strlen("/tmp");
    bool can[GOES + 1] = {};
    for (int i = 0; i <= GOES; i++) {
        const deed what = static_cast<deed>(i);
        prepare(what);
        can[what] = make(what);
        fclose(stream);
        close(file_fd);
        remove_all();
    }
    for (const way &way : ways)
        if (can[way.does] && (wanted.empty() || wanted == way.name))
            poll_by(way);
    CHECK_EQ(rmdir(folder), 0);
    return 0;
}
