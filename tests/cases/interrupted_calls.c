/* Every call that blocks x {a handler without SA_RESTART, one with it, a cancellation}: ends as it does natively. One
 * table, whose rows this program goes through by itself; what it prints under pct must be what it prints without.
 * BUILD: gcc -O1 -g -pthread -Wno-deprecated-declarations -o %p %s -lstdc++ -luring
 * RUN: scripts/check-called tests/cases/interrupted_calls.without %p
 * RUN: %p > %t/native && for seed in 1 ${FULL:+2 3}; do for strategy in random-walk ${FULL:+pct pos};
 *     do pct run -q -s $seed --slack 0 -S $strategy -- %p > %t/pct && diff %t/native %t/pct || exit 1; done; done
 */
#define _GNU_SOURCE
#include "interrupted_calls.h"

/* --- Going through them ------------------------------------------------------------------------------------------ */

static void handle(int signal)
{
    (void)signal;
    handled++;
}

static void *help(void *unused)
{
    char one;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    read(empty[0], &one, 1);
    return unused;
}

static bool is(const char *name, const char *group)
{
    return !strncmp(name, group, strlen(group));
}

static int help_c11(void *unused)
{
    return help(unused) != NULL;
}

/* The first caller of the once. */
static void *begin_once(void *name)
{
    if (!strcmp(name, "once"))
        pthread_once(&once, in_routine);
    else if (!strcmp(name, "once_c11"))
        call_once(&c11_once, in_routine);
    else if (__cxa_guard_acquire(&guard))
        in_routine(), __cxa_guard_release(&guard);
    return NULL;
}

static void make_helper(const char *name)
{
    once = PTHREAD_ONCE_INIT, c11_once = (once_flag)ONCE_FLAG_INIT, guard = 0, in_it = 0;
    if (is(name, "join"))
        pthread_create(&helper, NULL, help, NULL);
    if (is(name, "c11_join"))
        thrd_create(&c11_helper, help_c11, NULL);
    if (is(name, "once"))
        for (pthread_create(&helper, NULL, begin_once, (void *)name); !in_it;)
            usleep(1000);
}

static void drop_helper(const char *name, bool joined)
{
    if (is(name, "once") || (is(name, "join") && !joined))
        feed(), pthread_join(helper, NULL);
    if (is(name, "c11_join") && !joined)
        feed(), thrd_join(c11_helper, NULL);
}

/* A child that only waits, or has the lock. */
static void make_child(const char *name)
{
    struct flock whole = { .l_type = F_WRLCK };
    child = 0;
    if (!is(name, "wait") && !is(name, "record"))
        return;
    unlock_file();
    child = fork();
    if (!child && is(name, "record"))
        fcntl(locker, F_SETLK, &whole);
    while (!child)
        pause();
    while (is(name, "record") && !fcntl(locked, F_GETLK, &whole) && whole.l_type == F_UNLCK)
        usleep(1000), whole.l_type = F_WRLCK;
}

