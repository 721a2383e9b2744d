// Modules that are set up when they are first used, each by std::call_once; two of them use each other.
//
// Bug: the set-up of each calls the other's: two threads that begin with different ones wait for each other.
// Shows as: a deadlock.
// FIXED: the fonts are set up without the cache.
#include <mutex>
#include <thread>

static std::once_flag fonts_once, cache_once;
static int fonts, cache;

static void use_fonts();
static void use_cache();

static void set_up_fonts()
{
#ifndef FIXED
    use_cache(); // culprit
#endif
    fonts = 1;
}

static void set_up_cache()
{
    use_fonts(); // culprit
    cache = 1;
}

static void use_fonts()
{
    std::call_once(fonts_once, set_up_fonts); // culprit
}

static void use_cache()
{
    std::call_once(cache_once, set_up_cache); // culprit
}

int main(int argc, char **)
{
    if (argc > 1)
        return fonts + cache;
    std::thread page(use_fonts), picture(use_cache);
    page.join();
    picture.join();
}
