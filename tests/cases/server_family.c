// A server of several processes with a client that is not under pct: while a worker waits for the client, the family's
// time is the world's. The parent, which sleeps a second at a time, made it run ahead by thousands of seconds, and
// workers closed connections that were to be kept for five.
//
// RUN: LD_PRELOAD=$LIBPCT PCT_SEED=1 PCT_LOG=quiet %p serve %t/socket & %p ask %t/socket && wait $!
// RUN: LD_PRELOAD=$LIBPCT PCT_SEED=2 PCT_LOG=quiet PCT_STRATEGY=random-walk %p serve %t/socket & %p ask %t/socket &&
//     wait $!
// RUN: LD_PRELOAD=$LIBPCT PCT_SEED=3 PCT_LOG=quiet PCT_SLACK=0 %p serve %t/socket & %p ask %t/socket && wait $!
#define _GNU_SOURCE
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS = 3, KEEP_MS = 5000, REQUESTS = 100, PAUSE_MS = 5, WORK = 3000000 };

/* What the parent has done. */
static volatile int *slept;

static struct sockaddr_un address_of(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    return address;
}

/* Answers each byte with the number of seconds that the parent has slept, until the client has gone or says nothing for
 * long. */
static void *serve(void *arg)
{
    int client = (int)(long)arg;
    char byte;
    struct pollfd ready = { .fd = client, .events = POLLIN };
    while (poll(&ready, 1, KEEP_MS) == 1 && read(client, &byte, 1) == 1) {
        for (volatile int i = 0; i < WORK; i++)
            ;
        int answer = *slept;
        if (write(client, &answer, sizeof answer) != sizeof answer)
            break;
    }
    close(client);
    return NULL;
}

static void work(int listener)
{
    for (;;) {
        int client = accept(listener, NULL, NULL);
        pthread_t thread;
        assert(client >= 0 && !pthread_create(&thread, NULL, serve, (void *)(long)client));
        pthread_detach(thread);
    }
}

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
    stopped = signal;
}

static int parent(const char *path)
{
    struct sockaddr_un address = address_of(path);
    pid_t workers[WORKERS];
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    assert(!bind(listener, (struct sockaddr *)&address, sizeof address) && !listen(listener, 64));
    slept = mmap(NULL, sizeof *slept, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    signal(SIGTERM, stop);
    for (int i = 0; i < WORKERS; i++)
        if (!(workers[i] = fork())) {
            signal(SIGTERM, SIG_DFL);
            work(listener);
        }
    while (!stopped && waitpid(-1, NULL, WNOHANG) == 0) {
        sleep(1);
        ++*slept;
    }
    for (int i = 0; i < WORKERS; i++)
        kill(workers[i], SIGTERM);
    while (wait(NULL) > 0)
        ;
    return 0;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Several connections, each kept, and asked in turn. */
static int ask(const char *path)
{
    struct sockaddr_un address = address_of(path);
    int connection[WORKERS], answer = 0, first = 0;
    double began = 0;
    for (int i = 0; i < WORKERS; i++) {
        connection[i] = socket(AF_UNIX, SOCK_STREAM, 0);
        while (connect(connection[i], (struct sockaddr *)&address, sizeof address))
            usleep(10000);
    }
    struct ucred server;
    socklen_t size = sizeof server;
    assert(!getsockopt(connection[0], SOL_SOCKET, SO_PEERCRED, &server, &size));
    for (int i = 0; i < REQUESTS; i++) {
        usleep(PAUSE_MS * 1000);
        /* All at once. */
        for (int k = 0; k < WORKERS; k++)
            assert(write(connection[k], "?", 1) == 1);
        for (int k = 0; k < WORKERS; k++)
            if (read(connection[k], &answer, sizeof answer) != sizeof answer) {
                printf("request %d: the connection was closed\n", i);
                kill(server.pid, SIGTERM);
                return 1;
            }
        if (!i) {
            first = answer;
            began = now();
        }
    }
    double passed = now() - began;
    kill(server.pid, SIGTERM);
    /* What a process may make up for at once, and a sleep that was almost over. */
    if (answer - first > passed + 2) {
        printf("the server has slept %d times for a second in %g s\n", answer - first, passed);
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    assert(argc == 3);
    return strcmp(argv[1], "serve") ? ask(argv[2]) : parent(argv[2]);
}