/* A listening socket whose queue is full. */
static void make_crowd(const char *name)
{
    crowded_address.sun_family = AF_UNIX;
    snprintf(crowded_address.sun_path + 1, sizeof crowded_address.sun_path - 1, "pct-crowd-%d-%s", getpid(), name);
    crowded = socket(AF_UNIX, SOCK_STREAM, 0), caller = socket(AF_UNIX, SOCK_STREAM, 0);
    bind(crowded, (struct sockaddr *)&crowded_address, sizeof crowded_address), listen(crowded, 0);
    for (int i = 0, failed = 0; i < CROWD; i++) {
        crowd[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
        failed = failed || connect(crowd[i], (struct sockaddr *)&crowded_address, sizeof crowded_address);
    }
}

static void make_requests(const char *name)
{
    reading = (struct aiocb){ .aio_fildes = empty[0], .aio_buf = block, .aio_nbytes = 1 };
    reading64 = (struct aiocb64){ .aio_fildes = empty[0], .aio_buf = block, .aio_nbytes = 1 };
    if (!strcmp(name, "aio_suspend"))
        aio_read(&reading);
    if (!strcmp(name, "aio_suspend64"))
        aio_read64(&reading64);
    if (!is(name, "ring"))
        return;
    io_uring_queue_init(4, &ring, 0);
    io_uring_prep_read(io_uring_get_sqe(&ring), empty[0], block, 1, 0);
    if (is(name, "ring_wait"))
        io_uring_submit(&ring);
}

static void drop_requests(const char *name)
{
    while (!strcmp(name, "aio_suspend") && aio_error(&reading) == EINPROGRESS)
        usleep(1000);
    while (!strcmp(name, "aio_suspend64") && aio_error64(&reading64) == EINPROGRESS)
        usleep(1000);
    if (is(name, "ring"))
        io_uring_queue_exit(&ring);
}

static void make(const char *name)
{
    struct mq_attr limits = { .mq_maxmsg = 1, .mq_msgsize = 64 };
    struct epoll_event event = { .events = EPOLLIN };
    struct {
        long type;
        char text[8192];
    } letter = { .type = 1 };
    struct flock whole = { .l_type = F_WRLCK };
    char queue_name[64];
    pipe(empty), pipe(full), fill(full[1]);
    socketpair(AF_UNIX, SOCK_STREAM, 0, quiet), socketpair(AF_UNIX, SOCK_STREAM, 0, busy), fill(busy[1]);
    readable = (struct pollfd){ .fd = empty[0], .events = POLLIN };
    listening = socket(AF_UNIX, SOCK_STREAM, 0);
    address.sun_family = AF_UNIX;
    snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "pct-%d-%s", getpid(), name);
    bind(listening, (struct sockaddr *)&address, sizeof address), listen(listening, 1);
    many = epoll_create1(0), epoll_ctl(many, EPOLL_CTL_ADD, empty[0], &event);
    stream = fdopen(dup(empty[0]), "r");
    events = eventfd(0, 0);
    snprintf(path, sizeof path, "/tmp/pct-fifo-%d", getpid()), mkfifo(path, 0600);
    file = open("/proc/self/exe", O_RDONLY);
    locker = memfd_create("lock", 0);
    snprintf(queue_name, sizeof queue_name, "/proc/self/fd/%d", locker);
    locked = open(queue_name, O_RDWR), flock(locker, LOCK_EX), fcntl(locker, F_OFD_SETLK, &whole);
    sem_init(&sem, 0, 0);
    pthread_mutex_init(&mutex, NULL), pthread_mutex_lock(&mutex);
    pthread_mutex_init(&of_cond, NULL), pthread_cond_init(&cond, NULL), cnd_init(&cnd), word = 0;
    pthread_rwlock_init(&rwlock, NULL), pthread_rwlock_wrlock(&rwlock);
    pthread_barrier_init(&barrier, NULL, 2);
    mtx_init(&mtx, mtx_plain), mtx_lock(&mtx);
    snprintf(queue_name, sizeof queue_name, "/pct-%d", getpid());
    none_left = mq_open(queue_name, O_CREAT | O_RDWR, 0600, &limits), mq_unlink(queue_name);
    no_room = mq_open(queue_name, O_CREAT | O_RDWR, 0600, &limits), mq_unlink(queue_name), mq_send(no_room, "x", 1, 0);
    queue = msgget(IPC_PRIVATE, 0600), set = semget(IPC_PRIVATE, 1, 0600);
    while (!msgsnd(queue, &letter, sizeof letter.text, IPC_NOWAIT))
        continue;
    dup2(empty[0], STDIN_FILENO), clearerr(stdin);
    high = eventfd(0, 0), eventfd_write(high, UINT64_MAX - 1);
    owned = fopen("/dev/null", "r"), flockfile(owned);
    snprintf(command, sizeof command, "read x < %s", path);
    shell = strcmp(name, "pclose") ? NULL : popen(command, "r");
    make_crowd(name), make_helper(name), make_child(name), make_requests(name);
}

