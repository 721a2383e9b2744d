/* A program that calls what old headers of annotations (dynamic_annotations.h) call was not linked by pct-cc; one that
 * the compiler had linked with its own library did not start under pct.
 *
 * BUILD: pct-cc -g -pthread -o %p %s && gcc -g -fsanitize=thread -Wno-tsan -pthread -o %p.own %s
 * RUN: %p && pct run -q -s 1 -n 5 --races=fail --state none -- %p
 * RUN: pct run -q -s 1 -n 5 --races=fail --state none -- %p.own
 */
#include <pthread.h>
#include <stddef.h>
#include <string.h>

void AnnotateCondVarSignal(const char *file, int line, const volatile void *condition);
void AnnotateCondVarWait(const char *file, int line, const volatile void *condition, const volatile void *mutex);
void AnnotateFlushExpectedRaces(const char *file, int line);
void AnnotatePublishMemoryRange(const char *file, int line, const volatile void *memory, size_t size);
void WTFAnnotateHappensBefore(const char *file, int line, const volatile void *address);
void WTFAnnotateHappensAfter(const char *file, int line, const volatile void *address);
int RunningOnValgrind(void);
const char *ThreadSanitizerQuery(const char *query);

static int value, queue[2];

static void *work(void *unused)
{
    WTFAnnotateHappensAfter(__FILE__, __LINE__, &queue);
    value++;
    return unused;
}

int main(void)
{
    pthread_t thread;
    AnnotateFlushExpectedRaces(__FILE__, __LINE__);
    AnnotatePublishMemoryRange(__FILE__, __LINE__, &value, sizeof value);
    AnnotateCondVarSignal(__FILE__, __LINE__, &queue);
    AnnotateCondVarWait(__FILE__, __LINE__, &queue, &value);
    value = RunningOnValgrind();
    WTFAnnotateHappensBefore(__FILE__, __LINE__, &queue);
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    return value != 1 || strcmp(ThreadSanitizerQuery("pure_happens_before"), "1") != 0;
}
