// Votes that are counted by std::async, each task for some of the ballots.
//
// Bug: a task reads the count of a party in one section and writes it in another one.
// Shows as: a failed assertion: votes are missing.
// FIXED: one section.
#include <array>
#include <cassert>
#include <future>
#include <mutex>
#include <vector>

class Board
{
  public:
    int of(int party)
    {
        std::lock_guard<std::mutex> lock(mutex_); // culprit
        return votes_[party];
    }
    void set(int party, int votes)
    {
        std::lock_guard<std::mutex> lock(mutex_); // culprit
        votes_[party] = votes;
    }
    void add(int party)
    {
        std::lock_guard<std::mutex> lock(mutex_);
        votes_[party]++;
    }

  private:
    std::mutex mutex_;
    std::array<int, 3> votes_{};
};

static Board board;

static int count(std::vector<int> ballots)
{
    for (int party : ballots)
#ifdef FIXED
        board.add(party);
#else
        board.set(party, board.of(party) + 1); // culprit
#endif
    return (int)ballots.size();
}

int main()
{
    std::vector<std::future<int>> tasks;
    tasks.push_back(std::async(std::launch::async, count, std::vector<int>{ 0, 1, 1 }));
    tasks.push_back(std::async(std::launch::async, count, std::vector<int>{ 1, 2 }));
    int all = 0;
    for (auto &task : tasks)
        all += task.get();
    assert(board.of(0) + board.of(1) + board.of(2) == all);
}
