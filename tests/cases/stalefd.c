// A closed stream's number is given to something that blocks. Taken for the file that it was, it was read with the
// baton, and the thread that it waits for never ran.
//
// RUN: cd %t && mkdir watch && timeout 10 pct run -q -s 1 --state none -- %p
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <unistd.h>

static void *make_file(void *unused)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    close(creat("watch/file", 0600));
    return unused;
}

int main(void)
{
    char buffer[4096];
    pthread_t thread;
    FILE *file = fopen("/proc/self/exe", "r");
    if (fread(buffer, 1, 1, file) != 1)
        return 1;
    int number = fileno(file);
    fclose(file);
    int fd = inotify_init();
    if (fd != number || inotify_add_watch(fd, "watch", IN_CREATE) < 0)
        return 2;
    pthread_create(&thread, NULL, make_file, NULL);
    if (read(fd, buffer, sizeof buffer) <= 0)
        return 3;
    pthread_join(thread, NULL);
    return 0;
}
