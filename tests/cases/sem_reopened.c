/* A semaphore that says that processes share it stood in private memory, which was given back. A named one was mapped
 * there then: it was taken for private, too, and a wait for another process was a deadlock.
 *
 * RUN: %p
 * RUN: pct run -q -s 1 -n 10 --timeout 20 --state none -- %p
 */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096 };

static sem_t *sem;
static int ends[2];

static void *post(void *unused)
{
    usleep(1000);
    sem_post(sem);
    return unused;
}

/* The other process posts once this one waits. */
static void *tell(void *unused)
{
    usleep(1000);
    assert(write(ends[1], "x", 1) == 1);
    return unused;
}

static void wait_beside(void *(*start)(void *))
{
    pthread_t thread;
    assert(!pthread_create(&thread, NULL, start, NULL));
    assert(!sem_wait(sem) && !pthread_join(thread, NULL));
}

int main(void)
{
    char name[32], byte;
    void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sem = page;
    assert(page != MAP_FAILED && !sem_init(sem, 1, 0));
    wait_beside(post);
    assert(!munmap(page, PAGE));
    snprintf(name, sizeof name, "/reopened-%d", (int)getpid());
    sem = sem_open(name, O_CREAT | O_EXCL, 0600, 0);
    assert(sem != SEM_FAILED && !sem_unlink(name) && !pipe(ends));
    const pid_t child = fork();
    if (!child)
        _exit(read(ends[0], &byte, 1) != 1 || sem_post(sem));
    wait_beside(tell);
    int status;
    assert(waitpid(child, &status, 0) == child && !status);
    return 0;
}
