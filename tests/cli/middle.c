/* A target for explored runs that go on from the middle of earlier ones: two threads take turns at a mutex, and look
 * each time whether what they have of their own is what they have made of it. It ends by SIGABRT if not. What it does
 * besides, its argument says.
 *
 *     memory   changes all kinds of memory, maps some and gives it back
 *     kernel   changes its mask of signals, their actions, the rounding of numbers, a robust mutex
 *     numbers  leaves flags of the x87 unit and of SSE behind, each thread others
 *     handler  has a handler of signals in which others run, with numbers in registers, and masks behind it
 *     output   writes in the middle
 *     file     has a pipe open in the middle
 *     gone     gives memory back at the end that it has had in the middle
 *     waiters  waits for a condition, of which one waiter is woken
 *     fails    says so in an assertion, if the second thread comes early; main: the same in main
 *     crashes  likewise, by a write to where nothing is
 *     blocks   likewise, by waiting for itself
 *     exits    likewise, with exit status 3
 *     aborts   likewise, with a handler of that signal */
#define _GNU_SOURCE
#include <assert.h>
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { THREADS = 2, TURNS = 9, PAGE = 4096 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, robust;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static const char *what;
static int shared, waiting, wrong;
static int turns[THREADS];
static __thread int own;
static char *early;

static int is(const char *name)
{
    return !strcmp(what, name);
}

static void handle(int signal)
{
    (void)signal;
}

static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;

static void pass(int signal)
{
    const volatile double third = 3;
    (void)signal;
    pthread_mutex_lock(&inner); /* others may run here */
    shared += third * third == 9 ? 0 : 1000;
    pthread_mutex_unlock(&inner);
}

/* A signal, with numbers in registers of both units. */
static void be_interrupted(int me, int turn)
{
    const double number = 100 * me + turn + 0.5;
    double vector, unit;
    sigset_t mask;
    __asm__ volatile("movsd %2, %%xmm8\n\tfldl %2\n\tint3\n\tfstpl %1\n\tmovsd %%xmm8, %0"
                     : "=m"(vector), "=m"(unit)
                     : "m"(number)
                     : "xmm8", "memory");
    assert(vector == number && unit == number);
    assert(!pthread_sigmask(SIG_BLOCK, NULL, &mask) && sigismember(&mask, SIGUSR1 + 2 * me) == 1);
    assert(!sigismember(&mask, SIGHUP) && !sigismember(&mask, SIGUSR1 + 2 * !me));
}

/* Flags that stay in the two units: what was rounded, or divided by zero, in the turn before. */
static void check_numbers(int me, int turn)
{
    const unsigned usual = 0x1f80, ours = 0x3d; /* all exceptions masked; which of them were */
    volatile long double one = 1, odd = (turn + me) % 2 ? 3 : 0;
    volatile float small = 1;
    unsigned mxcsr, before = turn ? (unsigned)(turn + me) % 2 : 0;
    unsigned short status, control;
    __asm__ volatile("stmxcsr %0\n\tfnstsw %1\n\tfnstcw %2" : "=m"(mxcsr), "=m"(status), "=m"(control));
    assert((mxcsr & ours) == (turn ? (before ? 4 : 0x20) : 0) && (mxcsr & usual) == usual);
    assert((status & ours) == (turn ? (before ? 4 : 0x20) : 0) && (control & 0x3f) == 0x3f);
    __asm__ volatile("fnclex\n\tldmxcsr %0" : : "m"(usual));
    one = one / odd;
    small = small / (float)odd;
}

/* One page, which is another one in each turn. */
static char *map(int turn)
{
    char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert(page != MAP_FAILED && !page[0]);
    page[0] = (char)(turn + 1);
    return page;
}

static void check_kernel(int me, int turn)
{
    struct sigaction action;
    sigset_t mask;
    assert(!sigaction(SIGUSR1, NULL, &action) && (action.sa_handler == handle) == (shared > TURNS + 1));
    assert(!pthread_sigmask(SIG_BLOCK, NULL, &mask) && sigismember(&mask, SIGUSR2) == turn % 2);
    assert(fegetround() == (turn % 3 ? FE_UPWARD : FE_TONEAREST));
    if (me == 0 && turn == 2)
        assert(!pthread_mutex_lock(&robust));
    if (me == 0 && turn == 6)
        assert(!pthread_mutex_unlock(&robust));
}

static void change_kernel(int turn)
{
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR2);
    pthread_sigmask(turn % 2 ? SIG_UNBLOCK : SIG_BLOCK, &mask, NULL);
    fesetround((turn + 1) % 3 ? FE_UPWARD : FE_TONEAREST);
    if (shared == TURNS + 1)
        signal(SIGUSR1, handle);
}

