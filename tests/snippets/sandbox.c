/* A program that forbids itself system calls that it does not make: pct must not make them either. */
/* tests: poll syscall */
/* ops: POLL FUTEX_WAIT FUTEX_WAKE */
#define _GNU_SOURCE
#include "check.h"
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static const int forbidden[] = { SYS_process_vm_readv, SYS_process_vm_writev,
                                 SYS_ptrace,           SYS_rt_sigtimedwait,
                                 SYS_openat,           SYS_kill,
                                 SYS_socket,           SYS_memfd_create };
enum { FORBIDDEN = sizeof forbidden / sizeof *forbidden };

static int ends[2];
static uint32_t word;

static void enter_sandbox(void)
{
    struct sock_filter filter[2 * FORBIDDEN + 2] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                                              offsetof(struct seccomp_data, nr)) };
    unsigned short length = 1;
    for (unsigned i = 0; i < FORBIDDEN; i++) {
        filter[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)forbidden[i], 0, 1);
        filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    }
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_fprog program = { length, filter };
    CHECK_OK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    CHECK_OK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

static void *answer(void *unused)
{
    char byte;
    struct pollfd asked = { .fd = ends[0], .events = POLLIN };
    CHECK_EQ(poll(&asked, 1, -1), 1);
    CHECK_EQ(read(ends[0], &byte, 1), 1);
    __atomic_store_n(&word, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    return unused;
}

int main(void)
{
    struct pollfd asked = { .events = POLLIN };
    CHECK_OK(pipe(ends));
    asked.fd = ends[0];
    enter_sandbox();
    pthread_t thread = check_spawn(answer, NULL);
    CHECK_EQ(write(ends[1], "x", 1), 1);
    CHECK_FAILS(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0), EAGAIN);
    while (!__atomic_load_n(&word, __ATOMIC_ACQUIRE))
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    check_join(thread);
    CHECK_EQ(poll(&asked, 1, 10), 0);
    return 0;
}
