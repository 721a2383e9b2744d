/* A program with a table in the middle of a function, and one with a branch into the middle of an instruction: what pct
 * patches must not be guessed (tests/programs/patched). Prints 42. */
#include <pthread.h>
#include <stdio.h>

extern int middle(int *counter);

/* An instruction with a lock that is taken without it, as libc's own used to be: the branch goes behind the prefix. */
__asm__(".text\n"
        ".globl middle\n"
        ".type middle, @function\n"
        "middle:\n"
        ".cfi_startproc\n"
        "movl $1, %eax\n"
        "testl %eax, %eax\n"
        "jne 1f+1\n"
        "1: lock xaddl %eax, (%rdi)\n"
        "ret\n"
#ifdef TABLE
        ".byte 0x06, 0x07, 0x0e\n"
#endif
        ".cfi_endproc\n"
        ".size middle, . - middle\n");

static int counter = 40;

static void *count(void *unused)
{
    (void)unused;
    middle(&counter);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, count, NULL))
        return 3;
    pthread_join(thread, NULL);
    middle(&counter);
    printf("%d\n", counter);
    return 0;
}
