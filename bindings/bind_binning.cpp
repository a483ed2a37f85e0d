#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "comboost/binning.hpp"

namespace comboost_python {
namespace {

using comboost::Weight;
using NewVector = Array<double, nb::ndim<1>>;
using NewEdges = std::tuple<NewVector, bool, bool>;

template <class T>
std::vector<NewEdges> find_edges(const Values<T>& values, const std::optional<Vector<Weight>>& weights,
                                 std::size_t max_bins, int n_threads) {
    require(!weights || weights->shape(0) == values.shape(0), "weights and values differ in their number of rows");
    require(max_bins >= 2 && max_bins <= comboost::kMaxBins, "max_bins lies outside 2..255");
    std::vector<comboost::FeatureEdges> found;
    {
        nb::gil_scoped_release release;
        found = comboost::find_edges(matrix_of(values), span_or_empty(weights), max_bins, n_threads);
    }
    std::vector<NewEdges> result;
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
    comboost::encode(matrix_of(values), span_of(edges), span_of(starts), kinds_of(kinds), n_threads, codes.data());
}

template <class T>
void bind_dtype(nb::module_& m) {
    m.def("find_edges", &find_edges<T>, "values"_a.noconvert(), "weights"_a.noconvert().none(), "max_bins"_a,
          "n_threads"_a,
          "The bin edges of every column, at exact quantiles of the integer weights, and whether it has missing and "
          "infinite values.");
    m.def("encode", &encode<T>, "values"_a.noconvert(), "edges"_a.noconvert(), "starts"_a.noconvert(),
          "kinds"_a.noconvert(), "n_threads"_a, "codes"_a.noconvert(), nb::call_guard<nb::gil_scoped_release>(),
          "Writes the bin of every value, feature by feature.");
}

}  // namespace

void bind_binning(nb::module_& m) {
    bind_dtype<double>(m);
    bind_dtype<float>(m);
}

}  // namespace comboost_python
