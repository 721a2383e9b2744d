/* Many threads at once: threads COUNT. All wait at a barrier, then end. Prints the resident memory of the process, in
 * bytes a thread, at the time when all are there. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_barrier_t all_here;

static void *wait_for_all(void *argument)
{
    pthread_barrier_wait(&all_here);
    return argument;
}

static long resident(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*s %ld", &pages) != 1)
        exit(1);
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 1000;
    pthread_t *threads = calloc((size_t)count, sizeof *threads);
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 64 << 10);
    pthread_barrier_init(&all_here, NULL, (unsigned)count + 1);
    long before = resident();
    for (long i = 0; i < count; i++) {
        int error = pthread_create(&threads[i], &attr, wait_for_all, NULL);
        if (error) {
            fprintf(stderr, "thread %ld: %s\n", i, strerror(error));
            _exit(1);
        }
    }
    pthread_barrier_wait(&all_here);
    long after = resident();
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    printf("%.0f\n", (double)(after - before) / (double)count);
    free(threads);
    return 0;
}
