#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "arrays.hpp"
#include "comboost/costs.hpp"
#include "comboost/forest.hpp"
#include "comboost/histogram.hpp"
#include "comboost/parallel.hpp"
#include "comboost/partition.hpp"

namespace comboost_python {
namespace {

using comboost::CostTable;
using comboost::Label;
using comboost::Partition;
using comboost::Sum;
using comboost::Weight;

using Square = Array<const double, nb::ndim<2>, nb::c_contig>;
using OutLabels = OutVector<Label>;
using Leaves = Vector<comboost::RowIndex>;

void construct_table(CostTable* self, const Vector<Label>& labels, const std::optional<Vector<Weight>>& weights,
                     std::size_t n_classes, bool counted) {
    require_n_classes(n_classes);
    require(!weights || weights->size() == labels.size(), "weights and labels differ in length");
    require_classes(span_of(labels), n_classes, "a label lies outside the classes");
    new (self) CostTable(span_of(labels), span_or_empty(weights), {n_classes, counted});
}

constexpr const char* kNoClass = "a vote lies outside the classes";

void require_vote_per_row(const CostTable& table, const Vector<Label>& votes) {
    require(votes.size() == table.n_rows(), "votes must have one entry per row");
}

// Votes are checked here, where they enter the costs. measure() need not: it is asked about the same votes before, and
// uses them as no index.
std::pair<Sum, double> advance(CostTable& table, const std::optional<Vector<Label>>& votes, double up, double down,
                               const Square& factors, int n_threads) {
    const std::size_t n_classes = table.n_classes();
    require(factors.shape(0) == n_classes && factors.shape(1) == n_classes, "factors must be (n_classes, n_classes)");
    if (votes) {
        require_vote_per_row(table, *votes);
        comboost::for_each_block(votes->size(), 1, n_threads, [&](std::size_t begin, std::size_t end) {
            require_classes(span_of(*votes).subspan(begin, end - begin), n_classes, kNoClass);
        });
    }
    const auto pass = table.advance(span_or_empty(votes), up, down, span_of(factors), n_threads);
    return {pass.loss, pass.largest};
}

void require_leaves(const CostTable& table, const Leaves& leaves, std::size_t n_leaves, int n_threads) {
    require(leaves.size() == table.n_rows(), "leaves must have one entry per row");
    comboost::for_each_block(leaves.size(), 1, n_threads, [&](std::size_t begin, std::size_t end) {
        comboost::RowIndex largest = 0;
        for (std::size_t i = begin; i < end; ++i) largest = std::max(largest, leaves.data()[i]);
        require(largest < n_leaves, "a row stands in no leaf");
    });
}

std::tuple<Sum, double, nb::int_> advance_leaves(CostTable& table, const std::optional<Leaves>& leaves,
                                                 const Square& growth, const Square& shrink, const Square& factors,
                                                 const std::optional<Vector<double>>& tops,
                                                 const std::optional<Vector<double>>& bits, int n_threads) {
    const std::size_t n_classes = table.n_classes();
    require(factors.shape(0) == n_classes && factors.shape(1) == n_classes, "factors must be (n_classes, n_classes)");
    require(growth.shape(1) == n_classes && shrink.shape(1) == n_classes && growth.shape(0) == shrink.shape(0),
            "growth and shrink must be (n_leaves, n_classes)");
    require(tops.has_value() == bits.has_value() && (!tops || (tops->size() == n_classes && bits->size() == n_classes)),
            "tops and bits must have one entry per class");
    comboost::PassResult pass{};
    {
        WithoutPython release;
        if (leaves) require_leaves(table, *leaves, growth.shape(0), n_threads);
        pass = table.advance_leaves(span_or_empty(leaves), span_of(growth), span_of(shrink), span_of(factors),
                                    span_or_empty(tops), span_or_empty(bits), n_threads);
    }
    constexpr int kWord = 64;  // nanobind knows no wider integers
    const nb::int_ high(static_cast<std::int64_t>(pass.log_loss >> kWord));
    return {pass.loss, pass.largest,
            nb::int_((high << nb::int_(kWord)) | nb::int_(static_cast<std::uint64_t>(pass.log_loss)))};
}

void sum_leaves(const CostTable& table, const Leaves& leaves, int n_threads,
                const Array<Sum, nb::ndim<3>, nb::c_contig>& sums) {
    require(sums.shape(1) == table.n_classes() && sums.shape(2) == table.n_classes(),
            "sums must be (n_leaves, n_classes, n_classes)");
    require_leaves(table, leaves, sums.shape(0), n_threads);
    table.sum_leaves(span_of(leaves), sums.shape(0), n_threads, span_of(sums));
}

void sum_leaf_losses(const CostTable& table, const Leaves& leaves, int n_threads,
                     const Array<Sum, nb::ndim<2>, nb::c_contig>& sums) {
    require(sums.shape(1) == table.n_classes(), "sums must be (n_leaves, n_classes)");
    require_leaves(table, leaves, sums.shape(0), n_threads);
    table.sum_leaf_losses(span_of(leaves), span_of(sums));
}

void measure(const CostTable& table, const Vector<Label>& votes, int n_threads,
             const Array<Sum, nb::ndim<3>, nb::c_contig>& sums) {
    require_vote_per_row(table, votes);
    require(sums.size() == 3 * table.n_classes() * table.n_classes(), "sums must be (3, n_classes, n_classes)");
    table.measure(span_of(votes), n_threads, span_of(sums));
}

void sum_rows(const CostTable& table, const OutVector<Sum>& sums) {
    require(sums.size() == table.channels().size(), "sums must have one entry per channel");
    table.sum_rows(span_of(sums));
}

void row_losses(const CostTable& table, const OutVector<double>& losses) {
    require(losses.size() == table.n_rows(), "losses must have one entry per row");
    table.row_losses(span_of(losses));
}

void confusion(const CostTable& table, const Vector<Label>& votes,
               const Array<Sum, nb::ndim<2>, nb::c_contig>& counts) {
    require_vote_per_row(table, votes);
    require_classes(span_of(votes), table.n_classes(), kNoClass);
    require(counts.size() == table.n_classes() * table.n_classes(), "counts must be (n_classes, n_classes)");
    table.confusion(span_of(votes), span_of(counts));
}

void require_rows(const Partition& partition, std::size_t n_rows) {
    require(partition.rows(0).size == n_rows, "the arrays and the partition differ in their number of rows");
}

comboost::RowSet rows_of(const Partition& partition, std::int32_t node) {
    require(node >= 0 && static_cast<std::size_t>(node) < partition.n_nodes(), "there is no such node");
    return partition.rows(static_cast<std::size_t>(node));
}

void split(Partition& partition, const CodeColumns& codes, const Splits& splits, int n_threads,
           const OutVector<std::int32_t>& smaller) {
    const auto wanted = records_of<comboost::Split>(splits);
    for (const comboost::Split& split : wanted) {
        require(split.node >= 0 && static_cast<std::size_t>(split.node) < partition.n_nodes(), "a split names no node");
        require(split.feature >= 0 && static_cast<std::size_t>(split.feature) < codes.shape(0),
                "a split names no feature");
    }
    require_rows(partition, codes.shape(1));
    require(smaller.size() == wanted.size(), "smaller must have one entry per split");
    const std::size_t first = partition.n_nodes();
    partition.split(codes_of(codes), wanted, n_threads);
    for (std::size_t k = 0; k < smaller.size(); ++k) {
        const std::size_t left = first + 2 * k;
        const bool right_is_smaller = partition.rows(left + 1).size < partition.rows(left).size;
        smaller.data()[k] = static_cast<std::int32_t>(left + (right_is_smaller ? 1 : 0));
    }
}

comboost::Tree tree_of(const Partition& partition, const CodeColumns& codes, const NodeBytes& nodes,
                       const SetBytes& sets, std::size_t n_rows) {
    require_rows(partition, codes.shape(1));
    require_rows(partition, n_rows);
    require(nodes.shape(0) >= partition.n_nodes(), "the tree has fewer nodes than the partition");
    const comboost::Tree tree{records_of<comboost::Node>(nodes), records_of<comboost::CodeSet>(sets)};
    comboost::check_tree(tree, codes.shape(0));
    return tree;
}

void settle(const Partition& partition, const CodeColumns& codes, const NodeBytes& nodes, const SetBytes& sets,
            int n_threads, const OutLabels& votes, const CostTable* table,
            const std::optional<OutVector<Sum>>& covers) {
    const auto tree = tree_of(partition, codes, nodes, sets, votes.size());
    partition.settle(codes_of(codes), tree, n_threads, span_of(votes), covers_of(table, covers, tree, votes.size()));
}

void settle_leaves(const Partition& partition, const CodeColumns& codes, const NodeBytes& nodes, const SetBytes& sets,
                   int n_threads, const OutVector<comboost::RowIndex>& leaves, const CostTable* table,
                   const std::optional<OutVector<Sum>>& covers) {
    const auto tree = tree_of(partition, codes, nodes, sets, leaves.size());
    partition.settle_leaves(codes_of(codes), tree, n_threads, span_of(leaves),
                            covers_of(table, covers, tree, leaves.size()));
}

void construct_bundles(comboost::Bundles* self, const CodeColumns& codes, const Vector<std::int64_t>& bin_offsets,
                       int n_threads) {
    require(bin_offsets.size() == codes.shape(0) + 1, "codes do not fit the bins");
    const comboost::BinLayout layout{span_of(bin_offsets)};
    require_starts(layout.offsets, layout.n_bins());
    new (self) comboost::Bundles(codes_of(codes), layout, n_threads);
}

std::vector<std::vector<std::size_t>> features_of(const comboost::Bundles& bundles) {
    std::vector<std::vector<std::size_t>> features;
    for (const comboost::Bundle& bundle : bundles.all()) features.push_back(bundle.features);
    return features;
}

void count_histograms(const CodeColumns& codes, const comboost::Bundles& bundles, const CostTable& table,
                      const Partition& partition, const Vector<std::int64_t>& bin_offsets,
                      const Vector<std::int32_t>& nodes, int n_threads, comboost::RecordPacker& packer,
                      const OutHistograms& histograms) {
    require(codes.shape(1) == table.n_rows() && bin_offsets.size() == codes.shape(0) + 1,
            "codes do not fit the rows or the bins");
    const comboost::BinLayout layout{span_of(bin_offsets)};
    require_starts(layout.offsets, layout.n_bins());
    require(bundles.fit(codes_of(codes), layout), "bundles are those of other codes or bins");
    require(histograms.shape(0) == nodes.size() && histograms.shape(1) == layout.n_bins() &&
                histograms.shape(2) == table.channels().size(),
            "histograms do not fit the nodes, bins and channels");
    require_rows(partition, table.n_rows());
    std::vector<comboost::RowSet> sets;
    for (const std::int32_t node : span_of(nodes)) sets.push_back(rows_of(partition, node));
    require(sets.size() == 1 || std::ranges::find(span_of(nodes), 0) == span_of(nodes).end(),
            "the root is counted alone");
    comboost::count_histograms(codes_of(codes), bundles, table, layout, sets, n_threads, packer, histograms.data());
}

}  // namespace

void bind_rows(nb::module_& m) {
    const auto release = nb::call_guard<WithoutPython>();

    nb::class_<CostTable>(m, "CostTable", "The rows' excess and quantised costs.")
        .def("__init__", &construct_table, "labels"_a.noconvert(), "weights"_a.noconvert().none(), "n_classes"_a,
             "counted"_a, release)
        .def("advance", &advance, "votes"_a.noconvert().none(), "up"_a, "down"_a, "factors"_a.noconvert(),
             "n_threads"_a, release,
             "Adds a round's votes and quantises the costs; the loss and the largest row, both scaled.")
        .def("advance_leaves", &advance_leaves, "leaves"_a.noconvert().none(), "growth"_a.noconvert(),
             "shrink"_a.noconvert(), "factors"_a.noconvert(), "tops"_a.noconvert().none(), "bits"_a.noconvert().none(),
             "n_threads"_a,
             "Adds the votes of leaves for every class and quantises the costs; the loss, the largest row, the "
             "log-loss.")
        .def("sum_leaves", &sum_leaves, "leaves"_a.noconvert(), "n_threads"_a, "sums"_a.noconvert(), release,
             "Writes the cost sums of every leaf by (truth, class).")
        .def("sum_leaf_losses", &sum_leaf_losses, "leaves"_a.noconvert(), "n_threads"_a, "sums"_a.noconvert(), release,
             "Writes the loss of every leaf by truth.")
        .def("measure", &measure, "votes"_a.noconvert(), "n_threads"_a, "sums"_a.noconvert(), release,
             "Writes the cost sums by (truth, class) that the votes would shrink, grow and leave.")
        .def("sum_rows", &sum_rows, "sums"_a.noconvert(), release, "Writes the sums of all rows, channel by channel.")
        .def("row_losses", &row_losses, "losses"_a.noconvert(), release, "Writes the loss of every row.")
        .def_prop_ro("n_channels", [](const CostTable& table) { return table.channels().size(); })
        .def("confusion", &confusion, "votes"_a.noconvert(), "counts"_a.noconvert(), release,
             "Writes the weight by (truth, vote).");

    nb::class_<Partition>(m, "Partition", "The rows of every node of the tree that is being grown.")
        .def(nb::init<std::size_t>(), "n_rows"_a, release)
        .def("reset", &Partition::reset, release, "Back to the root with every row.")
        .def("split", &split, "codes"_a.noconvert(), "splits"_a.noconvert(), "n_threads"_a, "smaller"_a.noconvert(),
             release,
             "Divides nodes; the children become the next nodes, left before right. Writes the smaller of each two.")
        .def("settle", &settle, "codes"_a.noconvert(), "nodes"_a.noconvert(), "sets"_a.noconvert(), "n_threads"_a,
             "votes"_a.noconvert(), "table"_a.none() = nb::none(), "covers"_a.noconvert().none() = nb::none(), release,
             "Writes the vote of the finished tree for every row, and what the rows of every leaf weigh.")
        .def("settle_leaves", &settle_leaves, "codes"_a.noconvert(), "nodes"_a.noconvert(), "sets"_a.noconvert(),
             "n_threads"_a, "leaves"_a.noconvert(), "table"_a.none() = nb::none(),
             "covers"_a.noconvert().none() = nb::none(), release,
             "Writes the leaf of the finished tree for every row, and what the rows of every leaf weigh.");

    nb::class_<comboost::RecordPacker>(m, "RecordPacker",
                                       "Memory for copies of records, kept from one count to the next.")
        .def(nb::init<>());

    nb::class_<comboost::Bundles>(m, "Bundles", "Codes that features of few bins share.")
        .def("__init__", &construct_bundles, "codes"_a.noconvert(), "bin_offsets"_a.noconvert(), "n_threads"_a, release)
        .def_prop_ro("features", &features_of, "The features of every bundle, one or several that share a code.");

    m.def("count_histograms", &count_histograms, "codes"_a.noconvert(), "bundles"_a, "costs"_a, "partition"_a,
          "bin_offsets"_a.noconvert(), "nodes"_a.noconvert(), "n_threads"_a, "packer"_a, "histograms"_a.noconvert(),
          release, "Writes the histograms of these nodes.");
}

}  // namespace comboost_python
