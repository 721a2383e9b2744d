/* JDK 1.4, Vector.lastIndexOf(Object): the size is asked without a lock, and the elements are gone through from there
 * with one. */
#include <assert.h>
#include <pthread.h>

struct vector {
    pthread_mutex_t monitor;
    int count;
    int elements[4];
};

static int size(const struct vector *vector)
{
    return vector->count;
}

static int scan(const struct vector *vector, int element, int index)
{
    assert(index < vector->count);
    while (index >= 0 && vector->elements[index] != element)
        index--;
    return index;
}

static int last_index_of(struct vector *vector, int element)
{
#ifdef FIXED
    pthread_mutex_lock(&vector->monitor);
    int index = scan(vector, element, size(vector) - 1);
    pthread_mutex_unlock(&vector->monitor);
#else
    int last = size(vector) - 1;
    int index = scan(vector, element, last);
#endif
    return index;
}

/* Others. */
__attribute__((used)) static void remove_all(struct vector *vector)
{
    pthread_mutex_lock(&vector->monitor);
    vector->count = 0;
    pthread_mutex_unlock(&vector->monitor);
}

#ifdef THREADS
static void *others(void *vector)
{
    remove_all(vector);
    return NULL;
}
#endif

int main(void)
{
    static struct vector vector = { .monitor = PTHREAD_MUTEX_INITIALIZER, .count = 2, .elements = { 5, 6 } };
#ifdef THREADS
    pthread_t thread;
    pthread_create(&thread, NULL, others, &vector);
#endif
    last_index_of(&vector, 5);
#ifdef THREADS
    pthread_join(thread, NULL);
#endif
    return 0;
}
