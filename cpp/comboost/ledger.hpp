// A ledger of what a thread gains and loses by sharing its loops: where sharing does not pay, it works alone.
#pragma once

#include <algorithm>
#include <chrono>

namespace comboost {

using Clock = std::chrono::steady_clock;

class Ledger {
  public:
    // Whether the thread makes up for lost time by working alone.
    bool rests() const { return until_ != Clock::time_point{} && Clock::now() < until_; }

    // A loop that took `shared`, and whose threads worked for `worked` together: so long it would take without help.
    // What is lost is made up for by a rest of many times as long, so little of all time is lost; the longer sharing
    // has not paid, the longer the rests.
    void enter(Clock::duration worked, Clock::duration shared, Clock::time_point now) {
        credit_ += worked - shared;
        if (credit_ >= kMostCredit) {
            credit_ = kMostCredit;
            patience_ = kPatience;
        }
        if (credit_ >= Clock::duration::zero()) return;
        until_ = now + std::min(kLongestRest, -credit_ * patience_);
        credit_ = Clock::duration::zero();
        patience_ = std::min(2 * patience_, kMostPatience);
    }

  private:
    static constexpr int kPatience = 20, kMostPatience = 80;
    static constexpr Clock::duration kMostCredit = std::chrono::milliseconds(1);  // old gains do not excuse new losses
    static constexpr Clock::duration kLongestRest = std::chrono::milliseconds(100);

    Clock::duration credit_{};
    Clock::time_point until_{};
    int patience_ = kPatience;
};

}  // namespace comboost
