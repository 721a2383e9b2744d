/* With -O3 the routine calls "use.constprop.0", which the compiler has made of use(): it enters no function that is
 * looked at, as use() is there, too, for others. "No interference found", though another call drains the queue.
 *
 * NEED: [ -x "$(dirname "$(command -v pct)")/pct-demon" ]
 * BUILD: gcc -g -O3 --param ipa-cp-eval-threshold=1 -pthread -o %p %s
 * RUN: nm %p | grep 'use[.]constprop' || exit 0; cd %t && pct demon --points=calls -- %p 2> err; [ $? = 2 ] &&
 *     grep 'the compiler has made a copy of use for special arguments: build with -O0' err
 */
#include <assert.h>

struct queue {
    int size, taken[16];
};

/*@demon
 * require enough: queue->size >= n
 */
__attribute__((noinline)) void use(struct queue *queue, int n)
{
    assert(queue->size >= n);
    for (int i = 0; i < n; i++)
        queue->taken[i % 16] += queue->size * n / (i + n);
}

/*@demon
 * ensure none: queue->size = 0
 */
__attribute__((noinline)) void drain(struct queue *queue)
{
    queue->size = 0;
}

/*@demon test
 * require any: queue->size >= 0
 */
__attribute__((noinline)) void look(struct queue *queue)
{
    use(queue, 1);
    queue->taken[0] = 0;
}

int main(void)
{
    static struct queue queue = { .size = 1 };
    look(&queue);
    return queue.taken[1];
}
