// What the random devices give decides how long the run is: it must come from the seed, whichever way it is read.
//
// RUN: [ $(for i in 1 2 3 4; do pct run -s 1 --state none -- %p 2>&1 | grep -o "k=[0-9]*$"; done | sort -u |
//     wc -l) = 1 ]
// RUN: [ $(for s in 1 2 3 4 5 6; do pct run -s $s --state none -- %p 2>&1 | grep -o "k=[0-9]*$"; done | sort -u |
//     wc -l) -gt 3 ]
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *nothing(void *unused)
{
    return unused;
}

int main(void)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    unsigned char bytes[4];
    int fd = open("/dev/urandom", O_RDONLY);
    FILE *stream = fopen("/dev/random", "r");
    pthread_t thread;
    if (read(fd, &bytes[0], 1) != 1 || fread(&bytes[1], 1, 1, stream) != 1 ||
        syscall(SYS_getrandom, &bytes[3], 1, 0) != 1)
        return 1;
    bytes[2] = (unsigned char)fgetc(stream);
    pthread_create(&thread, NULL, nothing, NULL);
    for (int i = 0; i < bytes[0] + bytes[1] + bytes[2] + bytes[3]; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    pthread_join(thread, NULL);
    fclose(stream);
    return 0;
}
