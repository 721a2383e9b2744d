/* A cache of objects that count their users.
 *
 * Bug: image_put() counts down, and takes the image out of the cache in another section: one that looks it up between
 *   the two gets an image that is about to be freed.
 * Shows as: a failed assertion, or a crash.
 * FIXED: it counts down with the cache locked. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { USERS = 2, LIVES = 0x1a6e };

struct image {
    long header[4];
    int magic;
    int users;
    pthread_mutex_t lock;
    int shown;
};

static struct {
    pthread_mutex_t lock;
    struct image *image;
} cache = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct image *image_load(void)
{
    struct image *image = calloc(1, sizeof *image);
    if (!image)
        exit(3);
    image->magic = LIVES;
    pthread_mutex_init(&image->lock, NULL);
    return image;
}

static struct image *image_get(void)
{
    pthread_mutex_lock(&cache.lock); /* culprit */
    if (!cache.image)
        cache.image = image_load();
    struct image *image = cache.image;
    pthread_mutex_lock(&image->lock);
    image->users++;
    pthread_mutex_unlock(&image->lock);
    pthread_mutex_unlock(&cache.lock);
    return image;
}

static void image_free(struct image *image)
{
    image->magic = 0;
    pthread_mutex_destroy(&image->lock); /* culprit */
    free(image);                         /* culprit */
}

static void image_put(struct image *image)
{
#ifdef FIXED
    pthread_mutex_lock(&cache.lock);
#endif
    pthread_mutex_lock(&image->lock); /* culprit */
    int users = --image->users;
    pthread_mutex_unlock(&image->lock);
#ifndef FIXED
    if (users > 0)
        return;
    pthread_mutex_lock(&cache.lock); /* culprit */
#endif
    if (users == 0)
        cache.image = NULL;
    pthread_mutex_unlock(&cache.lock);
    if (users == 0)
        image_free(image);
}

static void image_show(struct image *image)
{
    pthread_mutex_lock(&image->lock); /* culprit */
    assert(image->magic == LIVES);
    image->shown++;
    pthread_mutex_unlock(&image->lock);
}

static void *user(void *unused)
{
    (void)unused;
    struct image *image = image_get();
    image_show(image);
    image_put(image);
    return NULL;
}

int main(void)
{
    pthread_t users[USERS];
    for (int i = 0; i < USERS; i++)
        if (pthread_create(&users[i], NULL, user, NULL))
            return 3;
    for (int i = 0; i < USERS; i++)
        pthread_join(users[i], NULL);
    printf("done\n");
    return 0;
}
