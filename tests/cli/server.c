/* The server that the tests of --ready and --drive run, and its client. Compiled by common.bash.
 *     server PLACE [MANNER]      listen at PLACE (a TCP port, a path with a slash, or 0: nowhere) and answer until
 *                                SIGTERM
 *     server ask PLACE           connect, and print the answer; status 1 if there is none */
#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const char *manner = "";
static int fails; /* when it is told to end */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* Ends here, whatever the server is about: the signal may come just before it waits. */
static void on_term(int signal)
{
    static const char words[] = "ends as it was told\n";
    ssize_t written = write(STDOUT_FILENO, words, sizeof words - 1);
    _exit(signal != SIGTERM || written < 0 || fails ? 7 : 0);
}

static void *hold(void *unused)
{
    pthread_mutex_lock(&mutex);
    return unused;
}

/* Returns a socket that is connected to the place, or listens there. */
static int open_place(const char *place, int server)
{
    struct sockaddr_un path = { .sun_family = AF_UNIX };
    struct sockaddr_in port = { .sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(place)) };
    port.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int is_path = strchr(place, '/') != NULL, yes = 1;
    strncpy(path.sun_path, place, sizeof path.sun_path - 1);
    const struct sockaddr *address = is_path ? (struct sockaddr *)&path : (struct sockaddr *)&port;
    socklen_t size = is_path ? sizeof path : sizeof port;
    int fd = socket(address->sa_family, SOCK_STREAM, 0);
    if (!server)
        return connect(fd, address, size) ? -1 : fd;
    if (is_path)
        unlink(place);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, address, size) || listen(fd, 8)) {
        perror("bind");
        exit(4);
    }
    return fd;
}

static int ask(const char *place)
{
    char answer[64];
    int fd = open_place(place, 0);
    ssize_t got = fd < 0 ? -1 : read(fd, answer, sizeof answer);
    if (got <= 0)
        return 1;
    printf("the server says %.*s\n", (int)got, answer);
    return 0;
}

/* What its manner makes it do when a client has come. */
static void behave(void)
{
    pthread_t thread;
    if (!strcmp(manner, "crash"))
        *(volatile int *)16 = 1;
    if (!strcmp(manner, "deadlock")) {
        pthread_create(&thread, NULL, hold, NULL);
        pthread_join(thread, NULL);
        pthread_mutex_lock(&mutex);
    }
    for (int i = 0; !strcmp(manner, "loud") && i < 20000; i++)
        puts("a line that nobody waits for");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    if (argc > 2 && !strcmp(argv[1], "ask"))
        return ask(argv[2]);
    if (argc > 2)
        manner = argv[2];
    fails = !strcmp(manner, "sorry") || (!strcmp(manner, "first") && strchr(argv[1], '0'));
    struct sigaction action = { .sa_handler = on_term };
    if (!strcmp(manner, "deaf"))
        action.sa_handler = SIG_IGN;
    if (strcmp(manner, "plain"))
        sigaction(SIGTERM, &action, NULL);
    if (!strcmp(manner, "unable"))
        return 5;
    if (!strcmp(manner, "loud"))
        behave();
    int fd = strcmp(argv[1], "0") ? open_place(argv[1], 1) : -1;
    printf("ready at [%s]\n", argv[1]);
    fflush(stdout);
    for (;;) {
        int client = fd < 0 ? pause() : accept(fd, NULL, NULL);
        if (client < 0)
            return 8;
        behave();
        if (write(client, "hello", 5) != 5)
            return 6;
        close(client);
        if (!strcmp(manner, "once"))
            return 0;
    }
}
