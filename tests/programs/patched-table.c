/* The same with a table in the middle of a function. */
#define TABLE
#include "patched-data.c"
