/* What libc has in a stream's buffer, or knows of its end, was forgotten where the stream's descriptor was waited for.
 * Two threads read lines of one stream: the first to come gets both into the buffer, and the second one waited for the
 * descriptor, which was called a deadlock. Beyond the end that was seen libc does not look again, also when somebody
 * could write now; and what follows a character that was pushed back is in the buffer.
 *
 * RUN: pct run -q -n 30 -s 1 --timeout 20 --state none -- %p lines
 * RUN: pct run -q -s 1 --timeout 20 --state none -- %p end
 * RUN: pct run -q -s 1 --timeout 20 --state none -- %p pushed
 */
#undef NDEBUG
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static FILE *stream;

static void *take(void *line)
{
    assert(fgets(line, 8, stream));
    return NULL;
}

int main(int argc, char **argv)
{
    int ends[2];
    char lines[2][8], path[64];
    pthread_t threads[2];
    if (argc != 2 || pipe(ends) || !(stream = fdopen(ends[0], "r")))
        return 2;
    if (!strcmp(argv[1], "lines")) {
        for (int i = 0; i < 2; i++)
            pthread_create(&threads[i], NULL, take, lines[i]);
        assert(write(ends[1], "a\nb\n", 4) == 4);
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        assert(*lines[0] + *lines[1] == 'a' + 'b');
        return 0;
    }
    assert(write(ends[1], "a\nb", 3) == 3);
    pthread_create(&threads[0], NULL, take, lines[0]);
    pthread_join(threads[0], NULL);
    if (!strcmp(argv[1], "pushed")) {
        assert(ungetc('x', stream) == 'x' && fgetc(stream) == 'x' && fgetc(stream) == 'b');
        return 0;
    }
    close(ends[1]);
    assert(fgetc(stream) == 'b' && fgetc(stream) == EOF);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    int again = open(path, O_WRONLY);
    assert(again < 0 || (fgetc(stream) == EOF && feof(stream)));
    return 0;
}
