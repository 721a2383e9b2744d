/* open of a named pipe: each end waits for the other, while other threads go on. */
/* tests: open fopen fopen64 openat2 */
/* ops: READ CLOSE */
#define _GNU_SOURCE
#include "check.h"
#include "nag.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static const char *name;

static void *open_to_write(void *unused)
{
    int fd = open(name, O_WRONLY);
    CHECK(fd >= 0);
    CHECK_EQ(fcntl(fd, F_GETFL) & (O_NONBLOCK | O_ACCMODE), O_WRONLY);
    CHECK_EQ(fcntl(fd, F_GETFD), 0);
    CHECK_EQ(write(fd, "named", 5), 5);
    CHECK_OK(close(fd));
    return unused;
}

static void *open_to_write_nothing(void *unused)
{
    /* Also as `> pipe` of a shell opens it. */
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    CHECK_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
    CHECK_OK(close(fd));
    return unused;
}

static void *open_and_sleep(void *unused)
{
    CHECK_OK(usleep(50000));
    return open_to_write(unused);
}

static void *open_for_ever(void *flags)
{
    open(name, (int)(intptr_t)flags);
    CHECK(!"open of a named pipe without another end returned");
    return flags;
}

static void *fopen_to_write(void *unused)
{
    FILE *file = fopen(name, "we");
    CHECK(file);
    CHECK_EQ(fcntl(fileno(file), F_GETFD), FD_CLOEXEC);
    CHECK(fputs("named", file) >= 0);
    CHECK_EQ(fclose(file), 0);
    return unused;
}

/* The same by streams. */
static void test_streams(void)
{
    char text[8];
    pthread_t thread = check_spawn(fopen_to_write, NULL);
    FILE *file = fopen64(name, "r");
    CHECK(file);
    CHECK(fgets(text, sizeof text, file));
    CHECK(!strcmp(text, "named"));
    CHECK(!fgets(text, sizeof text, file));
    CHECK(feof(file));
    CHECK_EQ(fclose(file), 0);
    check_join(thread);
}

/* Of glibc since 2.43; under pct the name is there in older ones, too. */
static int open_so(const char *path, struct open_how how)
{
    int (*by_libc)(int, const char *, const struct open_how *, size_t);
    *(void **)&by_libc = dlsym(RTLD_DEFAULT, "openat2");
    return by_libc ? by_libc(AT_FDCWD, path, &how, sizeof how)
                   : (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
}

static void read_named(int fd)
{
    char text[5];
    CHECK(fd >= 0);
    CHECK_EQ(fcntl(fd, F_GETFL) & (O_NONBLOCK | O_ACCMODE), O_RDONLY);
    CHECK_EQ(read(fd, text, 5), 5);
    CHECK(!memcmp(text, "named", 5));
    CHECK_EQ(read(fd, text, 5), 0);
    CHECK_OK(close(fd));
}

/* The other end comes, whoever is first; the descriptor is the lowest that is free. */
static void test_partner(void *(*other)(void *))
{
    int lowest = dup(0);
    CHECK(lowest >= 0);
    CHECK_OK(close(lowest));
    pthread_t thread = check_spawn(other, NULL);
    int fd = open(name, O_RDONLY);
    CHECK(fd == lowest || fd == lowest + 1);
    if (other == open_to_write_nothing) {
        char byte;
        CHECK_EQ(read(fd, &byte, 1), 0);
        CHECK_OK(close(fd));
    } else {
        read_named(fd);
    }
    check_join(thread);
}

/* The same by openat2(), where the kernel has it; other files, and what it refuses, are as ever. */
static void test_openat2(void)
{
    int fd = open_so("/dev/null", (struct open_how){ .flags = O_RDWR | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS });
    if (fd < 0 && (errno == ENOSYS || errno == EPERM))
        return;
    CHECK(fd >= 0);
    CHECK_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
    CHECK_OK(close(fd));
    CHECK_FAILS(open_so("/dev/null", (struct open_how){ .flags = O_RDWR, .mode = 0600 }), EINVAL);
    CHECK_FAILS(open_so("/nothing/there", (struct open_how){ .flags = O_RDONLY }), ENOENT);
    CHECK_FAILS(open_so(name, (struct open_how){ .flags = O_RDONLY, .mode = 0600 }), EINVAL);
    CHECK_FAILS(open_so(name, (struct open_how){ .flags = O_RDONLY | UINT64_C(1) << 40 }), EINVAL);
    const uint64_t resolve[] = { 0, RESOLVE_NO_MAGICLINKS };
    for (unsigned i = 0; i < 2; i++) {
        pthread_t thread = check_spawn(open_to_write, NULL);
        read_named(open_so(name, (struct open_how){ .flags = O_RDONLY, .resolve = resolve[i] }));
        check_join(thread);
    }
}

/* A handler without SA_RESTART ends the wait, and leaves nothing open. */
static void test_interrupted(int flags)
{
    struct nag nag;
    int lowest = dup(0);
    CHECK_OK(close(lowest));
    nag_start(&nag, 0);
    CHECK_FAILS(open(name, flags), EINTR);
    nag_stop(&nag);
    CHECK_EQ(dup(0), lowest);
    CHECK_OK(close(lowest));
}

/* So does a cancellation. */
static void test_cancelled(int flags)
{
    void *result;
    int lowest = dup(0);
    CHECK_OK(close(lowest));
    pthread_t thread = check_spawn(open_for_ever, (void *)(intptr_t)flags);
    CHECK_OK(usleep(1000));
    CHECK_EQ(pthread_cancel(thread), 0);
    CHECK_EQ(pthread_join(thread, &result), 0);
    CHECK(result == PTHREAD_CANCELED);
    CHECK_EQ(dup(0), lowest);
    CHECK_OK(close(lowest));
}

/* A child has no end that another thread is about to open. */
static void test_child(void)
{
    int lowest = dup(0), status;
    CHECK_OK(close(lowest));
    pthread_t thread = check_spawn(open_for_ever, (void *)(intptr_t)O_RDONLY);
    CHECK_OK(usleep(1000));
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        _exit(fcntl(lowest, F_GETFD) != -1);
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    CHECK_EQ(pthread_cancel(thread), 0);
    pthread_join(thread, NULL);
}

int main(void)
{
    char folder[] = "/tmp/snippet-XXXXXX", path[64];
    CHECK(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/pipe", folder);
    name = path;
    CHECK_OK(mkfifo(path, 0600));
    test_partner(open_to_write);
    test_partner(open_and_sleep);
    test_partner(open_to_write_nothing);
    test_streams();
    test_openat2();
    test_interrupted(O_RDONLY);
    test_interrupted(O_WRONLY);
    test_cancelled(O_RDONLY);
    test_cancelled(O_WRONLY);
    test_child();
    CHECK_OK(unlink(path));
    CHECK_OK(rmdir(folder));
    return 0;
}
