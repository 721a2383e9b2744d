/* An exchange of two bytes, behind which stands what makes no jump to free memory of them, with no filling near by:
 * what follows it moves into the trampoline with it, so the bug before it is found, and replays. With LED, a branch
 * leads to what follows: the exchange is left alone and counted, and both threads come through.
 *
 * BUILD: gcc -O1 -g -pthread -o %p %s
 * RUN 134: pct run -q -s 1 -n 200 --memory=globals --state none -- %p
 * RUN: pct run -s 1 -n 200 --memory=globals --state none -- %p > %t/out 2>&1; ! grep 'could not be patched' %t/out &&
 *     token=$(grep -o -m 1 'pct1:[^ ]*[0-9a-f]' %t/out) && for i in 1 2 3;
 *     do pct replay "$token" -- %p > %t/replay 2>&1; grep -q 'replayed identically' %t/replay || exit 1; done
 * RUN: gcc -O1 -g -pthread -DLED -o %t/led %s &&
 *     pct run -s 1 -n 200 --memory=globals --state none -- %t/led > %t/out 2>&1 &&
 *     grep '1 instruction that accesses memory and could not be patched' %t/out
 */
#include <assert.h>
#include <pthread.h>

static volatile int published, value;

void exchange(int with, volatile int *place);
__asm__(".pushsection .text.exchange, \"ax\", @progbits\n"
        ".globl exchange\n"
        "exchange: .cfi_startproc\n\t"
#ifdef LED
        "test %edi, %edi\n\t"
        "je 1f\n\t"
#endif
        "xchg %edi, (%rsi)\n"
        "1: mov $0, %eax\n\t"
        "ret\n\t"
        ".cfi_endproc\n\t"
        ".popsection\n");

static void *write(void *argument)
{
    published = 1;
    exchange(1, &value);
    return argument;
}

static void *read(void *argument)
{
    if (published)
        assert(value);
    return argument;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, write, NULL);
    pthread_create(&b, NULL, read, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
