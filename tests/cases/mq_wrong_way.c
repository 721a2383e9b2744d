/* To receive from a message queue that was opened to send, and the other way round, fails at once (EBADF). Under pct
 * it waited for a message, or for room.
 *
 * RUN: pct run -q -s 1 --timeout 20 --state none -- %p
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    char name[64], byte[8] = "";
    struct mq_attr limits = { .mq_maxmsg = 1, .mq_msgsize = sizeof byte };
    snprintf(name, sizeof name, "/mq-wrong-way-%d", (int)getpid());
    mqd_t sends = mq_open(name, O_WRONLY | O_CREAT | O_EXCL, 0600, &limits), receives = mq_open(name, O_RDONLY);
    if (sends < 0)
        return 0; /* a system without */
    mq_unlink(name);
    assert(mq_receive(sends, byte, sizeof byte, NULL) == -1 && errno == EBADF);
    assert(!mq_send(sends, byte, 1, 0));
    assert(mq_send(receives, byte, 1, 0) == -1 && errno == EBADF);
    assert(mq_receive(receives, byte, sizeof byte, NULL) == 1);
    return 0;
}
