// A process that ends by syscall(SYS_exit_group) passes the point of _exit: what main has torn down, the other thread
// may still use. One that ends by an instruction of its own ends unseen: what would come behind its last step is
// covered by no guarantee.
//
// RUN 134: pct run -q -s 1 -n 100 --state none -- %p
// RUN: pct run -s 1 -n 20 -S pct --state none -- %p unseen > %t/out 2>&1;
//     grep 'no guarantee .*: 20 of the runs are not recorded whole' %t/out
// RUN: pct campaign -q -s 1 -n 20 -S pct --db %t/db -- %p unseen; pct campaign report %t/db |
//     grep 'no guarantee .*: 20 of the runs are not recorded whole'
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int destroyed;

static void *work(void *unused)
{
    (void)unused;
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&mutex);
        if (destroyed)
            abort();
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, argv);
    pthread_mutex_lock(&mutex);
    destroyed = 1;
    pthread_mutex_unlock(&mutex);
    if (argc == 1)
        syscall(SYS_exit_group, 0);
    long result = SYS_exit_group;
    __asm__ volatile("syscall" : "+a"(result) : "D"(0L) : "rcx", "r11", "memory");
    return 1;
}
