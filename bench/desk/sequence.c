// Two producers send records to a broker, which numbers them and refuses one that does not follow the last.
//
// Bug: a producer draws the number under one lock and sends under another; a later number may be sent first.
// Shows as: an assertion: out of order.
// FIXED: the number is drawn under the lock of the connection.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

enum { RECORDS = 3 };

struct record {
    int number, value;
};

static pthread_mutex_t numbers = PTHREAD_MUTEX_INITIALIZER, connection = PTHREAD_MUTEX_INITIALIZER;
static int next_number, received;
static struct record broker[2 * RECORDS];

static int draw(void)
{
    pthread_mutex_lock(&numbers); // culprit
    int number = next_number++;
    pthread_mutex_unlock(&numbers);
    return number;
}

static void append(const struct record *record)
{
    assert(record->number == received);
    broker[received++] = *record;
}

static void send_record(int value)
{
#ifdef FIXED
    pthread_mutex_lock(&connection);
    struct record record = { draw(), value };
#else
    struct record record = { draw(), value };
    pthread_mutex_lock(&connection); // culprit
#endif
    append(&record);
    pthread_mutex_unlock(&connection);
}

static void *produce(void *arg)
{
    for (int i = 0; i < RECORDS; i++)
        send_record(i);
    return arg;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, produce, NULL);
    pthread_create(&other, NULL, produce, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    printf("%d records\n", received);
}
