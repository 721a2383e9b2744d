// A process with one thread waits for an object that it shares with others, until a deadline, in a library's
// constructor: under the loader's lock. The watchdog, which ends such waits, looked up a function as its first deed,
// and waited for the same lock, for ever. Elsewhere it could miss that the lock was free: with one thread that
// pthread_create() made, libc takes and frees it by plain stores.
//
// BUILD: gcc -O1 -g -pthread -fPIC -shared -DLIBRARY -o %p.so %s &&
//     gcc -O1 -g -pthread -Wl,-rpath,$(dirname %p) -o %p %s
// RUN: pct run -q -n 20 -s 1 --timeout 20 --state none -- %p
// RUN: %p
#ifdef LIBRARY
#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

__attribute__((constructor)) static void construct(void)
{
    sem_t *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || sem_init(shared, 1, 0))
        abort();
    pid_t child = fork(); /* there is a family now, with a time of its own */
    if (!child)
        _exit(sem_post(shared));
    int status;
    struct timespec when;
    if (sem_wait(shared) || waitpid(child, &status, 0) != child || status)
        abort();
    clock_gettime(CLOCK_REALTIME, &when);
    when.tv_sec += 1;
    if (!sem_timedwait(shared, &when) || errno != ETIMEDOUT)
        abort();
}
#else
#include <dlfcn.h>

int main(void)
{
    return !dlopen("loader_deadline.so", RTLD_NOW);
}
#endif
