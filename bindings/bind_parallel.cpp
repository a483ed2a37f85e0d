#include "arrays.hpp"
#include "comboost/kernels.hpp"
#include "comboost/parallel.hpp"

namespace comboost_python {

void bind_parallel(nb::module_& m) {
    m.def("available_threads", &comboost::available_threads, "requested"_a,
          "Threads that a request gets here: limited by OpenMP, and 1 in a forked child.");
    m.def("allow_wide_vectors", &comboost::allow_wide_vectors, "allowed"_a,
          "Whether the kernels may use wider vectors than every CPU has. The result is the same.");
}

}  // namespace comboost_python
