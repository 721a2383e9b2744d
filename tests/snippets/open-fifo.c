/* open of a named pipe: each end waits for the other, while other threads go on. */
/* tests: open */
/* ops: READ */
/* outside: nothing tells the scheduler whether a named pipe has another end */
#define _GNU_SOURCE
#include "check.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

static const char *name;

static void *open_to_write(void *unused)
{
    int fd = open(name, O_WRONLY);
    CHECK(fd >= 0);
    CHECK_EQ(write(fd, "named", 5), 5);
    CHECK_OK(close(fd));
    return unused;
}

int main(void)
{
    char folder[] = "/tmp/snippet-XXXXXX", path[64], text[5];
    CHECK(mkdtemp(folder));
    /* A named pipe: each end waits for the other. */
    snprintf(path, sizeof path, "%s/pipe", folder);
    name = path;
    CHECK_OK(mkfifo(path, 0600));
    pthread_t thread = check_spawn(open_to_write, NULL);
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0);
    CHECK_EQ(read(fd, text, 5), 5);
    CHECK(!memcmp(text, "named", 5));
    CHECK_EQ(read(fd, text, 5), 0);
    CHECK_OK(close(fd));
    check_join(thread);
    CHECK_OK(unlink(path));
    CHECK_OK(rmdir(folder));
    return 0;
}
