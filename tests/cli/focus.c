/* Two threads that add to a counter, among other things that they race on. */
#include <assert.h>
#include <pthread.h>

int counter, noise[4];

static __attribute__((noinline)) void busy(void)
{
    for (int i = 0; i < 4; i++)
        noise[i]++;
}

static __attribute__((noinline)) void update(void)
{
    counter++;
}

static void *body(void *unused)
{
    busy();
    update();
    busy();
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, body, NULL);
    pthread_create(&b, NULL, body, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(counter == 2);
    return 0;
}
