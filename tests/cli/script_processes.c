/* Several processes for the tests of `pct script`: two add to a number in a file, each behind its lock `reading` and
 * then its lock `writing`, which are its own. How the second one is made is the first argument:
 *     fork
 *     fails, killed: by fork, and that is how it ends
 *     exec PROGRAM ARGUMENT...: by fork, and it becomes that program
 *     spawn PROGRAM ARGUMENT...
 *     traps: by fork, and it dies at once
 *     nobody: it is not
 *     locked: by fork, and the first one holds a lock that both share, but in the end
 *     deep COUNT: this many, each made by fork in the previous one, and the last one adds
 * A program that is started with `add` adds, and ends. The status is 0 if nothing was lost, else 3. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER, writing = PTHREAD_MUTEX_INITIALIZER;
static int file;

static void add(void)
{
    int number = 0;
    pthread_mutex_lock(&reading);
    if (pread(file, &number, sizeof number, 0) < 0)
        exit(4);
    pthread_mutex_unlock(&reading);
    number++;
    pthread_mutex_lock(&writing);
    if (pwrite(file, &number, sizeof number, 0) < 0)
        exit(4);
    pthread_mutex_unlock(&writing);
}

static int add_deep(int count)
{
    pid_t child = 0;
    for (; count && !child; count--)
        child = fork();
    if (child)
        return waitpid(child, NULL, 0) == child ? 0 : 4;
    add();
    return 0;
}

static pthread_mutex_t *make_shared(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutex_t *lock = mmap(NULL, sizeof *lock, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(lock, &attributes);
    return lock;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    pthread_mutex_t *shared = make_shared();
    int number = 0, locked = !strcmp(how, "locked");
    pid_t child = -1;
    file = open("number", O_RDWR | O_CREAT, 0600);
    if (!strcmp(how, "add")) {
        add();
        return 0;
    }
    if (ftruncate(file, 0) || file < 0)
        return 4;
    if (!strcmp(how, "deep"))
        return add_deep(atoi(argv[2]));
    if (locked)
        pthread_mutex_lock(shared);
    if (!strcmp(how, "fork") || !strcmp(how, "fails") || !strcmp(how, "killed") || !strcmp(how, "exec") || locked) {
        child = fork();
        if (!child && locked)
            pthread_mutex_lock(shared);
        if (!child && !strcmp(how, "exec"))
            execv(argv[2], argv + 2);
        if (!child) {
            add();
            if (!strcmp(how, "killed"))
                raise(SIGKILL);
            _exit(!strcmp(how, "fails"));
        }
    }
    if (!strcmp(how, "traps")) {
        child = fork();
        if (!child)
            __builtin_trap();
    }
    if (!strcmp(how, "spawn") && posix_spawn(&child, argv[2], NULL, NULL, argv + 2, environ))
        return 4;
    add();
    if (locked)
        pthread_mutex_unlock(shared);
    if (child > 0)
        waitpid(child, NULL, 0);
    return pread(file, &number, sizeof number, 0) == sizeof number && number == (child > 0 ? 2 : 1) ? 0 : 3;
}
