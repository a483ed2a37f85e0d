#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "arrays.hpp"
#include "comboost/binning.hpp"

namespace comboost_python {
namespace {

using comboost::Weight;
using NewVector = Array<double, nb::ndim<1>>;
using CellBytes = Array<const std::uint8_t, nb::shape<-1, sizeof(comboost::Cell)>, nb::c_contig>;
using NewCells = Array<std::uint8_t, nb::shape<-1, sizeof(comboost::Cell)>>;
using NewEdges = std::tuple<NewVector, bool, bool>;

template <class T>
std::vector<NewEdges> find_edges(const Values<T>& values, const std::optional<Vector<Weight>>& weights,
                                 std::size_t max_bins, int n_threads) {
    require(!weights || weights->shape(0) == values.shape(0), "weights and values differ in their number of rows");
    require(values.shape(0) >= 1, "there must be a row");
    require(max_bins >= 2 && max_bins <= comboost::kMaxBins, "max_bins lies outside 2..255");
    std::vector<comboost::FeatureEdges> found;
    {
        WithoutPython release;
        found = comboost::find_edges(matrix_of(values), span_or_empty(weights), max_bins, n_threads);
    }
    std::vector<NewEdges> result;
    result.reserve(found.size());
    for (const auto& [edges, missing, infinite] : found)
        result.emplace_back(copy_records<double, double, nb::ndim<1>>(edges, {edges.size()}), missing, infinite);
    return result;
}

template <class T>
void encode(const Values<T>& values, const Vector<double>& edges, const Vector<std::int64_t>& starts,
            const Kinds& kinds, int n_threads, const Array<comboost::Code, nb::ndim<2>, nb::c_contig>& codes) {
    require(starts.size() == values.shape(1) + 1, "starts must have one entry more than there are features");
    require(kinds.size() == values.shape(1), "every feature needs a kind");
    require(codes.shape(0) == values.shape(1) && codes.shape(1) == values.shape(0),
            "codes must be (n_features, n_rows)");
    require_starts(span_of(starts), edges.size());
    for (std::size_t f = 0; f < kinds.size(); ++f)
        require(starts.data()[f + 1] - starts.data()[f] < std::int64_t{comboost::kMaxBins},
                "a feature has more edges than codes can tell apart");
    comboost::encode(matrix_of(values), span_of(edges), span_of(starts), kinds_of(kinds), n_threads, codes.data());
}

void check_intervals(const comboost::KeyIntervals& intervals) {
    const auto& [lows, highs, shifts, starts] = intervals;
    require(highs.size() == lows.size() && shifts.size() == lows.size(), "every interval needs a low, high and shift");
    require_starts(starts, lows.size());
    for (std::size_t f = 0; f + 1 < starts.size(); ++f) {
        for (auto i = static_cast<std::size_t>(starts[f]); i < static_cast<std::size_t>(starts[f + 1]); ++i) {
            require(lows[i] <= highs[i] && shifts[i] < 64,
                    "an interval ends before it starts, or its shift is over 63");
            require(static_cast<std::int64_t>(i) == starts[f] || highs[i - 1] < lows[i],
                    "the intervals of a feature must ascend and be disjoint");
            require(static_cast<std::int64_t>(i) == starts[f] || shifts[i - 1] != shifts[i] ||
                        highs[i - 1] >> shifts[i] < lows[i] >> shifts[i],
                    "no cell may belong to two intervals");
        }
    }
}

// A new array that owns the cells; nothing is copied.
NewCells new_cells(std::vector<comboost::Cell> cells) {
    cells.reserve(1);  // an array needs an address even without elements
    auto* owned = new std::vector<comboost::Cell>(std::move(cells));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<comboost::Cell>*>(p); });
    return NewCells(reinterpret_cast<std::uint8_t*>(owned->data()), {owned->size(), sizeof(comboost::Cell)}, owner);
}

template <class T>
NewCells count_cells(const Values<T>& values, const std::optional<Vector<Weight>>& weights,
                     const Vector<comboost::ValueKey>& lows, const Vector<comboost::ValueKey>& highs,
                     const Vector<std::uint8_t>& shifts, const Vector<std::int64_t>& starts, int n_threads) {
    require(!weights || weights->shape(0) == values.shape(0), "weights and values differ in their number of rows");
    require(starts.size() == values.shape(1) + 1, "starts must have one entry more than there are features");
    require(values.shape(1) <= comboost::Cell::kMostFeatures, "there are more features than cells can tell apart");
    const comboost::KeyIntervals intervals{span_of(lows), span_of(highs), span_of(shifts), span_of(starts)};
    std::vector<comboost::Cell> cells;
    {
        WithoutPython release;
        check_intervals(intervals);
        cells = comboost::count_cells(matrix_of(values), span_or_empty(weights), intervals, n_threads);
    }
    return new_cells(std::move(cells));
}

NewCells merge_cells(const std::vector<CellBytes>& sets) {
    std::vector<std::span<const comboost::Cell>> records;
    records.reserve(sets.size());
    for (const CellBytes& set : sets) records.push_back(records_of<comboost::Cell>(set));
    std::vector<comboost::Cell> merged;
    {
        WithoutPython release;
        merged = comboost::merge_cells(records);
    }
    return new_cells(std::move(merged));
}

template <class T>
void bind_dtype(nb::module_& m) {
    m.def("find_edges", &find_edges<T>, "values"_a.noconvert(), "weights"_a.noconvert().none(), "max_bins"_a,
          "n_threads"_a,
          "The bin edges of every column, at exact quantiles of the integer weights, and whether it has missing and "
          "infinite values.");
    m.def("encode", &encode<T>, "values"_a.noconvert(), "edges"_a.noconvert(), "starts"_a.noconvert(),
          "kinds"_a.noconvert(), "n_threads"_a, "codes"_a.noconvert(), nb::call_guard<WithoutPython>(),
          "Writes the bin of every value, feature by feature.");
    m.def("count_cells", &count_cells<T>, "values"_a.noconvert(), "weights"_a.noconvert().none(), "lows"_a.noconvert(),
          "highs"_a.noconvert(), "shifts"_a.noconvert(), "starts"_a.noconvert(), "n_threads"_a,
          "The cells of intervals of keys that hold rows, as records: smallest and largest key seen, weight, rows, and "
          "feature and shift in one number.");
}

}  // namespace

void bind_binning(nb::module_& m) {
    bind_dtype<double>(m);
    bind_dtype<float>(m);
    m.def("merge_cells", &merge_cells, "sets"_a,
          "Sets of cells in the order of features and keys as one; those that are the same cell add up.");
}

}  // namespace comboost_python
