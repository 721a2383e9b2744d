// A file store of three parts, each with a lock: the directory, the index of contents, the journal.
//
// Bug: three parts, each with a lock, are taken in a circle by three threads.
#include <cstdio>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

class Store
{
  public:
    void create(const std::string &name)
    {
        std::lock_guard<std::mutex> d(directory_);
        names_.insert(name);
        index(name);
    }
    void reindex()
    {
        std::lock_guard<std::mutex> i(index_);
        words_.clear();
        log("reindex");
    }
    void rollback()
    {
#ifdef FIXED
        std::vector<std::string> entries;
        {
            std::lock_guard<std::mutex> j(journal_);
            entries.swap(entries_);
        }
        for (const auto &entry : entries)
            undo(entry);
#else
        std::lock_guard<std::mutex> j(journal_);
        while (!entries_.empty()) {
            undo(entries_.back());
            entries_.pop_back();
        }
#endif
    }
    size_t size()
    {
        std::lock_guard<std::mutex> d(directory_);
        return names_.size();
    }

  private:
    void index(const std::string &name)
    {
        std::lock_guard<std::mutex> i(index_); // culprit
        words_.insert(name.substr(0, 1));
    }
    void log(const std::string &what)
    {
        std::lock_guard<std::mutex> j(journal_); // culprit
        entries_.push_back(what);
    }
    void undo(const std::string &what)
    {
        std::lock_guard<std::mutex> d(directory_); // culprit
        names_.erase(what);
    }
    std::mutex directory_, index_, journal_;
    std::set<std::string> names_, words_;
    std::vector<std::string> entries_{ "b" };
};

int main()
{
    Store store;
    std::thread creator([&] { store.create("a"); });
    std::thread indexer([&] { store.reindex(); });
    std::thread recovery([&] { store.rollback(); });
    creator.join();
    indexer.join();
    recovery.join();
    std::printf("%zu\n", store.size());
    return 0;
}
