/* What a routine uses (-DBODY=STATEMENT) is an element of an array, or a pointer: others reach it by what leads
 * there. */
#include <assert.h>
#include <pthread.h>

struct account {
    int kind;
    unsigned balance;
};
struct node {
    struct node *next;
};
struct table {
    pthread_mutex_t lock;
    int size, used;
    struct account **slot, *flat;
    struct account own[4];
    struct node *head;
    unsigned *numbers;
};

static unsigned numbers[2] = { 5, 5 };
static struct account flat[3] = { { 0, 100 }, { 0, 100 }, { 0, 100 } }, *slot[3] = { &flat[0], &flat[1], &flat[2] };
static struct node last, first = { &last };
struct node *list = &first;
struct account accounts[2] = { { 0, 100 }, { 0, 100 } };
struct table table = { .lock = PTHREAD_MUTEX_INITIALIZER,
                       .size = 3,
                       .used = 2,
                       .slot = slot,
                       .own = { { 0, 100 }, { 0, 100 } },
                       .head = &first,
                       .numbers = numbers };

__attribute__((noinline)) void debit(struct account *a, unsigned n)
{
    assert(a->balance >= n);
    a->balance -= n;
}

__attribute__((noinline)) int covers(const struct account *a, unsigned n)
{
    return a->balance >= n;
}

/* Where there is one. */
__attribute__((noinline)) void unlink_first(struct node **head)
{
    assert(*head);
    *head = (*head)->next;
}

__attribute__((noinline)) unsigned take(unsigned *number, unsigned n)
{
    assert(*number >= n);
    return *number -= n;
}

/* Others. */
void empty(struct account *a)
{
    a->balance = 0;
}

void clear(struct node **head)
{
    *head = 0;
}

void spend(unsigned *number, struct account *a)
{
    *number = a->kind;
}

__attribute__((noinline)) void use(struct table *t)
{
#ifdef FIXED
    pthread_mutex_lock(&t->lock);
#endif
    BODY;
#ifdef FIXED
    pthread_mutex_unlock(&t->lock);
#endif
}

int main(void)
{
    table.flat = flat;
    use(&table);
    return 0;
}
