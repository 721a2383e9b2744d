// A program that looks for what another one has yet to make, and sleeps between two looks, waits for it in real time:
// its tries are not all over in a moment of virtual time, nor a livelock. The other program, which is not under pct,
// makes the file some time after the 20th look has told it to; 400 tries of 10 ms follow.
//
// RUN: mkfifo %t/told && { { read -r x; for i in {1..30}; do /bin/true; done; : > %t/made; } < %t/told & } &&
//     pct run -q -s 1 -- %p stat %t/told %t/made
// RUN: mkfifo %t/told && { { read -r x; for i in {1..30}; do /bin/true; done; : > %t/made; } < %t/told & } &&
//     pct run -q -s 2 -S pos -- %p open %t/told %t/made
// RUN: mkfifo %t/told && { { read -r x; for i in {1..30}; do /bin/true; done; : > %t/made; } < %t/told & } &&
//     pct run -q -s 3 -S round-robin -- %p access %t/told %t/made
//
// Where nobody else can make it, as what it waits for is no file, time jumps as ever:
// RUN: timeout 20 pct run -q -s 1 -- %p never %t/told %t/made
// So where a thread looks for what is optional beside others that sleep, which costs no claim, and where it waits for
// longer than 10 s in all:
// RUN: timeout 20 pct run -n 20 -s 1 -d 1 -- %p watch %t/told %t/made > %t/out 2>&1 && ! grep outside %t/out &&
//     grep 'missed with' %t/out
// RUN: timeout 20 pct run -q -n 20 -s 1 -- %p seldom %t/told %t/made
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char **arguments;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int stopped;

static int is_there(void)
{
    struct stat status;
    int fd = -1;
    if (!strcmp(arguments[1], "stat") || !strcmp(arguments[1], "watch") || !strcmp(arguments[1], "seldom"))
        return !stat(arguments[3], &status);
    if (!strcmp(arguments[1], "access"))
        return !access(arguments[3], F_OK);
    if (!strcmp(arguments[1], "open") && (fd = open(arguments[3], O_RDONLY)) >= 0)
        close(fd);
    return fd >= 0;
}

static void *poll_it(void *unused)
{
    for (int i = 0; i < 420 && !is_there(); i++) {
        if (i == 20 && strcmp(arguments[1], "never")) {
            int fd = open(arguments[2], O_WRONLY);
            assert(write(fd, "\n", 1) == 1);
            close(fd);
        }
        usleep(10000);
    }
    return unused;
}

static int is_stopped(void)
{
    pthread_mutex_lock(&mutex);
    int is = stopped;
    pthread_mutex_unlock(&mutex);
    return is;
}

static void *watch(void *unused)
{
    while (!is_stopped() && !is_there())
        sleep(1);
    return unused;
}

static void *look_seldom(void *unused)
{
    for (int i = 0; i < 100 && !is_there(); i++)
        sleep(3600);
    return unused;
}

int main(int count, char **strings)
{
    pthread_t thread;
    assert(count == 4);
    arguments = strings;
    int watches = !strcmp(arguments[1], "watch"), seldom = !strcmp(arguments[1], "seldom");
    assert(!pthread_create(&thread, NULL, watches ? watch : seldom ? look_seldom : poll_it, NULL));
    if (watches) {
        sleep(120);
        pthread_mutex_lock(&mutex);
        stopped = 1;
        pthread_mutex_unlock(&mutex);
    }
    pthread_join(thread, NULL);
    return is_there() == (watches || seldom || !strcmp(arguments[1], "never"));
}
