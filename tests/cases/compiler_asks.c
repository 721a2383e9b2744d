/* The compilers of pct had the linker link nothing, and failed, where gcc only says what it is (-v).
 *
 *     RUN: for compiler in pct-cc pct-c++; do $compiler -v && $compiler --version || exit; done
 *     RUN: pct-cc -shared -fPIC -g -pthread -o%t/library.so %s && ldd %t/library.so | grep libpct-tsan
 */
int main(void)
{
    return 0;
}
