/* A link to a program that has its libraries beside itself ($ORIGIN), as /usr/bin/java is one: `pct doctor` looked for
 * them beside the link, and said that the program would not start.
 *
 * RUN: mkdir -p %t/own && echo 'int given(void) { return 0; }' > %t/given.c &&
 *     gcc -shared -fPIC -o %t/own/libgiven.so %t/given.c &&
 *     gcc -DGIVEN -o %t/own/program %s '-Wl,-rpath,$ORIGIN' -L%t/own -lgiven && ln -s own/program %t/link &&
 *     %t/link && pct doctor %t/link
 */
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
    return given();
}
