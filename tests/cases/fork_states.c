/* A process forks while another of its threads waits for an object, or something of its own is under way (a timer, a request): the child
 * has one thread, makes the object anew, and uses it in the same way; the parent goes on with its own. For each object that pct models, or
 * keeps something about: what the child finds in the shim must not be the parent's. As natively: no hang, no false verdict.
 *
 * RUN: %p native
 * RUN: pct run -q -s 1 -n 3 --timeout 60 -- %p
 * RUN: pct run -q -s 1 -n 3 --timeout 60 --strategy=random-walk -- %p
 * RUN: pct run -q -s 1 -n 3 --timeout 60 --strategy=pct -- %p
 */
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *now_testing = "start", *who = "parent";

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s, %s: %s is false: %s\n", now_testing, who, #condition, strerror(errno));               \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

static pthread_mutex_t mutex;
static pthread_cond_t cond;
static pthread_rwlock_t rwlock;
static pthread_barrier_t barrier;
static pthread_once_t once;
static pthread_spinlock_t spin;
static pthread_key_t key;
static sem_t sem;
static int ends[2], sockets[2], event, watcher, timer, queue, semaphores;
static mqd_t messages;
static struct aiocb request;
static timer_t sleeper;
static uint32_t word;
static int ready, destroyed;
static pthread_t helper;

static void destroy(void *unused)
{
    (void)unused;
    destroyed++;
}

static void note_alarm(int unused)
{
    (void)unused;
    __atomic_store_n(&ready, 1, __ATOMIC_SEQ_CST);
}

static void note_value(union sigval unused)
{
    (void)unused;
    sem_post(&sem);
}

/* All objects new, as a child has to make them. */
static void make(void)
{
    pthread_mutexattr_t robust;
    mq_unlink("/pct-fork-states");
    struct mq_attr limits = { .mq_maxmsg = 1, .mq_msgsize = 16 };
    pthread_mutexattr_init(&robust);
    pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &robust);
    pthread_cond_init(&cond, NULL);
    pthread_rwlock_init(&rwlock, NULL);
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_spin_init(&spin, 0);
    sem_init(&sem, 0, 0);
    once = PTHREAD_ONCE_INIT;
    word = ready = destroyed = 0;
    CHECK(!pipe(ends));
    CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
    CHECK((event = eventfd(0, 0)) >= 0);
    CHECK((timer = timerfd_create(CLOCK_MONOTONIC, 0)) >= 0);
    CHECK((watcher = epoll_create1(0)) >= 0);
    CHECK(!epoll_ctl(watcher, EPOLL_CTL_ADD, event, &(struct epoll_event){ .events = EPOLLIN }));
    CHECK((queue = msgget(IPC_PRIVATE, 0600)) >= 0);
    CHECK((semaphores = semget(IPC_PRIVATE, 1, 0600)) >= 0);
    CHECK((messages = mq_open("/pct-fork-states", O_CREAT | O_RDWR, 0600, &limits)) >= 0);
    mq_unlink("/pct-fork-states");
}

static void drop(void)
{
    int all[] = { ends[0], ends[1], sockets[0], sockets[1], event, timer, watcher };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        close(all[i]);
    msgctl(queue, IPC_RMID, NULL);
    semctl(semaphores, 0, IPC_RMID);
    mq_close(messages);
}

/* Each object: what the helper does, which waits; and what lets it go on. Some have something to be done before. */

static void lock_held(void)
{
    CHECK(!pthread_mutex_lock(&mutex));
    CHECK(ready);
    CHECK(!pthread_mutex_unlock(&mutex));
}

static void hold(void)
{
    CHECK(!pthread_mutex_lock(&mutex));
}

static void give_back(void)
{
    ready = 1;
    CHECK(!pthread_mutex_unlock(&mutex));
}

static void wait_cond(void)
{
    pthread_mutex_lock(&mutex);
    while (!ready)
        pthread_cond_wait(&cond, &mutex);
    pthread_mutex_unlock(&mutex);
}

