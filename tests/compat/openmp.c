/* An OpenMP program: parallel loops with each kind of schedule, tasks, critical sections, barriers, locks. libgomp
 * issues its futexes inline, where no preloaded library sees them. What it prints does not depend on the order of its
 * threads. */
#include <omp.h>
#include <stdio.h>

static long fibonacci(int n)
{
    long a, b;
    if (n < 12)
        return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
#pragma omp task shared(a)
    a = fibonacci(n - 1);
#pragma omp task shared(b)
    b = fibonacci(n - 2);
#pragma omp taskwait
    return a + b;
}

int main(void)
{
    long sum = 0, squares = 0, tasks = 0, locked = 0, rounds = 0;
    omp_lock_t lock;
    omp_init_lock(&lock);
    omp_set_num_threads(4);
#pragma omp parallel for reduction(+ : sum) schedule(static)
    for (int i = 1; i <= 1000; i++)
        sum += i;
#pragma omp parallel for schedule(dynamic, 7)
    for (int i = 1; i <= 200; i++) {
#pragma omp critical
        squares += (long)i * i;
    }
#pragma omp parallel
#pragma omp single
    tasks = fibonacci(18);
#pragma omp parallel
    for (int i = 0; i < 10; i++) {
        omp_set_lock(&lock);
        locked++;
        omp_unset_lock(&lock);
#pragma omp barrier
#pragma omp single
        rounds++;
    }
    omp_destroy_lock(&lock);
    printf("sum %ld\nsquares %ld\ntasks %ld\nlocked %ld\nrounds %ld\n", sum, squares, tasks, locked, rounds);
    return 0;
}
