/* Giving up rights and taking them back: ids are what they were set to, and errors are the kernel's, with other threads
 * there. */
/* tests: setuid seteuid setreuid setresuid */
/* ops: MUTEX_LOCK */
#define _GNU_SOURCE
#include "check.h"
#include <errno.h>

enum { NOBODY = 65534 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void check_ids(uid_t real, uid_t effective, uid_t saved)
{
    uid_t ids[3];
    CHECK_OK(getresuid(&ids[0], &ids[1], &ids[2]));
    CHECK_EQ(ids[0], real);
    CHECK_EQ(ids[1], effective);
    CHECK_EQ(ids[2], saved);
}

/* The kernel has ids for each thread; libc gives all of them the same. */
static void *is_nobody(void *unused)
{
    pthread_mutex_lock(&lock);
    check_ids(0, NOBODY, 0);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void as_root(void)
{
    CHECK_OK(seteuid(NOBODY));
    check_ids(0, NOBODY, 0);
    CHECK_FAILS(setresuid(1, 1, 1), EPERM);
    CHECK_FAILS(seteuid(1), EPERM);
    check_ids(0, NOBODY, 0);
    CHECK_OK(setresuid((uid_t)-1, 0, (uid_t)-1));
    pthread_mutex_lock(&lock);
    pthread_t thread = check_spawn(is_nobody, NULL);
    CHECK_OK(setreuid((uid_t)-1, NOBODY)); /* the saved one, too */
    CHECK_OK(setresuid((uid_t)-1, 0, 0));
    CHECK_OK(seteuid(NOBODY));
    pthread_mutex_unlock(&lock);
    check_join(thread);
    CHECK_OK(setuid(0));
    check_ids(0, 0, 0);
    CHECK_OK(setuid(NOBODY));
    check_ids(NOBODY, NOBODY, NOBODY);
}

int main(void)
{
    uid_t self = getuid();
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    if (!self)
        as_root();
    self = getuid();
    CHECK_OK(setuid(self));
    CHECK_OK(seteuid(self));
    CHECK_OK(setreuid(self, self));
    CHECK_OK(setresuid(self, self, self));
    CHECK_FAILS(setuid(0), EPERM);
    CHECK_FAILS(seteuid(0), EPERM);
    CHECK_FAILS(setreuid(0, (uid_t)-1), EPERM);
    CHECK_FAILS(setresuid(0, (uid_t)-1, (uid_t)-1), EPERM);
    check_ids(self, self, self);
    return 0;
}
