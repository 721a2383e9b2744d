/* A server's configuration: read by workers through getters, loaded anew by a thread.
 *
 * Bug: host and port belong together, and are read one by one. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORKERS 2
#define LOADS 2

struct config {
    char host[32];
    int port;
    int timeout;
    int version;
};

static struct config current = { "alpha", 1000, 5, 0 };
static pthread_rwlock_t config_lock = PTHREAD_RWLOCK_INITIALIZER;
static const struct config versions[] = { { "beta", 2000, 10, 1 }, { "gamma", 3000, 15, 2 } };

static int config_host(char *host, size_t size)
{
    int port;

    pthread_rwlock_rdlock(&config_lock); /* culprit */
    port = current.port;
    snprintf(host, size, "%s", current.host);
    pthread_rwlock_unlock(&config_lock);
    return port;
}

static int config_port(void)
{
    int port;

    pthread_rwlock_rdlock(&config_lock); /* culprit */
    port = current.port;
    pthread_rwlock_unlock(&config_lock);
    return port;
}

static int config_timeout(void)
{
    int timeout;

    pthread_rwlock_rdlock(&config_lock);
    timeout = current.timeout;
    pthread_rwlock_unlock(&config_lock);
    return timeout;
}

static void config_load(const struct config *fresh)
{
    pthread_rwlock_wrlock(&config_lock); /* culprit */
    current = *fresh;
    pthread_rwlock_unlock(&config_lock);
}

static pthread_mutex_t connections_lock = PTHREAD_MUTEX_INITIALIZER;
static int connections;

static int expected_port(const char *host)
{
    if (strcmp(host, "alpha") == 0)
        return 1000;
    if (strcmp(host, "beta") == 0)
        return 2000;
    return 3000;
}

static void connect_to(const char *host, int port, int timeout)
{
    pthread_mutex_lock(&connections_lock);
    connections++;
    pthread_mutex_unlock(&connections_lock);
    (void)timeout;
    if (port != expected_port(host)) {
        fprintf(stderr, "connection to %s:%d refused\n", host, port);
        abort();
    }
}

static void *worker(void *arg)
{
    char host[32];

    (void)arg;
    for (int i = 0; i < 2; i++) {
        int timeout = config_timeout();
        int port = config_host(host, sizeof(host));

#ifndef FIXED
        port = config_port();
#endif
        connect_to(host, port, timeout);
    }
    return NULL;
}

static void *reloader(void *arg)
{
    (void)arg;
    for (int i = 0; i < LOADS; i++)
        config_load(&versions[i]);
    return NULL;
}

int main(void)
{
    pthread_t t[WORKERS], r;

    for (int i = 0; i < WORKERS; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    pthread_create(&r, NULL, reloader, NULL);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(t[i], NULL);
    pthread_join(r, NULL);
    printf("%d connections, version %d\n", connections, current.version);
    return 0;
}
