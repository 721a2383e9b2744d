/* A log that others close. */
#include "routine.h"
#include <stdio.h>
struct log {
    pthread_mutex_t lock;
    FILE *file;
    unsigned long written;
};
struct log log_ = { .lock = PTHREAD_MUTEX_INITIALIZER };
/*@demon require open: l.file != null */
NI void emit(struct log *l, const char *s)
{
    fputs(s, l->file);
    l->written++;
}
/*@demon test rely locked: holds(l.lock) implies unchanged(l.file) */
NI void say(struct log *l, const char *s)
{
    EARLY(&l->lock);
    if (l->file) {
        LATE(&l->lock);
        emit(l, s);
    } else {
        LATE(&l->lock);
    }
    pthread_mutex_unlock(&l->lock);
}
/*@demon ensure closed: l.file = null */
void close_log(struct log *l)
{
    pthread_mutex_lock(&l->lock);
    if (l->file)
        fclose(l->file);
    l->file = NULL;
    pthread_mutex_unlock(&l->lock);
}
int main(void)
{
    log_.file = fopen("/dev/null", "w");
    say(&log_, "x");
    return 0;
}
