/* Many threads that want one mutex: waiters COUNT. All are there before the first has it; each takes it three times.
 * Prints the processor time of the process, in milliseconds. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *take_turns(void *argument)
{
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    return argument;
}

static double milliseconds(struct timeval time)
{
    return (double)time.tv_sec * 1e3 + (double)time.tv_usec * 1e-3;
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 1000;
    pthread_t *threads = calloc((size_t)count, sizeof *threads);
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 64 << 10);
    pthread_mutex_lock(&mutex);
    for (long i = 0; i < count; i++) {
        int error = pthread_create(&threads[i], &attr, take_turns, NULL);
        if (error) {
            fprintf(stderr, "thread %ld: %s\n", i, strerror(error));
            _exit(1);
        }
    }
    pthread_mutex_unlock(&mutex);
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    printf("%.1f\n", milliseconds(used.ru_utime) + milliseconds(used.ru_stime));
    free(threads);
    return 0;
}
