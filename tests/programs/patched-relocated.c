/* A program with a word in its text that the dynamic linker fills in when it is loaded (a text relocation), beside code
 * that accesses a global variable: such code is not that of its file, and is left as it is (tests/programs/patched).
 * Prints 42. */
/* build: -Wl,-z,notext */
#include <pthread.h>
#include <stdio.h>

int counter = 40;

/* The word is data, and has no business here: compilers made such code for switches, and people do by hand. */
__asm__(".text\n"
        ".balign 8\n"
        "place:\n"
        ".quad counter\n");
extern int *const place;

static void *count(void *unused)
{
    ++*place;
    return unused;
}

int main(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, count, NULL))
        return 3;
    pthread_join(thread, NULL);
    count(NULL);
    printf("%d\n", counter);
    return 0;
}
