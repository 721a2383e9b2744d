/* Requests to a server thread, each on the stack of who asks, who does not wait for ever.
 *
 * Bug: who has waited long enough goes away, and the server answers into what is on that stack by then.
 * Shows as: a failed assertion: the answer to another request.
 * FIXED: who goes away takes the request back, or waits where the server has it already. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

struct request {
    int number, answer;
    bool answered;
    struct request *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t asked = PTHREAD_COND_INITIALIZER, answered = PTHREAD_COND_INITIALIZER;
static struct request *waiting;
static bool stopping;

static int compute(int number)
{
    struct timespec pause = { .tv_nsec = 1000000 * (number % 2 + 1) };
    nanosleep(&pause, NULL);
    return number * 10;
}

static void *serve(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!waiting && !stopping)
            pthread_cond_wait(&asked, &lock);
        if (!waiting)
            break;
        struct request *request = waiting;
        waiting = request->next;
        int number = request->number;
        pthread_mutex_unlock(&lock);
        int answer = compute(number);
        pthread_mutex_lock(&lock); /* culprit */
        request->answer = answer;
        request->answered = true;
        pthread_cond_broadcast(&answered);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static int ask(int number)
{
    struct request request = { .number = number };
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += 3000000;
    if (end.tv_nsec >= 1000000000) {
        end.tv_sec++;
        end.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&lock);
    request.next = waiting;
    waiting = &request;
    pthread_cond_signal(&asked);
    while (!request.answered)
        if (pthread_cond_timedwait(&answered, &lock, &end) == ETIMEDOUT) { /* culprit */
#ifdef FIXED
            struct request **at = &waiting;
            while (*at && *at != &request)
                at = &(*at)->next;
            if (!*at) {
                while (!request.answered)
                    pthread_cond_wait(&answered, &lock);
                break;
            }
            *at = request.next;
#endif
            pthread_mutex_unlock(&lock);
            return -1;
        }
    pthread_mutex_unlock(&lock);
    return request.answer;
}

static void *client(void *argument)
{
    int first = *(int *)argument;
    for (int i = 0; i < 3; i++) {
        int answer = ask(first + i);
        assert(answer == -1 || answer == (first + i) * 10);
    }
    return NULL;
}

int main(void)
{
    pthread_t server, clients[2];
    int numbers[2] = { 10, 21 };
    pthread_create(&server, NULL, serve, NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&clients[i], NULL, client, &numbers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(clients[i], NULL);
    pthread_mutex_lock(&lock);
    stopping = true;
    pthread_cond_signal(&asked);
    pthread_mutex_unlock(&lock);
    pthread_join(server, NULL);
    return 0;
}
