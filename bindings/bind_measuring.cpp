#include "arrays.hpp"
#include "comboost/measuring.hpp"

namespace comboost_python {
namespace {

using Square = Array<const double, nb::ndim<2>, nb::c_contig>;
using OutSquare = Array<double, nb::ndim<2>, nb::c_contig>;

comboost::Counts counts_of(const Square& counts) {
    require(counts.shape(0) == counts.shape(1), "counts must be (n_classes, n_classes)");
    return {span_of(counts), counts.shape(0)};
}

void find_confusion(const Square& counts, const OutSquare& confusion) {
    require(confusion.shape(0) == counts.shape(0) && confusion.shape(1) == counts.shape(1),
            "the confusion and the counts differ in their shapes");
    comboost::find_confusion(counts_of(counts), span_of(confusion));
}

double mean_chance_above(const Values<double>& scores, const Vector<comboost::Label>& labels, int n_threads) {
    require(labels.size() == scores.shape(0), "labels and scores differ in their number of rows");
    require_classes(span_of(labels), scores.shape(1), "a label is no class");
    return comboost::mean_chance_above(matrix_of(scores), span_of(labels), n_threads);
}

template <double (*Measure)(const comboost::Counts&)>
void bind_measure(nb::module_& m, const char* name, const char* text) {
    m.def(name, [](const Square& counts) { return Measure(counts_of(counts)); }, "counts"_a.noconvert(), text);
}

}  // namespace

void bind_measuring(nb::module_& m) {
    bind_measure<comboost::geometric_mean_recall>(m, "geometric_mean_recall", "The geometric mean of the recalls.");
    bind_measure<comboost::mean_recall>(m, "mean_recall", "The mean of the recalls.");
    bind_measure<comboost::min_recall>(m, "min_recall", "The smallest recall.");
    bind_measure<comboost::error_rate>(m, "error_rate", "Fraction of the weight that is predicted wrong.");
    bind_measure<comboost::accuracy>(m, "accuracy", "Fraction of the weight that is predicted right.");
    m.def("find_confusion", &find_confusion, "counts"_a.noconvert(), "confusion"_a.noconvert(),
          "Write the fractions of the classes that are predicted as others.");
    m.def("mean_chance_above", &mean_chance_above, "scores"_a.noconvert(), "labels"_a.noconvert(), "n_threads"_a,
          nb::call_guard<WithoutPython>(),
          "Probability that a row of one class has a higher score for it than a row of another class.");
}

}  // namespace comboost_python
