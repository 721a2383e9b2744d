/* Java's StringBuffer: a length is read, and is out of date when the characters are fetched. For the measurements of
 * bench/.
 *
 * Source: the Maple paper, table 2, "StringBuffer"; the bug is that of append(StringBuffer) in the JDK 1.4, known
 *   from Flanagan and Qadeer, "A type and effect system for atomicity" (2003).
 * Bug: each method of a buffer holds that buffer's lock. append(other) asks other for its length and then for as
 *   many characters, which are two calls: if other is shortened in between, the second asks for characters that are
 *   gone.
 * Depth 2: (append reads the length) before (the other thread shortens), and that before (append fetches the
 *   characters). PCT needs the shortening thread below the appending one and its change point between the two calls.
 * Shows as: a failed assertion in buffer_get_chars(), where Java throws StringIndexOutOfBoundsException.
 * FIXED: append holds the lock of other over both calls. */
#include "shared.h"

enum { CAPACITY = 64 };

/* The lock is recursive, as a Java monitor is. */
struct buffer {
    pthread_mutex_t lock;
    int length;
    char text[CAPACITY];
};

static void buffer_init(struct buffer *self, const char *text)
{
    pthread_mutexattr_t recursive;
    setup_check(pthread_mutexattr_init(&recursive), "cannot make a mutex");
    setup_check(pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE), "cannot make a mutex");
    setup_check(pthread_mutex_init(&self->lock, &recursive), "cannot make a mutex");
    pthread_mutexattr_destroy(&recursive);
    self->length = (int)strlen(text);
    memcpy(self->text, text, (size_t)self->length);
}

static int buffer_length(struct buffer *self)
{
    pthread_mutex_lock(&self->lock);
    int length = self->length;
    pthread_mutex_unlock(&self->lock);
    return length;
}

static void buffer_set_length(struct buffer *self, int length)
{
    pthread_mutex_lock(&self->lock);
    self->length = length;
    pthread_mutex_unlock(&self->lock);
}

/* Copies the characters begin .. end-1 to `to`. */
static void buffer_get_chars(struct buffer *self, int begin, int end, char *to)
{
    pthread_mutex_lock(&self->lock);
    assert(0 <= begin && begin <= end && end <= self->length);
    memcpy(to, self->text + begin, (size_t)(end - begin));
    pthread_mutex_unlock(&self->lock);
}

static void buffer_append(struct buffer *self, struct buffer *other)
{
    pthread_mutex_lock(&self->lock);
#ifdef FIXED
    /* Nobody takes the two locks in the other order. */
    pthread_mutex_lock(&other->lock);
#endif
    int length = buffer_length(other); /* culprit */
    if (self->length + length <= CAPACITY) {
        buffer_get_chars(other, 0, length, self->text + self->length); /* culprit */
        self->length += length;
    }
#ifdef FIXED
    pthread_mutex_unlock(&other->lock);
#endif
    pthread_mutex_unlock(&self->lock);
}

static struct buffer greeting, name;

static void *append(void *unused)
{
    (void)unused;
    buffer_append(&greeting, &name);
    return NULL;
}

static void *shorten(void *unused)
{
    (void)unused;
    int length = buffer_length(&name);
    buffer_set_length(&name, length - 3);
    return NULL;
}

int main(void)
{
    buffer_init(&greeting, "hello, ");
    buffer_init(&name, "world...");
    pthread_t appending = thread_start(append, NULL);
    pthread_t shortening = thread_start(shorten, NULL);
    thread_join(appending);
    thread_join(shortening);
    return 0;
}
