// A pool of threads that help with loops: a running thread claims the next chunk, and the caller never waits for a
// thread that has not begun one. See docs/decisions/0008-threads.md.
#pragma once

#include <cstddef>
#include <memory>

namespace comboost {

class Slot;

// The chunks of a loop that one of its threads gets, one after the other.
class Claims {
  public:
    Claims(Slot& slot, std::size_t n_chunks);
    Claims(Slot& slot, std::size_t n_chunks, std::size_t first);  // a chunk that is claimed already

    // Whether there was another chunk, which is now this thread's.
    bool next();

    std::size_t chunk() const { return chunk_; }
    std::size_t n_claimed() const { return n_claimed_; }

  private:
    Slot& slot_;
    const std::size_t n_chunks_;
    std::size_t chunk_ = 0, n_claimed_ = 0;
    bool is_ahead_ = false;  // whether chunk_ is claimed, but not handed out
};

inline constexpr std::size_t kMostChunks = 1 << 20;  // of a loop

// What a thread does that takes part in a loop: it claims chunks until there are no more. Must not throw.
using TakePart = void (*)(const void* loop, Claims& claims);

// Lets this thread and up to `n_threads - 1` others take part, and returns when all chunks are done. Only for a large
// loop others are made or woken.
void share(std::size_t n_chunks, bool is_large, int n_threads, TakePart take_part, const void* loop);

template <class Loop>
void share(std::size_t n_chunks, bool is_large, int n_threads, const Loop& loop) {
    share(
        n_chunks, is_large, n_threads,
        [](const void* given, Claims& claims) { (*static_cast<const Loop*>(given))(claims); }, std::addressof(loop));
}

// Whether this thread has lost time by sharing, and makes up for that by working alone for a while.
bool works_alone();

}  // namespace comboost
