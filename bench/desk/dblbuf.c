/* A double buffer between a renderer and a display: the one draws the back, the other shows the front.
 *
 * Bug: after two swaps the back is what the display still reads. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 3
#define FRAMES 3

struct frame {
    int rows[ROWS];
};

struct screen {
    pthread_mutex_t lock;
    struct frame buffers[2];
    int front;
    int swaps;
};

static struct screen screen = { .lock = PTHREAD_MUTEX_INITIALIZER };
static pthread_mutex_t wire = PTHREAD_MUTEX_INITIALIZER;
static int rows_sent;
static int frames_shown;

static struct frame *screen_back(struct screen *s)
{
    struct frame *f;

    pthread_mutex_lock(&s->lock); /* culprit */
    f = &s->buffers[1 - s->front];
    pthread_mutex_unlock(&s->lock);
    return f;
}

static struct frame *screen_front(struct screen *s)
{
    struct frame *f;
#ifdef FIXED
    static struct frame copy;
#endif

    pthread_mutex_lock(&s->lock); /* culprit */
    f = &s->buffers[s->front];
#ifdef FIXED
    copy = *f;
    f = &copy;
#endif
    pthread_mutex_unlock(&s->lock);
    return f;
}

static void screen_swap(struct screen *s, struct frame *drawn)
{
    pthread_mutex_lock(&s->lock);
#ifdef FIXED
    s->buffers[1 - s->front] = *drawn;
#else
    (void)drawn;
#endif
    s->front = 1 - s->front;
    s->swaps++;
    pthread_mutex_unlock(&s->lock);
}

static void draw(struct frame *f, int number)
{
    for (int i = 0; i < ROWS; i++)
        f->rows[i] = number * 100 + i;
}

static void *renderer(void *arg)
{
    struct screen *s = arg;

    for (int n = 1; n <= FRAMES; n++) {
        struct frame *back = screen_back(s);
#ifdef FIXED
        struct frame own;

        back = &own;
#endif

        draw(back, n);
        screen_swap(s, back);
    }
    return NULL;
}

static void send_row(int row)
{
    pthread_mutex_lock(&wire); /* culprit */
    (void)row;
    rows_sent++;
    pthread_mutex_unlock(&wire);
}

static void show(const struct frame *f)
{
    int number = f->rows[0] / 100;

    for (int i = 0; i < ROWS; i++) {
        int row = f->rows[i];

        send_row(row);
        if (row / 100 != number) {
            fprintf(stderr, "torn frame: row %d is of frame %d, row 0 of %d\n", i, row / 100, number);
            abort();
        }
    }
    frames_shown++;
}

static void *display(void *arg)
{
    struct screen *s = arg;

    for (int i = 0; i < FRAMES; i++)
        show(screen_front(s));
    return NULL;
}

int main(void)
{
    pthread_t r, d;

    pthread_create(&r, NULL, renderer, &screen);
    pthread_create(&d, NULL, display, &screen);
    pthread_join(r, NULL);
    pthread_join(d, NULL);
    printf("%d shown, %d swaps\n", frames_shown, screen.swaps);
    return 0;
}
