/* What the examples share; objects of sources in other directories would be shared by builds. */
#include "../shared/test.c"
