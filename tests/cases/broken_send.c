/* A socket's peer goes away when a large message is sent in part: the call returns how much that was, and there is no
 * SIGPIPE, which comes with EPIPE alone. Under pct it came with both.
 *
 * RUN: for how in send write writev; do pct run -q -n 40 -s 1 --timeout 60 --state none -- %p $how || exit; done
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { SIZE = 4 << 20 };
static char sent[SIZE], got[100];
static int ends[2];
static volatile sig_atomic_t signals;

static void handle(int number)
{
    (void)number;
    signals++;
}

static void *hangs_up(void *unused)
{
    assert(read(ends[1], got, sizeof got) > 0);
    close(ends[1]);
    return unused;
}

int main(int count, char **arguments)
{
    pthread_t thread;
    struct iovec part = { sent, SIZE };
    ssize_t done;
    assert(count == 2 && !socketpair(AF_UNIX, SOCK_STREAM, 0, ends) && signal(SIGPIPE, handle) != SIG_ERR);
    pthread_create(&thread, NULL, hangs_up, NULL);
    for (int i = 0; i < 3; i++) {
        done = !strcmp(arguments[1], "send")    ? send(ends[0], sent, SIZE, 0)
               : !strcmp(arguments[1], "write") ? write(ends[0], sent, SIZE)
                                                : writev(ends[0], &part, 1);
        assert(done > 0 ? !signals : done == -1 && (errno == ECONNRESET || (errno == EPIPE && signals)));
        if (done < 0)
            break;
    }
    pthread_join(thread, NULL);
    return 0;
}
