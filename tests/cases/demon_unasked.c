/* What others may call requires `head == null or head->n < 4`, and the head is null. The solver is not asked about such
 * a call, and nothing told so: "no interference found", of a routine that push() breaks.
 *
 * NEED: [ -x "$(dirname "$(command -v pct)")/pct-demon" ]
 * BUILD: gcc -g -O0 -pthread -o %p %s
 * RUN: cd %t && pct demon --points=calls --bound=1 -- %p > out; s=$?;
 *     [ $s = 1 ] || grep '^[1-9].* sequences of calls were not asked about' out
 */
#include <assert.h>
#include <stddef.h>

struct node {
    int n;
};
struct queue {
    struct node *head;
    int size;
};

/*@demon
 * require few: queue->size < 1
 */
void use(struct queue *queue)
{
    assert(queue->size < 1);
}

/*@demon
 * require room: queue->head == null or queue->head->n < 4
 * ensure more: queue->size = old queue->size + 1
 */
void push(struct queue *queue)
{
    queue->size++;
}

/*@demon test */
void look(struct queue *queue)
{
    use(queue);
}

int main(void)
{
    static struct queue queue = { NULL, 0 };
    look(&queue);
    return 0;
}
