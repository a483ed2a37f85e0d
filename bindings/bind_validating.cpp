#include <nanobind/stl/optional.h>

#include "arrays.hpp"
#include "comboost/softmax.hpp"
#include "comboost/validating.hpp"

namespace comboost_python {
namespace {

double balanced_log_loss(const Array<const double, nb::ndim<2>, nb::c_contig>& scores,
                         const Vector<comboost::Label>& labels, const std::optional<Vector<comboost::Weight>>& weights,
                         double scale, int n_threads) {
    require(labels.size() == scores.shape(0) && (!weights || weights->size() == labels.size()),
            "labels, weights and scores differ in their number of rows");
    require_classes(span_of(labels), scores.shape(1), "a label is no class");
    return comboost::balanced_log_loss(span_of(scores), span_of(labels), span_or_empty(weights), scores.shape(1), scale,
                                       n_threads);
}

void softmax(const Array<const double, nb::ndim<2>, nb::c_contig>& scores, double factor,
             const std::optional<Vector<double>>& shift, int n_threads,
             const Array<double, nb::ndim<2>, nb::c_contig>& probabilities) {
    const std::size_t n_classes = scores.shape(1);
    require(probabilities.shape(0) == scores.shape(0) && probabilities.shape(1) == n_classes,
            "scores and probabilities differ in their shape");
    require(n_classes > 0 && (!shift || shift->size() == n_classes), "shift must have one entry per class");
    comboost::softmax(span_of(scores), n_classes, {factor, span_or_empty(shift)}, n_threads, span_of(probabilities));
}

}  // namespace

void bind_validating(nb::module_& m) {
    m.def("balanced_log_loss", &balanced_log_loss, "scores"_a.noconvert(), "labels"_a.noconvert(),
          "weights"_a.noconvert().none(), "scale"_a, "n_threads"_a, nb::call_guard<WithoutPython>(),
          "The class-balanced log-loss of the softmax of scale · scores.");
    m.def("softmax", &softmax, "scores"_a.noconvert(), "factor"_a, "shift"_a.noconvert().none(), "n_threads"_a,
          "probabilities"_a.noconvert(), nb::call_guard<WithoutPython>(),
          "The softmax of factor · scores + shift of every row; may be computed in place.");
}

}  // namespace comboost_python
