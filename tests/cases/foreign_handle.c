/* The handle of a thread that has ended is that of the next one, which pct does not know (made by libc's own
 * pthread_create, found by its address): it is joined, signalled and asked as natively, while it lives and after its
 * end.
 *
 * RUN: for how in detach late tryjoin; do %p $how live && %p $how ended || exit; done
 * RUN: for how in detach late tryjoin; do pct run -q -s 1 -n 3 --timeout 60 -- %p $how live &&
 *     pct run -q -s 1 -n 3 --timeout 60 -- %p $how ended || exit; done
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition) ((condition) ? (void)0 : (fprintf(stderr, "%s is false\n", #condition), abort()))

static int (*create_foreign)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static sem_t done;
static int go[2], tid, lives;

static void *known(void *argument)
{
    __atomic_store_n(&tid, gettid(), __ATOMIC_SEQ_CST);
    sem_post(&done);
    return argument;
}

static void *foreign(void *argument)
{
    char byte;
    __atomic_store_n(&tid, gettid(), __ATOMIC_SEQ_CST);
    CHECK(!lives || read(go[0], &byte, 1) == 1);
    return argument;
}

/* Until the kernel knows no thread of this id any more: then its memory is libc's again, or can be joined. */
static void await_end(void)
{
    while (!__atomic_load_n(&tid, __ATOMIC_SEQ_CST) || !tgkill(getpid(), tid, 0))
        usleep(1000);
}

/* Usage: foreign_handle detach|late|tryjoin live|ended */
int main(int argc, char **argv)
{
    pthread_t first, second;
    pthread_attr_t attr;
    void *value = NULL;
    CHECK(argc == 3);
    lives = !strcmp(argv[2], "live");
    create_foreign = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))(uintptr_t)dlsym(
        dlopen("libc.so.6", RTLD_NOW), "pthread_create");
    CHECK(!pipe(go) && !sem_init(&done, 0, 0) && !pthread_attr_init(&attr));
    if (!strcmp(argv[1], "detach"))
        CHECK(!pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED));
    CHECK(!pthread_create(&first, &attr, known, NULL));
    CHECK(!sem_wait(&done));
    await_end();
    if (!strcmp(argv[1], "late"))
        CHECK(!pthread_detach(first));
    if (!strcmp(argv[1], "tryjoin"))
        while (pthread_tryjoin_np(first, NULL))
            usleep(1000);
    tid = 0;
    CHECK(!create_foreign(&second, NULL, foreign, argv));
    CHECK(pthread_equal(first, second));
    if (lives) {
        CHECK(!pthread_kill(second, 0) && pthread_tryjoin_np(second, NULL) == EBUSY);
        CHECK(write(go[1], "x", 1) == 1);
    } else {
        await_end();
    }
    CHECK(!pthread_join(second, &value) && value == argv);
    return 0;
}
