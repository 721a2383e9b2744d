/* dl_iterate_phdr: all modules, what the callback returns; nobody else runs in a callback that yields. */
#define _GNU_SOURCE
#include "check.h"
#include <link.h>
#include <sched.h>
#include <stddef.h>

static volatile int inside, count;

static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
    CHECK(size >= offsetof(struct dl_phdr_info, dlpi_adds));
    CHECK(info->dlpi_phnum > 0);
    CHECK_EQ(inside, 0);
    inside = 1;
    for (int i = 0; i < 3; i++)
        CHECK_OK(sched_yield());
    inside = 0;
    count++;
    return ++*(int *)data == 2 ? 17 : 0;
}

static void *walk(void *unused)
{
    for (int i = 0; i < 3; i++) {
        int modules = 0;
        CHECK_RESULT(dl_iterate_phdr(visit, &modules), 17);
        CHECK_EQ(modules, 2);
        sched_yield();
    }
    return unused;
}

static int none(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)info, (void)size;
    ++*(int *)data;
    return 0;
}

int main(void)
{
    int modules = 0;
    CHECK_RESULT(dl_iterate_phdr(none, &modules), 0);
    CHECK(modules >= 2); /* the program and libc */
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        threads[i] = check_spawn(walk, NULL);
    for (int i = 0; i < 3; i++)
        check_join(threads[i]);
    CHECK_EQ(count, 18);
    return 0;
}
