/* Transfers between accounts. Stands for: Account (ConTest).
 * Bug: a transfer holds the lock of the account that it takes from, and not that of the one that it gives to.
 * Shows as: an assertion: money is lost. FIXED: one lock for both. */
#include "shared.h"

enum { ACCOUNTS = 2 };
static int balance[ACCOUNTS] = { 300, 300 };
static pthread_mutex_t lock[ACCOUNTS] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };

static void *transfer(void *from)
{
    int mine = (int)(intptr_t)from, other = (mine + 1) % ACCOUNTS;
#ifdef FIXED
    int held = 0;
#else
    int held = mine;
#endif
    pthread_mutex_lock(&lock[held]);
    balance[mine] -= 100;
    balance[other] += 100; /* culprit */
    pthread_mutex_unlock(&lock[held]);
    return NULL;
}

int main(void)
{
    run_threads(ACCOUNTS, transfer);
    assert(balance[0] + balance[1] == 600);
    return 0;
}
