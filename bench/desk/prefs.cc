// Preferences with defaults: readers share a lock, who finds none computes one and enters it.
//
// Bug: between the look under the shared lock and the entry under the exclusive one somebody else enters another one.
// Shows as: a failed assertion: a value that was handed out is replaced.
// FIXED: it looks once more.
#include <cassert>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>

class Preferences
{
  public:
    int get(const std::string &key, int fallback)
    {
        {
            std::shared_lock<std::shared_mutex> lock(mutex_); // culprit
            auto found = values_.find(key);
            if (found != values_.end())
                return found->second;
        }
        std::unique_lock<std::shared_mutex> lock(mutex_); // culprit
#ifdef FIXED
        auto found = values_.find(key);
        if (found != values_.end())
            return found->second;
#endif
        values_[key] = fallback;
        return fallback;
    }

  private:
    std::shared_mutex mutex_;
    std::map<std::string, int> values_;
};

int main()
{
    Preferences preferences;
    int width[2];
    std::thread a([&] { width[0] = preferences.get("width", 80); });
    std::thread b([&] { width[1] = preferences.get("width", 132); });
    a.join();
    b.join();
    assert(width[0] == width[1]);
}
