// pct script --all=dpor counted a run twice among those that are like others, if a thread slept in it and it was ended
// in a loop that waits, too: "19 runs (18 of them like others)", though seven had come to six different ends.
//
// BUILD: pct-cc -g -pthread -o %p %s
// RUN: echo 'interleave({ thread "waits", thread "sets", thread "more" }, writes "other" + reads "flag" +
//     reads "third" + writes "flag" + writes "third" + ends)' > %t/s.lua;
//     pct script -q --all=dpor %t/s.lua -- %p %t/ends 2>&1 |
//     sed -n 's/.* \([0-9]*\) runs (\([0-9]*\) of them like.*/\1 \2/p' > %t/counts;
//     read -r all like < %t/counts && [ $((all - like)) -ge "$(sort -u %t/ends | wc -l)" ]
#include <pthread.h>
#include <stdio.h>

static volatile long flag, other, third, seen, read_third;

static void *waits(void *unused)
{
    while (!flag) {
    }
    third = 1;
    return unused;
}

static void *sets(void *unused)
{
    seen = other;
    other = 1;
    flag = 1;
    return unused;
}

static void *more(void *unused)
{
    other = 2;
    read_third = third;
    other = 3;
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t a, b, c;
    FILE *file = fopen(argv[argc - 1], "a");
    pthread_create(&a, NULL, waits, NULL);
    pthread_create(&b, NULL, sets, NULL);
    pthread_create(&c, NULL, more, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    fprintf(file, "%ld %ld %ld\n", seen, read_third, other);
    return fclose(file);
}
