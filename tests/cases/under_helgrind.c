// pct under helgrind and drd. What pct tries at the start, to see how libc lays out its objects, they take for the
// program's: objects that were not destroyed, in places that had others after them, made helgrind give up.
//
// NEED: command -v valgrind > /dev/null
// RUN: LD_PRELOAD=$LIBPCT valgrind -q --tool=helgrind %p 2> %t/said && ! grep layouts %t/said
// RUN: LD_PRELOAD=$LIBPCT valgrind -q --tool=drd %p 2> %t/said && ! grep layouts %t/said
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *thread(void *argument)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return argument;
}

int main(void)
{
    pthread_t other;
    return pthread_create(&other, NULL, thread, NULL) || thread(NULL) || pthread_join(other, NULL);
}
