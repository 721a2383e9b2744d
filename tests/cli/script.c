/* What the tests of `pct script` run: the first argument says which program it is. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static sem_t posted;
static int items, total, order[3], finished;
static volatile int counter;
static atomic_int flag;

static void both(pthread_mutex_t *a, pthread_mutex_t *b)
{
    pthread_mutex_lock(a);
    pthread_mutex_lock(b);
    total++;
    pthread_mutex_unlock(b);
    pthread_mutex_unlock(a);
}

static void *forwards(void *unused)
{
    both(&first, &second);
    return unused;
}

static void *backwards(void *unused)
{
    both(&second, &first);
    return unused;
}

static void *count(void *unused)
{
    counter++;
    return unused;
}

static int balance = 100;

__attribute__((noinline)) static int get_balance(void)
{
    __asm__ volatile("");
    return balance;
}

__attribute__((noinline)) static void set_balance(int value)
{
    __asm__ volatile("");
    balance = value;
    __asm__ volatile("");
}

static void *withdraw(void *unused)
{
    set_balance(get_balance() - 30);
    return unused;
}

static volatile int visits;
static jmp_buf back;

/* Calls itself so often, and then does its work. */
__attribute__((noinline)) static void visit(int more)
{
    if (more)
        visit(more - 1);
    else
        visits++;
    __asm__ volatile("");
}

__attribute__((noinline)) static void jump(void)
{
    visits++;
    if (visits)
        longjmp(back, 1);
    __asm__ volatile("");
}

static void *visitor(void *unused)
{
    visits = 1;
    visit(2);
    visits = 2;
    if (!setjmp(back))
        jump();
    visits = 3;
    visit(0);
    visits = 4;
    return unused;
}

static struct shelf {
    int books;
    pthread_mutex_t lock;
} old_shelf = { 1, PTHREAD_MUTEX_INITIALIZER },
  new_shelf = { 0, PTHREAD_MUTEX_INITIALIZER }, *volatile shelf = &old_shelf;

static void use(pthread_mutex_t *mutex)
{
    pthread_mutex_lock(mutex);
    pthread_mutex_unlock(mutex);
}

/* Names itself, and has the pointer point elsewhere, between steps that are nothing special. */
static void *move(void *unused)
{
    use(&new_shelf.lock);
    pthread_setname_np(pthread_self(), "mover");
    use(&first);
    shelf = &new_shelf;
    use(&old_shelf.lock);
    pthread_mutex_lock(&new_shelf.lock); /* the last */
    pthread_mutex_unlock(&new_shelf.lock);
    return unused;
}

static void *take(void *unused)
{
    pthread_mutex_lock(&first);
    while (!items)
        pthread_cond_wait(&filled, &first);
    items--;
    pthread_mutex_unlock(&first);
    return unused;
}

static void *give(void *unused)
{
    pthread_mutex_lock(&first);
    items++;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&first);
    sem_post(&posted);
    return unused;
}

static void *note(void *number)
{
    char name[16] = "worker-0";
    name[7] = (char)('0' + (int)(long)number);
    pthread_setname_np(pthread_self(), name);
    pthread_mutex_lock(&first);
    order[finished++] = (int)(long)number;
    pthread_mutex_unlock(&first);
    return NULL;
}

struct log {
    int pad;
    union {
        int state;
        float unused;
    };
    struct {
        long total;
        int cells[3][2];
    } in;
    pthread_mutex_t lock;
    struct log *next;
};

static struct log binlog, table[4], *head;

static void *write_log(void *unused)
{
    pthread_mutex_lock(&head->lock);
    head->in.cells[1][1]++;
    pthread_mutex_unlock(&head->lock);
    binlog.state++;
    table[2].in.total++;
    return unused;
}

static void *sleeper(void *unused)
{
    sleep(5);
    counter = 1;
    return unused;
}

static void *spinner(void *unused)
{
    while (!atomic_load(&flag))
        sched_yield();
    return unused;
}

/* Without a call or an atomic access. */
static int plain;

static void *looker(void *unused)
{
    pthread_mutex_lock(&second);
    while (!*(volatile int *)&plain)
        ;
    pthread_mutex_unlock(&second);
    return unused;
}

static void *writer(void *unused)
{
    pthread_mutex_lock(&first);
    plain = 1;
    pthread_mutex_unlock(&first);
    return unused;
}

/* Comes back to the same registers, and counts in memory. */
static void *counts(void *unused)
{
    static volatile long rounds;
    pthread_mutex_lock(&second);
    while (rounds < 2000000000)
        rounds++;
    pthread_mutex_unlock(&second);
    return unused;
}

static void *setter(void *unused)
{
    pthread_mutex_lock(&first);
    atomic_store(&flag, 1);
    pthread_mutex_unlock(&first);
    return unused;
}

static void at_exit(void)
{
    both(&first, &second);
}

static void *reads(void *unused)
{
    char c;
    (void)!read(0, &c, 1);
    return unused;
}

static sem_t asked, answered, stands;
static int answer, heard;

static void *asks(void *unused)
{
    sem_post(&asked);
    heard = answer;
    sem_post(&answered);
    return unused;
}

static void *listens(void *unused)
{
    sem_wait(&answered);
    return unused;
}

static void *answers(void *loop)
{
    sem_post(&stands);
    if (loop)
        while (!atomic_load(&flag))
            ;
    else
        sem_wait(&asked);
    answer = 1;
    return NULL;
}

/* While the first of three threads waits for the second one's question, or in a loop for the flag. */
static void ask(bool loop)
{
    pthread_t third, thread[2];
    sem_init(&asked, 0, 0), sem_init(&answered, 0, 0), sem_init(&stands, 0, 0);
    pthread_create(&third, NULL, answers, loop ? &flag : NULL);
    sem_wait(&stands);
    pthread_create(&thread[0], NULL, loop ? setter : asks, NULL);
    pthread_create(&thread[1], NULL, loop ? forwards : listens, NULL);
    pthread_join(thread[0], NULL), pthread_join(thread[1], NULL), pthread_join(third, NULL);
    assert(!heard);
}

