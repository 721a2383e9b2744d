/* A server of two workers, whose argument is the requests of a client, a letter each: inputs of one program, of which
 * some show a bug and others cannot. For table 3 of the Maple paper (`bench/maple/tables bugs`); the bugs are those of
 * its bugs 7 to 10, written anew after their reports:
 *
 *     ll   Apache #25520: two workers write to the log's buffer, whose length is read and set without a lock
 *     rw   MySQL #791: what is written while the log is rotated (closed, and opened again) is lost
 *     dq   Aget #2: a part is written to the file before it is counted, and what is saved at a signal is the count
 *     ii   Memcached #127: increment reads the value in one section and writes it in another
 *
 *     g, s (get, set) have no bug; no request has one alone.
 *
 * Shows as: a failed assertion at the end. Built by pct-cc. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

enum { WORKERS = 2, MOST = 16 };

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t filled;
    char item[MOST];
    int head, tail;
    bool over;
} queue = { .mutex = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER };

static pthread_mutex_t items = PTHREAD_MUTEX_INITIALIZER, rotation = PTHREAD_MUTEX_INITIALIZER;
static int value, other, log_length, log_lines, written, counted, saved;
static bool log_open = true;
static char log_buffer[MOST];

static void get(void)
{
    pthread_mutex_lock(&items);
    assert(value >= 0);
    pthread_mutex_unlock(&items);
}

static void set(int *item, int to)
{
    pthread_mutex_lock(&items);
    *item = to;
    pthread_mutex_unlock(&items);
}

static void increment(void)
{
    pthread_mutex_lock(&items);
    int old = value;
    pthread_mutex_unlock(&items);
    set(&value, old + 1);
}

static void write_buffer(void)
{
    int length = log_length;
    log_buffer[length] = 'l';
    log_length = length + 1;
}

static void rotate(void)
{
    pthread_mutex_lock(&rotation);
    log_open = false;
    pthread_mutex_unlock(&rotation);
    pthread_mutex_lock(&rotation);
    log_open = true;
    pthread_mutex_unlock(&rotation);
}

static void write_line(void)
{
    pthread_mutex_lock(&rotation);
    log_lines += log_open;
    pthread_mutex_unlock(&rotation);
}

static void download(void)
{
    pthread_mutex_lock(&items);
    written++;
    pthread_mutex_unlock(&items);
    pthread_mutex_lock(&items);
    counted++;
    pthread_mutex_unlock(&items);
}

static void save(void)
{
    pthread_mutex_lock(&items);
    saved = written - counted;
    pthread_mutex_unlock(&items);
}

static void serve(char request)
{
    switch (request) {
    case 'g':
        get();
        break;
    case 's':
        set(&other, 1);
        break;
    case 'i':
        increment();
        break;
    case 'l':
        write_buffer();
        break;
    case 'r':
        rotate();
        break;
    case 'w':
        write_line();
        break;
    case 'd':
        download();
        break;
    default:
        save();
        break;
    }
}

static void *work(void *unused)
{
    (void)unused;
    for (;;) {
        pthread_mutex_lock(&queue.mutex);
        while (queue.head == queue.tail && !queue.over)
            pthread_cond_wait(&queue.filled, &queue.mutex);
        char request = queue.head < queue.tail ? queue.item[queue.head++] : 0;
        pthread_mutex_unlock(&queue.mutex);
        if (!request)
            return NULL;
        serve(request);
    }
}

static int count(const char *requests, char request)
{
    int found = 0;
    for (; *requests; requests++)
        found += *requests == request;
    return found;
}

int main(int argc, char **argv)
{
    const char *requests = argc > 1 ? argv[1] : "";
    pthread_t worker[WORKERS];
    if (strlen(requests) > MOST || requests[strspn(requests, "gsilrwdq")])
        return 2;
    for (int i = 0; i < WORKERS; i++)
        if (pthread_create(&worker[i], NULL, work, NULL))
            return 3;
    for (const char *request = requests; *request; request++) {
        pthread_mutex_lock(&queue.mutex);
        queue.item[queue.tail++] = *request;
        pthread_cond_signal(&queue.filled);
        pthread_mutex_unlock(&queue.mutex);
    }
    pthread_mutex_lock(&queue.mutex);
    queue.over = true;
    pthread_cond_broadcast(&queue.filled);
    pthread_mutex_unlock(&queue.mutex);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(worker[i], NULL);
    assert(log_length == count(requests, 'l'));
    assert(log_lines == count(requests, 'w'));
    assert(saved == 0);
    assert(value == count(requests, 'i'));
    return 0;
}
