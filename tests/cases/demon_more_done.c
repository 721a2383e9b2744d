/* A call does more than its contract says, and than the rely lets others do: what a routine requires does not hold any
 * more, and the program fails, or waits for a mutex that it holds itself. It was said that this "broke no contract".
 *
 * NEED: [ -x "$(dirname "$(command -v pct)")/pct-demon" ]
 * BUILD: gcc -g -O0 -pthread -o %p %s && gcc -g -O0 -pthread -DWAITS -o %p-waits %s
 * RUN: cd %t && pct demon --points=calls -- %p > out; s=$?; ! grep 'broke no contract' out &&
 *     grep '^2 calls made the program fail with a contract broken.*: what the calls really did is not' out || exit 9;
 *     exit $s
 * RUN: cd %t && pct demon --points=calls -- %p-waits > out; s=$?; ! grep 'broke no contract' out &&
 *     grep '^2 calls made the program fail with a contract broken.*: threads wait for each other' out || exit 9;
 *     exit $s
 */
#include <assert.h>
#include <pthread.h>

struct queue {
    int flag, idlers;
};

#ifdef WAITS
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
#endif

/*@demon
 * require some: queue->idlers > 0
 */
void use(struct queue *queue)
{
#ifdef WAITS
    if (queue->idlers <= 0)
        pthread_mutex_lock(&held);
#else
    assert(queue->idlers > 0);
#endif
}

/*@demon
 * ensure set: queue->flag = 1
 */
void mark(struct queue *queue)
{
    queue->flag = 1;
    queue->idlers = 0;
}

/*@demon test
 * rely same: unchanged(queue->idlers)
 */
void look(struct queue *queue)
{
    use(queue);
}

int main(void)
{
    static struct queue queue = { 0, 1 };
#ifdef WAITS
    pthread_mutex_lock(&held);
#endif
    look(&queue);
    return 0;
}
