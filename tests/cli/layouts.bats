#!/usr/bin/env bats
# A libc that lays out its objects in another way than pct knows is refused by name: copies of this machine's, in which
# the function that makes such an object returns 0 and does no more.
# shellcheck disable=SC2154 # variables that bats and common.bash set
load common

setup()
{
    enter
    mkdir libc
    cp -L "$(ldd /bin/true | awk '$1 == "libc.so.6" { print $3 }')" libc/libc.so.6
}

# refuses FUNCTION OBJECTS: once libc's function does nothing, its objects are not known.
refuses()
{
    python3 - libc/libc.so.6 "$1" << 'END'
import re, subprocess, sys
path, name = sys.argv[1:]
def listed(*options):
    return subprocess.run(["readelf", "-W", *options, path], capture_output=True, text=True, check=True).stdout
at = int(re.search(r"(\w+) +\d+ FUNC +\S+ +\S+ +\d+ " + name + r"@@", listed("--dyn-syms")).group(1), 16)
parts = [[int(number, 16) for number in part] for part in
         re.findall(r"LOAD +(0x\w+) (0x\w+) 0x\w+ (0x\w+)", listed("-l"))]
[offset] = [at - begin + offset for offset, begin, size in parts if begin <= at < begin + size]
with open(path, "r+b") as libc:
    libc.seek(offset)
    libc.write(b"\x31\xc0\xc3") # xor %eax, %eax; ret
END
    run --separate-stderr timeout 60 env LD_LIBRARY_PATH="$PWD/libc" LD_PRELOAD="$build/libpct.so" PCT_TRACE=trace \
        /bin/true
    [ "$status" -eq 2 ] && has "the $2 of this glibc (2." && has "are not laid out as pct knows them"
}

@test "this machine's libc is known" {
    LD_LIBRARY_PATH=$PWD/libc LD_PRELOAD=$build/libpct.so PCT_TRACE=trace run /bin/true
    [ "$status" -eq 0 ]
    lacks "not laid out"
}

@test "mutexes" {
    refuses pthread_mutex_lock mutexes
}

@test "condition variables" {
    refuses pthread_cond_init 'condition variables'
}

@test "read-write locks" {
    refuses pthread_rwlock_rdlock 'read-write locks'
}

@test "barriers" {
    refuses pthread_barrier_init barriers
}

@test "semaphores" {
    refuses sem_post semaphores
}

@test "spinlocks" {
    refuses pthread_spin_init spinlocks
}

@test "words of pthread_once" {
    refuses pthread_once 'words of pthread_once()'
}

@test "pct run says it, and starts nothing more" {
    refuses sem_init semaphores
    LD_LIBRARY_PATH=$PWD/libc run "$pct" run -n 3 -- /bin/true
    has 'the semaphores of this glibc'
    [ "$status" -ne 0 ]
}
