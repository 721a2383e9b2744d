/* The FFT kernel of SPLASH-2 with its missing wait. For bench/experiments. Argument: log2 of the number of points (10).
 *
 * Source: the PCT paper, tables 1 to 3: "Splash-FFT: platform dependent macro missing a wait leading to order
 *   violations". The kernel is the six-step transform of Bailey (1990), as Woo, Ohara, Torrie, Singh and Gupta describe
 *   it ("The SPLASH-2 programs", 1995): the points are a square matrix of complex numbers whose rows are divided among
 *   the processes; transpose, transform the rows, multiply by the roots of unity, transpose, transform the rows,
 *   transpose.
 * It computes: the result of each run is compared with a recursive transform that one thread makes by itself.
 * Bug: on some platforms the macro by which the main process waits for the end of the others was empty. Main adds up
 *   the processes' checksums while another one has not yet stored its own.
 * Depth 1: (main reads the checksum) before (the worker stores it).
 * Shows as: a failed assertion: the sum is not that of the transform.
 * FIXED: the macro waits. */
#include "point.h"
#include <complex.h>

enum { PROCESSES = 2, MAX_LOG = 14, MAX_POINTS = 1 << MAX_LOG, MAX_SIDE = 1 << (MAX_LOG / 2) };
#define PI 3.14159265358979323846

#ifdef FIXED
#define WAIT_FOR_END(thread) thread_join(thread)
#else
#define WAIT_FOR_END(thread) ((void)(thread))
#endif

static int log_points, side; /* side * side points */
static double complex x[MAX_POINTS], turned[MAX_POINTS];
static pthread_barrier_t barrier;
static pthread_mutex_t id_lock = PTHREAD_MUTEX_INITIALIZER;
static int next_id;
static struct {
    sem_t point;
    _Atomic double value;
} checksum[PROCESSES];

/* The input: anything that is not symmetric. */
static double complex input(int i)
{
    return sin(0.37 * i) + 0.5 * cos(0.011 * i * i) + I * sin(0.05 * i + 1);
}

static double weigh(double complex value, int i)
{
    return (creal(value) + 2 * cimag(value)) * (1 + i % 7);
}

/* exp(-2 pi i j / n) */
static double complex root(int j, int n)
{
    return cos(2 * PI * j / n) - I * sin(2 * PI * j / n);
}

/* One row, in place: decimation in time. */
static void transform_row(double complex *row, int n)
{
    for (int i = 1, j = 0; i < n; i++) {
        int bit = n >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            double complex swapped = row[i];
            row[i] = row[j];
            row[j] = swapped;
        }
    }
    for (int size = 2; size <= n; size *= 2)
        for (int j = 0; j < size / 2; j++) {
            double complex w = root(j, size);
            for (int i = j; i < n; i += size) {
                double complex even = row[i], odd = w * row[i + size / 2];
                row[i] = even + odd;
                row[i + size / 2] = even - odd;
            }
        }
}

/* Rows first to last-1 of `to` become columns of `from`. */
static void transpose(double complex *to, const double complex *from, int first, int last)
{
    for (int i = first; i < last; i++)
        for (int j = 0; j < side; j++)
            to[i * side + j] = from[j * side + i];
}

static void run_process(int id)
{
    int first = side * id / PROCESSES, last = side * (id + 1) / PROCESSES, points = side * side;
    pthread_barrier_wait(&barrier);
    transpose(turned, x, first, last);
    for (int i = first; i < last; i++) {
        transform_row(turned + i * side, side);
        for (int j = 0; j < side; j++)
            turned[i * side + j] *= root(i * j % points, points);
    }
    pthread_barrier_wait(&barrier);
    transpose(x, turned, first, last);
    for (int i = first; i < last; i++)
        transform_row(x + i * side, side);
    pthread_barrier_wait(&barrier);
    transpose(turned, x, first, last);
    pthread_barrier_wait(&barrier);
    double sum = 0;
    for (int i = first * side; i < last * side; i++)
        sum += weigh(turned[i], i);
    memory_point(&checksum[id].point);
    checksum[id].value = sum;
}

static void *start_process(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&id_lock);
    int id = next_id++;
    pthread_mutex_unlock(&id_lock);
    run_process(id);
    return NULL;
}

/* For comparison: out of place, n numbers from `in` that are `stride` apart. */
static void transform_alone(double complex *out, const double complex *in, int n, int stride)
{
    if (n == 1) {
        out[0] = in[0];
        return;
    }
    transform_alone(out, in, n / 2, 2 * stride);
    transform_alone(out + n / 2, in + stride, n / 2, 2 * stride);
    for (int j = 0; j < n / 2; j++) {
        double complex even = out[j], odd = root(j, n) * out[j + n / 2];
        out[j] = even + odd;
        out[j + n / 2] = even - odd;
    }
}

int main(int argc, char **argv)
{
    log_points = argument(argc, argv, 1, 10, 2, MAX_LOG);
    if (log_points % 2) {
        fprintf(stderr, "%s: log2 of the number of points must be even: the points are a square\n", argv[0]);
        return USAGE_ERROR;
    }
    side = 1 << (log_points / 2);
    static double complex points[MAX_POINTS], expected[MAX_POINTS];
    for (int i = 0; i < side * side; i++)
        x[i] = points[i] = input(i);
    setup_check(pthread_barrier_init(&barrier, NULL, PROCESSES), "cannot make a barrier");
    for (int id = 0; id < PROCESSES; id++)
        checksum[id].value = NAN; /* not yet there */
    pthread_t worker = thread_start(start_process, NULL);
    start_process(NULL);
    WAIT_FOR_END(worker);

    transform_alone(expected, points, side * side, 1);
    double sum = 0, right = 0, size = 0;
    local_work(REPORT);
    for (int i = 0; i < side * side; i++) {
        right += weigh(expected[i], i);
        size += cabs(expected[i]);
    }
    for (int id = 0; id < PROCESSES; id++) {
        memory_point(&checksum[id].point);
        sum += checksum[id].value;
    }
    bool sum_is_right = fabs(sum - right) < 1e-9 * size;
    assert(sum_is_right);
    for (int i = 0; i < side * side; i++)
        if (cabs(turned[i] - expected[i]) > 1e-9 * size) {
            fprintf(stderr, "%s: point %d is wrong\n", argv[0], i);
            return SETUP_FAILED;
        }
    return 0;
}
/* build: -lm */
