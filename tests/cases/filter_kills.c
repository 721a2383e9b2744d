// A filter of system calls that kills ends the program for a call of pct's own, which natively is none. The report says
// so, and which page tells what it must let pass; with those, all is well.
//
// RUN: %p
// RUN 159: pct run -s 1 --state none -- %p > %t/out 2>&1; s=$?;
//     grep 'by a filter of system calls (seccomp), perhaps for a call of pct' %t/out || exit 1; exit $s
// RUN: pct run -s 1 --state none -- %p passes
// RUN: pct run -s 1 --state none -- %p passes raises > %t/out 2>&1; [ $? = 159 ] && ! grep seccomp %t/out
#include <assert.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *lock(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    (void)argv;
    /* By which threads are kept to one CPU. */
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, argc > 1 ? SYS_reboot : SYS_sched_getaffinity, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof filter / sizeof *filter, filter };
    assert(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
    assert(!pthread_create(&thread, NULL, lock, NULL));
    lock(NULL);
    pthread_join(thread, NULL);
    return argc > 2 ? raise(SIGSYS) : 0;
}
