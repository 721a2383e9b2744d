/* What the descendants of a process do. */
#include <cli/process/descendants.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

/* A child that is stopped. */
static pid_t start_child(const char *name)
{
    pid_t child = fork();
    if (!child) {
        prctl(PR_SET_NAME, name);
        raise(SIGSTOP);
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, WUNTRACED), child);
    return child;
}

static void end_child(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void test_each_has_a_line(void **state)
{
    (void)state;
    char text[512], expected[128];
    pct_descendants_describe(text, sizeof text, getpid());
    assert_string_equal(text, "");
    pid_t one = start_child("a) S (b"), other = start_child("other");
    pct_descendants_describe(text, sizeof text, getpid());
    snprintf(expected, sizeof expected, "child process %d (a) S (b): ", one);
    assert_non_null(strstr(text, expected));
    snprintf(expected, sizeof expected, "child process %d (other): ", other);
    assert_non_null(strstr(text, expected));
    snprintf(expected, sizeof expected, " of a CPU used, thread %d is stopped\n", other);
    assert_non_null(strstr(text, expected));
    end_child(one);
    end_child(other);
}

static void test_a_line_is_whole_or_not_there(void **state)
{
    (void)state;
    char text[512], few[512];
    pid_t child = start_child("child");
    pct_descendants_describe(text, sizeof text, getpid());
    size_t length = strlen(text);
    pct_descendants_describe(few, length + 1 + PCT_DESCENDANTS_LAST_LINE, getpid());
    assert_int_equal(strlen(few), length);
    pct_descendants_describe(few, length + PCT_DESCENDANTS_LAST_LINE, getpid());
    assert_string_equal(few, "1 more child process\n");
    end_child(child);
}

enum { RING = 4, LOOKS = 300 };
static sem_t turns[RING];

static void *take_turns(void *argument)
{
    for (size_t me = (size_t)argument;; sem_post(&turns[(me + 1) % RING]))
        sem_wait(&turns[me]);
    return NULL;
}

/* Of threads that take turns, one can always go on, though each sleeps most of the time. */
static void test_turns_are_work(void **state)
{
    (void)state;
    pid_t child = fork();
    if (!child) {
        pthread_t thread;
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* should this test fail */
        for (size_t i = 0; i < RING; i++)
            sem_init(&turns[i], 0, i == 0);
        for (size_t i = 0; i < RING; i++)
            pthread_create(&thread, NULL, take_turns, (void *)i);
        pthread_join(thread, NULL);
    }
    for (int i = 0; i < LOOKS; i++)
        assert_true(pct_descendants_busy(child));
    kill(child, SIGSTOP);
    waitpid(child, NULL, WUNTRACED);
    assert_false(pct_descendants_busy(child));
    end_child(child);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_has_a_line),
        cmocka_unit_test(test_a_line_is_whole_or_not_there),
        cmocka_unit_test(test_turns_are_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
