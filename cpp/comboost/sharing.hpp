// Sharing policy: a thread that lost time by sharing its loops works alone for a while.
#pragma once

#include <algorithm>
#include <chrono>

namespace comboost {

using Clock = std::chrono::steady_clock;

class SharingPolicy {
  public:
    // Whether the thread works alone now, to make up for lost time.
    bool works_alone() const { return until_ != Clock::time_point{} && Clock::now() < until_; }

    // Records a loop that took `shared` and whose threads worked for `worked` together, the time that it would take
    // without help. After a loss the thread works alone for many times as long, so that little of all time is lost; the
    // longer sharing has not paid, the longer these pauses.
    void record(Clock::duration worked, Clock::duration shared, Clock::time_point now) {
        credit_ += worked - shared;
        if (credit_ >= kMaxCredit) {
            credit_ = kMaxCredit;
            pause_factor_ = kMinPauseFactor;
        }
        if (credit_ >= Clock::duration::zero()) return;
        until_ = now + std::min(kLongestPause, -credit_ * pause_factor_);
        credit_ = Clock::duration::zero();
        pause_factor_ = std::min(2 * pause_factor_, kMaxPauseFactor);
    }

  private:
    static constexpr int kMinPauseFactor = 20, kMaxPauseFactor = 80;
    static constexpr Clock::duration kMaxCredit = std::chrono::milliseconds(1);  // old gains do not excuse new losses
    static constexpr Clock::duration kLongestPause = std::chrono::milliseconds(100);

    Clock::duration credit_{};
    Clock::time_point until_{};
    int pause_factor_ = kMinPauseFactor;
};

}  // namespace comboost
