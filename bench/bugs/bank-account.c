/* A bank account that loses an update. For the measurements of bench/.
 *
 * Source: the Maple paper, table 2, "BankAccount" (a synthetic bug of idiom 1). The paper names the program and the
 *   idiom but does not print the code; this is written after them.
 * Bug: deposit and withdrawal each read the balance and write it back changed. If both read before either writes,
 *   the first write is lost.
 * Depth 2: (the deposit reads) before (the withdrawal writes), and (the withdrawal writes) before (the deposit
 *   writes). Or with the two exchanged. PCT needs its change point between the read and the write of the one and the
 *   other below it until then.
 * Shows as: a failed assertion in main: the balance is wrong.
 * FIXED: a lock is held from the read to the write. */
#include "shared.h"

enum { INITIAL = 100, DEPOSIT = 50, WITHDRAWAL = 30 };

static struct shared_int balance = SHARED_INT(INITIAL);

#ifdef FIXED
static pthread_mutex_t account_lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void change_balance(int amount)
{
#ifdef FIXED
    pthread_mutex_lock(&account_lock);
#endif
    int before = shared_read(&balance);      /* culprit */
    shared_write(&balance, before + amount); /* culprit */
#ifdef FIXED
    pthread_mutex_unlock(&account_lock);
#endif
}

static void *deposit(void *unused)
{
    (void)unused;
    change_balance(DEPOSIT);
    return NULL;
}

static void *withdraw(void *unused)
{
    (void)unused;
    change_balance(-WITHDRAWAL);
    return NULL;
}

int main(void)
{
    pthread_t teller1 = thread_start(deposit, NULL);
    pthread_t teller2 = thread_start(withdraw, NULL);
    thread_join(teller1);
    thread_join(teller2);
    int final = shared_read(&balance);
    assert(final == INITIAL + DEPOSIT - WITHDRAWAL);
    return 0;
}
