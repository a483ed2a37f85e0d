#include "arrays.hpp"
#include "comboost/parallel.hpp"

namespace comboost_python {

void bind_parallel(nb::module_& m) {
    m.def("available_threads", &comboost::available_threads, "requested"_a,
          "Threads that a request gets here: limited by OpenMP, and 1 in a forked child.");
}

}  // namespace comboost_python
