#include <nanobind/stl/optional.h>

#include <cmath>

#include "arrays.hpp"
#include "comboost/growing.hpp"
#include "comboost/row_growing.hpp"

namespace comboost_python {
namespace {

using comboost::Criterion;
using comboost::Grower;
using comboost::Sum;

void construct(Grower* self, const Vector<std::int64_t>& bin_offsets, const Kinds& kinds, const Vector<double>& edges,
               const Vector<std::int64_t>& edge_starts, std::size_t n_classes, bool by_cost, Sum min_samples_leaf,
               double min_weight_fraction_leaf, std::size_t max_features, std::uint64_t seed,
               std::size_t max_thresholds, double noise) {
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
    new (self) Grower(span_of(bin_offsets), kind_of_feature, span_of(edges), span_of(edge_starts), n_classes,
                      {by_cost ? Criterion::cost : Criterion::gini, min_samples_leaf, min_weight_fraction_leaf,
                       max_features, seed, max_thresholds, noise});
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

void grow(comboost::RowGrower& rows_grower, Grower& grower, const CodeColumns& codes, const comboost::Bundles& bundles,
          const comboost::CostTable& table, comboost::Partition& partition, comboost::RecordPacker& packer,
          const Histograms& root, std::optional<std::size_t> max_depth, std::optional<std::size_t> max_leaves,
          int n_threads) {
    require(codes.shape(1) == table.n_rows() && partition.rows(0).size == table.n_rows() &&
                codes.shape(0) == grower.layout().n_features(),
            "codes, costs and partition do not fit each other");
    require(bundles.fit(codes_of(codes), grower.layout()), "bundles are those of other codes or bins");
    require(partition.n_nodes() == 1 && grower.nodes().size() == 1, "a tree is grown from its root; plant one");
    require(table.channels().size() == grower.channels().size(), "costs and tree differ in their channels");
    require_histograms(grower, root, 1);
    constexpr std::size_t none = comboost::TreeLimits::kNone;
    rows_grower.grow(grower, codes_of(codes), bundles, table, partition, packer, root.data(),
                     {max_depth.value_or(none), max_leaves.value_or(none)}, n_threads);
}

void search_sparse(Grower& grower, const comboost::SparseCodes& codes, const comboost::CostTable& table,
                   const comboost::SparsePartition& partition, int n_threads) {
    require_tree(grower);
    require(codes.n_rows() == table.n_rows() && partition.n_rows() == table.n_rows() &&
                codes.n_features() == grower.layout().n_features(),
            "codes, costs and partition do not fit each other");
    require(partition.n_nodes() == grower.nodes().size(), "the rows must be divided as the tree is");
    require(table.channels().size() == grower.channels().size(), "costs and tree differ in their channels");
    grower.search_sparse(codes, table.records(), partition, n_threads);
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

auto nodes(const Grower& grower) {
    return copy_records<std::uint8_t, comboost::Node, nb::shape<-1, sizeof(comboost::Node)>>(
        grower.nodes(), {grower.nodes().size(), sizeof(comboost::Node)});
}

auto sets(const Grower& grower) {
    return copy_records<std::uint8_t, comboost::CodeSet, nb::shape<-1, sizeof(comboost::CodeSet)>>(
        grower.sets(), {grower.sets().size(), sizeof(comboost::CodeSet)});
}

void share_out(const Grower& grower, double amount, const OutVector<double>& shares) {
    require_tree(grower);
    require(shares.size() == grower.layout().n_features(), "shares must have one entry per feature");
    grower.share_out(amount, span_of(shares));
}

}  // namespace

void bind_growing(nb::module_& m) {
    const auto release = nb::call_guard<WithoutPython>();

    nb::class_<Grower>(m, "Grower", "Grows one tree at a time, level by level, from the histograms of its frontier.")
        .def("__init__", &construct, "bin_offsets"_a.noconvert(), "kinds"_a.noconvert(), "edges"_a.noconvert(),
             "edge_starts"_a.noconvert(), "n_classes"_a, nb::kw_only(), "by_cost"_a, "min_samples_leaf"_a,
             "min_weight_fraction_leaf"_a, "max_features"_a, "seed"_a, "max_thresholds"_a = 0, "noise"_a = 0.0)
        .def("plant", &plant, "totals"_a.noconvert(), "round"_a, "smoothing"_a = 0.0, "Starts a tree.")
        .def("search", &search, "first"_a, "histograms"_a.noconvert(), "n_threads"_a, release,
             "Finds the best splits of the frontier's nodes from `first` on.")
        .def("search_sparse", &search_sparse, "codes"_a, "costs"_a, "partition"_a, "n_threads"_a, release,
             "Finds the best splits of the frontier's nodes straight from the entries of a sparse table.")
        .def("branch", &branch,
             "Divides the frontier by the splits found: node, feature, bin and the set of codes that go left.")
        .def("branch_best", &branch_best, "Divides the one leaf whose split raises the criterion most.")
        .def("leaf_costs", &leaf_costs, "D of every class in every leaf, leaves in the order of their nodes.")
        .def("derive", &derive, "old_histograms"_a.noconvert(), "counted"_a.noconvert(), "counted_nodes"_a.noconvert(),
             "n_threads"_a, "histograms"_a.noconvert(), release, "Writes the new frontier's histograms.")
        .def("nodes", &nodes, "The nodes of the tree, as bytes of NODE_DTYPE.")
        .def("sets", &sets, "The sets of codes of the tree's nodes, 256 bits each.")
        .def("share_out", &share_out, "amount"_a, "shares"_a.noconvert(),
             "Shares an amount out among the features, by the cost that the splits on each of them saved.")
        .def_prop_ro("frontier_begin", &Grower::frontier_begin)
        .def_prop_ro("frontier_size", &Grower::frontier_size)
        .def_prop_ro(
            "counted", [](const Grower& grower) { return grower.channels().counted; },
            "Whether histograms must count rows.")
        .def_prop_ro("advantage", &Grower::advantage, "A, minus the costs of the leaves.");

    nb::class_<comboost::RowGrower>(m, "RowGrower", "Grows trees on rows in memory, from the root to the last leaf.")
        .def(nb::init<std::size_t, double, std::size_t>(), "budget"_a, "small_share"_a, "packed_bytes"_a)
        .def("grow", &grow, "grower"_a, "codes"_a.noconvert(), "bundles"_a, "costs"_a, "partition"_a, "packer"_a,
             "root"_a.noconvert(), "max_depth"_a.none(), "max_leaves"_a.none(), "n_threads"_a, release,
             "Grows the tree that was planted; the best leaf first if their number is limited.")
        .def("forget_codes", &comboost::RowGrower::forget_codes, "Must be called after codes have changed.");
}

}  // namespace comboost_python
