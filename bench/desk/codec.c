/* Codecs are registered by name; a thread that needs one waits until it has been registered.
 *
 * Bug: a codec is published before its function is set. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX 8

struct codec {
    const char *name;
    int (*encode)(const char *, char *);
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t added;
    struct codec *items[MAX];
    int count;
} registry = { .lock = PTHREAD_MUTEX_INITIALIZER, .added = PTHREAD_COND_INITIALIZER };

static pthread_mutex_t stats_lock = PTHREAD_MUTEX_INITIALIZER;
static int loaded;

static int encode_plain(const char *in, char *out)
{
    strcpy(out, in);
    return (int)strlen(in);
}

static int encode_hex(const char *in, char *out)
{
    int n = 0;
    for (; *in; in++)
        n += sprintf(out + n, "%02x", (unsigned char)*in);
    return n;
}

static void registry_add(struct codec *c)
{
    pthread_mutex_lock(&registry.lock); /* culprit */
    registry.items[registry.count++] = c;
    pthread_cond_broadcast(&registry.added);
    pthread_mutex_unlock(&registry.lock);
}

static struct codec *registry_find(const char *name)
{
    for (int i = 0; i < registry.count; i++)
        if (!strcmp(registry.items[i]->name, name))
            return registry.items[i];
    return NULL;
}

static struct codec *registry_wait(const char *name)
{
    struct codec *c;
    pthread_mutex_lock(&registry.lock); /* culprit */
    while ((c = registry_find(name)) == NULL)
        pthread_cond_wait(&registry.added, &registry.lock); /* culprit */
    pthread_mutex_unlock(&registry.lock);
    return c;
}

static void count_loaded(void)
{
    pthread_mutex_lock(&stats_lock); /* culprit */
    loaded++;
    pthread_mutex_unlock(&stats_lock);
}

static void codec_load(const char *name, int (*encode)(const char *, char *))
{
    struct codec *c = calloc(1, sizeof *c);
    if (c == NULL)
        abort();
    c->name = name;
#ifdef FIXED
    c->encode = encode;
#endif
    registry_add(c);
    count_loaded();
    c->encode = encode;
}

static void *loader(void *arg)
{
    (void)arg;
    codec_load("plain", encode_plain);
    codec_load("hex", encode_hex);
    return NULL;
}

static void *client(void *arg)
{
    char out[64];
    struct codec *c = registry_wait(arg);
    int n = c->encode("hello", out);
    pthread_mutex_lock(&stats_lock);
    printf("%s: %d bytes\n", c->name, n);
    pthread_mutex_unlock(&stats_lock);
    return NULL;
}

int main(void)
{
    pthread_t l, c[2];
    pthread_create(&c[0], NULL, client, "plain");
    pthread_create(&c[1], NULL, client, "hex");
    pthread_create(&l, NULL, loader, NULL);
    pthread_join(c[0], NULL);
    pthread_join(c[1], NULL);
    pthread_join(l, NULL);
    return 0;
}
