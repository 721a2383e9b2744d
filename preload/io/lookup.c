/* Looking at files, making, changing and removing them (files.def): no scheduling points, but what is not there may be
 * what the program waits for (absent.h), and what is may be news (news.h). Callbacks that scandir() and its like call
 * are told what others have done before the call. */
#include "news.h"
#include <common/exploration.h>
#include <preload/core/host_threads.h>
#include <preload/core/point.h>
#include <preload/core/real.h>
#include <preload/core/shim.h>
#include <preload/memory/channel.h>
#include <preload/time/absent.h>

/* Whether a call has failed, by its result of any type. */
#define FAILED(result) _Generic((result), int : (long)(result) < 0, long : (long)(result) < 0, default : !(result))

/* It looks for what has this path. */
#define BEFORE_LOOKS(folder, path) pct_host_threads_looks(folder, path)
#define AFTER_LOOKS(folder, path) pct_news_at(folder, path, pct_absent_note(FAILED(result) ? -1 : 0))

/* It looks at what is open. */
#define BEFORE_OF(fd) ((void)0)
#define AFTER_OF(fd) pct_news_of(fd, 0)

/* Each run that is forked here makes and removes its own, as one by exec. What a fork server has made is there for all,
 * until the first of them removes it. */
static void serve(void)
{
    if (PCT_UNLIKELY(pct_shim.pending && pct_shim.server))
        pct_enter();
}

/* Success and failure alike tell of what others have done. */
#define BEFORE_TELLS() (serve(), pct_news_any())
#define AFTER_TELLS() pct_news_any()

/* The same, and it reads the environment. */
#define BEFORE_GLOBS() (pct_explored_hidden(PCT_KEY_ENVIRONMENT, true), pct_news_any())
#define AFTER_GLOBS() pct_news_any()

#define FILES(type, name, parameters, arguments, kind, of)                                                             \
    PCT_EXPORT type name parameters                                                                                    \
    {                                                                                                                  \
        pct_explored_hidden(PCT_KEY_KERNEL, false);                                                                    \
        BEFORE_##kind of;                                                                                              \
        type result = REAL(name) arguments;                                                                            \
        AFTER_##kind of;                                                                                               \
        return result;                                                                                                 \
    }

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* some of them are old */
#include "files.def"
