/* The runs of `pct demon` but for the first cannot be made: the program is gone by then. So nothing is
 * known of the candidates; they were "refuted by a real run", and no interference was found.
 *
 * NEED: [ -x "$(dirname "$(command -v pct)")/pct-demon" ]
 * BUILD: gcc -g -O0 -pthread -o %p %s
 * RUN 2: cd %t && cp %p p && echo 'test look(queue) proc use(queue) require some: queue.size > 0 proc drain(queue)
 *     ensure none: queue.size = 0' > c; pct demon --points=calls --spec c -- ./p > out 2> err; s=$?;
 *     ! grep -e refuted -e 'no interference' out && grep 'could not be tried: .* status 127' err || exit 9; exit $s
 */
#include <assert.h>
#include <unistd.h>

struct queue {
    int size;
};

void use(struct queue *queue)
{
    assert(queue->size > 0);
}

void drain(struct queue *queue)
{
    queue->size = 0;
}

void look(struct queue *queue)
{
    use(queue);
}

int main(int argc, char **argv)
{
    static struct queue queue = { .size = 1 };
    (void)argc;
    unlink(argv[0]);
    look(&queue);
    return 0;
}
