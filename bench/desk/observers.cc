// A document that tells views of its changes; a view asks the document for its text.
//
// Bug: views are told while the document is locked; one that draws at that time holds its own lock and asks.
// Shows as: a deadlock.
// FIXED: views are told behind the unlock.
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace
{

class Document
{
  public:
    using Observer = std::function<void()>;

    void observe(Observer observer)
    {
        observers_.push_back(std::move(observer));
    }

    void insert(const std::string &text)
    {
        {
            std::lock_guard<std::mutex> guard(mutex_); /* culprit */
            text_ += text;
#ifndef FIXED
            tell();
#endif
        }
#ifdef FIXED
        tell();
#endif
    }

    std::string text() const
    {
        std::lock_guard<std::mutex> guard(mutex_); /* culprit */
        return text_;
    }

  private:
    void tell()
    {
        for (const auto &observer : observers_)
            observer();
    }

    mutable std::mutex mutex_;
    std::string text_;
    std::vector<Observer> observers_;
};

class View
{
  public:
    explicit View(Document &document) : document_(document)
    {
        document.observe([this] { invalidate(); });
    }

    void draw()
    {
        std::lock_guard<std::mutex> guard(mutex_); /* culprit */
        if (stale_)
            shown_ = document_.text();
        stale_ = false;
    }

  private:
    void invalidate()
    {
        std::lock_guard<std::mutex> guard(mutex_); /* culprit */
        stale_ = true;
    }

    Document &document_;
    std::mutex mutex_;
    bool stale_ = false;
    std::string shown_;
};

} // namespace

int main()
{
    Document document;
    View left(document), right(document);
    std::thread editor([&document] {
        for (const char *word : { "to", "be" })
            document.insert(word);
    });
    std::thread painter([&left, &right] {
        for (int i = 0; i < 2; i++) {
            left.draw();
            right.draw();
        }
    });
    editor.join();
    painter.join();
    return 0;
}
