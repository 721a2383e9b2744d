// A sampler reads a sensor in a thread of its own; who asks for the average gets that of the samples so far.
//
// Bug: the thread is started by a member that is declared before the samples and their lock's user, so that it may
// sample before these members have their first values, which come over what it has put down.
// Shows as: an exit status of 1: fewer samples than were taken.
// FIXED: the thread is the last member.
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

class sensor
{
  public:
    int read()
    {
        std::lock_guard<std::mutex> hold(mutex_);
        return ++value_;
    }

  private:
    std::mutex mutex_;
    int value_ = 0;
};

class limits
{
  public:
    explicit limits(sensor &from)
    {
        lowest_ = from.read(); // culprit
        highest_ = lowest_ + 100;
    }

    bool within(int value) const
    {
        return lowest_ <= value && value <= highest_;
    }

  private:
    int lowest_, highest_;
};

class sampler
{
  public:
    sampler(sensor &from, int wanted)
        :
#ifndef FIXED
          thread_([this, &from, wanted] { sample(from, wanted); }), // culprit
#endif
          limits_(from)
#ifdef FIXED
          ,
          thread_([this, &from, wanted] { sample(from, wanted); })
#endif
    {
    }

    int finish()
    {
        thread_.join();
        std::lock_guard<std::mutex> hold(mutex_);
        return count_;
    }

  private:
    void sample(sensor &from, int wanted)
    {
        for (int i = 0; i < wanted; i++) {
            int value = from.read(); // culprit
            std::lock_guard<std::mutex> hold(mutex_);
            if (limits_.within(value)) {
                sum_ += value;
                ++count_;
            }
        }
    }

    std::mutex mutex_;
#ifndef FIXED
    std::thread thread_;
#endif
    limits limits_;
    int sum_ = 0, count_ = 0;
#ifdef FIXED
    std::thread thread_;
#endif
};

int main()
{
    sensor temperature;
    sampler sampler(temperature, 4);
    int count = sampler.finish();
    std::printf("%d samples\n", count);
    return count == 4 ? 0 : 1;
}
