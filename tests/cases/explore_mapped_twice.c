// Memory that stands at two addresses counted as two: what threads did there by one and by the other was taken to
// commute, and `pct explore` said "verified" of a lost update, and of a deadlock. Two parts of one file are two, and so
// is what is mapped again when it is no longer there, or what nobody can change.
//
// BUILD: pct-cc -g -pthread -o %p %s
// RUN 119: pct explore -q -- %p twice 2>%t/said; status=$?; grep 'two addresses.*explore_mapped_twice.c:' %t/said &&
//     exit $status
// RUN 119: pct explore -q -- %p moved
// RUN 119: pct explore -q -- %p writable
// RUN 119: pct explore -q -- %p attached
// RUN: pct explore -q -- %p parts && pct explore -q -- %p again && pct explore -q -- %p read-only
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

enum { PAGE = 4096 };
static volatile int *one, *two;

static void *add(void *to)
{
    volatile int *at = to;
    (*at)++;
    return NULL;
}

static volatile int *map(int fd, int protection, off_t from)
{
    void *at = mmap(NULL, PAGE, protection, MAP_SHARED, fd, from);
    assert(at != MAP_FAILED);
    return at;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    const int both = PROT_READ | PROT_WRITE;
    pthread_t thread[2];
    int fd = memfd_create("shared", 0);
    assert(!ftruncate(fd, 2 * PAGE));
    one = map(fd, strcmp(how, "read-only") != 0 ? both : PROT_READ, 0);
    if (!strcmp(how, "twice"))
        two = map(fd, both, 0);
    else if (!strcmp(how, "moved"))
        two = mremap((void *)one, 0, PAGE, MREMAP_MAYMOVE);
    else if (!strcmp(how, "writable") || !strcmp(how, "read-only"))
        two = map(fd, PROT_READ, 0);
    else
        two = map(fd, both, PAGE);
    if (!strcmp(how, "attached")) {
        int id = shmget(IPC_PRIVATE, PAGE, 0600);
        one = shmat(id, NULL, 0);
        two = shmat(id, NULL, 0);
        shmctl(id, IPC_RMID, NULL);
    }
    if (!strcmp(how, "writable"))
        assert(!mprotect((void *)two, PAGE, both));
    if (!strcmp(how, "again")) {
        munmap((void *)two, PAGE);
        two = map(fd, both, PAGE);
    }
    if (!strcmp(how, "read-only"))
        return *one + *two;
    pthread_create(&thread[0], NULL, add, (void *)one);
    pthread_create(&thread[1], NULL, add, (void *)two);
    pthread_join(thread[0], NULL);
    pthread_join(thread[1], NULL);
    return one[0] + two[0] != 2 && one[0] != 2;
}
