/* The matrix: what files tell. Whoever looks at one that another thread has made, changed or taken away comes after. */
#include "matrix.h"
#include <dirent.h>
#include <fcntl.h>
#include <string>
#include <sys/inotify.h>
#include <sys/stat.h>

namespace
{

int file, watch;
char taken;
std::string name;

const char polling[] = "libtsan does not know that what files tell is due to whoever changed them";

/* As MUST, in an expression. */
void must(long result)
{
    MUST(result);
}

void make_file()
{
    char path[] = "/tmp/pct-races-XXXXXX";
    MUST(file = mkstemp(path));
    unlink(path);
    write_byte(file);
}

void make_name()
{
    name = "/tmp/pct-races-file-" + std::to_string(getpid());
    unlink(name.c_str()); /* of a run that ended at a race, before it came to that */
}

std::string other_name()
{
    return name + "-other";
}

void make_named()
{
    make_name();
    MUST(close(creat(name.c_str(), 0600)));
}

void make_folder()
{
    make_name();
    MUST(mkdir(name.c_str(), 0700));
}

void make_watch()
{
    make_name();
    MUST(file = creat(name.c_str(), 0600));
    MUST(watch = inotify_init1(IN_CLOEXEC));
    MUST(inotify_add_watch(watch, name.c_str(), IN_MODIFY));
    unlink(name.c_str());
}

const row rows[] = {
    unknown(
        "file-grows", polling, [] { WRITE, write_byte(file); },
        [] {
            while (pread(file, &taken, 1, 1) != 1)
                pause_a_little();
            READ;
        },
        make_file),
    unknown(
        "file-appears", polling, [] { WRITE, creat(name.c_str(), 0600); },
        [] {
            while (access(name.c_str(), F_OK))
                pause_a_little();
            READ, unlink(name.c_str());
        },
        make_name),
    unknown(
        "file-goes", polling, [] { WRITE, unlink(name.c_str()); },
        [] {
            while (!access(name.c_str(), F_OK))
                pause_a_little();
            READ;
        },
        make_named),

    unknown(
        "file-size", polling, [] { WRITE, write_byte(file); },
        [] {
            for (struct stat status = {}; status.st_size < 2; pause_a_little())
                MUST(fstat(file, &status));
            READ;
        },
        make_file),
    unknown(
        "file-by-stream", polling,
        [] {
            FILE *written = fopen(name.c_str(), "a");
            WRITE, fputs("x", written), fclose(written);
        },
        [] {
            FILE *polled = fopen(name.c_str(), "r");
            for (; getc(polled) == EOF; clearerr(polled))
                pause_a_little();
            READ, fclose(polled), unlink(name.c_str());
        },
        make_named),
    unknown(
        "file-opened", polling, [] { WRITE, must(rename(name.c_str(), other_name().c_str())); },
        [] {
            while (open(other_name().c_str(), O_RDONLY) < 0)
                pause_a_little();
            READ, unlink(other_name().c_str());
        },
        make_named),
    unknown(
        "file-listed", polling, [] { WRITE, close(creat((name + "/new").c_str(), 0600)); },
        [] {
            for (bool found = false; !found; pause_a_little()) {
                DIR *folder = opendir(name.c_str());
                while (dirent *entry = readdir(folder))
                    found |= entry->d_name[0] != '.';
                closedir(folder);
            }
            READ, unlink((name + "/new").c_str()), rmdir(name.c_str());
        },
        make_folder),
    unknown(
        "file-told", polling, [] { WRITE, write_byte(file); },
        [] {
            char event[512];
            must(read(watch, event, sizeof event)), READ;
        },
        make_watch),
    /* One of them gets it first; if it is the second one, it does not look. */
    unknown(
        "file-taken", polling,
        [] {
            must(mkdir(name.c_str(), 0700)), WRITE, rmdir(name.c_str());
            advance(1);
        },
        [] {
            for (await(1); mkdir(name.c_str(), 0700); pause_a_little())
                continue;
            READ, rmdir(name.c_str());
        },
        make_name),
    unknown(
        "file-linked", polling, [] { WRITE, unlink(name.c_str()); },
        [] {
            while (link(other_name().c_str(), name.c_str()))
                pause_a_little();
            READ, unlink(name.c_str()), unlink(other_name().c_str());
        },
        [] {
            make_named();
            MUST(close(creat(other_name().c_str(), 0600)));
        }),
    /* What has been there from before tells nothing of other threads. */
    unordered(
        "file-old", [] { WRITE, write_byte(file); },
        [] {
            struct stat status;
            const int old = open("/etc/passwd", O_RDONLY);
            must(old), must(fstat(old, &status)), must(stat("/etc/passwd", &status)), read_byte(old);
            FILE *stream = fopen("/etc/passwd", "r");
            getc(stream), fclose(stream);
            must(lseek(old, 0, SEEK_END)), free(realpath("/etc/passwd", nullptr)), closedir(opendir("/usr")), READ;
        },
        make_file),
};

} // namespace

const table file_table = { rows, sizeof rows / sizeof *rows };
