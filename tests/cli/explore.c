/* For explore.bats: two threads that do what the first argument says, in functions of their own. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t own[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t sem;
static const char *what;
static long first = -1;
static int woken;
static FILE *stream;
static char path[] = "explored-XXXXXX";

static void locked(long me)
{
    pthread_mutex_lock(&mutex);
    if (first < 0)
        first = me;
    pthread_mutex_unlock(&mutex);
}

static void once_routine(void)
{
    first = 0;
}

/* Who begins it cannot be told, so main looks at its own thread's. */
static __thread long mine;
static void once_mine(void)
{
    first = mine;
}

static void timed(long me)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    pthread_mutex_lock(&mutex);
    if (me)
        pthread_cond_timedwait(&cond, &mutex, &until);
    else
        pthread_cond_signal(&cond);
    pthread_mutex_unlock(&mutex);
}

static void heap(long me)
{
    pthread_mutex_t *own = malloc(sizeof *own + (size_t)me * 64);
    pthread_mutex_init(own, NULL);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(own);
    pthread_mutex_unlock(own);
}

/* One call for all rounds: clang has one in front of the loop and one in it. */
static __attribute__((noinline)) int fails(void)
{
    return pthread_mutex_trylock(&mutex) != 0;
}

static void spins(void)
{
    while (fails())
        sched_yield();
    sched_yield();
    pthread_mutex_unlock(&mutex);
}

/* Both wait; main wakes one, and then the other. */
static void waits(long me)
{
    pthread_mutex_lock(&mutex);
    sem_post(&sem);
    pthread_cond_wait(&cond, &mutex);
    if (!woken++)
        first = me;
    pthread_mutex_unlock(&mutex);
}

/* The first number goes to whoever draws first. */
static void draws(long me)
{
    if (rand() == 1804289383)
        first = me;
}

/* Whoever writes first finds the file empty. */
static void writes(long me)
{
    struct stat status;
    int fd = open(path, O_WRONLY | O_APPEND);
    if (!fstat(fd, &status) && !status.st_size)
        first = me;
    if (write(fd, "x", 1) != 1)
        abort();
    close(fd);
}

/* Nothing races: each has the mutex. */
static void *block;
static void frees(void)
{
    pthread_mutex_lock(&mutex);
    free(block);
    pthread_mutex_unlock(&mutex);
}

/* The threads wait for each other in turn: more switches than a token has room for. */
static sem_t turn[2];
static void alternate(long me)
{
    for (int i = 0; i < 70; i++) {
        sem_wait(&turn[me]);
        sem_post(&turn[!me]);
    }
}

/* No list of its switches is short. */
static void yields_unevenly(long me)
{
    unsigned next = 1 + (unsigned)me;
    for (int i = 0; i < 1000; i++) {
        next = next * 1103515245 + 12345;
        for (unsigned locks = next >> 16 & 7; locks; locks--) {
            pthread_mutex_lock(&own[me]);
            pthread_mutex_unlock(&own[me]);
        }
        sched_yield();
    }
}

/* From whoever sends something to a port that nobody knows. */
static void receive(void)
{
    char byte;
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    if (bind(fd, (struct sockaddr *)&any, sizeof any) || recv(fd, &byte, 1, 0) < 0)
        abort();
    close(fd);
}

static void *worker(void *argument)
{
    long me = (long)argument;
    mine = me;
    if (!strcmp(what, "once"))
        pthread_once(&once, me < 2 ? once_mine : once_routine);
    else if (!strcmp(what, "timed"))
        timed(me);
    else if (!strcmp(what, "heap"))
        heap(me);
    else if (!strcmp(what, "waits"))
        waits(me);
    else if (!strcmp(what, "forks") && me && !fork())
        _exit(0);
    else if (!strcmp(what, "forks"))
        wait(NULL);
    else if (!strcmp(what, "spins"))
        spins();
    else if (!strcmp(what, "computes"))
        for (volatile unsigned round = 0;; round++)
            ;
    else if (!strcmp(what, "receives"))
        receive();
    else if (!strcmp(what, "random"))
        draws(me);
    else if (!strcmp(what, "file"))
        writes(me);
    else if (!strcmp(what, "stream"))
        fprintf(stream, "%.1f", (double)me);
    else if (!strcmp(what, "prints"))
        printf("%ld", me);
    else if (!strcmp(what, "exits") && me)
        return NULL;
    else if (!strcmp(what, "aborts"))
        abort();
    else if (!strcmp(what, "ends"))
        _exit(3);
    else if (!strcmp(what, "frees"))
        frees();
    else if (!strcmp(what, "long"))
        alternate(me);
    else if (!strcmp(what, "yields"))
        for (int i = 0; i < 70; i++)
            sched_yield();
    else if (!strcmp(what, "uneven"))
        yields_unevenly(me);
    else if (!strcmp(what, "sleeps"))
        usleep(1000 * (unsigned)(1 + me));
    locked(me);
    return NULL;
}

/* The file has a byte for each run so far. From the given one on, they do something else, and fail. */
static bool has_changed(const char *file, long from)
{
    struct stat status = { 0 };
    int runs = open(file, O_WRONLY | O_CREAT | O_APPEND, 0600);
    fstat(runs, &status);
    if (write(runs, "x", 1) != 1)
        exit(1);
    close(runs);
    /* The second one is the first that is forked: it takes far longer than one by exec, so that it is not yet clear how
     * runs are made best, however busy the machine is. */
    for (volatile int rounds = 0; status.st_size == 1 && rounds < 600000000; rounds++)
        ;
    return status.st_size >= from;
}

/* Whether thread 0 has been there when the process ends. */
static long wanted;
static void look(void)
{
    pthread_mutex_lock(&mutex);
    if ((first == 0) == wanted)
        _exit(3);
    pthread_mutex_unlock(&mutex);
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "file"))
        close(mkstemp(path));
    if (!strcmp(what, "changes") && has_changed(argv[3], atol(argv[2]))) {
        sem_init(&sem, 0, 0);
        sem_post(&sem);
        return 3;
    }
    char streamed[16] = "";
    if (!strcmp(what, "stream"))
        stream = fmemopen(streamed, sizeof streamed, "w");
    sem_init(&sem, 0, 0);
    sem_init(&turn[0], 0, 1);
    sem_init(&turn[1], 0, 0);
    block = malloc(100);
    if (!strcmp(what, "aborts") || !strcmp(what, "ends")) {
        pthread_create(&threads[0], NULL, worker, NULL);
        return 0;
    }
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    if (!strcmp(what, "waits")) {
        sem_wait(&sem);
        sem_wait(&sem);
        for (int i = 0; i < 2; i++) {
            pthread_mutex_lock(&mutex);
            pthread_cond_signal(&cond);
            pthread_mutex_unlock(&mutex);
        }
    }
    if (!strcmp(what, "exits")) {
        wanted = atol(argv[2]);
        atexit(look);
        return 0;
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    if (stream)
        fclose(stream);
    if (streamed[0] == '1')
        return 3;
    return argc == 3 && first == atol(argv[2]) ? 3 : 0;
}
