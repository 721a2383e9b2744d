// A logger with a fixed number of messages: who logs takes one from the free list, fills it and queues it; the writer
// takes it from the queue and writes it out.
//
// Bug: the writer gives the message back to the free list before it has written it, so that another one fills it anew.
// Shows as: an exit status of 1: a line twice, another one never.
// FIXED: it is given back behind that.
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGES = 2, CLIENTS = 2, LINES = 3 };

struct message {
    struct message *next;
    int client, line;
};

static struct message pool[MESSAGES];
static struct message *free_list, *queue_head, **queue_tail = &queue_head;
static bool stop;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queued = PTHREAD_COND_INITIALIZER, given_back = PTHREAD_COND_INITIALIZER;

static pthread_mutex_t file_lock = PTHREAD_MUTEX_INITIALIZER;
static int written[CLIENTS][LINES];

static void give_back(struct message *message)
{
    message->next = free_list;
    free_list = message;
    pthread_cond_signal(&given_back);
}

static void write_out(const struct message *message)
{
    pthread_mutex_lock(&file_lock); // culprit
    written[message->client][message->line]++;
    pthread_mutex_unlock(&file_lock);
}

static void *write_messages(void *arg)
{
    pthread_mutex_lock(&log_lock); // culprit
    for (;;) {
        while (!queue_head && !stop)
            pthread_cond_wait(&queued, &log_lock); // culprit
        struct message *message = queue_head;
        if (!message)
            break;
        if (!(queue_head = message->next))
            queue_tail = &queue_head;
#ifdef FIXED
        pthread_mutex_unlock(&log_lock);
        write_out(message);
        pthread_mutex_lock(&log_lock);
        give_back(message);
#else
        give_back(message);
        pthread_mutex_unlock(&log_lock); // culprit
        write_out(message);              // culprit
        pthread_mutex_lock(&log_lock);
#endif
    }
    pthread_mutex_unlock(&log_lock);
    return arg;
}

static void log_line(int client, int line)
{
    pthread_mutex_lock(&log_lock); // culprit
    while (!free_list)
        pthread_cond_wait(&given_back, &log_lock); // culprit
    struct message *message = free_list;
    free_list = message->next;
    *message = (struct message){ NULL, client, line };
    *queue_tail = message;
    queue_tail = &message->next;
    pthread_cond_signal(&queued);
    pthread_mutex_unlock(&log_lock);
}

static void *client(void *arg)
{
    for (int i = 0; i < LINES; i++)
        log_line(*(int *)arg, i);
    return NULL;
}

int main(void)
{
    pthread_t writer, clients[CLIENTS];
    int numbers[CLIENTS] = { 0, 1 }, wrong = 0;
    for (int i = 0; i < MESSAGES; i++)
        give_back(&pool[i]);
    pthread_create(&writer, NULL, write_messages, NULL);
    for (int i = 0; i < CLIENTS; i++)
        pthread_create(&clients[i], NULL, client, &numbers[i]);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(clients[i], NULL);
    pthread_mutex_lock(&log_lock);
    stop = true;
    pthread_cond_signal(&queued);
    pthread_mutex_unlock(&log_lock);
    pthread_join(writer, NULL);
    for (int i = 0; i < CLIENTS * LINES; i++)
        wrong += written[i / LINES][i % LINES] != 1;
    printf("%d lines wrong\n", wrong);
    return wrong != 0;
}
