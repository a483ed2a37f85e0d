#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>

#include "arrays.hpp"
#include "comboost/sparse.hpp"

namespace comboost_python {
namespace {

using comboost::RowIndex;
using comboost::SparseCodes;

comboost::SparseMatrix matrix_of(const Vector<std::int64_t>& starts, const Vector<RowIndex>& rows,
                                 const Vector<double>& values, std::size_t n_rows) {
    require(starts.size() >= 2, "there must be a feature");
    require_starts(span_of(starts), rows.size());
    require(starts.data()[0] == 0 && std::cmp_equal(starts.data()[starts.size() - 1], rows.size()) &&
                values.size() == rows.size(),
            "starts, rows and values do not fit each other");
    require(std::ranges::all_of(span_of(rows), [&](RowIndex row) { return row < n_rows; }), "there is no such row");
    return {span_of(starts), span_of(rows), span_of(values), n_rows};
}

auto find_sparse_edges(const Vector<std::int64_t>& starts, const Vector<RowIndex>& rows, const Vector<double>& values,
                       std::size_t n_rows, const std::optional<Vector<comboost::Weight>>& weights, std::size_t max_bins,
                       int n_threads) {
    const auto matrix = matrix_of(starts, rows, values, n_rows);
    require(!weights || weights->size() == n_rows, "weights and values differ in their number of rows");
    require(max_bins >= 2 && max_bins <= comboost::kMaxBins, "max_bins lies outside 2..255");
    comboost::SparseEdges found;
    {
        WithoutPython release;
        found = comboost::find_sparse_edges(matrix, span_or_empty(weights), max_bins, n_threads);
    }
    return std::tuple(copy_records<double, double, nb::ndim<1>>(found.edges, {found.edges.size()}),
                      copy_records<std::int64_t, std::int64_t, nb::ndim<1>>(found.starts, {found.starts.size()}),
                      copy_records<std::uint8_t, std::uint8_t, nb::ndim<1>>(found.missing, {found.missing.size()}),
                      copy_records<std::uint8_t, std::uint8_t, nb::ndim<1>>(found.infinite, {found.infinite.size()}));
}

void construct_codes(SparseCodes* self, const Vector<std::int64_t>& starts, const Vector<RowIndex>& rows,
                     const Vector<double>& values, std::size_t n_rows, const Vector<double>& zeros,
                     const Vector<double>& edges, const Vector<std::int64_t>& edge_starts, const Kinds& kinds,
                     int n_threads) {
    const auto matrix = matrix_of(starts, rows, values, n_rows);
    require(zeros.size() == matrix.n_columns() && kinds.size() == matrix.n_columns() &&
                edge_starts.size() == matrix.n_columns() + 1,
            "zeros, kinds and edges must fit the features");
    require_starts(span_of(edge_starts), edges.size());
    for (std::size_t f = 0; f < kinds.size(); ++f)
        require(edge_starts.data()[f + 1] - edge_starts.data()[f] < std::int64_t{comboost::kMaxBins},
                "a feature has more edges than codes can tell apart");
    new (self) SparseCodes(matrix, span_of(zeros), span_of(edges), span_of(edge_starts), kinds_of(kinds), n_threads);
}

// What belongs to an object as an array that keeps it alive; nothing is copied.
template <auto Get>
auto view_of(nb::handle owner) {
    const auto& values = (nb::cast<const SparseCodes&>(owner).*Get)();
    using Value = typename std::remove_cvref_t<decltype(values)>::value_type;
    return Array<const Value, nb::ndim<1>>(values.data(), {values.size()}, owner);
}

}  // namespace

void bind_sparse(nb::module_& m) {
    const auto release = nb::call_guard<WithoutPython>();

    m.def("find_sparse_edges", &find_sparse_edges, "starts"_a.noconvert(), "rows"_a.noconvert(), "values"_a.noconvert(),
          "n_rows"_a, "weights"_a.noconvert().none(), "max_bins"_a, "n_threads"_a,
          "As find_edges, of a matrix that is given by its entries, column after column: the edges of all columns, "
          "where those of each start, and whether it has missing and infinite values.");

    nb::class_<SparseCodes>(m, "SparseCodes", "The codes of a table that is mostly zeros.")
        .def("__init__", &construct_codes, "starts"_a.noconvert(), "rows"_a.noconvert(), "values"_a.noconvert(),
             "n_rows"_a, "zeros"_a.noconvert(), "edges"_a.noconvert(), "edge_starts"_a.noconvert(),
             "kinds"_a.noconvert(), "n_threads"_a, release)
        .def_prop_ro("n_rows", &SparseCodes::n_rows)
        .def_prop_ro("features", &view_of<&SparseCodes::features>, "The features, those with most entries first.")
        .def_prop_ro("starts", &view_of<&SparseCodes::starts>, "Where the entries of every one of these start.")
        .def_prop_ro("rows", &view_of<&SparseCodes::rows>, "The rows of the entries whose code is not that of zeros.")
        .def_prop_ro("codes", &view_of<&SparseCodes::codes>, "Their codes, ascending within a feature.")
        .def_prop_ro("zero_codes", &view_of<&SparseCodes::zero_codes>, "The code of zeros of every one of `features`.");
}

}  // namespace comboost_python
