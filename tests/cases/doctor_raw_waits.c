/* A system call of the program's own that waits (recvfrom, pause, accept, ...) leaves something uncontrolled: `pct
 * doctor` took only some of those that wait for such, and called this program controllable.
 *
 *     BUILD: gcc -O1 -g -o %p %s
 *     RUN: pct doctor %p > %t/out; grep -q '2 places: pause 1, recvfrom 1)' %t/out &&
 *         grep -q ': partly controllable' %t/out
 */
static long call(void)
{
    long result;
    __asm__ volatile("movl $45, %%eax\n\tsyscall\n\tmovl $34, %%eax\n\tsyscall"
                     : "=a"(result)
                     : "D"(-1L), "S"(0L), "d"(0L)
                     : "rcx", "r11", "memory");
    return result;
}

int main(int argc, char **argv)
{
    (void)argv;
    return argc > 1 && call() == 0;
}
