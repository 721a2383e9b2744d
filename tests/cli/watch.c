/* Two threads that lose an update of a variable, between its read and its write; and what a program may do with SIGTRAP
 * meanwhile, which must be as it is without --watch. Status 3: it was not.
 *
 *     watch              nothing
 *     watch blocked      all signals are blocked in all threads; one that comes stays pending, and can be waited for
 *     watch ignored      SIGTRAP is ignored; raising it does nothing
 *     watch handled      SIGTRAP has a handler, which is called for raise() and for int3
 *     watch spin         a thread waits for the variable in a loop without any call
 *     watch child        a child does it, and is not disturbed
 *     watch library      the variable is accessed by libc
 *     watch twice        two variables, of which one is accessed in the handler of a signal */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int counter, other, start;
char text[8]; /* nobody reads it: clang would leave out a static one */
static int handled;
static const char *mode = "";

static int is(const char *name)
{
    return !strcmp(mode, name);
}

static void want(int condition)
{
    if (!condition)
        _exit(3);
}

static void handle(int number)
{
    (void)number;
    handled++;
    other++;
}

static void check_blocked(void)
{
    sigset_t now, pending, trap;
    int taken = 0;
    sigemptyset(&trap);
    sigaddset(&trap, SIGTRAP);
    want(!pthread_sigmask(SIG_SETMASK, NULL, &now) && sigismember(&now, SIGTRAP) && sigismember(&now, SIGHUP));
    want(!pthread_sigmask(SIG_UNBLOCK, &trap, &now) && sigismember(&now, SIGTRAP));
    want(!pthread_sigmask(SIG_BLOCK, &trap, &now) && !sigismember(&now, SIGTRAP) && sigismember(&now, SIGHUP));
    counter++;
    counter--;
    want(!pthread_kill(pthread_self(), SIGTRAP));
    want(!sigpending(&pending) && sigismember(&pending, SIGTRAP));
    want(!sigwait(&trap, &taken) && taken == SIGTRAP);
    want(!pthread_sigmask(SIG_SETMASK, NULL, &now) && sigismember(&now, SIGTRAP));
}

static void *count(void *argument)
{
    if (is("blocked") && argument)
        check_blocked();
    if (is("spin") && argument)
        while (!start)
            ;
    if (is("spin") && !argument)
        start = 1;
    if (is("library"))
        memcpy(text, "abcdefg", strlen(mode));
    if (is("twice"))
        want(!raise(SIGUSR1));
    int seen = counter;
    __asm__ volatile("" : "+r"(seen)); /* two accesses, also by gcc 16 */
    counter = seen + 1;
    return NULL;
}

static void run_both(void)
{
    pthread_t threads[2];
    want(!pthread_create(&threads[0], NULL, count, NULL) && !pthread_create(&threads[1], NULL, count, &mode));
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}

int main(int argc, char **argv)
{
    sigset_t all;
    sigfillset(&all);
    mode = argc > 1 ? argv[1] : "";
    if (is("blocked"))
        want(!pthread_sigmask(SIG_SETMASK, &all, NULL));
    if (is("ignored"))
        want(signal(SIGTRAP, SIG_IGN) == SIG_DFL);
    if (is("handled"))
        want(signal(SIGTRAP, handle) == SIG_DFL);
    if (is("twice"))
        want(signal(SIGUSR1, handle) == SIG_DFL);
    pid_t child = is("child") ? fork() : 0;
    if (child) {
        int status;
        want(waitpid(child, &status, 0) == child);
        want(WIFEXITED(status) && (!WEXITSTATUS(status) || WEXITSTATUS(status) == 1));
        counter = 1;
    }
    run_both();
    if (is("child") && !child)
        _exit(counter != 2);
    if (is("ignored"))
        want(!raise(SIGTRAP) && signal(SIGTRAP, SIG_DFL) == SIG_IGN && signal(SIGTRAP, SIG_IGN) == SIG_DFL &&
             !raise(SIGTRAP));
    if (is("handled")) {
        want(!raise(SIGTRAP) && handled == 1);
        __asm__ volatile("int3");
        want(handled == 2 && signal(SIGTRAP, SIG_DFL) == handle);
    }
    assert(counter == 2 + (child != 0));
    return 0;
}
