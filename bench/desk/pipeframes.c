/* Workers send results through a pipe, as a header with the length and a body; the collector reads them.
 *
 * Bug: header and body are two writes, and nothing keeps two workers apart.
 * Shows as: a failed assertion.
 * FIXED: a mutex does. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct header {
    int worker, length;
};
static int channel[2];
#ifdef FIXED
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
#endif

static void send_frame(int worker, const char *body)
{
    struct header h = { worker, (int)strlen(body) };
#ifdef FIXED
    pthread_mutex_lock(&one);
#endif
    if (write(channel[1], &h, sizeof h) != sizeof h) /* culprit */
        return;
    if (write(channel[1], body, (size_t)h.length) != h.length) /* culprit */
        return;
#ifdef FIXED
    pthread_mutex_unlock(&one);
#endif
}

static void *worker(void *argument)
{
    int id = (int)(long)argument;
    char body[32];
    for (int i = 0; i < 2; i++) {
        snprintf(body, sizeof body, "w%d result %d", id, i);
        send_frame(id, body);
    }
    return NULL;
}

static void read_all(void *to, size_t n)
{
    for (size_t got = 0; got < n;) {
        ssize_t r = read(channel[0], (char *)to + got, n - got);
        assert(r > 0);
        got += (size_t)r;
    }
}

int main(void)
{
    pthread_t t[2];
    if (pipe(channel) != 0)
        return 1;
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, (void *)i);
    for (int i = 0; i < 4; i++) {
        struct header h;
        char body[64];
        read_all(&h, sizeof h);
        assert(h.length > 0 && h.length < 32);
        read_all(body, (size_t)h.length);
        assert(body[0] == 'w' && body[1] == '0' + h.worker);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    puts("4 frames");
    return 0;
}
