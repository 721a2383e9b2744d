/* The objects of fork_states.c: how each is made, and what those do who wait for it, and let others go on. */
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <threads.h>
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
static int files[2], signals, listener;
static mqd_t messages;
static FILE *stream, *locked;
static sem_t *named;
static mtx_t c11;
static cnd_t c11_cond;
static struct sockaddr_un address;
static char fifo[64];
static pid_t grandchild;
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

/* What others can find by name has that of the process. */
static void make_more(void)
{
    char path[64];
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK((files[0] = memfd_create("lock", 0)) >= 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", files[0]);
    CHECK((files[1] = open(path, O_RDWR)) >= 0);
    CHECK((signals = signalfd(-1, &set, 0)) >= 0);
    CHECK((locked = fopen("/dev/null", "r")));
    CHECK((stream = fdopen(dup(ends[0]), "r")));
    snprintf(path, sizeof path, "/pct-fork-states-%d", getpid());
    CHECK((named = sem_open(path, O_CREAT, 0600, 0)) != SEM_FAILED);
    sem_unlink(path);
    snprintf(fifo, sizeof fifo, "/tmp/pct-fork-states-%d", getpid());
    unlink(fifo);
    CHECK(!mkfifo(fifo, 0600));
    address.sun_family = AF_UNIX;
    snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "pct-fork-states-%d", getpid());
    CHECK((listener = socket(AF_UNIX, SOCK_STREAM, 0)) >= 0);
    CHECK(!bind(listener, (struct sockaddr *)&address, sizeof address) && !listen(listener, 4));
    mtx_init(&c11, mtx_plain);
    cnd_init(&c11_cond);
}

/* All objects new, as a child has to make them. */
static void make(void)
{
    pthread_mutexattr_t robust;
    char name[64];
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
    snprintf(name, sizeof name, "/pct-fork-states-%d", getpid());
    CHECK((messages = mq_open(name, O_CREAT | O_RDWR, 0600, &limits)) >= 0);
    mq_unlink(name);
    make_more();
}

static void drop(void)
{
    int all[] = {
        ends[0], ends[1], sockets[0], sockets[1], event, timer, watcher, files[0], files[1], signals, listener
    };
    fclose(stream);
    fclose(locked);
    sem_close(named);
    unlink(fifo);
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

static void send_to_process(void)
{
    CHECK(!kill(getpid(), SIGUSR1));
}

/* A request that is under way; a child has none. */
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

static void hold_stream(void)
{
    flockfile(locked);
}

static void lock_stream(void)
{
    flockfile(locked);
    funlockfile(locked);
}

static void release_stream(void)
{
    funlockfile(locked);
}

static void read_stream(void)
{
    CHECK(fgetc(stream) == 'x');
}

static void hold_file(void)
{
    CHECK(!flock(files[0], LOCK_EX));
}

static void lock_file(void)
{
    CHECK(!flock(files[1], LOCK_EX));
}

static void release_file(void)
{
    CHECK(!flock(files[0], LOCK_UN));
}

static void wait_c11(void)
{
    mtx_lock(&c11);
    while (!ready)
        cnd_wait(&c11_cond, &c11);
    mtx_unlock(&c11);
}

static void signal_c11(void)
{
    mtx_lock(&c11);
    ready = 1;
    cnd_signal(&c11_cond);
    mtx_unlock(&c11);
}

static void wait_named(void)
{
    CHECK(!sem_wait(named));
}

static void post_named(void)
{
    CHECK(!sem_post(named));
}

static void open_to_read(void)
{
    int fd = open(fifo, O_RDONLY);
    CHECK(fd >= 0 && !close(fd));
}

static void open_to_write(void)
{
    int fd = open(fifo, O_WRONLY);
    CHECK(fd >= 0 && !close(fd));
}

static void wait_connection(void)
{
    int fd = accept(listener, NULL, NULL);
    CHECK(fd >= 0 && !close(fd));
}

static void connect_to_it(void)
{
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(fd >= 0 && !connect(fd, (struct sockaddr *)&address, sizeof address) && !close(fd));
}

static void read_signal(void)
{
    struct signalfd_siginfo info;
    CHECK(read(signals, &info, sizeof info) == sizeof info && info.ssi_signo == SIGUSR1);
}

/* In a child the watchdog has to be made anew. */
static void spin_on_word(void)
{
    while (!__atomic_load_n(&word, __ATOMIC_SEQ_CST))
        ;
}

static void make_grandchild(void)
{
    char byte;
    grandchild = fork();
    CHECK(grandchild >= 0);
    if (!grandchild)
        _exit(read(ends[0], &byte, 1) == 1 ? 5 : 6);
}

static void wait_grandchild(void)
{
    int status;
    CHECK(waitpid(grandchild, &status, 0) == grandchild && WIFEXITED(status) && WEXITSTATUS(status) == 5);
}

static void wait_notified(void)
{
    struct sigevent told = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = note_value };
    CHECK(!mq_notify(messages, &told));
    wait_sem();
}

static void find_name(void)
{
    const struct addrinfo digits = { .ai_flags = AI_NUMERICHOST, .ai_family = AF_INET };
    struct gaicb one = { .ar_name = "127.0.0.1", .ar_request = &digits }, *list[] = { &one };
    CHECK(!getaddrinfo_a(GAI_WAIT, list, 1, NULL) && !gai_error(&one));
    freeaddrinfo(one.ar_result);
}

/* The parent has a thread that looks up names, and has nothing to do. */
static void look_up(void)
{
    wait_sem();
    find_name();
}

static void arm_signal(void)
{
    struct sigevent told = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
    CHECK(!timer_create(CLOCK_MONOTONIC, &told, &sleeper));
    CHECK(!timer_settime(sleeper, 0, &(struct itimerspec){ .it_value.tv_nsec = 20000000 }, NULL));
}

static void delete_timer(void)
{
    CHECK(!timer_delete(sleeper));
}

static void be_cancelled(void)
{
    pause();
}

static void cancel(void)
{
    CHECK(!pthread_cancel(helper));
}
