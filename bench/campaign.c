/* A target for campaigns: three.h. `abort`: it aborts when main has made its part; a number: main computes this many
 * thousand rounds before (measure.h). */
#include "measure.h"
#include "three.h"
#include <string.h>

int main(int argc, char *argv[])
{
    bool aborts = argc > 1 && !strcmp(argv[1], "abort");
    if (argc > 1 && !aborts)
        compute(strtoul(argv[1], NULL, 10));
    return !run_three(aborts);
}
