/* patched-once COMMAND...: run this where memory at low addresses (the code of a program that is no PIE) that has
 * become writable cannot be made executable again, as a policy of SELinux says (execmod) (tests/programs/patched). */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ARGUMENT = sizeof(__u64), LOW = 0x10000000 };

int main(int argc, char **argv)
{
    const unsigned arguments = offsetof(struct seccomp_data, args);
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 7),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, arguments + 4),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 5),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, arguments),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, LOW, 3, 0),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, arguments + 2 * ARGUMENT),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { sizeof filter / sizeof *filter, filter };
    if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        return 77;
    execvp(argv[1], argv + 1);
    return 77;
}
