/* Named semaphores between a parent and a child that opens them by their names. */
/* tests: sem_open sem_close sem_wait sem_post sem_timedwait */
/* outside: when the child takes and gives is not a matter of this schedule */
#define _GNU_SOURCE
#include "check.h"
#include "child.h"
#include <fcntl.h>
#include <semaphore.h>

enum { ROUNDS = 5 };

static char name[64], other[64];

static void answer(void *unused)
{
    struct timespec pause = { 0, 1000000 };
    sem_t *there;
    (void)unused;
    while ((there = sem_open(other, 0)) == SEM_FAILED) /* the parent makes it last */
        nanosleep(&pause, NULL);
    CHECK_OK(sem_close(there));
    sem_t *questions = sem_open(name, 0), *answers = sem_open(other, 0);
    CHECK(questions != SEM_FAILED);
    CHECK(answers != SEM_FAILED);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_OK(sem_wait(questions));
        CHECK_OK(sem_post(answers));
    }
    CHECK_OK(sem_close(questions));
    CHECK_OK(sem_close(answers));
    _exit(0);
}

int main(void)
{
    snprintf(name, sizeof(name), "/snippet-%d-questions", (int)getpid());
    snprintf(other, sizeof(other), "/snippet-%d-answers", (int)getpid());
    pid_t child = child_start(answer, NULL); /* before they are opened: the child inherits nothing */
    sem_t *questions = sem_open(name, O_CREAT | O_EXCL, 0600, 0);
    CHECK(questions != SEM_FAILED);
    sem_t *answers = sem_open(other, O_CREAT | O_EXCL, 0600, 0);
    CHECK(answers != SEM_FAILED);
    for (int i = 0; i < ROUNDS; i++) {
        struct timespec far = check_in_ms(CLOCK_REALTIME, 100000);
        CHECK_OK(sem_post(questions));
        CHECK_OK(i % 2 ? sem_wait(answers) : sem_timedwait(answers, &far));
    }
    CHECK_EXITED(child_wait(child), 0);
    CHECK_OK(sem_unlink(name));
    CHECK_OK(sem_unlink(other));
    CHECK_OK(sem_close(questions));
    CHECK_OK(sem_close(answers));
    return 0;
}
