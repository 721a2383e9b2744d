// poll() calls a pipe full whose pages are all in use, but a write that fits into the last one does not wait; and a
// stream socket, of whose buffer a fourth is used. Only where the write was tried at once it went on; with --sites, or
// at a point where something was due, a program that nobody reads from was called a deadlock.
//
//     last_page pipe|vector|large|socket [FIFO]
//
// With FIFO, a named pipe of that name: it cannot do RWF_NOWAIT.
//
// RUN: pct run -g -s 1 -n 12 -- %p pipe && pct run -s 1 -n 4 --sites -- %p pipe
// RUN: pct run -s 1 -n 4 --exec -S pct -- %p vector && pct run -s 1 -n 4 --sites -- %p vector
// RUN: pct run -s 1 -n 4 -- %p large && pct run -s 1 -n 4 --sites -S pos -- %p large
// RUN: pct run -s 1 -n 4 -- %p socket && pct run -s 1 -n 4 --sites -- %p socket
// RUN: for i in 1 2 3; do PCT_SEED=$i PCT_TRACE=%t/trace LD_PRELOAD=$LIBPCT %p large && pct replay %t/trace -- %p large
//         || exit; done
// RUN: for how in pipe vector large; do pct run -s 1 -n 4 -- %p $how %t/fifo && pct run -s 1 -n 3 --sites -- %p $how
//         %t/fifo || exit; done
// RUN: for i in 1 2 3; do PCT_SEED=$i PCT_TRACE=%t/trace LD_PRELOAD=$LIBPCT %p large %t/fifo && pct replay %t/trace --
//         %p large %t/fifo || exit; done
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static int ends[2];
static const char *how;
static char bytes[1 << 18];

static void put(int times, long size)
{
    for (int i = 0; i < times; i++)
        assert(write(ends[1], bytes, (size_t)size) == size);
}

static void *fill(void *unused)
{
    const struct iovec parts[] = { { bytes, 20 }, { bytes, 10 }, { bytes, 20 } };
    if (!strcmp(how, "socket")) {
        put(1, 150000);
        put(2, 10);
        put(1, 5000);
    } else if (!strcmp(how, "large")) {
        put(13, 4096);
        put(1, 4000);
        put(1, 2 * 4096 + 50); // 50 into the page before, then two pages
    } else {
        put(16, 4000);
        if (!strcmp(how, "vector"))
            assert(writev(ends[1], parts, 3) == 50);
        else
            put(1, 50);
        put(1, 46);
    }
    return unused;
}

int main(int count, char **arguments)
{
    pthread_t writer;
    assert(count >= 2 && sysconf(_SC_PAGESIZE) == 4096);
    how = arguments[1];
    if (count > 2) {
        unlink(arguments[2]);
        assert(!mkfifo(arguments[2], 0600));
        ends[0] = open(arguments[2], O_RDONLY | O_NONBLOCK);
        ends[1] = open(arguments[2], O_WRONLY);
        assert(ends[0] >= 0 && ends[1] >= 0);
    } else {
        assert(strcmp(how, "socket") ? !pipe(ends) : !socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
    }
    pthread_create(&writer, NULL, fill, NULL);
    pthread_join(writer, NULL);
    return 0;
}
