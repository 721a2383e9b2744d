/* Two solvers save their state to one file: each writes it to another one, which then takes the name.
 *
 * Bug: both write to the same other file: the second one empties it while the first one is writing.
 * Shows as: an exit status of 1: a checkpoint that is not whole.
 * FIXED: each solver has its own. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SOLVERS = 2, PARTS = 3, PART = 8 };

static char folder[] = "/tmp/checkpointXXXXXX";
static char name[64];

static void temporary(char *path, int solver)
{
#ifdef FIXED
    snprintf(path, 64, "%s/new.%d", folder, solver);
#else
    snprintf(path, 64, "%s/new", folder);
    (void)solver;
#endif
}

static void *solve(void *arg)
{
    int solver = *(int *)arg;
    char path[64], part[PART];
    memset(part, 'a' + solver, sizeof part);
    temporary(path, solver);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600); /* culprit */
    for (int i = 0; i < PARTS; i++)
        if (write(file, part, sizeof part) != sizeof part) /* culprit */
            return NULL;
    close(file);
    rename(path, name); /* culprit */
    return NULL;
}

int main(void)
{
    pthread_t threads[SOLVERS];
    int numbers[SOLVERS], length, wrong;
    char state[PARTS * PART + 1] = { 0 };
    if (!mkdtemp(folder))
        return 2;
    snprintf(name, sizeof name, "%s/state", folder);
    for (int i = 0; i < SOLVERS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, solve, &numbers[i]);
    }
    for (int i = 0; i < SOLVERS; i++)
        pthread_join(threads[i], NULL);
    int file = open(name, O_RDONLY);
    length = (int)read(file, state, sizeof state);
    close(file);
    wrong = length != PARTS * PART || strspn(state, (char[]){ state[0], '\0' }) != (size_t)length;
    unlink(name);
    rmdir(folder);
    printf("%d bytes, %s\n", length, wrong ? "mixed" : "whole");
    return wrong;
}
