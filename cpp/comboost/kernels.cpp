#include "comboost/kernels.hpp"

#include <atomic>

#include "comboost/system.hpp"

namespace comboost {

namespace baseline {
extern const Kernels table;
}
#ifdef COMBOOST_AVX2
namespace avx2 {
extern const Kernels table;
}
#endif

namespace {

std::atomic<bool> wide_vectors_allowed = true;  // any thread may read it while a test changes it

}  // namespace

const Kernels& kernels() {
#ifdef COMBOOST_AVX2
    static const bool is_wide = has_avx2();
    if (is_wide && wide_vectors_allowed.load(std::memory_order_relaxed)) return avx2::table;
#endif
    return baseline::table;
}

void allow_wide_vectors(bool allowed) { wide_vectors_allowed.store(allowed, std::memory_order_relaxed); }

}  // namespace comboost
