/* Has scripts of its own: one for the program, and one for a test of something that looks like GoogleTest. Two threads
 * note their numbers; the script turns their order round, which is the failure. */
#include <pct/script.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static int order[2], count;

static void *note(void *number)
{
    pct_point("there");
    order[count++] = *(int *)number;
    return number;
}

static int last_is_first(void)
{
    pthread_t thread[2];
    int number[2] = { 1, 2 };
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, note, &number[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    return order[0] == 2;
}

pct_script("local a, b = thread \"note\", thread \"note\"\n"
           "run(a, point \"there\") finish(b)");

#define TEST(suite, name) static int suite##_##name(void)

PCT_TEST(Order, Turned, "finish(thread(2))")
{
    return last_is_first();
}

PCT_TEST(Order, Wrong, "local a\n= =")
{
    return 0;
}

/* As Catch2 ends, of which two checks have failed. */
PCT_TEST(Order, Two, "finish(thread(2))")
{
    return 2 * last_is_first();
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "--gtest_list_tests"))
        puts("Order.\n  Turned\n  Wrong\n  Two\n  Kept");
    else if (!strcmp(what, "--gtest_filter=Order.Turned"))
        return Order_Turned();
    else if (!strcmp(what, "--gtest_filter=Order.Wrong"))
        return Order_Wrong();
    else if (!strcmp(what, "--gtest_filter=Order.Two"))
        return Order_Two();
    else if (!*what)
        return last_is_first() ? 3 : 0;
    return 0;
}