static void signal_cond(void)
{
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&mutex);
}

static void hold_to_read(void)
{
    CHECK(!pthread_rwlock_rdlock(&rwlock));
}

static void lock_to_write(void)
{
    CHECK(!pthread_rwlock_wrlock(&rwlock));
    CHECK(!pthread_rwlock_unlock(&rwlock));
}

static void release_rwlock(void)
{
    CHECK(!pthread_rwlock_unlock(&rwlock));
}

static void arrive(void)
{
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
}

static void wait_in_once(void)
{
    CHECK(!sem_wait(&sem));
}

static void run_once(void)
{
    CHECK(!pthread_once(&once, wait_in_once));
}

static void post(void)
{
    CHECK(!sem_post(&sem));
}

static void wait_sem(void)
{
    CHECK(!sem_wait(&sem));
}

static void hold_spin(void)
{
    pthread_spin_lock(&spin);
}

static void lock_spin(void)
{
    pthread_spin_lock(&spin);
    pthread_spin_unlock(&spin);
}

static void release_spin(void)
{
    pthread_spin_unlock(&spin);
}

static void wait_futex(void)
{
    while (!__atomic_load_n(&word, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static void wake_futex(void)
{
    __atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void wait_pipe(void)
{
    char byte;
    CHECK(read(ends[0], &byte, 1) == 1);
}

static void write_pipe(void)
{
    CHECK(write(ends[1], "x", 1) == 1);
}

static void wait_socket(void)
{
    struct pollfd fd = { .fd = sockets[0], .events = POLLIN };
    CHECK(poll(&fd, 1, -1) == 1);
}

static void write_socket(void)
{
    CHECK(send(sockets[1], "x", 1, 0) == 1);
}

static void wait_epoll(void)
{
    struct epoll_event got;
    CHECK(epoll_wait(watcher, &got, 1, -1) == 1);
}

static void write_event(void)
{
    CHECK(!eventfd_write(event, 1));
}

static void wait_timer(void)
{
    uint64_t count;
    CHECK(read(timer, &count, sizeof count) == sizeof count);
}

static void set_timer(void)
{
    CHECK(!timerfd_settime(timer, 0, &(struct itimerspec){ .it_value.tv_nsec = 1000000 }, NULL));
}

static void receive(void)
{
    char text[16];
    CHECK(mq_receive(messages, text, sizeof text, NULL) == 1);
}

static void send_message(void)
{
    CHECK(!mq_send(messages, "x", 1, 0));
}

static void receive_sysv(void)
{
    struct {
        long type;
        char text;
    } message;
    CHECK(msgrcv(queue, &message, 1, 0, 0) == 1);
}

static void send_sysv(void)
{
    const struct {
        long type;
        char text;
    } message = { 1, 'x' };
    CHECK(!msgsnd(queue, &message, 1, 0));
}

static void wait_sysv(void)
{
    CHECK(!semop(semaphores, &(struct sembuf){ 0, -1, 0 }, 1));
}

static void post_sysv(void)
{
    CHECK(!semop(semaphores, &(struct sembuf){ 0, 1, 0 }, 1));
}

static void wait_signal(void)
{
    sigset_t set;
    int number;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK(!sigwait(&set, &number) && number == SIGUSR1);
}

static void send_signal(void)
{
    CHECK(!pthread_kill(helper, SIGUSR1));
}

/* A request that is under way; a child has none. glibc's own makes no thread for requests in the child of a process that had one, so that
 * natively those of the child are never served. */
static void begin_request(void)
{
    static char byte;
    request = (struct aiocb){ .aio_fildes = ends[0], .aio_buf = &byte, .aio_nbytes = 1 };
    CHECK(!aio_read(&request));
}

static void wait_request(void)
{
    const struct aiocb *list[] = { &request };
    while (aio_error(&request) == EINPROGRESS)
        aio_suspend(list, 1, NULL);
    CHECK(aio_return(&request) == 1);
}

/* Timers that are armed; a child has none. */
static void arm(void)
{
    const struct itimerval later = { .it_value.tv_usec = 20000 };
    signal(SIGALRM, note_alarm);
    CHECK(!setitimer(ITIMER_REAL, &later, NULL));
}

static void wait_alarm(void)
{
    while (!__atomic_load_n(&ready, __ATOMIC_SEQ_CST))
        usleep(1000);
}

static void arm_thread(void)
{
    struct sigevent told = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = note_value };
    CHECK(!timer_create(CLOCK_MONOTONIC, &told, &sleeper));
    CHECK(!timer_settime(sleeper, 0, &(struct itimerspec){ .it_value.tv_nsec = 20000000 }, NULL));
}

static void forget_timer(void)
{
    while (!sem_trywait(&sem))
        ;
}

static void make_key(void)
{
    CHECK(!pthread_key_create(&key, destroy));
    pthread_setspecific(key, &key);
}

static void use_key(void)
{
    CHECK(!pthread_getspecific(key));
    pthread_setspecific(key, &word);
    wait_sem();
}

static void nothing(void)
{
}

static void be_cancelled(void)
{
    pause();
}

static void cancel(void)
{
    CHECK(!pthread_cancel(helper));
}

static const struct {
    const char *name;
    void (*before)(void), (*waits)(void), (*lets)(void), (*after)(void);
} objects[] = {
    { "mutex", hold, lock_held, give_back, nothing },
    { "condition variable", nothing, wait_cond, signal_cond, nothing },
    { "rwlock", hold_to_read, lock_to_write, release_rwlock, nothing },
    { "barrier", nothing, arrive, arrive, nothing },
    { "once", nothing, run_once, post, nothing },
    { "semaphore", nothing, wait_sem, post, nothing },
    { "spin lock", hold_spin, lock_spin, release_spin, nothing },
    { "futex", nothing, wait_futex, wake_futex, nothing },
    { "pipe", nothing, wait_pipe, write_pipe, nothing },
    { "poll of a socket", nothing, wait_socket, write_socket, nothing },
    { "epoll", nothing, wait_epoll, write_event, nothing },
    { "timer descriptor", nothing, wait_timer, set_timer, nothing },
    { "POSIX queue", nothing, receive, send_message, nothing },
    { "System V queue", nothing, receive_sysv, send_sysv, nothing },
    { "System V semaphore", nothing, wait_sysv, post_sysv, nothing },
    { "signal", nothing, wait_signal, send_signal, nothing },
    { "cancellation", nothing, be_cancelled, cancel, nothing },
    { "request", begin_request, wait_request, write_pipe, nothing },
    { "alarm", arm, wait_alarm, nothing, nothing },
    { "timer with a thread", arm_thread, wait_sem, nothing, forget_timer },
    { "key", make_key, use_key, post, nothing },
};
enum { OBJECTS = sizeof objects / sizeof *objects };

static void *run(void *function)
{
    ((void (*)(void))function)();
    return NULL;
}

static void begin(int i)
{
    make();
    objects[i].before();
    CHECK(!pthread_create(&helper, NULL, run, (void *)objects[i].waits));
}

static void end(int i)
{
    usleep(1000); /* it may wait by now */
    objects[i].lets();
    CHECK(!pthread_join(helper, NULL));
    objects[i].after();
    drop();
}

static void test(int i)
{
    int status;
    now_testing = objects[i].name;
    begin(i);
    usleep(1000);
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        who = "child";
        alarm(0);
        begin(i);
        end(i);
        _exit(7);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    end(i);
}

int main(int count, char **arguments)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    for (int i = 0; i < OBJECTS; i++)
        if (count < 2 || !strcmp(arguments[1], objects[i].name) ||
            (!strcmp(arguments[1], "native") && strcmp(objects[i].name, "request") != 0))
            test(i);
    return 0;
}
