/* A question without a newline, and a wait for the answer by a terminal: libc shows it before it reads. Under pct the
 * wait came before that, and who answers when it is asked never did.
 *
 * NEED: script --version
 * RUN: mkfifo %t/in; { until grep -q 'your answer' %t/out; do sleep 0.1; done; echo x; } > %t/in 2> /dev/null &
 *      script -qfec 'pct run -q -s 1 --timeout 30 --state none -- %p' %t/out < %t/in > /dev/null
 */
#include <assert.h>
#include <stdio.h>

int main(void)
{
    char line[8];
    printf("your answer: ");
    assert(fgets(line, sizeof line, stdin) && *line == 'x');
    return 0;
}
