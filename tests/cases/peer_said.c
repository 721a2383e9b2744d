// A client of another process's server: when the answer comes is not pct's to choose, and the other threads go on
// meanwhile. That was not counted, and a guarantee given where the first run, repeated, happened to be the same.
//
//     peer_said serve PATH | PATH | inside PATH | late PATH     late: who asks first finds nobody there yet
//
// RUN: %p serve %t/s & server=$!; until [ -S %t/s ]; do sleep 0.01; done;
//      pct run -n 5 -s 1 -S pct --state none -- %p %t/s > %t/out 2>&1; status=$?; kill $server;
//      [ $status = 0 ] && grep '5 waits that were left to the outside world' %t/out && grep 'no guarantee' %t/out
// RUN: pct run -n 40 -s 1 -S pct -d 1 --explore=0 --state none -- %p inside %t/s > %t/out 2>&1 || exit;
//      ! grep 'not controlled\|no guarantee' %t/out
// RUN: rm %t/s; pct run -n 40 -s 1 -S pct -d 1 --explore=0 --state none -- %p late %t/s > %t/out 2>&1 || exit;
//      ! grep 'not controlled\|no guarantee' %t/out
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct sockaddr_un address = { .sun_family = AF_UNIX };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int listener, late;

static void begin(void)
{
    unlink(address.sun_path);
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    assert(!bind(listener, (void *)&address, sizeof address) && !listen(listener, 8));
}

static void *serve(void *unused)
{
    if (late)
        begin();
    const int peer = accept(listener, NULL, NULL);
    assert(peer >= 0 && write(peer, "x", 1) == 1);
    close(peer);
    return unused;
}

static void *ask(void *unused)
{
    char byte;
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    while (connect(fd, (void *)&address, sizeof address)) {
        assert(late && (errno == ENOENT || errno == ECONNREFUSED));
        usleep(1000);
    }
    assert(read(fd, &byte, 1) == 1);
    close(fd);
    return unused;
}

int main(int count, char **arguments)
{
    pthread_t client, server;
    assert(count > 1);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", arguments[count - 1]);
    if (!strcmp(arguments[1], "serve")) {
        begin();
        for (;;)
            serve(NULL);
    }
    late = !strcmp(arguments[1], "late");
    const int inside = late || !strcmp(arguments[1], "inside");
    if (late)
        unlink(address.sun_path);
    if (inside) {
        if (!late)
            begin();
        pthread_create(&server, NULL, serve, NULL);
    }
    pthread_create(&client, NULL, ask, NULL);
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    pthread_join(client, NULL);
    if (inside)
        pthread_join(server, NULL);
    return 0;
}
