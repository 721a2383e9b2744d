/* Part of every snippet: an object that is met last, as the process ends by exit(). Objects are numbered in the order
 * in which they are met, so its number is another one in a replay that has met one more, or one less, than the run. */
#include <semaphore.h>

__attribute__((destructor)) static void meet_last_object(void)
{
    static sem_t last;
    sem_init(&last, 0, 0);
    sem_destroy(&last);
}