static void drop(const char *name)
{
    const int fds[] = { empty[0], empty[1], full[0], full[1], quiet[0], quiet[1], busy[0], busy[1], listening,
                        many,     events,   file,    locker,  locked,   crowded,  caller,  high };
    if (child)
        kill(child, SIGKILL), waitpid(child, NULL, 0);
    feed();
    drop_requests(name);
    if (named)
        close(named);
    named = 0;
    for (int i = 0; i < CROWD; i++)
        close(crowd[i]);
    unlink(path), fclose(stream), fclose(owned), mq_close(none_left), mq_close(no_room);
    msgctl(queue, IPC_RMID, NULL), semctl(set, 0, IPC_RMID);
    for (unsigned i = 0; i < sizeof fds / sizeof *fds; i++)
        close(fds[i]);
}

static long result;
static int failure;
static void *block_in(void *row)
{
    sigset_t usr2;
    sigemptyset(&usr2), sigaddset(&usr2, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &usr2, NULL);
    tid = gettid();
    errno = 0;
    result = ((const struct row *)row)->call();
    failure = errno;
    ended = 1;
    return NULL;
}

/* Of the thread's file NAME under /proc. */
static void read_of_thread(const char *file_name, char *text, size_t size)
{
    char name[64];
    snprintf(name, sizeof name, "/proc/self/task/%d/%s", tid, file_name);
    int fd = open(name, O_RDONLY);
    ssize_t length = read(fd, text, size - 1);
    text[length > 0 ? length : 0] = 0;
    close(fd);
}

static bool sleeps(void)
{
    char line[256];
    read_of_thread("stat", line, sizeof line);
    const char *after = strrchr(line, ')');
    return !after || after[2] == 'S';
}

/* The number of the system call that it is in; -1: none. */
static int system_call(void)
{
    char line[256];
    read_of_thread("syscall", line, sizeof line);
    return line[0] >= '0' && line[0] <= '9' ? atoi(line) : -1;
}

/* Until the thread has ended, or sleeps: in its call. One that was signalled in a call that waits in the kernel itself,
 * and is in a futex now, has come back from there: under pct it sleeps until it is its turn. */
static void settle(bool signalled)
{
    static int before;
    int now;
    bool asleep;
    do
        usleep(5000), asleep = sleeps(), now = system_call();
    while (!tid || !(ended || (asleep && !(signalled && now == SYS_futex && before >= 0 && before != SYS_futex))));
    before = now;
}

enum { PLAIN, RESTART, CANCEL };
static void go_through(const struct row *row, int how)
{
    static const char *const names[] = { "no SA_RESTART", "SA_RESTART", "cancelled" };
    struct sigaction action = { .sa_handler = handle, .sa_flags = how == RESTART ? SA_RESTART : 0 };
    void *value;
    handled = ended = tid = 0;
    make(row->name);
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&thread, NULL, block_in, (void *)row);
    settle(false);
    if (how == CANCEL)
        pthread_cancel(thread);
    else
        pthread_kill(thread, SIGUSR1);
    settle(how != CANCEL);
    int at_once = ended; /* a cancelled thread does not say so */
    if (!ended)
        row->wake();
    pthread_join(thread, &value);
    if (value == PTHREAD_CANCELED)
        printf("%s, %s: is cancelled\n", row->name, names[how]);
    else
        printf("%s, %s: %s, %s %s\n", row->name, names[how], at_once ? "ends" : "goes on",
               result < 0 ? "fails" : "succeeds", result < 0 ? strerrorname_np(failure) : "");
    drop_helper(row->name, value != PTHREAD_CANCELED && result >= 0);
    drop(row->name);
}

int main(void)
{
    for (const struct row *row = rows_from; row < rows_to; row++)
        for (int how = PLAIN; how <= CANCEL; how++)
            go_through(row, how);
    return 0;
}
