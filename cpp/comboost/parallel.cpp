#include "comboost/parallel.hpp"

#include <omp.h>

namespace comboost {
namespace {

constexpr std::size_t kChunkWork = 1 << 12;   // some microseconds, fifty times what a claim takes
constexpr std::size_t kChunksPerThread = 16;  // at most so much of a loop is left to the last thread

}  // namespace

int available_threads(int requested) { return std::max(1, std::min(requested, omp_get_max_threads())); }

std::size_t tasks_per_chunk(std::size_t n_tasks, std::size_t work, int n_threads) {
    const std::size_t updates = std::max<std::size_t>(1, work / n_tasks);
    const std::size_t fair = n_tasks / (kChunksPerThread * static_cast<std::size_t>(n_threads));
    return std::max<std::size_t>({1, std::min(kChunkWork / updates, fair), n_tasks / kMostChunks + 1});
}

}  // namespace comboost
