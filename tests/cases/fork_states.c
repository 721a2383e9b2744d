/* A process forks while another of its threads waits for an object, or something of its own is under way (a timer, a
 * request): the child has one thread, makes the object anew, and uses it in the same way; the parent goes on with its
 * own. For each object that pct models, or keeps something about: what the child finds in the shim must not be the
 * parent's. As natively: no hang, no false verdict.
 *
 * RUN: %p native
 * RUN: pct run -q -s 1 -n 3 --timeout 60 -- %p
 * RUN: pct run -q -s 1 -n 3 --timeout 60 --strategy=random-walk -- %p
 * RUN: pct run -q -s 1 -n 3 --timeout 60 --strategy=pct -- %p
 */
#define _GNU_SOURCE
#include "fork_states.h"

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
    { "lock of a stream", hold_stream, lock_stream, release_stream, nothing },
    { "stream", nothing, read_stream, write_pipe, nothing },
    { "lock of a file", hold_file, lock_file, release_file, nothing },
    { "C11 condition", nothing, wait_c11, signal_c11, nothing },
    { "named semaphore", nothing, wait_named, post_named, nothing },
    { "named pipe", nothing, open_to_read, open_to_write, nothing },
    { "connection", nothing, wait_connection, connect_to_it, nothing },
    { "signal descriptor", nothing, read_signal, send_to_process, nothing },
    { "spinning", nothing, spin_on_word, wake_futex, nothing },
    { "end of a child", make_grandchild, wait_grandchild, write_pipe, nothing },
    { "notification", nothing, wait_notified, send_message, nothing },
    { "name", find_name, look_up, post, nothing },
    { "timer with a signal", arm_signal, wait_signal, nothing, delete_timer },
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

/* glibc's own does not serve these in the child of a process that had some: nobody performs the requests, and the
 * parent's thread takes the notification. */
static bool fails_natively(const char *name)
{
    return !strcmp(name, "request") || !strcmp(name, "name") || !strcmp(name, "notification");
}

int main(int count, char **arguments)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    for (int i = 0; i < OBJECTS; i++)
        if (count < 2 || !strcmp(arguments[1], objects[i].name) ||
            (!strcmp(arguments[1], "native") && !fails_natively(objects[i].name)))
            test(i);
    return 0;
}
