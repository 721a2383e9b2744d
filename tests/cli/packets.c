/* A consumer fails for one packet in ten: of the system's random numbers, or, with -DCHOOSE, of those of
 * pct_choose(). */
#include <pct/script.h>
#include <pthread.h>
#include <sys/random.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int waiting, over;

static void *produce(void *unused)
{
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&lock);
        waiting += i < 4;
        over = i == 4;
        pthread_cond_signal(&filled);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void look_at_packet(void)
{
#ifdef CHOOSE
    pct_assert(pct_choose(10) != 7);
#else
    unsigned packet;
    assert(getrandom(&packet, sizeof packet, 0) == sizeof packet);
    assert(packet % 10);
#endif
}

int main(void)
{
    pthread_t thread;
    int more = 1;
    pthread_create(&thread, NULL, produce, NULL);
    while (more) {
        pthread_mutex_lock(&lock);
        while (!waiting && !over)
            pthread_cond_wait(&filled, &lock);
        more = waiting > 0;
        waiting -= more;
        pthread_mutex_unlock(&lock);
        look_at_packet();
    }
    return pthread_join(thread, NULL);
}
