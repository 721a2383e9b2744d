/* Loops whose thread waits for what another one does with its stack, for tests/explored/awaits: stacks PROGRAM. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static atomic_int turn, end;

/* Another thread waits for what a round changes there. */
static atomic_int *_Atomic asked;
static void *answer(void *unused)
{
    atomic_int *there = asked;
    while (*there != 1)
        ;
    *there = 0;
    turn = 1;
    while (*there != 1)
        ;
    end = 1;
    return unused;
}
static void ask(void)
{
    atomic_int question = 0;
    pthread_t thread;
    asked = &question;
    pthread_create(&thread, NULL, answer, NULL);
    while (!end) {
        question = 1;
        while (!turn)
            ;
    }
    pthread_join(thread, NULL);
}

/* What another thread writes there ends the loop: in patched code, nothing tells that it is looked at. */
static volatile int *volatile written;
static void *leave(void *unused)
{
    *written = 1;
    return unused;
}
static void find(void)
{
    volatile int found = 0;
    pthread_t thread;
    written = &found;
    pthread_create(&thread, NULL, leave, NULL);
    while (!end)
        if (found)
            break;
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "ask"))
        ask();
    else
        find();
    return 0;
}
