/* The last thread of a process ends by SYS_exit, as an instruction of the program's: its status is that of the process.
 * It was lost, and 0, where another had ended so before it, so that the watchdog's thread was there and ended last.
 *
 * NEED: (echo 6.15; uname -r) | sort -VC
 * BUILD: gcc -O1 -g -pthread -o %p %s
 * RUN 5: %p
 * RUN 5: %p inline
 * RUN 5: pct run -q -n 3 -s 1 --timeout 20 -- %p
 * RUN 5: pct run -q -n 3 -s 1 --timeout 20 -- %p inline
 * RUN 5: pct run -q -n 3 -s 1 --timeout 20 --exec -S pos -- %p inline
 * RUN 5: LD_PRELOAD=$LIBPCT PCT_SEED=1 timeout 20 %p inline
 */
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void leave(long status)
{
    long result = SYS_exit;
    __asm__ volatile("syscall" : "+a"(result) : "D"(status) : "rcx", "r11", "memory");
}

static void *run(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    usleep(20000);
    leave(5);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    (void)argv;
    pthread_create(&thread, NULL, run, NULL);
    if (argc > 1)
        leave(3);
    pthread_exit(NULL);
}
