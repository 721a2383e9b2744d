/* A string instruction without a prefix has one byte (`movsb`, `stosl`): `pct sites` did not count it among those that
 * can be no scheduling points, and its memory accesses went unmentioned.
 *
 *     BUILD: gcc -O1 -g -o %p %s
 *     RUN: %p && pct sites --memory=all %p > %t/out && grep -q ' 3  not among them: string instructions' %t/out
 */
int main(void)
{
    static char from[8] = "abcdef", to[8];
    char *source = from, *target = to;
    long count = 1;
    __asm__ volatile("movsb\n\tmovsl\n\trep movsb" : "+S"(source), "+D"(target), "+c"(count) : : "memory");
    return source - from != 6 || target - to != 6 || to[5] != 'f';
}
