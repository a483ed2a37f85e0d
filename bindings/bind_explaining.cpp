#include "checked_forest.hpp"
#include "comboost/explaining.hpp"

namespace comboost_python {
namespace {

using OutContributions = Array<double, nb::ndim<3>, nb::c_contig>;  // (n_rows, n_features, n_classes)

void require_covers(const CheckedForest& forest) { require(!forest.get().covers.empty(), "the trees have no covers"); }

template <class T>
void explain(const Values<T>& values, const CheckedForest& forest, int n_threads,
             const OutContributions& contributions) {
    require_covers(forest);
    require(values.shape(1) == forest.n_features(), "the values and the trees differ in their features");
    require(contributions.shape(0) == values.shape(0) && contributions.shape(1) == values.shape(1) &&
                contributions.shape(2) == forest.n_classes(),
            "contributions must be (n_rows, n_features, n_classes)");
    comboost::explain(matrix_of(values), forest.get(), forest.n_classes(), n_threads, span_of(contributions));
}

void expected_scores(const CheckedForest& forest, const OutVector<double>& scores) {
    require_covers(forest);
    require(scores.size() == forest.n_classes(), "scores must have one entry per class");
    comboost::expected_scores(forest.get(), span_of(scores));
}

template <class T>
void bind_explain(nb::module_& m) {
    m.def("explain", &explain<T>, "values"_a.noconvert(), "forest"_a, "n_threads"_a, "contributions"_a.noconvert(),
          nb::call_guard<WithoutPython>(), "Write what every feature that trees use adds to the scores of every row.");
}

}  // namespace

void bind_explaining(nb::module_& m) {
    bind_explain<double>(m);
    bind_explain<float>(m);
    m.def("expected_scores", &expected_scores, "forest"_a, "scores"_a.noconvert(), nb::call_guard<WithoutPython>(),
          "Write the mean score of every class over the training rows.");
}

}  // namespace comboost_python
