/* A shop: customers ask for a price and buy for it, while another thread changes the prices.
 *
 * Bug: a customer reads the price in one section and pays it in another: it may be another one by then.
 * Shows as: a failed assertion: what was paid is not what the book says.
 * FIXED: one section. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

enum { CUSTOMERS = 2, CHANGES = 2 };

struct shop {
    pthread_mutex_t lock;
    int price, stock, income, expected;
};

static struct shop shop = { PTHREAD_MUTEX_INITIALIZER, 10, 3, 0, 0 };
static pthread_mutex_t purse_lock = PTHREAD_MUTEX_INITIALIZER;
static int purse = 100;

static bool purse_take(int amount)
{
    pthread_mutex_lock(&purse_lock);
    bool enough = purse >= amount;
    purse -= enough ? amount : 0;
    pthread_mutex_unlock(&purse_lock);
    return enough;
}

#ifndef FIXED
static int ask(struct shop *s)
{
    pthread_mutex_lock(&s->lock); /* culprit */
    int price = s->price;
    pthread_mutex_unlock(&s->lock);
    return price;
}
#endif

static void pay_locked(struct shop *s, int price)
{
    s->stock--;
    s->income += price;
    s->expected += s->price;
}

static void buy(struct shop *s)
{
#ifdef FIXED
    pthread_mutex_lock(&s->lock);
    if (purse_take(s->price))
        pay_locked(s, s->price);
    pthread_mutex_unlock(&s->lock);
#else
    int price = ask(s);
    if (!purse_take(price))
        return;
    pthread_mutex_lock(&s->lock); /* culprit */
    pay_locked(s, price);
    pthread_mutex_unlock(&s->lock);
#endif
}

static void change(struct shop *s, int by)
{
    pthread_mutex_lock(&s->lock); /* culprit */
    s->price += by;
    pthread_mutex_unlock(&s->lock);
}

static void *customer(void *unused)
{
    (void)unused;
    buy(&shop);
    return NULL;
}

static void *manager(void *unused)
{
    (void)unused;
    for (int i = 0; i < CHANGES; i++)
        change(&shop, 1);
    return NULL;
}

int main(void)
{
    pthread_t threads[CUSTOMERS + 1];
    for (int i = 0; i < CUSTOMERS; i++)
        pthread_create(&threads[i], NULL, customer, NULL);
    pthread_create(&threads[CUSTOMERS], NULL, manager, NULL);
    for (int i = 0; i <= CUSTOMERS; i++)
        pthread_join(threads[i], NULL);
    assert(shop.income == shop.expected);
    return 0;
}
