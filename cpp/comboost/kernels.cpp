#include "comboost/kernels.hpp"

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

bool wide_vectors_allowed = true;

}  // namespace

const Kernels& kernels() {
#ifdef COMBOOST_AVX2
    static const bool has_avx2 = __builtin_cpu_supports("avx2");
    if (has_avx2 && wide_vectors_allowed) return avx2::table;
#endif
    return baseline::table;
}

void allow_wide_vectors(bool allowed) { wide_vectors_allowed = allowed; }

}  // namespace comboost
