/* An account (-DWHICH=EXPRESSION) that others reach by members of what the test is called with alone, of which this one
 * (-DPLACE=MEMBER) leads to it. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#if !__has_attribute(noclone) /* clang makes no clones */
#define noclone
#endif

struct account {
    int kind;
    unsigned balance;
};
typedef struct { /* without a tag, as that of */
    struct entry *next;
} list_t;
typedef struct { /* another */
    int unlike;
} other_t;
struct entry {
    struct entry *next;
    struct account *account;
};
struct bank {
    pthread_mutex_t lock;
    struct account *first;
    char *hidden; /* of an address that nobody knows to be there */
    struct account own[3];
    list_t list;
    void *any;
    int paid;
};

static struct account one = { .balance = 100 };
static struct entry entries[2];
#define HIDDEN(b) (*(struct account **)(void *)(b).hidden)

struct bank bank = { .lock = PTHREAD_MUTEX_INITIALIZER };

__attribute__((noinline, noclone)) void debit(struct account *account, unsigned n)
{
    assert(account->balance >= n);
    account->balance -= n;
}

__attribute__((noinline, noclone)) int covers(const struct account *account, unsigned n)
{
    return account->balance >= n;
}

/* Others. */
__attribute__((noinline, noclone)) void empty(struct account *account)
{
    account->balance = 0;
}

__attribute__((noinline, noclone)) void clear(other_t *other)
{
    other->unlike = 0;
}

__attribute__((noinline, noclone)) void open_first(struct bank *b)
{
    b->first = &one;
}

__attribute__((noinline, noclone)) void pay(struct bank *b)
{
#ifdef FIXED
    pthread_mutex_lock(&b->lock);
#endif
    if (WHICH && covers(WHICH, 60))
        debit(WHICH, 60);
    b->paid++;
#ifdef FIXED
    pthread_mutex_unlock(&b->lock);
#endif
}

int main(void)
{
    static struct account *hidden;
    bank.hidden = (char *)&hidden;
    PLACE = &one;
    bank.own[1].balance = 100;
    entries[0].next = &entries[1];
    bank.list.next = entries;
    pay(&bank);
    return 0;
}
