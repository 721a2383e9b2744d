/* Behind a call of others the routine goes round for ever. It was said that "the program did not fail", or, where no
 * contract was broken, that the run, which was killed, has refuted the candidate, and no more.
 *
 * NEED: [ -x "$(dirname "$(command -v pct)")/pct-demon" ]
 * BUILD: gcc -g -O0 -pthread -o %p %s
 * RUN 3: cd %t && echo 'test look(queue) proc use(queue) require idle: queue.busy = 0 proc begin(queue)
 *     ensure set: queue.busy = 1' > c; pct demon --points=calls --bound=1 --timeout=2 --spec c -- %p > out; s=$?;
 *     ! grep 'did not fail' out && grep 'and the program did not end' out || exit 9; exit $s
 * RUN 0: cd %t && echo 'test look(queue) proc use(queue) require none: queue.size = 0 proc begin(queue)
 *     ensure set: queue.busy = 1 and queue.size = 1' > c;
 *     pct demon --points=calls --bound=1 --timeout=2 --spec c -- %p > out; s=$?;
 *     grep '^in 2 of these the run took more than 2 s and was killed' out || exit 9; exit $s
 */
struct queue {
    volatile int busy, size;
};

void use(struct queue *queue)
{
    while (queue->busy)
        continue;
}

void begin(struct queue *queue)
{
    queue->busy = 1;
}

void look(struct queue *queue)
{
    use(queue);
}

int main(void)
{
    static struct queue queue;
    look(&queue);
    return 0;
}
