// Threads: how many there are, and loops over tasks and blocks that give the same result for any number of them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>

#include "comboost/interrupts.hpp"
#include "comboost/pool.hpp"

namespace comboost {

// Threads that a request gets: no more than OpenMP would give here, which OMP_NUM_THREADS and threadpoolctl set. If the
// core is built without it, no more than OMP_NUM_THREADS says, or than there are processors.
int available_threads(int requested);

// Whether the core is built with OpenMP.
extern const bool kHasOpenMP;

// Below this many elementary updates a second thread costs more than it saves.
inline constexpr std::size_t kSerialWork = 1 << 15;

// Above this many, it is worth waking one that sleeps.
inline constexpr std::size_t kWakingWork = 1 << 17;

// Tasks that a thread takes at once: enough to be worth the claim, too few to make others wait at the end.
std::size_t tasks_per_chunk(std::size_t n_tasks, std::size_t work, int n_threads);

// body(task) for every task, with interrupt polls in between; no task is begun after one has failed. `work`
// estimates the elementary updates of all tasks together.
template <class Body>
void for_each_task(std::size_t n_tasks, std::size_t work, int n_threads, Body&& body) {
    const std::size_t updates = work / std::max<std::size_t>(1, n_tasks);
    if (n_threads <= 1 || n_tasks <= 1 || work < kSerialWork || works_alone()) {
        InterruptPoll poll;
        for (std::size_t task = 0; task < n_tasks; ++task) {
            body(task);
            poll.after(updates);
        }
        return;
    }
    const std::size_t step = tasks_per_chunk(n_tasks, work, n_threads);
    std::exception_ptr failure;  // an exception must not leave another thread
    std::atomic<bool> failed = false;
    const auto take_part = [&](Claims& claims) {
        const SharedFailure shared(&failed);
        InterruptPoll poll;
        while (claims.next()) {
            const std::size_t end = std::min(n_tasks, (claims.chunk() + 1) * step);
            for (std::size_t task = claims.chunk() * step; task < end; ++task) {
                if (failed.load(std::memory_order_relaxed)) break;
                try {
                    body(task);
                    poll.after(updates);
                } catch (...) {
                    if (!failed.exchange(true)) failure = std::current_exception();  // others only follow the first
                }
            }
        }
    };
    share((n_tasks + step - 1) / step, work >= kWakingWork, n_threads, take_part);
    if (failure) std::rethrow_exception(failure);
}

// The parts in which to add up what does not lie in blocks: one per thread.
inline std::size_t n_parts(std::size_t work, int n_threads) {
    return n_threads <= 1 || work < kSerialWork ? 1 : static_cast<std::size_t>(n_threads);
}

inline constexpr std::size_t kBlock = 4096;  // rows

inline std::size_t n_blocks(std::size_t n_rows) { return (n_rows + kBlock - 1) / kBlock; }

// body(begin, end) for consecutive blocks of rows; `work_per_row` as above.
template <class Body>
void for_each_block(std::size_t n_rows, std::size_t work_per_row, int n_threads, Body&& body) {
    for_each_task(n_blocks(n_rows), n_rows * work_per_row, n_threads,
                  [&](std::size_t block) { body(block * kBlock, std::min(n_rows, (block + 1) * kBlock)); });
}

}  // namespace comboost
