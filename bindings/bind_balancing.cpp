#include "arrays.hpp"
#include "comboost/balancing.hpp"

namespace comboost_python {
namespace {

using comboost::Sum;

using LeafPairs = Array<const Sum, nb::ndim<3>, nb::c_contig>;       // (n_leaves, n_classes, n_classes)
using LeafClasses = Array<const Sum, nb::ndim<2>, nb::c_contig>;     // (n_leaves, n_classes)
using LeafFactors = Array<const double, nb::ndim<2>, nb::c_contig>;  // (n_leaves, n_classes)
using OutVotes = Array<double, nb::ndim<2>, nb::c_contig>;

template <class A>
void require_leaf_classes(const A& array, std::size_t n_leaves, std::size_t n_classes) {
    require(array.shape(0) == n_leaves && array.shape(1) == n_classes, "an array must be (n_leaves, n_classes)");
}

void require_pairs(const LeafPairs& sums) {
    require(sums.shape(1) == sums.shape(2), "sums must be (n_leaves, n_classes, n_classes)");
}

void balance_pairs(const LeafPairs& sums, const LeafFactors& smoothing, const Vector<std::int64_t>& first,
                   int n_threads, const OutVotes& votes) {
    const std::size_t n_leaves = sums.shape(0), n_classes = sums.shape(1);
    require_pairs(sums);
    require_leaf_classes(votes, n_leaves, n_classes);
    require_leaf_classes(smoothing, n_classes, n_classes);
    require(first.size() == n_leaves, "every leaf needs a class to begin with");
    for (const std::int64_t label : span_of(first))
        require(label >= 0 && std::cmp_less(label, n_classes), "a leaf's class lies outside the classes");
    comboost::balance_pairs(span_of(sums), span_of(smoothing), span_of(first), n_threads, span_of(votes));
}

void balance_classes(const LeafClasses& up, const LeafClasses& down, const Vector<double>& smoothing, int n_threads,
                     const OutVotes& votes) {
    require_leaf_classes(down, up.shape(0), up.shape(1));
    require_leaf_classes(votes, up.shape(0), up.shape(1));
    require(up.shape(1) > 0 && smoothing.size() == up.shape(1), "smoothing must have one entry per class");
    comboost::balance_classes(span_of(up), span_of(down), span_of(smoothing), n_threads, span_of(votes));
}

void remaining_of_pairs(const LeafPairs& sums, const LeafFactors& growth, const LeafFactors& shrink, int n_threads,
                        const OutVector<double>& left) {
    require_pairs(sums);
    require_leaf_classes(growth, sums.shape(0), sums.shape(1));
    require_leaf_classes(shrink, sums.shape(0), sums.shape(1));
    require(left.size() == sums.shape(0), "left must have one entry per leaf");
    comboost::remaining_of_pairs(span_of(sums), span_of(growth), span_of(shrink), n_threads, span_of(left));
}

void remaining_of_classes(const LeafClasses& up, const LeafClasses& down, const LeafFactors& growth,
                          const LeafFactors& shrink, int n_threads, const OutVector<double>& left) {
    require_leaf_classes(down, up.shape(0), up.shape(1));
    require_leaf_classes(growth, up.shape(0), up.shape(1));
    require_leaf_classes(shrink, up.shape(0), up.shape(1));
    require(left.size() == up.shape(0), "left must have one entry per leaf");
    comboost::remaining_of_classes(span_of(up), span_of(down), span_of(growth), span_of(shrink), n_threads,
                                   span_of(left));
}

void exponentiate(const Array<const float, nb::ndim<2>, nb::c_contig>& votes, const OutVotes& growth,
                  const OutVotes& shrink) {
    require(growth.size() == votes.size() && shrink.size() == votes.size(), "votes and factors differ in size");
    comboost::exponentiate(span_of(votes), span_of(growth), span_of(shrink));
}

}  // namespace

void bind_balancing(nb::module_& m) {
    const auto release = nb::call_guard<WithoutPython>();
    m.def("balance_pairs", &balance_pairs, "sums"_a.noconvert(), "smoothing"_a.noconvert(), "first"_a.noconvert(),
          "n_threads"_a, "votes"_a.noconvert(), release, "Writes the votes that balance the leaves' matrices.");
    m.def("balance_classes", &balance_classes, "up"_a.noconvert(), "down"_a.noconvert(), "smoothing"_a.noconvert(),
          "n_threads"_a, "votes"_a.noconvert(), release, "Writes the votes of every class for itself.");
    m.def("remaining_of_pairs", &remaining_of_pairs, "sums"_a.noconvert(), "growth"_a.noconvert(),
          "shrink"_a.noconvert(), "n_threads"_a, "left"_a.noconvert(), release,
          "Writes what every leaf costs after the votes.");
    m.def("remaining_of_classes", &remaining_of_classes, "up"_a.noconvert(), "down"_a.noconvert(),
          "growth"_a.noconvert(), "shrink"_a.noconvert(), "n_threads"_a, "left"_a.noconvert(), release,
          "Writes what every leaf costs after the votes at most.");
    m.def("exponentiate", &exponentiate, "votes"_a.noconvert(), "growth"_a.noconvert(), "shrink"_a.noconvert(), release,
          "Writes exp(v) and exp(-v).");
}

}  // namespace comboost_python
