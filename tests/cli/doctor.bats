#!/usr/bin/env bats
# `pct doctor`: what it finds in programs made for it.
load common

setup_file()
{
    compile_targets
}

setup()
{
    enter
}

@test "an ordinary program is controllable" {
    run "$pct" doctor ./target
    is "$status" 0
    has "./target: controllable"
    run "$pct" doctor sh
    is "$status" 0
}

@test "a static program is not" {
    run "$pct" doctor ./static
    is "$status" 1
    has "statically linked"
    has "./static: not controllable"
    "$cc" -static-pie -o pie "$root/tests/cli/target.c" -pthread
    run "$pct" doctor ./pie
    is "$status" 1
}

@test "a script: its interpreter is looked at" {
    printf '#!/bin/sh\nexit 0\n' > script
    chmod +x script
    run "$pct" doctor ./script
    is "$status" 0
    has "is a script: /bin/sh is what pct controls"
    printf '#!/usr/bin/env bash\nexit 0\n' > script
    run "$pct" doctor ./script
    is "$status" 0
    has "bash is what pct controls"
    printf '#!%s/static\n' "$PWD" > script
    run "$pct" doctor ./script
    is "$status" 1
}

@test "raw system calls are decoded and named, and constants that look like them are not" {
    cat > raw.c <<'END'
#include <unistd.h>
int main(void)
{
    long result = 186, nothing = 0;
    __asm__ volatile("movl $186, %%eax\n\tsyscall" : "=a"(result) : : "rcx", "r11", "memory");
    __asm__ volatile("movl $202, %%eax\n\txorl %%edi, %%edi\n\tsyscall" : "=a"(nothing) : : "rcx", "r11", "rdi", "memory");
    return result < 0;
}
END
    "$cc" -O1 -o raw raw.c
    run "$pct" doctor ./raw
    is "$status" 0
    has "raw makes raw system calls in its own code (2 places: gettid 1, futex 1)"
    has "partly controllable"
    cat > constant.c <<'END'
int main(int argc, char **argv) { (void)argv; return argc == 0x050f050f; }
END
    "$cc" -O1 -o constant constant.c
    objdump -d constant | grep -q '0f 05 0f 05'
    run "$pct" doctor ./constant
    is "$status" 0
    lacks "raw system calls"
}

@test "calls to syscall() are noted" {
    printf '#include <sys/syscall.h>\n#include <unistd.h>\nint main(void) { return syscall(SYS_gettid) < 0; }\n' > calls.c
    "$cc" -D_GNU_SOURCE -o calls calls.c
    run "$pct" doctor ./calls
    is "$status" 0
    has "calls syscall()"
}

@test "a library that is missing is named" {
    echo 'int there(void) { return 0; }' > there.c
    echo 'int there(void); int main(void) { return there(); }' > needs.c
    "$cc" -shared -fPIC -o libthere.so there.c
    "$cc" -o needs needs.c -L. -lthere
    run "$pct" doctor ./needs
    is "$status" 1
    has "libthere.so is not found"
}

@test "setuid of another user" {
    [ "$(id -u)" = 0 ] || skip "needs root"
    cp target owned
    chown 12345 owned
    chmod u+s owned
    run "$pct" doctor ./owned
    is "$status" 1
    has "setuid"
    has "a copy of it (cp)"
    run "$pct" run -- ./owned exit 0
    is "$status" 123
    has "setuid"
}

@test "other machines, other files, nothing" {
    echo text > file
    chmod +x file
    run "$pct" doctor ./file
    is "$status" 1
    has "not an ELF program"
    cp target other
    printf '\xb7' | dd of=other bs=1 seek=18 conv=notrunc status=none
    run "$pct" doctor ./other
    is "$status" 1
    has "not an x86-64 program"
    head -c 700 target > short
    chmod +x short
    run "$pct" doctor ./short
    [ "$status" -le 1 ]
    run -127 "$pct" doctor ./nothing
    has "not found"
}
