// A program becomes another one that is setuid, or starts it: that has its rights, as natively, and runs without pct,
// which the report says.
//
// NEED: [ "$(id -u)" = 0 ]
// BUILD: gcc -g -o %p %s && cp %p %p.suid && chown 65534 %p.suid && chmod 4755 %p.suid
// RUN 4: %p %p.suid
// RUN 4: pct run -s 1 --state none -- %p %p.suid > %t/out 2>&1; s=$?;
//     grep 'became a program that pct could not follow' %t/out || exit 1; exit $s
// RUN 4: pct run -s 1 --state none -- %p %p.suid child > %t/out 2>&1; s=$?;
//     grep '1 child process' %t/out || exit 1; exit $s
// RUN 123: pct run -s 1 --state none -- %p.suid
#include <sys/wait.h>
#include <unistd.h>

enum { RIGHT = 4, WRONG };

int main(int argc, char **argv)
{
    int status = 0;
    if (argc == 1)
        return geteuid() == 65534 ? RIGHT : WRONG;
    const pid_t child = argc > 2 ? fork() : 0;
    if (!child) {
        execl(argv[1], argv[1], (char *)NULL);
        return WRONG;
    }
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : WRONG;
}
