#include "comboost/pool.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <thread>

#include "comboost/sharing.hpp"
#include "comboost/system.hpp"

namespace comboost {
namespace {

// Waiting threads spin for so long before they sleep: a few times what it costs to be woken.
constexpr Clock::duration kSpin = std::chrono::microseconds(100);

constexpr int kSlots = 16;  // loops that are shared at once; others run alone

template <class Condition>
bool comes_true_soon(Condition&& condition) {
    if (condition()) return true;
    const Clock::time_point end = Clock::now() + kSpin;
    do
        for (int k = 0; k < 16; ++k) {
            if (condition()) return true;
            relax();
        }
    while (Clock::now() < end);
    return false;
}

// Which of the loops of a slot is open, how many threads may still join it and which chunk is next, in one word: a
// thread that changes it has claimed a chunk of that very loop.
struct Ticket {
    static constexpr int kNextBits = 22, kSeatBits = 10;
    static constexpr std::uint64_t kClosed = (std::uint64_t{1} << kNextBits) - 1;  // no loop has so many chunks
    static constexpr std::uint64_t kMostSeats = (std::uint64_t{1} << kSeatBits) - 1;
    static_assert(kMostChunks + kMostSeats < kClosed);

    std::uint64_t loop, seats, next;

    static Ticket from(std::uint64_t word) {
        return {word >> (kNextBits + kSeatBits), (word >> kNextBits) & kMostSeats, word & kClosed};
    }
    std::uint64_t word() const { return (((loop << kSeatBits) | seats) << kNextBits) | next; }
};

}  // namespace

// Where a loop is put up for others to join. Slots are never freed: a thread that comes late finds a closed one.
class alignas(128) Slot {
  public:
    bool take() { return !taken_.load(std::memory_order_relaxed) && !taken_.exchange(true, std::memory_order_acquire); }
    void give_back() { taken_.store(false, std::memory_order_release); }

    // Fields change only while the slot is closed, so they are those of any ticket that can still be changed.
    void open(std::size_t n_chunks, std::size_t seats, TakePart take_part, const void* loop) {
        n_chunks_.store(n_chunks, std::memory_order_release);
        take_part_.store(take_part, std::memory_order_release);
        loop_.store(loop, std::memory_order_release);
        n_done_.store(0, std::memory_order_relaxed);
        help_.store(0, std::memory_order_relaxed);
        caller_sleeps_.store(false, std::memory_order_relaxed);
        const Ticket closed = Ticket::from(ticket_.load(std::memory_order_relaxed));
        ticket_.store(Ticket{closed.loop + 1, seats, 0}.word(), std::memory_order_release);
    }

    void close() {
        const Ticket open = Ticket::from(ticket_.load(std::memory_order_relaxed));
        ticket_.store(Ticket{open.loop, 0, Ticket::kClosed}.word(), std::memory_order_release);
    }

    // Takes part in the loop, if there is one with a seat and a chunk left.
    bool help() {
        std::uint64_t word = ticket_.load(std::memory_order_acquire);
        for (;;) {
            const Ticket ticket = Ticket::from(word);
            const std::size_t n_chunks = n_chunks_.load(std::memory_order_acquire);
            const TakePart take_part = take_part_.load(std::memory_order_acquire);
            const void* loop = loop_.load(std::memory_order_acquire);
            if (ticket.seats == 0 || ticket.next >= n_chunks) return false;
            const Ticket joined{ticket.loop, ticket.seats - 1, ticket.next + 1};
            if (!ticket_.compare_exchange_weak(word, joined.word(), std::memory_order_acq_rel,
                                               std::memory_order_acquire))
                continue;
            Claims claims(*this, n_chunks, ticket.next);
            const Clock::duration before = cpu_time();
            take_part(loop, claims);
            leave(claims.n_claimed(), cpu_time() - before);
            return true;
        }
    }

    // The next chunk, for a thread that takes part: the loop stays open until it leaves.
    std::size_t claim() { return Ticket::from(ticket_.fetch_add(1, std::memory_order_acq_rel)).next; }

    // Waits until others have done so many chunks, which they have claimed.
    void wait_for(std::size_t n_chunks) {
        if (comes_true_soon([&] { return n_done_.load(std::memory_order_acquire) == n_chunks; })) return;
        caller_sleeps_.store(true);
        for (std::uint32_t n_done; (n_done = n_done_.load()) != n_chunks;) n_done_.wait(n_done);
    }

    // CPU time of the others, once they are done.
    Clock::duration help_given() const { return Clock::duration(help_.load(std::memory_order_relaxed)); }

  private:
    void leave(std::size_t n_claimed, Clock::duration spent) {
        help_.fetch_add(spent.count(), std::memory_order_relaxed);
        n_done_.fetch_add(static_cast<std::uint32_t>(n_claimed));
        if (caller_sleeps_.load()) n_done_.notify_one();
    }

