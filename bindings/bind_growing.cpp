#include <nanobind/stl/optional.h>

#include <cmath>

#include "arrays.hpp"
#include "comboost/growing.hpp"

namespace comboost_python {
namespace {

using comboost::Criterion;
using comboost::Grower;
using comboost::Sum;

void construct(Grower* self, const Vector<std::int64_t>& bin_offsets, const Kinds& kinds, const Vector<double>& edges,
               const Vector<std::int64_t>& edge_starts, std::size_t n_classes, bool by_cost, Sum min_samples_leaf,
               double min_weight_fraction_leaf, std::size_t max_features, std::uint64_t seed,
               std::size_t max_thresholds, double noise, std::optional<std::size_t> max_depth,
               std::optional<std::size_t> max_leaf_nodes, bool numbers_leaves) {
    require_n_classes(n_classes);
    require(bin_offsets.size() >= 2 && bin_offsets.data()[0] == 0, "there must be a feature, and its bins come first");
    const std::size_t n_features = bin_offsets.size() - 1;
    require(kinds.size() == n_features && edge_starts.size() == n_features + 1 &&
                std::cmp_equal(edge_starts.data()[n_features], edges.size()),
            "kinds and edges do not fit the features");
    require_starts(span_of(edge_starts), edges.size());
    const auto kind_of_feature = kinds_of(kinds);
    for (std::size_t f = 0; f < n_features; ++f) {
        const auto n_edges = edge_starts.data()[f + 1] - edge_starts.data()[f];
        const auto n_bins = bin_offsets.data()[f + 1] - bin_offsets.data()[f];
        require(n_bins == n_edges + 1 + (comboost::keeps_code_for_missing(kind_of_feature[f]) ? 1 : 0) && n_bins <= 256,
                "every feature must have one edge fewer than bins of values");
    }
    require(max_thresholds <= comboost::Draw::kMost, "max_thresholds must be at most 254");
    require(noise >= 0.0 && std::isfinite(noise), "noise must be a number of at least 0");
    constexpr std::size_t none = comboost::TreeLimits::kNone;
    new (self) Grower(span_of(bin_offsets), kind_of_feature, span_of(edges), span_of(edge_starts), n_classes,
                      {by_cost ? Criterion::cost : Criterion::gini,
                       min_samples_leaf,
                       min_weight_fraction_leaf,
                       max_features,
                       seed,
                       max_thresholds,
                       noise,
                       {max_depth.value_or(none), max_leaf_nodes.value_or(none)},
                       numbers_leaves});
}

std::size_t histogram_size(const Grower& grower) { return grower.layout().n_bins() * grower.channels().size(); }

void require_histograms(const Grower& grower, const Histograms& histograms, std::size_t n_nodes) {
    require(histograms.size() == n_nodes * histogram_size(grower),
            "histograms do not fit the nodes, bins and channels");
}

void plant(Grower& grower, const Vector<Sum>& totals, std::uint64_t round, double smoothing) {
    require(totals.size() == grower.channels().size(), "totals must have one entry per channel");
    grower.plant(span_of(totals), round, smoothing);
}

void require_tree(const Grower& grower) { require(!grower.nodes().empty(), "there is no tree yet; plant one"); }

void search(Grower& grower, std::size_t first, const Histograms& histograms, int n_threads) {
    require_tree(grower);
    require(first <= grower.frontier_size() && histograms.shape(0) <= grower.frontier_size() - first,
            "more histograms than nodes in the frontier");
    require_histograms(grower, histograms, histograms.shape(0));
    grower.search(first, histograms.data(), histograms.shape(0), n_threads);
}

auto records_of_splits(const std::vector<comboost::Split>& splits) {
    return copy_records<std::int32_t, comboost::Split, nb::shape<-1, kSplitWidth>>(splits,
                                                                                   {splits.size(), kSplitWidth});
}

auto branch(Grower& grower) { return records_of_splits(grower.branch()); }

auto branch_best(Grower& grower) { return records_of_splits(grower.branch_best()); }

auto leaf_costs(const Grower& grower) {
    const std::vector<Sum> costs = grower.leaf_costs();
    const std::size_t n_classes = grower.channels().n_classes;
    return copy_records<Sum, Sum, nb::ndim<2>>(costs, {costs.size() / n_classes, n_classes});
}

void derive(const Grower& grower, const Histograms& old_histograms, const Histograms& counted,
            const Vector<std::int32_t>& counted_nodes, int n_threads, const OutHistograms& histograms) {
    const std::size_t n_splits = grower.branches().size();
    require_histograms(grower, old_histograms, grower.old_frontier_size());
    require_histograms(grower, counted, n_splits);
    require(counted_nodes.size() == n_splits && histograms.size() == 2 * n_splits * histogram_size(grower),
            "one counted child and two histograms are needed per split");
    for (std::size_t k = 0; k < n_splits; ++k)
        require((static_cast<std::size_t>(counted_nodes.data()[k]) - grower.frontier_begin()) / 2 == k,
                "every counted node must be a child of its split");
    grower.derive(old_histograms.data(), counted.data(), span_of(counted_nodes), n_threads, histograms.data());
}

auto gain_fractions(const Grower& grower) {
    require_tree(grower);
    const std::vector<double> fractions = grower.gain_fractions();
    return copy_records<double, double, nb::ndim<1>>(fractions, {fractions.size()});
}

}  // namespace

void bind_growing(nb::module_& m) {
    const auto release = nb::call_guard<WithoutPython>();

    nb::class_<Grower>(m, "Grower", "Grows one tree at a time, level by level, from the histograms of its frontier.")
        .def("__init__", &construct, "bin_offsets"_a.noconvert(), "kinds"_a.noconvert(), "edges"_a.noconvert(),
             "edge_starts"_a.noconvert(), "n_classes"_a, nb::kw_only(), "by_cost"_a, "min_samples_leaf"_a,
             "min_weight_fraction_leaf"_a, "max_features"_a, "seed"_a, "max_thresholds"_a = 0, "noise"_a = 0.0,
             "max_depth"_a.none() = nb::none(), "max_leaf_nodes"_a.none() = nb::none(), "numbers_leaves"_a = false)
        .def("plant", &plant, "totals"_a.noconvert(), "round"_a, "smoothing"_a = 0.0, "Starts a tree.")
        .def("search", &search, "first"_a, "histograms"_a.noconvert(), "n_threads"_a, release,
             "Finds the best splits of the frontier's nodes from `first` on.")
        .def("branch", &branch,
             "Divides the frontier by the splits found: node, feature, bin and the set of codes that go left.")
        .def("branch_best", &branch_best, "Divides the one leaf whose split raises the criterion most.")
        .def("leaf_costs", &leaf_costs, "D of every class in every leaf, leaves in the order of their nodes.")
        .def("derive", &derive, "old_histograms"_a.noconvert(), "counted"_a.noconvert(), "counted_nodes"_a.noconvert(),
             "n_threads"_a, "histograms"_a.noconvert(), release, "Writes the new frontier's histograms.")
        .def("nodes", &nodes_of, "The nodes of the tree, as bytes of NODE_DTYPE.")
        .def("sets", &sets_of, "The sets of codes of the tree's nodes, 256 bits each.")
        .def("gain_fractions", &gain_fractions, "Of the cost that all splits saved together, the fraction of each.")
        .def("finish", &Grower::finish, "Ends a tree that is not to grow any further.")
        .def_prop_ro("frontier_begin", &Grower::frontier_begin)
        .def_prop_ro("frontier_size", &Grower::frontier_size)
        .def_prop_ro("n_channels", [](const Grower& grower) { return grower.channels().size(); })
        .def_prop_ro("n_bins", [](const Grower& grower) { return grower.layout().n_bins(); })
        .def_prop_ro("n_first_bins", [](const Grower& grower) { return grower.layout().size(0); })
        .def_prop_ro("advantage", &Grower::advantage, "A, minus the costs of the leaves.");
}

}  // namespace comboost_python
