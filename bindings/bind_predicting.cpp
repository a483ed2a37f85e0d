#include <nanobind/stl/optional.h>

#include <array>

#include "arrays.hpp"
#include "checked_forest.hpp"
#include "comboost/predicting.hpp"

namespace comboost_python {
namespace {

using OutScores = Array<double, nb::ndim<2>, nb::c_contig>;

template <class T>
void add_votes(const Values<T>& values, bool missing, const CheckedForest& forest, std::size_t first, std::size_t last,
               int n_threads, const OutScores& scores) {
    require(scores.shape(0) == values.shape(0), "scores and values differ in their number of rows");
    require(values.shape(1) == forest.n_features(), "the values and the trees differ in their features");
    require(scores.shape(1) == forest.n_classes(), "the scores and the trees differ in their classes");
    require(first <= last && last <= forest.n_trees(), "the rounds asked for lie outside the model");
    comboost::add_votes(matrix_of(values), missing, forest.get(), first, last, forest.n_classes(), n_threads,
                        scores.data());
}

// A tree alone, checked here: what is made for a forest of one tree would take longer than its votes on a few rows.
template <class T>
void add_tree_votes(const Values<T>& values, bool missing, const NodeBytes& nodes, const SetBytes& sets,
                    const std::optional<LeafVotes>& votes, double weight, int n_threads, const OutScores& scores) {
    const std::size_t n_classes = scores.shape(1);
    require_n_classes(n_classes);
    require(scores.shape(0) == values.shape(0), "scores and values differ in their number of rows");
    require(!votes || (votes->shape(0) > 0 && votes->shape(1) == n_classes), "votes must be (n_leaves, n_classes)");
    const std::array offsets{std::int64_t{0}, static_cast<std::int64_t>(nodes.shape(0))};
    std::vector<comboost::Node> moved;  // what came over a wire may lie at any address
    if (reinterpret_cast<std::uintptr_t>(nodes.data()) % alignof(comboost::Node) != 0) {
        moved.resize(nodes.shape(0));
        std::memcpy(moved.data(), nodes.data(), nodes.nbytes());
    }
    const comboost::Forest forest{moved.empty() ? records_of<comboost::Node>(nodes) : moved,
                                  records_of<comboost::CodeSet>(sets),
                                  offsets,
                                  std::span(&weight, 1),
                                  votes ? span_of(*votes) : std::span<const float>{},
                                  {}};
    comboost::check_forest(forest, {values.shape(1), n_classes, {}});
    comboost::add_votes(matrix_of(values), missing, forest, 0, 1, n_classes, n_threads, scores.data());
}

void elect(const CodeColumns& codes, const CheckedForest& forest, int n_threads,
           const OutVector<comboost::Label>& elected) {
    require(elected.size() == codes.shape(1), "elected must have one entry per row");
    require(codes.shape(0) == forest.n_features(), "the codes and the trees differ in their features");
    comboost::elect(codes_of(codes), forest.get(), forest.n_classes(), n_threads, span_of(elected));
}

void count_elected(const Array<const double, nb::ndim<2>, nb::c_contig>& scores, const Vector<comboost::Label>& labels,
                   const std::optional<Vector<comboost::Weight>>& weights, int n_threads,
                   const Array<comboost::Sum, nb::ndim<2>, nb::c_contig>& counts) {
    const std::size_t n_classes = scores.shape(1);
    require(labels.size() == scores.shape(0) && (!weights || weights->size() == labels.size()),
            "labels, weights and scores differ in their number of rows");
    require(counts.shape(0) == n_classes && counts.shape(1) == n_classes, "counts must be (n_classes, n_classes)");
    require_classes(span_of(labels), n_classes, "a label is no class");
    comboost::count_elected(scores.data(), span_of(labels), span_or_empty(weights), n_classes, n_threads,
                            span_of(counts));
}

template <class T>
void bind_add_votes(nb::module_& m) {
    m.def("add_votes", &add_votes<T>, "values"_a.noconvert(), "missing"_a, "forest"_a, "first"_a, "last"_a,
          "n_threads"_a, "scores"_a.noconvert(), nb::call_guard<WithoutPython>(),
          "Adds the weighted votes of the trees first .. last - 1 to the scores.");
    m.def("add_tree_votes", &add_tree_votes<T>, "values"_a.noconvert(), "missing"_a, "nodes"_a.noconvert(),
          "sets"_a.noconvert(), "votes"_a.noconvert().none(), "weight"_a, "n_threads"_a, "scores"_a.noconvert(),
          nb::call_guard<WithoutPython>(), "Adds the weighted votes of one tree to the scores.");
}

}  // namespace

void bind_predicting(nb::module_& m) {
    bind_add_votes<double>(m);
    bind_add_votes<float>(m);
    m.def("elect", &elect, "codes"_a.noconvert(), "forest"_a, "n_threads"_a, "elected"_a.noconvert(),
          nb::call_guard<WithoutPython>(), "Writes the class with the most votes of all trees for binned rows.");
    m.def("count_elected", &count_elected, "scores"_a.noconvert(), "labels"_a.noconvert(),
          "weights"_a.noconvert().none(), "n_threads"_a, "counts"_a.noconvert(), nb::call_guard<WithoutPython>(),
          "Writes the weight by (truth, class with the most votes).");
}

}  // namespace comboost_python
