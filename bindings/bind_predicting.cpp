#include <nanobind/stl/optional.h>

#include <functional>

#include "arrays.hpp"
#include "comboost/predicting.hpp"

namespace comboost_python {
namespace {

using OutScores = Array<double, nb::ndim<2>, nb::c_contig>;

using LeafVotes = std::optional<Array<const float, nb::ndim<2>, nb::c_contig>>;

comboost::Forest forest_of(const NodeBytes& nodes, const SetBytes& sets, const Vector<std::int64_t>& offsets,
                           const Vector<double>& weights, const LeafVotes& votes, std::size_t n_classes,
                           std::size_t first, std::size_t last) {
    require(!votes || votes->shape(1) == n_classes, "the leaves' votes and the scores differ in their classes");
    require(offsets.size() == weights.size() + 1, "every tree needs a weight");
    require(first <= last && last <= weights.size(), "the rounds asked for lie outside the model");
    const auto starts = span_of(offsets).subspan(first, last - first + 1);
    require_starts(starts, nodes.shape(0));
    require(std::ranges::adjacent_find(starts, std::equal_to{}) == starts.end(), "every tree needs a node");
    return {records_of<comboost::Node>(nodes), records_of<comboost::CodeSet>(sets), span_of(offsets), span_of(weights),
            votes ? span_of(*votes) : std::span<const float>{}};
}

template <class T>
void add_votes(const Values<T>& values, bool missing, const NodeBytes& nodes, const SetBytes& sets,
               const Vector<std::int64_t>& offsets, const Vector<double>& weights, const LeafVotes& votes,
               std::size_t first, std::size_t last, int n_threads, const OutScores& scores) {
    require(scores.shape(0) == values.shape(0), "scores and values differ in their number of rows");
    const std::size_t n_classes = scores.shape(1);
    comboost::add_votes(matrix_of(values), missing,
                        forest_of(nodes, sets, offsets, weights, votes, n_classes, first, last), first, last, n_classes,
                        n_threads, scores.data());
}

void elect(const CodeColumns& codes, const NodeBytes& nodes, const SetBytes& sets, const Vector<std::int64_t>& offsets,
           const Vector<double>& weights, const LeafVotes& votes, std::size_t n_classes, int n_threads,
           const OutVector<comboost::Label>& elected) {
    require(elected.size() == codes.shape(1), "elected must have one entry per row");
    comboost::elect(codes_of(codes), forest_of(nodes, sets, offsets, weights, votes, n_classes, 0, weights.size()),
                    n_classes, n_threads, span_of(elected));
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
    m.def("add_votes", &add_votes<T>, "values"_a.noconvert(), "missing"_a, "nodes"_a.noconvert(), "sets"_a.noconvert(),
          "offsets"_a.noconvert(), "weights"_a.noconvert(), "votes"_a.noconvert().none(), "first"_a, "last"_a,
          "n_threads"_a, "scores"_a.noconvert(), nb::call_guard<nb::gil_scoped_release>(),
          "Adds the weighted votes of the trees first .. last - 1 to the scores.");
}

}  // namespace

void bind_predicting(nb::module_& m) {
    bind_add_votes<double>(m);
    bind_add_votes<float>(m);
    m.def("elect", &elect, "codes"_a.noconvert(), "nodes"_a.noconvert(), "sets"_a.noconvert(), "offsets"_a.noconvert(),
          "weights"_a.noconvert(), "votes"_a.noconvert().none(), "n_classes"_a, "n_threads"_a, "elected"_a.noconvert(),
          nb::call_guard<nb::gil_scoped_release>(),
          "Writes the class with the most votes of all trees for binned rows.");
    m.def("count_elected", &count_elected, "scores"_a.noconvert(), "labels"_a.noconvert(),
          "weights"_a.noconvert().none(), "n_threads"_a, "counts"_a.noconvert(),
          nb::call_guard<nb::gil_scoped_release>(), "Writes the weight by (truth, class with the most votes).");
}

}  // namespace comboost_python
