# Fresh systems of Debian, each in a directory of its own, for scripts that try pct there and print TAP: sourced by
# scripts/check-distros and scripts/check-deb. The caller sets place, the directory of all systems, and ends with
# status.
# shellcheck shell=bash disable=SC2034,SC2154
number=0 status=0 root='' tested='' lock=''
# shellcheck disable=SC2016 # apt's placeholder
mirror=${MIRROR:-$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep -v security | head -n 1)}

# own_mounts SCRIPT ARGUMENT...: starts the script anew, as one whose mounts are its own.
own_mounts()
{
    [ "$(id -u)" = 0 ] || { echo "$1: only root can make and enter other systems" >&2; exit 1; }
    [ -n "${DISTRO_MOUNTS:-}" ] || DISTRO_MOUNTS=own exec unshare --mount "$@"
}

# What is mounted here is seen by this call alone, and gone with it.
enter()
{
    mount --bind /proc "$root/proc" && mount --bind /dev "$root/dev" && mount --bind /sys "$root/sys" &&
        mount --bind /dev/pts "$root/dev/pts" && mount -t tmpfs tmpfs "$root/dev/shm"
}

# What it leaves running holds no lock.
inside()
(
    [ -z "$lock" ] || exec {lock}>&-
    exec chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 sh -c "cd /src && $1"
)

# counts LOG: what tests/run ends with, in one line.
counts()
{
    grep -aE '^[0-9]+ (passed, [0-9]+ failed|skipped)$' "$1" | tail -n 2 | tac |
        paste -s -d ',' | sed 's/,\([0-9]\)/, \1/'
}

# result NAME LOG COMMAND...: what the command says goes to the log, whose end is shown if it fails.
result()
{
    local name=$1 log=$2 failed=0 skipped=''
    shift 2
    "$@" > "$log" 2>&1 < /dev/null || failed=1
    number=$((number + 1))
    if [ $failed = 0 ]; then
        [[ "$(counts "$log")" != '0 passed, 0 failed'* ]] || skipped=" # SKIP $(grep -a -m 1 '^skipped ' "$log")"
        echo "ok $number - $name$skipped"
    else
        echo "not ok $number - $name"
        { grep -a FAILED "$log" || tail -n 20 "$log"; } | sed 's/^/#   /'
        echo "#   all of it: $log"
        status=1
    fi
    return $failed
}

# A mirror may hold a suite for longer than the suite's own date allows. Its signature is checked all the same.
make_system()
{
    [ -x "$root/usr/bin/make" ] && return
    rm -rf "$root"
    mmdebstrap --variant=minbase --include=make,git,ca-certificates --aptopt='Acquire::Check-Valid-Until "false"' \
        "$1" "$root" "$mirror" || return
    printf '#!/bin/sh\nexit 101\n' > "$root/usr/sbin/policy-rc.d" # no services
    chmod +x "$root/usr/sbin/policy-rc.d"
}

# Files whose text has not changed keep their time there, so that only the rest is built anew, whatever the times are
# here; those that are gone here go there.
copy_sources()
{
    local build file
    tested=$(git describe --always --dirty)
    rm -rf "$root/src.new"
    mkdir -p "$root/src" "$root/src.new" && git ls-files -z | tar -c --null -T - |
        tar -x -m -C "$root/src.new" || return
    while read -r -d '' file; do
        ! cmp -s "$root/src/$file" "$root/src.new/$file" ||
            touch -h -r "$root/src/$file" "$root/src.new/$file" || return
    done < <(git ls-files -z)
    for build in "$root"/src/build*; do
        [ ! -d "$build" ] || mv "$build" "$root/src.new/" || return
    done
    rm -rf "$root/src" && mv "$root/src.new" "$root/src" || return
    [ "$tested" = "$(git describe --always --dirty)" ] ||
        { echo 'the sources changed while they were copied'; return 1; }
}

lock_system()
{
    flock -n "$lock" && return
    echo "another call of this script is at work in $root"
    return 1
}

# prepare SUITE: a system with the sources, entered. root is its directory, tested the commit.
prepare()
{
    root=$place/$1
    [ -z "$lock" ] || exec {lock}>&-
    exec {lock}> "$root.lock"
    result "$1: nobody else is in there" "$place/$1.lock.log" lock_system &&
        result "$1: the system" "$place/$1.system.log" make_system "$1" &&
        result "$1: the sources" "$place/$1.sources.log" copy_sources && enter
}

