/* `pct scope` reads files and runs nothing: it ran a static program, which no linker keeps from that. And a library
 * that the program names by its path (./libgiven.so) has names, too.
 *
 * RUN: gcc -static -o %t/fixed %s && cd %t && timeout 60 pct scope --focus=main ./fixed && [ ! -e ran ] &&
 *     ./fixed && [ -e ran ]
 * RUN: p=$PWD/%s; cd %t && echo 'int given(void) { return 0; }' > given.c &&
 *     gcc -shared -fPIC -o libgiven.so given.c && gcc -DGIVEN -o linked "$p" ./libgiven.so &&
 *     pct scope --focus=given linked && pct scope --focus=given ./linked
 */
#include <stdio.h>

#ifdef GIVEN
int given(void);
#else
static int given(void)
{
    return 0;
}
#endif

int main(void)
{
    FILE *file = fopen("ran", "w");
    return !file || fclose(file) || given();
}
