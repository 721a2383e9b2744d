// A monitor shows what each connection does at the moment, as SHOW PROCESSLIST of a database.
//
// Bug: it looks whether there is something to show, and then loads the pointer again; the connection may be idle by
// then.
// Shows as: SIGSEGV.
// FIXED: it loads the pointer once.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { CONNECTIONS = 2, QUERIES = 3 };

static _Atomic(const char *) doing[CONNECTIONS];

static void *connection(void *arg)
{
    _Atomic(const char *) *mine = arg;
    for (int i = 0; i < QUERIES; i++) {
        atomic_store(mine, "Sending data");
        atomic_store(mine, NULL); // culprit
    }
    return NULL;
}

static size_t show(int i)
{
#ifdef FIXED
    const char *now = atomic_load(&doing[i]);
    return now ? strlen(now) : 0;
#else
    if (!atomic_load(&doing[i])) // culprit
        return 0;
    return strlen(atomic_load(&doing[i])); // culprit
#endif
}

static void *monitor(void *arg)
{
    size_t *shown = arg;
    for (int i = 0; i < 2 * CONNECTIONS; i++)
        *shown += show(i % CONNECTIONS);
    return NULL;
}

int main(void)
{
    pthread_t threads[CONNECTIONS + 1];
    size_t shown = 0;
    for (int i = 0; i < CONNECTIONS; i++)
        pthread_create(&threads[i], NULL, connection, &doing[i]);
    pthread_create(&threads[CONNECTIONS], NULL, monitor, &shown);
    for (int i = 0; i <= CONNECTIONS; i++)
        pthread_join(threads[i], NULL);
    printf("%zu\n", shown);
}
