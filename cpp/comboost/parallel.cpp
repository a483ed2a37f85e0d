#include "comboost/parallel.hpp"

#include <omp.h>
#include <pthread.h>

namespace comboost {
namespace {

// libgomp hangs in a child that was forked after its parent had used threads.
bool forked = false;
const int registered = pthread_atfork(nullptr, nullptr, [] { forked = true; });

}  // namespace

int available_threads(int requested) {
    (void)registered;
    if (forked) return 1;
    return std::max(1, std::min(requested, omp_get_max_threads()));
}

}  // namespace comboost
