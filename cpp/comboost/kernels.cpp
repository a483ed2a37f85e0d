#include "comboost/kernels.hpp"

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

bool wide_vectors_allowed = true;

}  // namespace

const Kernels& kernels() {
#ifdef COMBOOST_AVX2
    static const bool is_wide = has_avx2();
    if (is_wide && wide_vectors_allowed) return avx2::table;
#endif
    return baseline::table;
}

void allow_wide_vectors(bool allowed) { wide_vectors_allowed = allowed; }

}  // namespace comboost
