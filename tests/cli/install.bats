#!/usr/bin/env bats
# `make install` and `make uninstall`: what is installed works where it is, and nothing of it is left.
load common

# make_root TARGET: with the flags of the build, so that nothing is built anew.
make_root()
{
    make -s -C "$root" BUILD="${build#"$root"/}" DESTDIR="$PWD/root" PREFIX=/usr "$@"
}

setup_file()
{
    cd "$BATS_FILE_TMPDIR"
    make_root install
}

setup()
{
    enter
    ln -s "$BATS_FILE_TMPDIR/root" .
    usr=$PWD/root/usr
}

@test "the installed command runs a program with the installed library" {
    cat > ok.c <<'END'
#include <pthread.h>
#include <pct/script.h>
static void *work(void *a) { pct_point("here"); return a; }
int main(void) { pthread_t t; return pthread_create(&t, 0, work, 0) || pthread_join(t, 0); }
END
    "$usr/bin/pct-cc" -pthread -o ok ok.c
    run "$usr/bin/pct" run -n 3 -- ./ok
    is "$status" 0
    run "$usr/bin/pct" doctor --system
    has "root/usr/lib/pct/libpct.so can be loaded"
    run "$usr/bin/pct" demon --help
    is "$status" 0
}

@test "pages: of each command, of licence and examples" {
    for command in $("$pct" help | awk '/^  [a-z]/ { print $1 }'); do
        case $command in version | help) ;; *) [ -s "$usr/share/man/man1/pct-$command.1" ] ;; esac
    done
    [ -s "$usr/share/man/man7/pct-tokens.7" ] && [ -s "$usr/share/man/man1/pct-clang++.1" ] &&
        [ -s "$usr/share/man/man3/pct-script.3" ] && [ -s "$usr/share/man/man1/cargo-pct.1" ]
    for file in LICENSE README.md CHANGELOG.md docs/EXPLORE.md docs/explain.schema.json docs/coverage.schema.json \
        examples/ctest/CMakeLists.txt; do
        [ -s "$usr/share/doc/pct/$file" ]
    done
    is "$(find "$usr" -type f ! -perm -444; find "$usr" -type d ! -perm -555)" ''
}

@test "pkg-config finds headers and library" {
    grep -qx prefix=/usr "$usr/share/pkgconfig/pct.pc"
    command -v pkg-config > /dev/null || skip 'pkg-config is not installed'
    export PKG_CONFIG_PATH=$usr/share/pkgconfig
    is "$(pkg-config --modversion pct)" "$("$pct" version | cut -d ' ' -f 2)"
    [ -s "$(pkg-config --define-variable=prefix="$usr" --variable=shim pct)" ]
    echo '#include <pct/strategy.h>' | "$cc" $(pkg-config --define-variable=prefix="$usr" --cflags pct) \
        -fsyntax-only -x c -
}

@test "CMake: pct_add_test runs schedules, and says what it does not know" {
    command -v cmake > /dev/null || skip 'cmake is not installed'
    cp -r "$usr/share/doc/pct/examples" .
    export CMAKE_PREFIX_PATH=$usr
    cmake -S examples/ctest -B bug
    cmake --build bug
    run ctest --test-dir bug -L pct --output-on-failure
    is "$status" 8
    has 'deadlock: no thread can go on'
    has '0% tests passed, 1 tests failed out of 1'
    cmake -S examples/ctest -B fixed -DFIXED=ON
    cmake --build fixed
    run ctest --test-dir fixed
    is "$status" 0
    has '100% tests passed, 0 tests failed out of 2'
    mkdir other
    printf 'cmake_minimum_required(VERSION 3.18)\nproject(other NONE)\nenable_testing()\nfind_package(pct 0.1 '\
'REQUIRED)\n' > other/CMakeLists.txt
    cp other/CMakeLists.txt other/head
    printf 'pct_add_test(NAME sh RUNS 3 SEED 7 LABELS shell WORKING_DIRECTORY /tmp COMMAND sh -c "pwd; exit 0")\n' \
        >> other/CMakeLists.txt
    cmake -S other -B other/build
    run ctest --test-dir other/build -L shell -V
    is "$status" 0
    has '3 runs'
    for wrong in 'pct_add_test(COMMAND sh)' 'pct_add_test(NAME a)' 'pct_add_test(NAME a RUN 3 COMMAND sh)' \
        'find_package(pct 1.0 REQUIRED)'; do
        { cat other/head; echo "$wrong"; } > other/CMakeLists.txt
        run cmake -S other -B other/wrong
        is "$status" 1
        has pct
        rm -rf other/wrong
    done
}

@test "uninstall leaves nothing" {
    cp -a "$BATS_FILE_TMPDIR/root" own
    rm root
    mv own root
    echo mine > root/usr/share/man/man1/other.1
    make_root uninstall
    is "$(find root ! -type d)" root/usr/share/man/man1/other.1
    is "$(find root -type d -name '*pct*')" ''
}
