// Interrupts: how a long call learns that nobody waits for it any more, and ends with an exception.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>

namespace comboost {

// Asked now and then on every thread that works, and throws to end the call; null, as at first, is never asked.
using InterruptHook = void (*)();

// A thread asks the hook at most once in an interval.
void set_interrupt_hook(InterruptHook hook, std::chrono::nanoseconds interval);

// Throws if the call was interrupted, or if another of its threads has failed.
void look();

// What look() throws if another thread has failed, whose exception is the one that counts.
struct Abandoned {};

// While it lives, look() throws on this thread as soon as `failed` is set; null is never.
class SharedFailure {
  public:
    explicit SharedFailure(const std::atomic<bool>* failed);
    ~SharedFailure();
    SharedFailure(const SharedFailure&) = delete;
    SharedFailure& operator=(const SharedFailure&) = delete;

  private:
    const std::atomic<bool>* outer_;
};

// Elementary updates between two looks: about a millisecond, a thousand times what a look takes.
inline constexpr std::size_t kUpdatesPerLook = 1 << 20;

// Looks whenever a loop has done enough for that; a loop that does less never looks.
class Lookout {
  public:
    void after(std::size_t updates) {
        done_ += updates;
        if (done_ < kUpdatesPerLook) return;
        done_ = 0;
        look();
    }

  private:
    std::size_t done_ = 0;
};

// body(from, to) for consecutive stretches of begin .. end - 1 on this thread, with a look between any two.
template <class Body>
void for_each_stretch(std::size_t begin, std::size_t end, std::size_t updates_per_item, Body&& body) {
    const std::size_t step = std::max<std::size_t>(1, kUpdatesPerLook / std::max<std::size_t>(1, updates_per_item));
    for (; end - begin > step; begin += step) {
        body(begin, begin + step);
        look();
    }
    body(begin, end);
}

}  // namespace comboost