/* What the thread waits for that no other thread can do; behind that it locks both. */
static const char *outside;

static void *waits(void *unused)
{
    int number, ends[2];
    char c;
    sigset_t alarms;
    sigemptyset(&alarms), sigaddset(&alarms, SIGALRM);
    if (!strcmp(outside, "waitpid")) {
        pid_t child = fork();
        if (!child)
            sleep(1), _exit(0);
        assert(waitpid(child, NULL, 0) == child);
    } else if (!strcmp(outside, "system")) {
        assert(!system("sleep 1"));
    } else if (!strcmp(outside, "popen")) {
        FILE *output = popen("sleep 1; echo x", "r");
        assert(fgetc(output) == 'x');
        pclose(output);
    } else if (!strcmp(outside, "pipe")) {
        assert(!pipe(ends));
        if (!fork())
            sleep(1), _exit(write(ends[1], "x", 1) != 1);
        assert(read(ends[0], &c, 1) == 1);
        wait(NULL);
    } else if (!strcmp(outside, "alarm")) {
        alarm(1);
        assert(!sigwait(&alarms, &number));
    } else if (!strcmp(outside, "input")) {
        assert(read(0, &c, 1) == 1);
    }
    return forwards(unused);
}

static void run(unsigned n, void *(*const start[])(void *))
{
    pthread_t *thread = calloc(n, sizeof *thread);
    for (unsigned i = 0; i < n; i++)
        pthread_create(&thread[i], NULL, start[i], (void *)(long)i);
    for (unsigned i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
    free(thread);
}

/* With the signal blocked everywhere. */
static void let_wait(const char *what)
{
    sigset_t alarms;
    sigemptyset(&alarms), sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, NULL);
    outside = what;
    run(2, (void *(*[])(void *)){ waits, backwards });
}

static void run_many(unsigned n)
{
    void *(**start)(void *) = calloc(n, sizeof *start);
    for (unsigned i = 0; i < n; i++)
        start[i] = count;
    run(n, start);
    free(start);
}

static unsigned came, leader;

static void *come(void *number)
{
    pthread_mutex_lock(&first);
    if (!came++)
        leader = (unsigned)(uintptr_t)number;
    pthread_mutex_unlock(&first);
    return NULL;
}

/* One of the first half comes first. */
static void queue_up(unsigned threads)
{
    pthread_t thread[1000];
    for (unsigned i = 0; i < threads; i++)
        pthread_create(&thread[i], NULL, come, (void *)(uintptr_t)i);
    for (unsigned i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    assert(leader < threads / 2);
}

static void *posts(void *unused)
{
    for (unsigned i = 0; i < 34000; i++)
        sem_post(&posted);
    return unused;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    sem_init(&posted, 0, 0);
    if (!strcmp(what, "deadlock"))
        run(2, (void *(*[])(void *)){ forwards, backwards });
    if (!strcmp(what, "counter")) {
        run(2, (void *(*[])(void *)){ count, count });
        assert(counter == 2);
    }
    if (!strcmp(what, "balance")) {
        run(2, (void *(*[])(void *)){ withdraw, withdraw });
        assert(balance == 40);
    }
    if (!strcmp(what, "visits"))
        run(1, (void *(*[])(void *)){ visitor });
    if (!strcmp(what, "log")) {
        head = calloc(1, sizeof *head);
        pthread_mutex_init(&head->lock, NULL);
        run(2, (void *(*[])(void *)){ write_log, write_log });
        assert(binlog.state == 2 && table[2].in.total == 2);
        free(head);
    }
    if (!strcmp(what, "queue"))
        run(2, (void *(*[])(void *)){ take, give });
    if (!strcmp(what, "order")) {
        run(3, (void *(*[])(void *)){ note, note, note });
        return order[0] == 2 && order[1] == 1 ? 3 : 0;
    }
    if (!strcmp(what, "mover"))
        run(3, (void *(*[])(void *)){ move, forwards, backwards });
    if (!strcmp(what, "sleep"))
        run(2, (void *(*[])(void *)){ sleeper, forwards });
    if (!strcmp(what, "plain"))
        run(2, (void *(*[])(void *)){ looker, writer });
    if (!strcmp(what, "counts"))
        run(2, (void *(*[])(void *)){ counts, writer });
    if (!strcmp(what, "spin"))
        run(2, (void *(*[])(void *)){ spinner, setter });
    if (!strcmp(what, "ask") || !strcmp(what, "loop"))
        ask(!strcmp(what, "loop"));
    if (!strcmp(what, "listen"))
        run(3, (void *(*[])(void *)){ reads, forwards, backwards });
    if (!strcmp(what, "outside"))
        let_wait(argv[2]);
    if (!strcmp(what, "handler")) {
        atexit(at_exit);
        run(1, (void *(*[])(void *)){ forwards });
    }
    if (!strcmp(what, "many"))
        run_many((unsigned)atoi(argv[2]));
    if (!strcmp(what, "queue up"))
        queue_up((unsigned)atoi(argv[2]));
    if (!strcmp(what, "posts"))
        run(2, (void *(*[])(void *)){ posts, posts });
    if (!strcmp(what, "fork")) {
        pid_t child = fork();
        if (!child)
            run(2, (void *(*[])(void *)){ forwards, forwards });
        else
            run(2, (void *(*[])(void *)){ forwards, backwards });
        if (!child)
            _exit(0);
        waitpid(child, NULL, 0);
    }
    return 0;
}
