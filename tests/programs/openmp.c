/* OpenMP: several parallel regions over one team, whose threads meet by futexes that libgomp issues in line. Run by
 * tests/programs/watchdog. Ends with status 0 if all sums are right. */
/* build: -fopenmp */
#include <omp.h>
#include <stdio.h>

enum { REGIONS = 4, COUNT = 1000 };

int main(void)
{
    for (long region = 1; region <= REGIONS; region++) {
        long sum = 0, critical = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(4)
        for (long i = 0; i < COUNT; i++)
            sum += i * region;
#pragma omp parallel num_threads(3)
        {
#pragma omp barrier
#pragma omp critical
            critical += region;
        }
        if (sum != region * COUNT * (COUNT - 1) / 2 || critical != 3 * region) {
            fprintf(stderr, "openmp: region %ld: %ld, %ld\n", region, sum, critical);
            return 1;
        }
    }
    return 0;
}
