/* A program may fail with a status by which pct tells that a run did not end. With 124 it was said that "the program
 * did not end in the time that --timeout gives a run", and that only the contract is broken.
 *
 * NEED: [ -x "$(dirname "$(command -v pct)")/pct-demon" ]
 * BUILD: gcc -g -O0 -pthread -o %p %s
 * RUN: cd %t && pct demon --points=calls --bound=1 -- %p > out; s=$?; { [ $s = 1 ] || [ $s = 3 ]; } &&
 *     grep 'ended with exit status 124' out && ! grep 'did not end' out
 * RUN 2: cd %t && pct demon --points=calls -- %p fails 2> err; s=$?; grep 'the test fails by itself' err || exit 9;
 *     exit $s
 */
#include <stdlib.h>

struct queue {
    int size;
};

/*@demon
 * require some: queue->size > 0
 */
void use(struct queue *queue)
{
    if (queue->size <= 0)
        exit(124);
}

/*@demon
 * ensure none: queue->size = 0
 */
void drain(struct queue *queue)
{
    queue->size = 0;
}

/*@demon test */
void look(struct queue *queue)
{
    use(queue);
}

int main(int argc, char **argv)
{
    static struct queue queue = { .size = 1 };
    (void)argv;
    look(&queue);
    return argc > 1 ? 124 : 0;
}
