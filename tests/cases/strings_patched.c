/* What memcpy, snprintf and their like read and write for patched code was no access of anybody: a struct that is
 * copied while another thread changes it, a text that is printed behind its flag, were never seen halfway.
 *
 *     copy    a struct is copied while another thread changes its two fields
 *     print   a text is printed behind the flag that announces it
 *     send    the same with stpcpy, on the heap
 *     large   a struct with 32 MB behind it is copied so, of which pct keeps as little as of a small one
 *     guarded all that under a lock; in a signal handler and a child, too: nothing is wrong with it
 *
 * BUILD: gcc -O0 -g -fno-builtin -pthread -o %p %s && gcc -O0 -g -fno-builtin -fno-plt -pthread -o %p.noplt %s &&
 *     gcc -O0 -g -fno-builtin -no-pie -Wl,-z,now -pthread -o %p.now %s
 * RUN: for p in %p %p.noplt %p.now; do for what in copy print;
 *     do pct run -s 1 -n 200 --state none --memory=globals -- $p $what > %t/out 2>&1;
 *     token=$(grep -o -m 1 'pct1:[^ ]*,strings=all:[^ ]*[0-9a-f]' %t/out) &&
 *     { pct replay -q "$token" -- $p $what > /dev/null 2>&1; [ $? = 134 ]; } || exit; done; done
 * RUN: pct run -s 1 -n 200 --state none --memory=all -- %p send > %t/out 2>&1; grep -q 'strings=all' %t/out
 * RUN: pct run -s 1 -n 100 --state none --memory=all -- %p large > %t/out 2>&1; grep -q 'pct1:.*strings=all' %t/out &&
 *     grep -q 'halfway' %t/out
 * RUN: for p in %p %p.noplt %p.now; do for level in globals all;
 *     do pct run -q -s 1 -n 20 --state none --memory=$level --races=fail -- $p guarded || exit; done; done
 * RUN: pct explore -q --memory=globals -- %p copy > %t/out 2>&1; grep -q 'found: 1 of all 3 classes' %t/out
 * RUN: pct explore -q --memory=all -- %p send > %t/out 2>&1; grep -q 'found: [1-9]' %t/out
 * RUN: PCT_MEMORY=globals PCT_SEED=1 PCT_LOG=quiet LD_PRELOAD=$LIBPCT %p guarded
 * RUN: pct sites %p | grep -q '5  functions such as memcpy and strlen'
 */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct record {
    long a, b;
};

struct large {
    struct record record;
    char rest[32 << 20];
};

static struct record shared;
static struct large *large;
static char text[32];
static volatile int ready, *heap_ready;
static char *heap_text;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char seen[sizeof text];

static void *change(void *unused)
{
    shared.a = 1;
    shared.b = 1;
    return unused;
}

static void *print(void *unused)
{
    ready = 1;
    snprintf(text, sizeof text, "%s", "hello");
    return unused;
}

static void *send(void *unused)
{
    *heap_ready = 1;
    stpcpy(heap_text, "hello");
    return unused;
}

static void handle(int number)
{
    char copy[sizeof seen];
    memcpy(copy, seen, sizeof copy);
    (void)number;
}

static void *change_large(void *unused)
{
    large->record.a = 1;
    large->record.b = 1;
    return unused;
}

/* The most memory that this process has had, in kB. Not by getrusage(): that begins with what its parent had. */
static long most_memory(void)
{
    char status[4096] = "";
    int file = open("/proc/self/status", O_RDONLY);
    if (file < 0 || read(file, status, sizeof status - 1) <= 0)
        _exit(2);
    close(file);
    return atol(strstr(status, "VmHWM:") + 6);
}

static void copy_large(long before)
{
    struct large *copy = malloc(sizeof *copy);
    memcpy(copy, large, sizeof *copy);
    if (most_memory() - before > 48 << 10)
        _exit(1);
    bool halfway = copy->record.a != copy->record.b;
    assert(!halfway);
}

static void *guarded(void *unused)
{
    raise(SIGUSR1);
    pthread_mutex_lock(&lock);
    shared.a++;
    snprintf(text, sizeof text, "%ld", shared.a);
    shared.b++;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void look_guarded(void)
{
    struct record copy;
    pthread_mutex_lock(&lock);
    memcpy(&copy, &shared, sizeof copy);
    assert(copy.a == copy.b && (!copy.a || text[0] == '0' + copy.a));
    pthread_mutex_unlock(&lock);
}

static int child(void)
{
    pthread_t thread;
    int status;
    pid_t process = fork();
    if (!process) {
        pthread_create(&thread, NULL, guarded, NULL);
        look_guarded();
        pthread_join(thread, NULL);
        _exit(shared.a == 3 ? 7 : 1);
    }
    waitpid(process, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 7 ? 0 : 1;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "guarded";
    void *(*const go)(void *) = *what == 'c'   ? change
                                : *what == 'p' ? print
                                : *what == 's' ? send
                                : *what == 'l' ? change_large
                                               : guarded;
    struct record copy;
    pthread_t threads[2];
    long before = 0;
    large = calloc(1, sizeof *large);
    if (go == change_large) {
        /* Some kernels count pages that were only read. */
        memset(large->rest, 1, sizeof large->rest);
        before = most_memory();
    }
    heap_text = calloc(2, sizeof text);
    heap_ready = (int *)(heap_text + sizeof text);
    signal(SIGUSR1, handle);
    pthread_create(&threads[0], NULL, go, NULL);
    if (go == change) {
        memcpy(&copy, &shared, sizeof copy);
        assert(copy.a == copy.b);
    }
    if (go == change_large)
        copy_large(before);
    assert(go != print || !ready || text[0]);
    assert(go != send || !*heap_ready || *heap_text);
    if (go == guarded) {
        pthread_create(&threads[1], NULL, go, NULL);
        look_guarded();
        pthread_join(threads[1], NULL);
    }
    pthread_join(threads[0], NULL);
    return go == guarded ? child() : 0;
}
