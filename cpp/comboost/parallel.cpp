#include "comboost/parallel.hpp"

#ifdef COMBOOST_OPENMP
#include <omp.h>
#else
#include <cstdlib>
#include <thread>
#endif

namespace comboost {
namespace {

constexpr std::size_t kChunkWork = 1 << 12;   // some microseconds, fifty times what a claim takes
constexpr std::size_t kChunksPerThread = 16;  // at most so much of a loop is left to the last thread

#ifdef COMBOOST_OPENMP

constexpr bool kAsksOpenMP = true;

int most_threads() { return omp_get_max_threads(); }

#else

constexpr bool kAsksOpenMP = false;

// As OpenMP does, when the library is loaded: the environment counts as it is then.
const int threads_at_first = [] {
    constexpr long kMany = 1 << 20;
    const char* said = std::getenv("OMP_NUM_THREADS");
    const long wanted = said == nullptr ? 0 : std::strtol(said, nullptr, 10);  // the first of a list of levels
    return static_cast<int>(
        std::min(kMany, wanted > 0 ? wanted : static_cast<long>(std::thread::hardware_concurrency())));
}();

int most_threads() { return threads_at_first; }

#endif

}  // namespace

const bool kHasOpenMP = kAsksOpenMP;

int available_threads(int requested) { return std::max(1, std::min(requested, most_threads())); }

std::size_t tasks_per_chunk(std::size_t n_tasks, std::size_t work, int n_threads) {
    const std::size_t updates = std::max<std::size_t>(1, work / n_tasks);
    const std::size_t fair = n_tasks / (kChunksPerThread * static_cast<std::size_t>(n_threads));
    return std::max<std::size_t>({1, std::min(kChunkWork / updates, fair), n_tasks / kMostChunks + 1});
}

}  // namespace comboost
