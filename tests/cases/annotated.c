/* What a program said of races before its second thread was lost: a race that a constructor had declared benign was
 * reported, and so were those of a thread that had asked to have none reported before it made another one. Behind the
 * end of that, none of its races was seen any more; nor behind AnnotateEnableRaceDetection(1). And what a lock of the
 * program's own does to its memory was a race, though the program had said where it is locked.
 *
 *     benign   the race is one that a constructor has declared benign
 *     ignored  it is between the beginning and the end of what is to be ignored, where the thread is made, too
 *     after    it is behind that end
 *     enabled  it is behind an end without a beginning
 *     locked   no race: a lock that is made by instructions that nobody tells of keeps who has it
 *
 * BUILD: pct-cc -O1 -g -pthread -o %p %s
 * RUN: for what in benign ignored locked; do pct run -q -s 1 -n 5 --races=fail --state none -- %p $what || exit; done
 * RUN: for what in after enabled; do pct run -q -s 1 --races=fail --state none -- %p $what > /dev/null 2>&1;
 *     [ $? = 118 ] || exit; done
 * RUN: for what in benign ignored after enabled locked; do %p $what || exit; done
 */
#include <pthread.h>
#include <sanitizer/tsan_interface.h>
#include <sched.h>
#include <stddef.h>

void AnnotateBenignRaceSized(const char *file, int line, const volatile void *address, size_t size, const char *why);
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateEnableRaceDetection(const char *file, int line, int on);

static _Alignas(8) int known, counter;
static int *used = &counter;
static int lock;
static volatile int owner;

__attribute__((constructor)) static void declare(void)
{
    AnnotateBenignRaceSized(__FILE__, __LINE__, &known, sizeof known, "statistics");
}

static void *add(void *unused)
{
    ++*used;
    return unused;
}

static void *add_locked(void *id)
{
    int taken = 1;
    __tsan_mutex_pre_lock(&lock, 0);
    for (;;) {
        __asm__ volatile("xchgl %0, %1" : "+r"(taken), "+m"(lock));
        if (!taken)
            break;
        sched_yield();
    }
    owner = id ? 1 : 2;
    __tsan_mutex_post_lock(&lock, 0, 0);
    counter++;
    __tsan_mutex_pre_unlock(&lock, 0);
    owner = 0;
    __asm__ volatile("movl $0, %0" : "=m"(lock));
    __tsan_mutex_post_unlock(&lock, 0);
    return id;
}

int main(int argc, char **argv)
{
    const char what = argc > 1 ? *argv[1] : 'b';
    const int ignores = what == 'i' || what == 'a';
    pthread_t thread;
    if (what == 'b')
        used = &known;
    if (ignores)
        AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    pthread_create(&thread, NULL, what == 'l' ? add_locked : add, NULL);
    if (what == 'l')
        add_locked(&thread);
    if (what == 'i')
        ++*used;
    if (ignores)
        AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    if (what == 'e')
        AnnotateEnableRaceDetection(__FILE__, __LINE__, 1);
    if (what != 'i' && what != 'l')
        ++*used;
    pthread_join(thread, NULL);
    return 0;
}
