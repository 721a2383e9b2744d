/* The test of the bank for build systems: exit status 0 if it passes. */
#include "bank.h"
#include <stdio.h>

int main(void)
{
    long sum = bank_test();
    printf("sum %ld\n", sum);
    return sum != 200;
}
