/* The LU kernel of SPLASH-2 with its missing wait. For bench/experiments. Arguments: size and block size (48 and 8).
 *
 * Source: the PCT paper, tables 1 to 3: "Splash-LU". The kernel is the blocked factorisation without pivoting of Woo,
 *   Ohara, Torrie, Singh and Gupta ("The SPLASH-2 programs", 1995): blocks are dealt to processes; for each diagonal
 *   block its owner factors it, the owners of its row and column divide by it, all update the blocks that are left,
 *   with barriers between.
 * It computes: the product of the factors of each run is compared with the matrix.
 * Bug: the wait of the main process for the end of the others is missing. Main adds up the processes' parts of log(det)
 *   while another one has not yet stored its own.
 * Depth 1: (main reads the part) before (the worker stores it).
 * Shows as: a failed assertion: the sum is not the logarithm of the determinant.
 * FIXED: main waits. */
#include "point.h"

enum { PROCESSES = 2, MAX_SIZE = 256 };

static int n, block;
static double original[MAX_SIZE][MAX_SIZE], a[MAX_SIZE][MAX_SIZE];
static pthread_barrier_t barrier;
static pthread_mutex_t id_lock = PTHREAD_MUTEX_INITIALIZER;
static int next_id;
static struct {
    sem_t point;
    _Atomic double value;
} log_determinant[PROCESSES];

/* Dominated by its diagonal, so that it needs no pivoting. */
static double input(int i, int j)
{
    return i == j ? n + 1.5 : sin(1.7 * i + 0.3 * j * j);
}

static int owner(int block_row, int block_column)
{
    return (block_row + block_column / PROCESSES) % PROCESSES;
}

static int least(int x, int y)
{
    return x < y ? x : y;
}

/* Rows and columns from `from` to below `to`: a diagonal block becomes its factors. */
static void factor(double (*m)[MAX_SIZE], int from, int to)
{
    for (int k = from; k < to; k++)
        for (int i = k + 1; i < to; i++) {
            m[i][k] /= m[k][k];
            for (int j = k + 1; j < to; j++)
                m[i][j] -= m[i][k] * m[k][j];
        }
}

/* A block of the diagonal block's column: times the inverse of its upper factor. */
static void divide_column(int row, int from, int to)
{
    for (int i = row; i < least(row + block, n); i++)
        for (int k = from; k < to; k++) {
            a[i][k] /= a[k][k];
            for (int j = k + 1; j < to; j++)
                a[i][j] -= a[i][k] * a[k][j];
        }
}

/* A block of its row: the inverse of its lower factor times the block. */
static void divide_row(int column, int from, int to)
{
    for (int k = from; k < to; k++)
        for (int i = k + 1; i < to; i++)
            for (int j = column; j < least(column + block, n); j++)
                a[i][j] -= a[i][k] * a[k][j];
}

static void update(int row, int column, int from, int to)
{
    for (int i = row; i < least(row + block, n); i++)
        for (int k = from; k < to; k++)
            for (int j = column; j < least(column + block, n); j++)
                a[i][j] -= a[i][k] * a[k][j];
}

static void run_process(int id)
{
    int blocks = (n + block - 1) / block;
    double sum = 0;
    pthread_barrier_wait(&barrier);
    for (int k = 0; k < blocks; k++) {
        int from = k * block, to = least(from + block, n);
        if (owner(k, k) == id) {
            factor(a, from, to);
            for (int i = from; i < to; i++)
                sum += log(fabs(a[i][i]));
        }
        pthread_barrier_wait(&barrier);
        for (int i = k + 1; i < blocks; i++) {
            if (owner(i, k) == id)
                divide_column(i * block, from, to);
            if (owner(k, i) == id)
                divide_row(i * block, from, to);
        }
        pthread_barrier_wait(&barrier);
        for (int i = k + 1; i < blocks; i++)
            for (int j = k + 1; j < blocks; j++)
                if (owner(i, j) == id)
                    update(i * block, j * block, from, to);
    }
    pthread_barrier_wait(&barrier);
    memory_point(&log_determinant[id].point);
    log_determinant[id].value = sum;
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

/* The largest difference between the product of the factors and the matrix. */
static double error(void)
{
    double largest = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double product = i <= j ? a[i][j] : 0;
            for (int k = 0; k < i && k <= j; k++)
                product += a[i][k] * a[k][j];
            largest = fmax(largest, fabs(product - original[i][j]));
        }
    return largest;
}

int main(int argc, char **argv)
{
    n = argument(argc, argv, 1, 48, 1, MAX_SIZE);
    block = argument(argc, argv, 2, 8, 1, MAX_SIZE);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            original[i][j] = a[i][j] = input(i, j);
    setup_check(pthread_barrier_init(&barrier, NULL, PROCESSES), "cannot make a barrier");
    for (int id = 0; id < PROCESSES; id++)
        log_determinant[id].value = NAN; /* not yet there */
    pthread_t worker = thread_start(start_process, NULL);
    start_process(NULL);
#ifdef FIXED
    thread_join(worker);
#else
    (void)worker;
#endif
    double right = 0, sum = 0, difference = error();
    static double alone[MAX_SIZE][MAX_SIZE];
    memcpy(alone, original, sizeof alone);
    factor(alone, 0, n);
    for (int i = 0; i < n; i++)
        right += log(fabs(alone[i][i]));
    local_work(REPORT);
    for (int id = 0; id < PROCESSES; id++) {
        memory_point(&log_determinant[id].point);
        sum += log_determinant[id].value;
    }
    bool sum_is_right = fabs(sum - right) < 1e-9 * n;
    assert(sum_is_right);
    if (difference > 1e-9 * n) {
        fprintf(stderr, "%s: the factors are wrong by %g\n", argv[0], difference);
        return SETUP_FAILED;
    }
    return 0;
}
/* build: -lm */
