/* In a sandbox that lets nobody ask whether a call would block, calls on descriptors and for children block all the
 * same, and threads that wait for each other by them go on; what does not wait natively does not wait. */
/* tests: prctl poll epoll_wait select read write wait4 waitid */
/* outside: where nothing can be asked, the kernel decides who goes first */
#define _GNU_SOURCE
#include "check.h"
#include "child.h"
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>

enum { ROUNDS = 20 };

static const int forbidden[] = {
    SYS_poll,   SYS_ppoll,   SYS_fcntl,      SYS_fstat,    SYS_preadv2,          SYS_pwritev2,
    SYS_getpid, SYS_madvise, SYS_getsockopt, SYS_tgkill,   SYS_waitid,           SYS_kill,
    SYS_openat, SYS_open,    SYS_stat,       SYS_truncate, SYS_sched_getaffinity
};
enum { FORBIDDEN = sizeof forbidden / sizeof *forbidden };

static int there[2], back[2], unblocked[2];

static void enter_sandbox(void)
{
    struct sock_filter filter[2 * FORBIDDEN + 2] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                                              offsetof(struct seccomp_data, nr)) };
    unsigned short length = 1;
    for (unsigned i = 0; i < FORBIDDEN; i++) {
        filter[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)forbidden[i], 0, 1);
        filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    }
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_fprog program = { length, filter };
    CHECK_OK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    CHECK_OK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

static void *answer(void *unused)
{
    char byte;
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_EQ(read(there[0], &byte, 1), 1);
        CHECK_EQ(write(back[1], &byte, 1), 1);
    }
    return unused;
}

/* Three ways to wait for the answer. */
static void await(int round, int epoll)
{
    struct epoll_event event;
    struct timeval long_time = { .tv_sec = 1000 };
    fd_set set;
    FD_ZERO(&set);
    FD_SET(back[0], &set);
    if (round % 3 == 1)
        CHECK_EQ(epoll_wait(epoll, &event, 1, -1), 1);
    else if (round % 3 == 2)
        CHECK_EQ(select(back[0] + 1, &set, NULL, NULL, &long_time), 1);
}

static void *wait_for_child(void *child)
{
    int status;
    CHECK_EQ(wait4(*(pid_t *)child, &status, 0, NULL), *(pid_t *)child);
    CHECK_EXITED(status, 7);
    return NULL;
}

int main(void)
{
    char byte = 'x';
    CHECK_OK(prctl(PR_SET_NAME, "confined", 0, 0, 0));
    char name[16];
    CHECK_OK(prctl(PR_GET_NAME, name, 0, 0, 0));
    CHECK(!strcmp(name, "confined"));
    CHECK_FAILS(prctl(-1, 0, 0, 0, 0), EINVAL);
    CHECK_OK(pipe(there));
    CHECK_OK(pipe(back));
    CHECK_OK(pipe2(unblocked, O_NONBLOCK));
    int epoll = epoll_create1(0);
    struct epoll_event wanted = { .events = EPOLLIN };
    CHECK_OK(epoll_ctl(epoll, EPOLL_CTL_ADD, back[0], &wanted));
    enter_sandbox();

    pthread_t thread = check_spawn(answer, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_EQ(write(there[1], &byte, 1), 1);
        await(i, epoll);
        CHECK_EQ(read(back[0], &byte, 1), 1);
    }
    check_join(thread);
    CHECK_FAILS(read(unblocked[0], &byte, 1), EAGAIN);
    CHECK_EQ(epoll_wait(epoll, &wanted, 1, 1), 0);
    struct timeval short_time = { .tv_usec = 1000 };
    CHECK_EQ(select(0, NULL, NULL, NULL, &short_time), 0);

    /* The child ends when another thread of this process lets it. */
    pid_t child = fork();
    if (!child)
        _exit(read(there[0], &byte, 1) == 1 ? 7 : 8);
    thread = check_spawn(wait_for_child, &child);
    CHECK_EQ(write(there[1], &byte, 1), 1);
    check_join(thread);
    CHECK_FAILS(wait4(-1, NULL, 0, NULL), ECHILD);
    return 0;
}
