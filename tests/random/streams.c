/* Things to wait for that are read by streams, and named pipes, which are waited for to be opened. */
#include "random.h"
#include "../libc_names.h"
#include <stdarg.h>
#include <sys/stat.h>

static int scan(FILE *stream, bool plain, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int result = plain ? plain_vfscanf(stream, format, arguments) : vfscanf(stream, format, arguments);
    va_end(arguments);
    return result;
}

/* By characters: those of a line come together. */
static bool read_characters(FILE *stream, bool macro, char *line)
{
    int first = macro ? getc(stream) : fgetc(stream);
    if (first == EOF)
        return false;
    line[0] = (char)first;
    CHECK_EQ(macro ? getc(stream) : fgetc(stream), '\n');
    return true;
}

/* Into memory of the library's. */
static bool read_allocated(FILE *stream, unsigned way, char *line)
{
    static __thread char *text;
    static __thread size_t size;
    ssize_t length = way == 0   ? plain_getline(&text, &size, stream)
                     : way == 1 ? getdelim(&text, &size, '\n', stream)
                                : __getdelim(&text, &size, '\n', stream);
    if (length < 0)
        return false;
    CHECK_EQ(length, 2);
    line[0] = text[0];
    free(text);
    text = NULL;
    return true;
}

/* False: interrupted. */
static bool read_line(FILE *stream, unsigned way, char *line)
{
    char text[4] = "";
    bool done;
    switch (way % 12) {
    case 0:
        done = fgets(text, sizeof text, stream);
        break;
    case 1:
        done = __fgets_chk(text, sizeof text, sizeof text, stream);
        break;
    case 2:
        done = fscanf(stream, "%1s%*c", text) == 1;
        break;
    case 3:
    case 4:
        done = scan(stream, way % 12 == 3, "%1s%*c", text) == 1;
        break;
    case 5:
        done = fread(text, 1, 2, stream) == 2;
        break;
    case 6:
        done = __fread_chk(text, sizeof text, 1, 2, stream) == 2;
        break;
    case 7:
    case 8:
        done = read_characters(stream, way % 12 == 7, text);
        break;
    default:
        done = read_allocated(stream, way % 12 - 9, text);
    }
    *line = text[0];
    return done;
}

static void make_stream(struct thing *t)
{
    CHECK_OK(pipe(t->fd));
    t->stream = fdopen(t->fd[0], "r");
    CHECK(t->stream);
    if (t->number & 2)
        CHECK_OK(setvbuf(t->stream, NULL, _IONBF, 0));
}

static void drop_stream(struct thing *t)
{
    CHECK_OK(fclose(t->stream));
    CHECK_OK(close(t->fd[1]));
}

static void unlock_stream(void *stream)
{
    funlockfile(stream);
}

static bool wait_stream(struct thing *t, int64_t us, unsigned way)
{
    char c = 0;
    (void)us;
    flockfile(t->stream);
    pthread_cleanup_push(unlock_stream, t->stream);
    while (!read_line(t->stream, way, &c)) {
        CHECK(!feof(t->stream) && again(true));
        clearerr(t->stream);
    }
    pthread_cleanup_pop(1);
    CHECK_EQ(c, 'w');
    return true;
}

static void wake_stream(struct thing *t, unsigned way)
{
    (void)way;
    CHECK_EQ(RESTARTED(write(t->fd[1], "w\n", 2)), 2);
}

/* --- Named pipes ------------------------------------------------------------------------------------------------- */

static void make_fifo(struct thing *t)
{
    snprintf(t->path, sizeof t->path, "/tmp/pct-random-%d-%d", (int)getpid(), t->number);
    unlink(t->path);
    CHECK_OK(mkfifo(t->path, 0600));
}

static void drop_fifo(struct thing *t)
{
    CHECK_OK(unlink(t->path));
}

static int open_fifo(const char *path, unsigned way)
{
    switch (way % 8) {
    case 0:
        return open(path, O_RDONLY);
    case 1:
        return open64(path, O_RDONLY);
    case 2:
        return openat(AT_FDCWD, path, O_RDONLY);
    case 3:
        return openat64(AT_FDCWD, path, O_RDONLY);
    case 4:
        return __open_2(path, O_RDONLY);
    case 5:
        return __open64_2(path, O_RDONLY);
    case 6:
        return __openat_2(AT_FDCWD, path, O_RDONLY);
    default:
        return __openat64_2(AT_FDCWD, path, O_RDONLY);
    }
}

static FILE *open_as_stream(const char *path, unsigned way)
{
    FILE *other = way & 2 ? fopen("/dev/null", "r") : NULL;
    if (!(way & 2))
        return way & 1 ? fopen(path, "r") : fopen64(path, "r");
    CHECK(other);
    return way & 1 ? freopen(path, "r", other) : freopen64(path, "r", other);
}

static bool wait_fifo(struct thing *t, int64_t us, unsigned way)
{
    (void)us;
    if (way & 32) {
        FILE *stream;
        while (!(stream = open_as_stream(t->path, way)))
            CHECK(again(true));
        CHECK_OK(fclose(stream));
        return true;
    }
    int fd = RESTARTED(open_fifo(t->path, way));
    CHECK(fd >= 0);
    CHECK_OK(close(fd));
    return true;
}

static void wake_fifo(struct thing *t, unsigned way)
{
    (void)way;
    int fd = RESTARTED(open(t->path, O_WRONLY));
    CHECK(fd >= 0);
    CHECK_OK(close(fd));
}

const struct kind stream_kinds[] = {
    { "stream", CANCEL | HANDLER, make_stream, drop_stream, wait_stream, wake_stream },
    { "named pipe", OUTSIDE | CANCEL | PROCESS | ONCE | SINGLE, make_fifo, drop_fifo, wait_fifo, wake_fifo },
    { NULL, 0, NULL, NULL, NULL, NULL },
};

/* --- Standard input ---------------------------------------------------------------------------------------------- */

static void prepare_input(struct event *event)
{
    int fd[2];
    CHECK_OK(pipe(fd));
    CHECK_EQ(dup2(fd[0], STDIN_FILENO), STDIN_FILENO);
    CHECK_OK(close(fd[0]));
    event->head = (unsigned)fd[1];
}

static void run_input(struct event *event, unsigned role, uint64_t *place)
{
    for (unsigned i = 0; i < event->rounds; i++) {
        char text[4] = "";
        bool by_character = draw(place, 2);
        if (!role) {
            doze(place);
            CHECK_EQ(RESTARTED(write((int)event->head, "i\n", 2)), 2);
            continue;
        }
        while (by_character ? (text[0] = (char)plain_getchar()) == EOF : scanf("%1s%*c", text) != 1) {
            CHECK(!feof(stdin) && again(true));
            clearerr(stdin);
        }
        CHECK_EQ(text[0], 'i');
        if (by_character)
            CHECK_EQ(plain_getchar(), '\n');
    }
}

static void finish_input(struct event *event)
{
    CHECK_OK(close((int)event->head));
}

const struct pattern stream_patterns[] = {
    { "standard input", 2, 2, 0, 0, 0, 0, 0, ALONE, prepare_input, run_input, finish_input },
    { NULL, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL },
};
