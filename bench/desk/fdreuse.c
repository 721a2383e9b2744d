/* Connections in a table; a sender writes to one by its number, another thread hangs up and accepts the next.
 *
 * Bug: the sender takes the descriptor out of the table behind the lock and writes to it without: meanwhile it may be
 *   closed, and its number be another connection's.
 * Shows as: a failed assertion: a client reads what is meant for another one.
 * FIXED: it writes with the lock held. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SLOTS = 2 };

struct connection {
    int user, fd, peer; /* user: 0: the slot is free */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct connection table[SLOTS];
static int sent, dropped;

static void accept_user(int slot, int user)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        return;
    pthread_mutex_lock(&lock);
    table[slot] = (struct connection){ .user = user, .fd = pair[0], .peer = pair[1] };
    pthread_mutex_unlock(&lock);
}

static int hang_up(int slot)
{
    pthread_mutex_lock(&lock);
    struct connection c = table[slot];
    table[slot].user = 0;
    close(c.fd); /* culprit */
    pthread_mutex_unlock(&lock);
    return c.peer;
}

/* What this user's client has received is all its own. */
static void check(int user, int peer)
{
    char text[64];
    shutdown(peer, SHUT_WR);
    for (ssize_t got; (got = recv(peer, text, sizeof text, MSG_DONTWAIT)) > 0;)
        for (ssize_t i = 0; i < got; i++)
            assert(text[i] == '0' + user);
    close(peer);
}

static void send_to(int user)
{
    int fd = -1;
    pthread_mutex_lock(&lock); /* culprit */
    for (int i = 0; i < SLOTS; i++)
        if (table[i].user == user)
            fd = table[i].fd;
    char letter = (char)('0' + user);
#ifdef FIXED
    int ok = fd >= 0 && send(fd, &letter, 1, MSG_NOSIGNAL) == 1;
    pthread_mutex_unlock(&lock);
#else
    pthread_mutex_unlock(&lock);
    int ok = fd >= 0 && send(fd, &letter, 1, MSG_NOSIGNAL) == 1; /* culprit */
#endif
    *(ok ? &sent : &dropped) += 1;
}

static void *sender(void *arg)
{
    (void)arg;
    for (int i = 0; i < 2; i++) {
        send_to(1);
        send_to(2);
    }
    return NULL;
}

static void *acceptor(void *arg)
{
    (void)arg;
    int peer = hang_up(0);
    accept_user(0, 3);
    check(1, peer);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    accept_user(0, 1);
    accept_user(1, 2);
    pthread_create(&threads[0], NULL, sender, NULL);
    pthread_create(&threads[1], NULL, acceptor, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    check(3, hang_up(0));
    check(2, hang_up(1));
    printf("%d sent, %d dropped\n", sent, dropped);
    return 0;
}
