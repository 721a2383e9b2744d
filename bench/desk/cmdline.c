// A command queue of a device: a driver thread sends commands, an interrupt thread completes them by number.
//
// Bug: the command is sent before its slot says who waits for it: the completion finds nobody.
// Shows as: a deadlock: the driver waits for a completion that has come.
// FIXED: the slot is filled before.
#include <pthread.h>
#include <stdbool.h>

enum { SLOTS = 2 };

struct slot {
    bool waited, done;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t sent, completed;
    struct slot slot[SLOTS];
    int queue[8], first, last;
} device = { .lock = PTHREAD_MUTEX_INITIALIZER,
             .sent = PTHREAD_COND_INITIALIZER,
             .completed = PTHREAD_COND_INITIALIZER };

static void send_command(int number)
{
    pthread_mutex_lock(&device.lock); // culprit
    device.queue[device.last++] = number;
    pthread_cond_signal(&device.sent);
    pthread_mutex_unlock(&device.lock);
}

static void expect(int number)
{
    pthread_mutex_lock(&device.lock); // culprit
    device.slot[number] = (struct slot){ .waited = true };
    pthread_mutex_unlock(&device.lock);
}

static void wait_for(int number)
{
    pthread_mutex_lock(&device.lock);
    while (!device.slot[number].done)
        pthread_cond_wait(&device.completed, &device.lock);
    pthread_mutex_unlock(&device.lock);
}

static void complete(int number)
{
    pthread_mutex_lock(&device.lock); // culprit
    if (device.slot[number].waited) {
        device.slot[number].done = true;
        pthread_cond_broadcast(&device.completed);
    }
    pthread_mutex_unlock(&device.lock);
}

static void *interrupts(void *argument)
{
    (void)argument;
    for (int i = 0; i < SLOTS; i++) {
        pthread_mutex_lock(&device.lock);
        while (device.first == device.last)
            pthread_cond_wait(&device.sent, &device.lock);
        int number = device.queue[device.first++];
        pthread_mutex_unlock(&device.lock);
        complete(number);
    }
    return 0;
}

static void *driver(void *argument)
{
    int number = *(int *)argument;
#ifdef FIXED
    expect(number);
    send_command(number);
#else
    send_command(number);
    expect(number);
#endif
    wait_for(number);
    return 0;
}

int main(void)
{
    pthread_t thread[SLOTS + 1];
    int number[SLOTS] = { 0, 1 };
    pthread_create(&thread[SLOTS], 0, interrupts, 0);
    for (int i = 0; i < SLOTS; i++)
        pthread_create(&thread[i], 0, driver, &number[i]);
    for (int i = 0; i <= SLOTS; i++)
        pthread_join(thread[i], 0);
    return 0;
}
