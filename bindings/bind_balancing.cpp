#include "arrays.hpp"
#include "comboost/balancing.hpp"

namespace comboost_python {
namespace {

using comboost::Sum;

using LeafClasses = Array<const Sum, nb::ndim<2>, nb::c_contig>;
using OutVotes = Array<double, nb::ndim<2>, nb::c_contig>;

void require_votes(const OutVotes& votes, const OutVector<double>& promises, std::size_t n_leaves,
                   std::size_t n_classes) {
    require(promises.size() == n_leaves && votes.shape(0) == n_leaves && votes.shape(1) == n_classes,
            "votes must be (n_leaves, n_classes), with one promise per leaf");
}

void balance_pairs(const Array<const Sum, nb::ndim<3>, nb::c_contig>& sums,
                   const Array<const double, nb::ndim<2>, nb::c_contig>& smoothing, const Vector<std::int64_t>& first,
                   int n_threads, const OutVotes& votes, const OutVector<double>& promises) {
    const std::size_t n_leaves = sums.shape(0), n_classes = sums.shape(1);
    require(sums.shape(2) == n_classes && smoothing.shape(0) == n_classes && smoothing.shape(1) == n_classes,
            "sums must be (n_leaves, n_classes, n_classes) and smoothing (n_classes, n_classes)");
    require_votes(votes, promises, n_leaves, n_classes);
    require(first.size() == n_leaves, "every leaf needs a class to begin with");
    for (const std::int64_t label : span_of(first))
        require(label >= 0 && std::cmp_less(label, n_classes), "a leaf's class lies outside the classes");
    comboost::balance_pairs(span_of(sums), span_of(smoothing), span_of(first), n_threads, span_of(votes),
                            span_of(promises));
}

void balance_classes(const LeafClasses& up, const LeafClasses& down, const Vector<double>& smoothing_up,
                     const Vector<double>& smoothing_down, int n_threads, const OutVotes& votes,
                     const OutVector<double>& promises) {
    const std::size_t n_leaves = up.shape(0), n_classes = up.shape(1);
    require(down.shape(0) == n_leaves && down.shape(1) == n_classes && smoothing_up.size() == n_classes &&
                smoothing_down.size() == n_classes,
            "sums must be (n_leaves, n_classes), and smoothing must have one entry per class");
    require_votes(votes, promises, n_leaves, n_classes);
    comboost::balance_classes(span_of(up), span_of(down), span_of(smoothing_up), span_of(smoothing_down), n_threads,
                              span_of(votes), span_of(promises));
}

void exponentiate(const Array<const float, nb::ndim<2>, nb::c_contig>& votes, const OutVotes& growth,
                  const OutVotes& shrink) {
    require(growth.size() == votes.size() && shrink.size() == votes.size(), "votes and factors differ in size");
    comboost::exponentiate(span_of(votes), span_of(growth), span_of(shrink));
}

}  // namespace

void bind_balancing(nb::module_& m) {
    const auto release = nb::call_guard<nb::gil_scoped_release>();
    m.def("balance_pairs", &balance_pairs, "sums"_a.noconvert(), "smoothing"_a.noconvert(), "first"_a.noconvert(),
          "n_threads"_a, "votes"_a.noconvert(), "promises"_a.noconvert(), release,
          "Writes the votes that balance the leaves' matrices, and the costs that they leave.");
    m.def("balance_classes", &balance_classes, "up"_a.noconvert(), "down"_a.noconvert(), "smoothing_up"_a.noconvert(),
          "smoothing_down"_a.noconvert(), "n_threads"_a, "votes"_a.noconvert(), "promises"_a.noconvert(), release,
          "Writes the votes of every class for itself, and the costs that half of them leave.");
    m.def("exponentiate", &exponentiate, "votes"_a.noconvert(), "growth"_a.noconvert(), "shrink"_a.noconvert(), release,
          "Writes exp(v) and exp(-v).");
}

}  // namespace comboost_python
