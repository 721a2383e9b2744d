/* The same with the wait: no worker is idle yet. */
#define WAITS
#define EMPTY
#include "apache-45605.c"
