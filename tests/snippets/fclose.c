/* Closing streams and directories: the number is free, and what stands there next is what it is; what waits at the
 * other end goes on. */
/* tests: fclose freopen freopen64 closedir */
/* ops: READ */
#define _GNU_SOURCE
#include "check.h"
#include <dirent.h>
#include <fcntl.h>
#include <sys/eventfd.h>

static void *post(void *fd)
{
    for (int i = 0; i < 20; i++)
        sched_yield();
    CHECK_OK(eventfd_write(*(int *)fd, 7));
    return NULL;
}

/* A file stood at `number`; an eventfd that another thread writes to is there now. */
static void wait_at(int number)
{
    uint64_t value = 0;
    int fd = eventfd(0, 0), other = dup(fd);
    CHECK_EQ(fd, number);
    pthread_t thread = check_spawn(post, &other);
    CHECK_EQ(read(fd, &value, sizeof value), 8);
    CHECK_EQ(value, 7);
    check_join(thread);
    CHECK_OK(close(other));
    CHECK_OK(close(fd));
}

static void *read_to_end(void *fd)
{
    char byte;
    CHECK_EQ(read(*(int *)fd, &byte, 1), 1);
    CHECK_EQ(byte, 'x');
    CHECK_EQ(read(*(int *)fd, &byte, 1), 0);
    return NULL;
}

int main(void)
{
    char line[64];
    FILE *file = fopen("/proc/self/exe", "r");
    CHECK(file && fread(line, 1, 4, file) == 4);
    int number = fileno(file);
    errno = CHECK_ERRNO;
    CHECK_OK(fclose(file));
    CHECK_EQ(errno, CHECK_ERRNO);
    wait_at(number);

    DIR *directory = opendir("/proc/self");
    CHECK(directory && readdir(directory));
    number = dirfd(directory);
    CHECK_OK(closedir(directory));
    wait_at(number);

    /* Another file in the same stream. */
    file = fopen("/proc/self/exe", "r");
    CHECK(file && freopen("/proc/self/comm", "r", file) == file);
    CHECK(fgets(line, sizeof line, file) && strlen(line) > 1);
    CHECK(freopen64("/proc/self/comm", "r", file) == file);
    CHECK(fgets(line, sizeof line, file) && strlen(line) > 1);
    CHECK_OK(fclose(file));

    /* The last end to write to a pipe. */
    int ends[2];
    CHECK_OK(pipe(ends));
    pthread_t reader = check_spawn(read_to_end, &ends[0]);
    FILE *out = fdopen(ends[1], "w");
    CHECK_EQ(fputc('x', out), 'x');
    sched_yield();
    CHECK_OK(fclose(out));
    check_join(reader);
    return 0;
}
