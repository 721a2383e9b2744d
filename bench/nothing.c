/* The trivial program. */
int main(void)
{
    return 0;
}
