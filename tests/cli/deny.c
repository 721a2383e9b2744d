/* Runs a command with a filter that refuses system calls, as a container's does: deny NUMBER[,NUMBER...] COMMAND... */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { MOST = 16 };

int main(int argc, char **argv)
{
    struct sock_filter code[2 * MOST + 2];
    unsigned short n = 0;
    if (argc < 3)
        return 2;
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (char *number = argv[1]; n < 2 * MOST; number++) {
        code[n++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)strtoul(number, &number, 10), 0, 1);
        code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
        if (*number != ',')
            break;
    }
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = { .len = n, .filter = code };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
        perror("seccomp");
        return 77;
    }
    execvp(argv[2], argv + 2);
    return 127;
}
