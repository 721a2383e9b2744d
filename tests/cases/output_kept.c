/* Of a long output only the last part is kept, if pct looks while the run goes on: runs that had written the same were
 * called failures (--expect-same) where pct had looked at some of them only; and what a sanitizer reports behind the
 * first 64 MB was not seen.
 *
 * RUN: pct campaign -n 12 -s 1 -j 1 --explore=0 --expect-same --db %t/db -- %p
 * RUN: pct campaign -n 3 -s 1 -j 1 --explore=0 --db %t/db -- %p long > %t/out; [ $? = 1 ] &&
 *     grep 'sanitizer report: .*runtime error' %t/out
 */
#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 1 << 16, PIECES = 320, LONG = 1600 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int first;

static void *work(void *number)
{
    pthread_mutex_lock(&mutex);
    first = first ? first : *(int *)number;
    pthread_mutex_unlock(&mutex);
    return NULL;
}

/* In real time. */
static void stay(void)
{
    struct timespec time = { .tv_nsec = 600000000 };
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(SYS_nanosleep), "D"(&time), "S"(0) : "rcx", "r11", "memory");
}

int main(int argc, char **argv)
{
    static const char report[] = "\na.c:3:14: runtime error: signed integer overflow\n";
    static char piece[PIECE];
    pthread_t threads[2];
    int numbers[] = { 1, 2 };
    (void)argv;
    for (int i = 0; i < 2; i++)
        assert(!pthread_create(&threads[i], NULL, work, &numbers[i]));
    for (int i = 0; i < 2; i++)
        assert(!pthread_join(threads[i], NULL));
    memset(piece, 'x', PIECE);
    for (int i = 0; i < (argc > 1 ? LONG : PIECES); i++)
        assert(write(1, piece, PIECE) == PIECE);
    if (argc > 1)
        assert(write(2, report, sizeof report - 1) == sizeof report - 1);
    else if (first == 2)
        stay();
    return 0;
}
