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
    printf '%s\n' '#include <pthread.h>' 'int main(void) { return !pthread_detach(pthread_self()); }' > ordinary.c
    "$cc" -pthread -o ordinary ordinary.c
    run "$pct" doctor ./ordinary
    is "$status" 0
    has "./ordinary: controllable"
    run "$pct" doctor ./target # which makes system calls of its own that wait
    is "$status" 0
    has "./target: partly controllable"
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
    __asm__ volatile("movl $202, %%eax\n\txorl %%edi, %%edi\n\tsyscall" : "=a"(nothing) : :
                     "rcx", "r11", "rdi", "memory");
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
    printf '#include <sys/syscall.h>\n#include <unistd.h>\nint main(void) { return syscall(SYS_gettid) < 0; }\n' \
        > calls.c
    "$cc" -D_GNU_SOURCE -o calls calls.c
    run "$pct" doctor ./calls
    is "$status" 0
    has "calls syscall(): futexes, clocks, getrandom and signals to threads made that way are controlled"
}

@test "which scheduling points a program needs" {
    cat > points.c <<'END'
#include <pthread.h>
#include <stdatomic.h>
int plain;
_Atomic int counter;
static void *work(void *lock)
{
    pthread_mutex_lock(lock);
#ifdef PLAIN
    plain++;
#endif
#ifdef ATOMIC
    counter++;
#endif
#ifdef LOCK_FREE
    int one = 1;
    while (!atomic_compare_exchange_weak(&counter, &one, one + 1))
        ;
#endif
    pthread_mutex_unlock(lock);
    return 0;
}
int main(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_t t = 0;
    pthread_create(&t, 0, work, &lock);
    return pthread_join(t, 0);
}
END
    "$cc" -O1 -o calls points.c -pthread
    run "$pct" doctor ./calls
    has "it needs points at calls only"
    "$cc" -O1 -DPLAIN -o plain points.c -pthread
    run "$pct" doctor ./plain
    has "it may need --memory=globals: 1 instructions"
    lacks "memory=atomics"
    lacks "calls only"
    "$cc" -O1 -DATOMIC -o atomic points.c -pthread
    run "$pct" doctor ./atomic
    has "it needs --memory=atomics: its own code has 1 atomic instructions"
    "$cc" -O1 -DLOCK_FREE -o lock_free points.c -pthread
    run "$pct" doctor ./lock_free
    has "it needs to be built with pct-cc, if it can be: 1 of its atomic instructions compare and exchange"
    "$build/pct-cc" -O1 -DLOCK_FREE -o told points.c -pthread
    run "$pct" doctor ./told
    has "built to tell of its memory accesses (pct-cc): nothing more is needed"
    lacks "it needs"
    lacks "raw system calls"
}

@test "a C++ program makes threads, too" {
    echo '#include <thread>
int x; int main() { std::thread t([] { x++; }); t.join(); return x - 1; }' > thread.cc
    "${CXX:-c++}" -O1 -o thread thread.cc -pthread
    run "$pct" doctor ./thread
    has "it may need --memory=globals"
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
