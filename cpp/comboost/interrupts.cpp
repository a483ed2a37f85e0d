#include "comboost/interrupts.hpp"

#include <utility>

namespace comboost {
namespace {

using Clock = std::chrono::steady_clock;

std::atomic<InterruptHook> the_hook = nullptr;
std::atomic<Clock::duration> the_interval = Clock::duration::zero();

thread_local const std::atomic<bool>* others_failed = nullptr;
thread_local Clock::time_point last_polled{};

}  // namespace

void set_interrupt_hook(InterruptHook hook, std::chrono::nanoseconds interval) {
    the_interval = std::chrono::duration_cast<Clock::duration>(interval);
    the_hook = hook;
}

SharedFailure::SharedFailure(const std::atomic<bool>* failed) : outer_(std::exchange(others_failed, failed)) {}

SharedFailure::~SharedFailure() { others_failed = outer_; }

void poll_interrupts() {
    if (others_failed != nullptr && others_failed->load(std::memory_order_relaxed)) throw Abandoned{};
    const InterruptHook hook = the_hook.load(std::memory_order_relaxed);
    if (hook == nullptr) return;
    const Clock::time_point now = Clock::now();
    if (now - last_polled < the_interval.load(std::memory_order_relaxed)) return;
    last_polled = now;
    const SharedFailure none(nullptr);  // the hook may run anything, even calls like this one
    hook();
}

}  // namespace comboost
