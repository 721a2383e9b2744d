// One thread keeps the lock of a stream (flockfile) and waits for a mutex; another one has the mutex and calls a
// function of libc that takes the stream's lock inside. That was nothing that the scheduler knew of: `pct explore` said
// "verified", and `pct run` hung until its time was over.
//
// RUN: for call in fputc fprintf fwrite puts fflush all ungetc feof fseek fgetc fclose perr; do
//         pct explore -q -- %p $call 2>%t/said; test $? = 1 && grep -q deadlock %t/said || exit 1; done
// RUN: pct run -q -n 200 --timeout 20 -- %p fputc 2>%t/said; test $? = 120 &&
//         grep 'use stream.*held by thread 1' %t/said
// RUN: pct explore -q -- %p tried 2>%t/said; test $? = 1 && grep -q deadlock %t/said &&
//         eval "$(sed -n '/pct replay/s/^ *//p' %t/said)"; test $? = 120
// RUN: for call in fputc all fgetc ungetc nothing unlocked; do pct explore -q -- %p $call ordered || exit 1; done &&
//         pct explore -q -- %p nothing && pct explore -q -- %p unlocked && pct explore -q -- %p own
// Who calls it by a pointer alone is seen to in the run:
// RUN: gcc -g -pthread -DLATER -o %t/later %s && pct explore -q -- %t/later own 2>%t/said; test $? = 119 &&
//         grep flockfile %t/said
#define _GNU_SOURCE
#include <assert.h>
#include <dlfcn.h>
#include <err.h>
#include <pthread.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>

#ifdef LATER
#define flockfile(file) ((void (*)(FILE *))dlsym(RTLD_DEFAULT, "flockfile"))(file)
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *stream;
static const char *call = "";
static int ordered;

static int is(const char *name)
{
    return !strcmp(call, name);
}

static void *keep(void *unused)
{
    if (is("tried")) { // it sees the other one between its lock and its call
        if (!pthread_mutex_trylock(&lock)) {
            pthread_mutex_unlock(&lock);
            return unused;
        }
    }
    if (ordered)
        pthread_mutex_lock(&lock);
    flockfile(stream);
    if (is("own"))
        fputs("own", stream);
    else if (!ordered)
        pthread_mutex_lock(&lock), pthread_mutex_unlock(&lock);
    funlockfile(stream);
    if (ordered)
        pthread_mutex_unlock(&lock);
    return unused;
}

static void *use(void *unused)
{
    pthread_mutex_lock(&lock);
    if (is("fputc") || is("tried") || is("own"))
        fputc('x', stream);
    else if (is("fprintf"))
        fprintf(stream, "%g", 0.5);
    else if (is("fwrite"))
        fwrite("x", 1, 1, stream);
    else if (is("puts"))
        puts("x");
    else if (is("fflush"))
        fflush(stream);
    else if (is("all"))
        fflush(NULL);
    else if (is("ungetc"))
        ungetc('x', stream);
    else if (is("feof"))
        feof(stream);
    else if (is("fseek"))
        fseek(stream, 0, SEEK_SET);
    else if (is("fgetc"))
        fgetc(stream);
    else if (is("fclose"))
        fclose(stream);
    else if (is("perr"))
        warnx("x");
    else if (is("nothing")) // takes no lock
        ungetc(EOF, stream), fwrite("x", 1, 0, stream), putc_unlocked('x', stderr);
    else if (is("unlocked"))
        fputc('x', stream);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread[2];
    call = argc > 1 ? argv[1] : call;
    ordered = argc > 2;
    stream = is("puts") ? stdout : is("perr") ? stderr : fopen("/dev/zero", "r+");
    if (is("unlocked"))
        __fsetlocking(stream, FSETLOCKING_BYCALLER);
    assert(!pthread_create(&thread[0], NULL, keep, NULL));
    assert(!pthread_create(&thread[1], NULL, use, NULL));
    pthread_join(thread[0], NULL);
    pthread_join(thread[1], NULL);
    return 0;
}
