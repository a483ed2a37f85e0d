#include <nanobind/stl/optional.h>

#include "arrays.hpp"
#include "comboost/validating.hpp"

namespace comboost_python {
namespace {

double balanced_log_loss(const Array<const double, nb::ndim<2>, nb::c_contig>& scores,
                         const Vector<comboost::Label>& labels, const std::optional<Vector<comboost::Weight>>& weights,
                         double scale, int n_threads) {
    require(labels.size() == scores.shape(0) && (!weights || weights->size() == labels.size()),
            "labels, weights and scores differ in their number of rows");
    require_classes(span_of(labels), scores.shape(1), "a label is no class");
    return comboost::balanced_log_loss(scores.data(), span_of(labels), span_or_empty(weights), scores.shape(1), scale,
                                       n_threads);
}

}  // namespace

void bind_validating(nb::module_& m) {
    m.def("balanced_log_loss", &balanced_log_loss, "scores"_a.noconvert(), "labels"_a.noconvert(),
          "weights"_a.noconvert().none(), "scale"_a, "n_threads"_a, nb::call_guard<WithoutPython>(),
          "The class-balanced log-loss of the softmax of scale · scores.");
}

}  // namespace comboost_python
