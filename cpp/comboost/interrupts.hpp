// Interrupt polls: a long call checks now and then whether it was interrupted, and ends with an exception.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>

namespace comboost {

// Called now and then on every working thread; throws to end the call. Null, as at first, is never called.
using InterruptHook = void (*)();

// A thread calls the hook at most once in an interval.
void set_interrupt_hook(InterruptHook hook, std::chrono::nanoseconds interval);

// Throws if the call was interrupted, or if another of its threads has failed.
void poll_interrupts();

// What poll_interrupts() throws if another thread has failed, whose exception is the one that counts.
struct Abandoned {};

// While it lives, poll_interrupts() throws on this thread as soon as `failed` is set, unless that is null.
class SharedFailure {
  public:
    explicit SharedFailure(const std::atomic<bool>* failed);
    ~SharedFailure();
    SharedFailure(const SharedFailure&) = delete;
    SharedFailure& operator=(const SharedFailure&) = delete;

  private:
    const std::atomic<bool>* outer_;
};

// Elementary updates between two polls: about a millisecond, a thousand times what a poll takes.
inline constexpr std::size_t kUpdatesPerPoll = 1 << 20;

// Polls whenever a loop has done enough updates; a loop that does fewer never polls.
class InterruptPoll {
  public:
    void after(std::size_t updates) {
        done_ += updates;
        if (done_ < kUpdatesPerPoll) return;
        done_ = 0;
        poll_interrupts();
    }

  private:
    std::size_t done_ = 0;
};

// body(from, to) for consecutive stretches of begin .. end - 1 on this thread, with a poll between any two.
template <class Body>
void for_each_stretch(std::size_t begin, std::size_t end, std::size_t updates_per_item, Body&& body) {
    const std::size_t step = std::max<std::size_t>(1, kUpdatesPerPoll / std::max<std::size_t>(1, updates_per_item));
    for (; end - begin > step; begin += step) {
        body(begin, begin + step);
        poll_interrupts();
    }
    body(begin, end);
}

}  // namespace comboost
