/* The system calls of a host's own, by where they stand: see host.h and host_filter.c. */
#include "host.h"

__asm__(".pushsection .text\n"
        ".globl pct_host_sys, pct_host_sys_end\n"
        ".hidden pct_host_sys, pct_host_sys_end\n"
        ".type pct_host_sys, @function\n"
        "pct_host_sys:\n"
        "    mov %rdi, %rax\n"
        "    mov %rsi, %rdi\n"
        "    mov %rdx, %rsi\n"
        "    mov %rcx, %rdx\n"
        "    mov %r8, %r10\n"
        "    mov %r9, %r8\n"
        "    mov 8(%rsp), %r9\n"
        "    syscall\n"
        "pct_host_sys_end:\n"
        "    ret\n"
        ".popsection\n");