static void go_wrong(void)
{
    volatile char *volatile nowhere = NULL;
    assert(!is("fails"));
    if (is("main"))
        wrong = 1;
    if (is("crashes"))
        *nowhere = 1;
    if (is("blocks"))
        pthread_mutex_lock(&mutex);
    if (is("exits"))
        exit(3);
    if (is("aborts"))
        abort();
}

static void *run(void *argument)
{
    const int me = (int)(size_t)argument;
    char *block = calloc(1, 100), *page = NULL;
    volatile int local = 0;
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR1 + 2 * me); /* SIGUSR2 */
    if (is("handler"))
        pthread_sigmask(SIG_SETMASK, &mask, NULL);
    for (int turn = 0; turn < TURNS; turn++) {
        pthread_mutex_lock(&mutex);
        shared++;
        assert(own == turn && local == turn && block[turn] == 0 && turns[me] == turn);
        assert(!turn || block[turn - 1] == turn);
        if (is("memory")) {
            assert(!page || page[0] == turn);
            if (page && turn % 3 == 2)
                munmap(page, PAGE);
            else if (!page || turn % 3 == 0)
                page = NULL;
            page = page && turn % 3 == 1 ? page : map(turn);
            page[0] = (char)(turn + 1);
            free(malloc((size_t)1000 * (size_t)(turn + 1)));
        }
        if (is("kernel")) {
            check_kernel(me, turn);
            change_kernel(turn);
        }
        if (is("numbers"))
            check_numbers(me, turn);
        if (is("handler"))
            be_interrupted(me, turn);
        if (is("output") && shared == TURNS)
            assert(write(STDOUT_FILENO, "middle\n", 7) == 7);
        if (me == 1 && turn == 1 && turns[0] < TURNS)
            go_wrong();
        if (is("gone") && shared == THREADS * TURNS)
            munmap(early, PAGE);
        if (is("waiters") && turn == TURNS / 2 && waiting < THREADS - 1) {
            waiting++;
            pthread_cond_wait(&turned, &mutex);
        } else if (is("waiters") && turn == TURNS / 2) {
            pthread_cond_signal(&turned);
        }
        own = local = ++turns[me];
        block[turn] = (char)(turn + 1);
        pthread_mutex_unlock(&mutex);
    }
    free(block);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS];
    pthread_mutexattr_t attribute;
    int ends[2];
    what = argc > 1 ? argv[1] : "";
    pthread_mutexattr_init(&attribute);
    pthread_mutexattr_setrobust(&attribute, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &attribute);
    early = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct sigaction action = { .sa_handler = pass };
    sigaddset(&action.sa_mask, SIGHUP);
    if (is("handler"))
        sigaction(SIGTRAP, &action, NULL);
    if (is("file"))
        assert(!pipe(ends));
    if (is("aborts"))
        signal(SIGABRT, handle);
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, run, (void *)i);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        assert(!wrong); /* the second thread may be there */
    }
    assert(shared == THREADS * TURNS);
    printf("%d\n", shared);
    return 0;
}
