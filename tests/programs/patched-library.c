/* The library of tests/programs/patched-late.c. */
/* build: -shared -fPIC */
void *count(void *unused);
int counted(void);

static int counter;

void *count(void *unused)
{
    counter++;
    return unused;
}

int counted(void)
{
    return counter;
}
