/* Names of libc's that programs refer to which are built with _FORTIFY_SOURCE, without optimisation, or by older
 * headers; today's headers do not declare them, or give the plain name to another function. */
#ifndef TESTS_LIBC_NAMES_H
#define TESTS_LIBC_NAMES_H

#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>

ssize_t __read_chk(int fd, void *at, size_t size, size_t room);
ssize_t __recv_chk(int fd, void *at, size_t size, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *restrict at, size_t size, size_t room, int flags, struct sockaddr *restrict from,
                       socklen_t *restrict length);
int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t room);
int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask, size_t room);
char *__fgets_chk(char *text, size_t room, int size, FILE *stream);
size_t __fread_chk(void *at, size_t room, size_t size, size_t count, FILE *stream);
int plain_vfscanf(FILE *stream, const char *format, va_list arguments) __asm__("vfscanf");
ssize_t __getdelim(char **line, size_t *size, int delimiter, FILE *stream);
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int directory, const char *path, int flags);
int __openat64_2(int directory, const char *path, int flags);

/* By their addresses: clang takes the definition that a header has of another name for the same symbol. */
ssize_t libc_getline(char **line, size_t *size, FILE *stream) __asm__("getline");
int libc_getchar(void) __asm__("getchar");
static __typeof__(libc_getline) *volatile plain_getline __attribute__((unused)) = libc_getline;
static __typeof__(libc_getchar) *volatile plain_getchar __attribute__((unused)) = libc_getchar;

#endif
