/* Processes that talk, for the tests of `pct script`: one that serves on a Unix socket makes two others by fork and
 * exec (PROGRAM WHO), whose two threads each ask for something, and note what they do in a file under a record lock.
 * They tell their parent by a signal that they end, and that tells its own child by a pipe, which notes that, too. The
 * status is 3 if anybody was answered at once. With `yield` a process waits for another one in a way that nobody
 * sees. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "talk.socket" };
static int file;
static volatile sig_atomic_t ended;

static void hear(int signal)
{
    (void)signal;
    ended++;
}

static void note(char what)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    if (fcntl(file, F_SETLKW, &lock) || write(file, &what, 1) != 1)
        abort();
    lock.l_type = F_UNLCK;
    fcntl(file, F_SETLKW, &lock);
}

static void *ask(void *name)
{
    char what = *(char *)name, answer;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(fd, (const struct sockaddr *)&address, sizeof address))
        abort();
    note(what);
    if (write(fd, &what, 1) != 1 || read(fd, &answer, 1) != 1)
        abort();
    note((char)(what - 'a' + 'A'));
    close(fd);
    return NULL;
}

static void *serve(void *client)
{
    int fd = *(int *)client;
    char what;
    if (read(fd, &what, 1) != 1)
        abort();
    note('*');
    if (write(fd, &what, 1) != 1)
        abort();
    close(fd);
    return NULL;
}

static int client(char *names)
{
    pthread_t thread[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, ask, &names[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    kill(getppid(), SIGUSR1);
    return 0;
}

static int wait_unseen(void)
{
    volatile int *word = mmap(NULL, sizeof *word, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!fork()) {
        *word = 1;
        _exit(0);
    }
    while (!*word)
        sched_yield();
    return wait(NULL) > 0 ? 0 : 4;
}

int main(int argc, char **argv)
{
    char *names[] = { "ab", "xy" }, all[32] = "";
    int clients[4], pipes[2];
    pthread_t thread[4];
    file = open("notes", O_RDWR | O_CREAT | O_APPEND, 0600);
    if (argc > 1)
        return strcmp(argv[1], "yield") ? client(argv[1]) : wait_unseen();
    unlink(address.sun_path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    signal(SIGUSR1, hear);
    if (ftruncate(file, 0) || pipe(pipes) || bind(fd, (const struct sockaddr *)&address, sizeof address) ||
        listen(fd, 8))
        return 4;
    for (int i = 0; i < 2; i++)
        if (!fork()) {
            execl("/proc/self/exe", "talk", names[i], (char *)NULL);
            _exit(4);
        }
    if (!fork()) {
        if (read(pipes[0], all, 1) == 1)
            note(all[0]);
        _exit(0);
    }
    for (int i = 0; i < 4; i++) {
        while ((clients[i] = accept(fd, NULL, NULL)) < 0)
            ;
        pthread_create(&thread[i], NULL, serve, &clients[i]);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    if (write(pipes[1], "!", 1) != 1)
        return 4;
    while (wait(NULL) > 0 || ended < 2)
        ;
    return pread(file, all, sizeof all - 1, 0) == 13 && ended == 2 && !strstr(all, "yY") ? 0 : 3;
}
