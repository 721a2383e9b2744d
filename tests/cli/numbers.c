/* A thread starts children and waits for them inside libc, two look a host up, one makes pipes: what libc opens and
 * closes for the first three must not change the numbers of the pipes from one run to its replay. */
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROUNDS = 3, PIPES = 10 };

static void *start(void *unused)
{
    char line[8];
    for (int i = 0; i < ROUNDS; i++) {
        FILE *stream = popen("echo text", "r");
        if (!stream || !fgets(line, sizeof line, stream) || pclose(stream) || system("true"))
            abort();
        stream = popen("read line && [ $line = text ]", "w");
        if (!stream || fputs("text\n", stream) < 0 || pclose(stream))
            abort();
    }
    return unused;
}

static void *resolve(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct addrinfo *found;
        if (getaddrinfo("localhost", "80", NULL, &found))
            abort();
        freeaddrinfo(found);
    }
    return unused;
}

static void *move(void *unused)
{
    for (int i = 0; i < PIPES; i++) {
        int fds[2];
        char byte;
        if (pipe(fds) || write(fds[1], "x", 1) != 1 || read(fds[0], &byte, 1) != 1 || close(fds[0]) || close(fds[1]))
            abort();
    }
    return unused;
}

int main(void)
{
    void *(*const work[])(void *) = { start, resolve, move, resolve };
    enum { THREADS = sizeof work / sizeof *work };
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work[i], NULL))
            abort();
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
