/* A program that asks for another choice each time it is run: the file that it is given counts the runs. */
#include <pct/script.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(int argc, char **argv)
{
    unsigned runs = 0;
    pthread_t thread[2];
    FILE *file = fopen(argv[argc - 1], "a+");
    while (getc(file) != EOF)
        runs++;
    putc('.', file);
    fclose(file);
    pct_choose(2 + runs % 3);
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
