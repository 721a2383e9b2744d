/* What libc and the kernel make of NULL and of bad pointers: a lock without a deadline, an error, a look for a shell.
 * They were crashes in pct, and a wait that it did not see, beside which time went on to an alarm.
 *
 * RUN: %p
 * RUN: pct run -q -s 1 -n 3 --state none -- %p
 * RUN: pct run -q -s 1 -n 3 --exec -S pos --state none -- %p
 * RUN: pct run -s 1 -n 1 --state none -- %p > %t/log 2>&1; test $? = 0 && ! grep 'that pct does not intercept' %t/log
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *hold(void *unused)
{
    pthread_rwlock_wrlock(&lock);
    pthread_mutex_lock(&mutex);
    usleep(1000);
    pthread_mutex_unlock(&mutex);
    pthread_rwlock_unlock(&lock);
    return unused;
}

int main(void)
{
    static char *const arguments[] = { "true", NULL }, *const bad[] = { "A=1", (char *)8, NULL };
    const struct timespec *volatile none = NULL;
    pthread_t thread;
    pid_t child;
    assert(!pthread_create(&thread, NULL, hold, NULL));
    usleep(100);
    assert(!pthread_mutex_timedlock(&mutex, none) && !pthread_mutex_unlock(&mutex));
    assert(!pthread_rwlock_timedrdlock(&lock, none) && !pthread_rwlock_unlock(&lock));
    assert(!pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, none) && !pthread_rwlock_unlock(&lock));
    pthread_join(thread, NULL);

    assert(execve("/bin/true", arguments, (char **)8) == -1 && errno == EFAULT);
    assert(execve("/bin/true", arguments, bad) == -1 && errno == EFAULT);
    assert(posix_spawn(&child, "/bin/true", NULL, NULL, arguments, bad) == EFAULT);

    /* Strings that stand at the very end of what is there. */
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert(pages != MAP_FAILED && !munmap(pages + 4096, 4096));
    char **environment = (char **)(void *)(pages + 4096 - 2 * sizeof *environment);
    environment[1] = NULL;
    environment[0] = strcpy(pages + 4096 - 2 * sizeof *environment - 4, "A=1");
    assert(!posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environment));

    alarm(100);
    assert(system(NULL) == 1);
    return 0;
}
