/* For --emit-test the lines at which functions begin are looked at; "demon_prefix.c:5" was taken for known where
 * "demon_prefix.c:57" was, and no test was written: one "does not fail by one token".
 *
 * NEED: [ -x "$(dirname "$(command -v pct)")/pct-demon" ]
 * BUILD: gcc -g -O0 -pthread -o %p %s
 * RUN 1: cd %t && echo 'test look(queue) proc use(queue) require some: queue.size > 0 proc drain(queue)
 *     ensure none: queue.size = 0' > c; pct demon --points=calls --emit-test test.c --spec c -- %p > out; s=$?;
 *     grep 'test.c is a test of it' out && grep 'drain(&full)' test.c || exit 9; exit $s
 */
#include <assert.h>

struct queue {
    int size;
};

struct queue full = { .size = 1 };

#line 5
void use(struct queue *queue)
{
    assert(queue->size > 0);
}

#line 30
void drain(struct queue *queue)
{
    queue->size = 0;
}

#line 57
void look(struct queue *queue)
{
    use(queue);
}

int main(void)
{
    look(&full);
    return 0;
}
