// Services that start side by side; the front end opens when all have counted down a latch.
//
// Bug: a service that finds the configuration locked by another one gives up, and does not count down.
// Shows as: a deadlock: the front end waits for ever.
// FIXED: it counts down all the same.
#include <latch>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

static std::latch started{ 3 };
static std::mutex configuration;
static std::vector<std::string> log_lines;
static std::mutex log_lock;

static void say(const std::string &line)
{
    std::lock_guard<std::mutex> lock(log_lock);
    log_lines.push_back(line);
}

static bool read_configuration(const std::string &name)
{
    std::unique_lock<std::mutex> lock(configuration, std::try_to_lock); // culprit
    if (!lock.owns_lock())
        return false;
    say(name + " has read it");
    return true;
}

static void service(std::string name)
{
    if (!read_configuration(name)) {
        say(name + " does without");
#ifdef FIXED
        started.count_down();
#endif
        return;
    }
    say(name + " is up");
    started.count_down(); // culprit
}

int main()
{
    std::vector<std::thread> services;
    for (const char *name : { "mail", "web", "cron" })
        services.emplace_back(service, name);
    started.wait(); // culprit
    say("open");
    for (auto &thread : services)
        thread.join();
}
