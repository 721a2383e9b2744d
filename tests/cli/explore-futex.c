/* For explore.bats: threads that do what the first argument says by futexes, or make threads. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint32_t first, second;
static const char *what;

static void *nothing(void *unused)
{
    return unused;
}

static void *waiter(void *unused)
{
    struct futex_waitv words[] = { { .uaddr = (uintptr_t)&first, .flags = FUTEX_32 | FUTEX_PRIVATE_FLAG },
                                   { .uaddr = (uintptr_t)&second, .flags = FUTEX_32 | FUTEX_PRIVATE_FLAG } };
    if (!strcmp(what, "waitv"))
        syscall(SYS_futex_waitv, words, 2, 0, NULL, 0);
    else
        syscall(SYS_futex, &second, FUTEX_WAIT_PRIVATE, 0, NULL);
    return unused;
}

static void *creator(void *unused)
{
    pthread_t thread;
    pthread_create(&thread, NULL, nothing, NULL);
    pthread_join(thread, NULL);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    what = argc > 1 ? argv[1] : "";
    int creators = !strcmp(what, "creators"), count = creators || !strcmp(what, "all") ? 2 : 1;
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, creators ? creator : waiter, NULL);
    if (!strcmp(what, "op")) /* second becomes 1; its waiter is woken if it was 0 */
        syscall(SYS_futex, &first, FUTEX_WAKE_OP_PRIVATE, 1, (void *)1, &second,
                FUTEX_OP(FUTEX_OP_SET, 1, FUTEX_OP_CMP_EQ, 0));
    else if (!creators)
        syscall(SYS_futex, &second, FUTEX_WAKE_PRIVATE, 1000);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
