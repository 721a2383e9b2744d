/* Double-checked creation. The corrected one looks again under the lock; its first look, without, is benign. */
#include "routine.h"
struct lazy {
    pthread_mutex_t lock;
    int *value;
    int made;
};
struct lazy lazy = { .lock = PTHREAD_MUTEX_INITIALIZER };
static int storage;
/*@demon require not_yet: z.value = null */
NI void make(struct lazy *z)
{
    assert(!z->made++);
    z->value = &storage;
}
/*@demon test rely locked: holds(z.lock) implies unchanged(z.value) and unchanged(z.made)
   stays: old z.value != null implies unchanged(z.value) */
NI int *get(struct lazy *z)
{
    if (!z->value) {
        pthread_mutex_lock(&z->lock);
#ifndef BUG
        if (!z->value)
#endif
            make(z);
        pthread_mutex_unlock(&z->lock);
    }
    return z->value;
}
/*@demon require none: z.value = null
   ensure made: z.value != null and z.made = old z.made + 1 */
void other_get(struct lazy *z)
{
    get(z);
}
int main(void)
{
    return !get(&lazy);
}
