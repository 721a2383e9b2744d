/* --each-test, cut short as options may be: the runs of each test case got it once more, and each of them ran all its
 * test cases so, without end.
 *
 * RUN: timeout 100 pct run -q -n 2 -s 1 --each=gtest -- %p > %t/said 2>&1; [ $? = 0 ] &&
 *     [ "$(grep -c '^pct: test 1 of 1: Suite.one$' %t/said)" = 1 ] && grep -q '^pct: 1 test case: 0 failed$' %t/said
 */
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--gtest_list_tests"))
            puts("Suite.\n  one");
    return 0;
}