    std::atomic<std::uint64_t> ticket_ = Ticket{0, 0, Ticket::kClosed}.word();
    std::atomic<std::size_t> n_chunks_ = 0;
    std::atomic<TakePart> take_part_ = nullptr;
    std::atomic<const void*> loop_ = nullptr;
    std::atomic<std::uint32_t> n_done_ = 0;  // chunks, by others than the caller
    std::atomic<Clock::rep> help_ = 0;
    std::atomic<bool> caller_sleeps_ = false;
    std::atomic<bool> taken_ = false;
};

Claims::Claims(Slot& slot, std::size_t n_chunks) : slot_(slot), n_chunks_(n_chunks) {}

Claims::Claims(Slot& slot, std::size_t n_chunks, std::size_t first)
    : slot_(slot), n_chunks_(n_chunks), chunk_(first), is_ahead_(true) {}

bool Claims::next() {
    if (!is_ahead_) chunk_ = slot_.claim();
    is_ahead_ = false;
    if (chunk_ >= n_chunks_) return false;
    ++n_claimed_;
    return true;
}

namespace {

// Threads that are made when they are needed, and slots for loops. Never freed: its threads end with the process.
class Pool {
  public:
    // A free slot for a loop; null if there is none.
    Slot* take_slot() {
        for (Slot& slot : slots_)
            if (slot.take()) return &slot;
        return nullptr;
    }

    // Requests help with a loop that was opened: from threads that are awake, and from others if it is large.
    void call(int n_wanted, bool is_large) {
        n_wanted_ += n_wanted;
        if (is_large) grow(n_wanted_);
        n_calls_.fetch_add(1);
        if (!is_large) return;
        const int n_to_wake = std::min(n_wanted - n_spinning_.load(), n_sleeping_.load());
        for (int k = 0; k < n_to_wake; ++k) n_calls_.notify_one();
    }

    void dismiss(int n_wanted) { n_wanted_ -= n_wanted; }

  private:
    // Makes threads until there are so many, unless another thread is about to or there can be no more.
    void grow(int n_threads) {
        if (n_threads_ >= n_threads || is_growing_.exchange(true)) return;
        const WithoutSignals theirs;
        try {
            for (; n_threads_ < n_threads; ++n_threads_) std::thread([this] { work(); }).detach();
        } catch (const std::exception&) {  // of the system, or of memory; then those that there are have to do
        }
        is_growing_ = false;
    }

    void work() {
        for (;;) {
            const std::uint32_t n_calls = n_calls_.load();
            if (std::any_of(slots_.begin(), slots_.end(), [](Slot& slot) { return slot.help(); })) continue;
            ++n_spinning_;
            const bool is_called = comes_true_soon([&] { return n_calls_.load() != n_calls; });
            --n_spinning_;
            if (is_called) continue;
            ++n_sleeping_;
            n_calls_.wait(n_calls);
            --n_sleeping_;
        }
    }

    std::array<Slot, kSlots> slots_;
    std::atomic<std::uint32_t> n_calls_ = 0;
    std::atomic<int> n_wanted_ = 0, n_threads_ = 0, n_spinning_ = 0, n_sleeping_ = 0;
    std::atomic<bool> is_growing_ = false;
};

std::atomic<Pool*> the_pool = nullptr;

thread_local SharingPolicy policy;

// A forked child has none of its parent's threads, and may find their pool in any state: it makes another, and what
// was lost by sharing with the old one says nothing about the new.
const int registered = at_fork_in_child([] {
    the_pool = nullptr;
    policy = SharingPolicy{};
});

Pool& pool() {
    (void)registered;
    Pool* found = the_pool;
    if (found != nullptr) return *found;
    auto* made = new Pool;
    if (the_pool.compare_exchange_strong(found, made)) return *made;
    delete made;
    return *found;
}

void take_part_alone(std::size_t n_chunks, TakePart take_part, const void* loop) {
    Slot slot;
    slot.open(n_chunks, 0, take_part, loop);
    Claims claims(slot, n_chunks);
    take_part(loop, claims);
}

}  // namespace

bool works_alone() { return policy.works_alone(); }

void share(std::size_t n_chunks, bool is_large, int n_threads, TakePart take_part, const void* loop) {
    Pool& pool = comboost::pool();
    Slot* slot = pool.take_slot();
    if (slot == nullptr) return take_part_alone(n_chunks, take_part, loop);
    const auto seats = std::min<std::size_t>({n_chunks, static_cast<std::size_t>(n_threads), Ticket::kMostSeats}) - 1;
    const Clock::time_point begin = Clock::now();
    slot->open(n_chunks, seats, take_part, loop);
    pool.call(static_cast<int>(seats), is_large);

    Claims claims(*slot, n_chunks);
    const Clock::duration before = cpu_time();
    take_part(loop, claims);
    const Clock::duration own = cpu_time() - before;
    if (the_pool != &pool) throw std::runtime_error("the process was forked within a loop, whose threads are gone");
    slot->wait_for(n_chunks - claims.n_claimed());

    const Clock::time_point end = Clock::now();
    policy.record(own + slot->help_given(), end - begin, end);
    slot->close();
    slot->give_back();
    pool.dismiss(static_cast<int>(seats));
}

}  // namespace comboost
