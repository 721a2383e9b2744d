// A thread waits for a mutex for ever, because another one has destroyed it, and given its memory to something else,
// while the thread was about to lock it. The report named the mutex as one like any other, and nobody as its holder.
//
// RUN 120: pct run -n 1000 -s 1 --state none -- %p > %t/log 2>&1; s=$?;
//     grep -q 'waits for mutex .*(lock), which thread 0 destroyed in step' %t/log || exit 9; exit $s
#include <pthread.h>
#include <string.h>

static struct session {
    pthread_mutex_t lock;
    int references;
} session = { .lock = PTHREAD_MUTEX_INITIALIZER, .references = 1 };

static void *use(void *unused)
{
    for (int i = 0; i < 3 && session.references; i++) {
        pthread_mutex_lock(&session.lock);
        pthread_mutex_unlock(&session.lock);
    }
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, use, NULL);
    pthread_mutex_lock(&session.lock);
    int left = --session.references;
    pthread_mutex_unlock(&session.lock);
    if (!left) {
        pthread_mutex_destroy(&session.lock);
        memset(&session.lock, 0x40, sizeof session.lock);
        ((int *)&session.lock)[4] = 0; /* a plain mutex, by accident */
    }
    pthread_join(thread, NULL);
    return 0;
}
