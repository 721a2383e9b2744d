/* The matrix: what orders two threads by way of the threads that libc makes for itself. */
#include "matrix.h"
#include <aio.h>
#include <cstdint>
#include <fcntl.h>

namespace
{

aiocb request;
aiocb *const requests[] = { &request };
char bytes[8];

const char foreign[] = "libtsan does not know the threads that libc makes for itself",
           aio[] = "libtsan does not know asynchronous requests";

void look_at_x(sigval)
{
    READ;
    advance(1);
}

/* A thread that reads x. */
sigevent by_thread()
{
    sigevent event = {};
    event.sigev_notify = SIGEV_THREAD;
    event.sigev_notify_function = look_at_x;
    return event;
}

void arm()
{
    sigevent event = by_thread();
    timer_t timer;
    itimerspec when = {};
    when.it_value.tv_nsec = SOON;
    MUST(timer_create(CLOCK_MONOTONIC, &event, &timer));
    MUST(timer_settime(timer, 0, &when, nullptr));
}

void make_request()
{
    request = {};
    MUST(request.aio_fildes = open("/dev/zero", O_RDONLY));
    request.aio_buf = bytes;
    request.aio_nbytes = sizeof bytes;
    request.aio_lio_opcode = LIO_READ;
    request.aio_sigevent.sigev_notify = SIGEV_NONE;
}

void make_told_request()
{
    make_request();
    request.aio_sigevent = by_thread();
}

void suspend()
{
    await(1);
    while (aio_suspend(requests, 1, nullptr))
        continue;
}

void await_end()
{
    await(1);
    while (aio_error(&request) == EINPROGRESS)
        pause_a_little();
}

void list(int mode, bool told)
{
    sigevent event = by_thread();
    MUST(lio_listio(mode, const_cast<aiocb *const *>(requests), 1, told ? &event : nullptr));
}

const row rows[] = {
    /* Timers */
    alone(
        "timer-thread", ORDERED, foreign, [] { WRITE, arm(); }, [] { await(1); }),
    alone(
        "timer-thread-late", UNORDERED, foreign, [] { arm(), WRITE; }, [] { await(1); }),

    /* Asynchronous requests */
    unknown(
        "aio-suspend", aio, [] { WRITE, aio_read(&request), advance(1); }, [] { suspend(), READ; }, make_request),
    unknown(
        "aio-error", aio, [] { WRITE, aio_read(&request), advance(1); }, [] { await_end(), READ; }, make_request),
    unordered(
        "aio-late", [] { aio_read(&request), WRITE, advance(1); }, [] { suspend(), READ; }, make_request),
    alone(
        "aio-thread", ORDERED, foreign, [] { WRITE, aio_read(&request); }, [] { await(1); }, make_told_request),
    alone(
        "aio-thread-late", UNORDERED, foreign, [] { aio_read(&request), WRITE; }, [] { await(1); }, make_told_request),

    /* Lists of them */
    alone(
        "lio-suspend", ORDERED, foreign, [] { WRITE, list(LIO_NOWAIT, false), advance(1); }, [] { suspend(), READ; },
        make_request),
    unknown(
        "lio-wait", aio, [] { WRITE, list(LIO_WAIT, false), advance(1); }, [] { suspend(), READ; }, make_request),
    alone(
        "lio-late", UNORDERED, foreign, [] { list(LIO_NOWAIT, false), WRITE, advance(1); }, [] { suspend(), READ; },
        make_request),
    alone(
        "lio-thread", ORDERED, foreign, [] { WRITE, list(LIO_NOWAIT, true); }, [] { await(1); }, make_request),
    alone(
        "lio-thread-late", UNORDERED, foreign, [] { list(LIO_NOWAIT, true), WRITE; }, [] { await(1); }, make_request),
};

} // namespace

const table service_table = { rows, sizeof rows / sizeof *rows };
