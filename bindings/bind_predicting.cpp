#include <nanobind/stl/optional.h>

#include <array>

#include "arrays.hpp"
#include "checked_forest.hpp"
#include "comboost/predicting.hpp"

namespace comboost_python {
namespace {

using OutScores = Array<double, nb::ndim<2>, nb::c_contig>;

template <class T>
void add_scores(const Values<T>& values, bool missing, const CheckedForest& forest, std::size_t first, std::size_t last,
                int n_threads, const OutScores& scores) {
    require(scores.shape(0) == values.shape(0), "scores and values differ in their number of rows");
    require(values.shape(1) == forest.n_features(), "the values and the trees differ in their features");
    require(scores.shape(1) == forest.n_classes(), "the scores and the trees differ in their classes");
    require(first <= last && last <= forest.n_trees(), "the requested rounds lie outside the model");
    comboost::add_scores(matrix_of(values), missing, forest.get(), first, last, forest.n_classes(), n_threads,
                         span_of(scores));
}

// A tree alone, checked here: to make a forest of one tree would take longer than to score a few rows.
template <class T>
void add_tree_scores(const Values<T>& values, bool missing, const NodeBytes& nodes, const SetBytes& sets,
                     const std::optional<LeafValues>& leaf_values, double weight, int n_threads,
                     const OutScores& scores) {
    const std::size_t n_classes = scores.shape(1);
    require_n_classes(n_classes);
    require(scores.shape(0) == values.shape(0), "scores and values differ in their number of rows");
    require(!leaf_values || (leaf_values->shape(0) > 0 && leaf_values->shape(1) == n_classes),
            "leaf_values must be (n_leaves, n_classes)");
    const std::array offsets{std::int64_t{0}, static_cast<std::int64_t>(nodes.shape(0))};
    std::vector<comboost::Node> moved;  // after a transfer it may lie at any address
    if (reinterpret_cast<std::uintptr_t>(nodes.data()) % alignof(comboost::Node) != 0) {
        moved.resize(nodes.shape(0));
        std::memcpy(moved.data(), nodes.data(), nodes.nbytes());
    }
    const comboost::Forest forest{moved.empty() ? records_of<comboost::Node>(nodes) : moved,
                                  records_of<comboost::CodeSet>(sets),
                                  offsets,
                                  std::span(&weight, 1),
                                  leaf_values ? span_of(*leaf_values) : std::span<const float>{},
                                  {}};
    comboost::check_forest(forest, {values.shape(1), n_classes, {}});
    comboost::add_scores(matrix_of(values), missing, forest, 0, 1, n_classes, n_threads, span_of(scores));
}

void predict_classes(const CodeColumns& codes, const CheckedForest& forest, int n_threads,
                     const OutVector<comboost::Label>& predicted) {
    require(predicted.size() == codes.shape(1), "predicted must have one entry per row");
    require(codes.shape(0) == forest.n_features(), "the codes and the trees differ in their features");
    comboost::predict_classes(codes_of(codes), forest.get(), forest.n_classes(), n_threads, span_of(predicted));
}

void count_predicted(const Array<const double, nb::ndim<2>, nb::c_contig>& scores,
                     const Vector<comboost::Label>& labels, const std::optional<Vector<comboost::Weight>>& weights,
                     int n_threads, const Array<comboost::Sum, nb::ndim<2>, nb::c_contig>& counts) {
    const std::size_t n_classes = scores.shape(1);
    require(labels.size() == scores.shape(0) && (!weights || weights->size() == labels.size()),
            "labels, weights and scores differ in their number of rows");
    require(counts.shape(0) == n_classes && counts.shape(1) == n_classes, "counts must be (n_classes, n_classes)");
    require_classes(span_of(labels), n_classes, "a label is no class");
    comboost::count_predicted(span_of(scores), span_of(labels), span_or_empty(weights), n_classes, n_threads,
                              span_of(counts));
}

template <class T>
void bind_add_scores(nb::module_& m) {
    m.def("add_scores", &add_scores<T>, "values"_a.noconvert(), "missing"_a, "forest"_a, "first"_a, "last"_a,
          "n_threads"_a, "scores"_a.noconvert(), nb::call_guard<WithoutPython>(),
          "Add the trees first .. last - 1 to the scores.");
    m.def("add_tree_scores", &add_tree_scores<T>, "values"_a.noconvert(), "missing"_a, "nodes"_a.noconvert(),
          "sets"_a.noconvert(), "leaf_values"_a.noconvert().none(), "weight"_a, "n_threads"_a, "scores"_a.noconvert(),
          nb::call_guard<WithoutPython>(), "Add one tree to the scores.");
}

}  // namespace

void bind_predicting(nb::module_& m) {
    bind_add_scores<double>(m);
    bind_add_scores<float>(m);
    m.def("predict_classes", &predict_classes, "codes"_a.noconvert(), "forest"_a, "n_threads"_a,
          "predicted"_a.noconvert(), nb::call_guard<WithoutPython>(),
          "Write the class with the highest score of all trees for binned rows.");
    m.def("count_predicted", &count_predicted, "scores"_a.noconvert(), "labels"_a.noconvert(),
          "weights"_a.noconvert().none(), "n_threads"_a, "counts"_a.noconvert(), nb::call_guard<WithoutPython>(),
          "Write the weight by (truth, class with the highest score).");
}

}  // namespace comboost_python
