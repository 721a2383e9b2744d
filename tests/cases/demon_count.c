/* `array table.slot has table.size` with a size of 150 in an unsigned char: what has its highest bit set was taken
 * for a number below 0, so others knew no element, and nothing was found.
 *
 * NEED: [ -x "$(dirname "$(command -v pct)")/pct-demon" ]
 * BUILD: gcc -g -O0 -pthread -o %p %s
 * RUN 1: cd %t && echo 'test use(table) array table.slot has table.size
 *     proc debit(account, n) require enough: account.balance >= n
 *     proc empty(account) ensure none: account.balance = 0' > c;
 *     pct demon --points=calls --bound=1 --spec c -- %p > out; s=$?;
 *     grep 'another thread calls empty(table.slot\[1\])' out || exit 9; exit $s
 */
#include <assert.h>

struct account {
    int balance;
};
struct table {
    unsigned char size;
    struct account *slot;
};

void debit(struct account *account, int n)
{
    assert(account->balance >= n);
}

void empty(struct account *account)
{
    account->balance = 0;
}

void use(struct table *table)
{
    debit(&table->slot[1], 60);
}

int main(void)
{
    static struct account slot[150] = { { 100 }, { 100 } };
    static struct table table = { 150, slot };
    use(&table);
    return 0;
}
