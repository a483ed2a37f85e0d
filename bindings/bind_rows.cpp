#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "arrays.hpp"
#include "comboost/balancing.hpp"
#include "comboost/costs.hpp"
#include "comboost/forest.hpp"
#include "comboost/tree_rows.hpp"

namespace comboost_python {
namespace {

using comboost::BinnedRows;
using comboost::CostTable;
using comboost::Label;
using comboost::LeafFactors;
using comboost::SparseRows;
using comboost::Sum;
using comboost::TreeRows;
using comboost::Weight;

using Square = Array<const double, nb::ndim<2>, nb::c_contig>;
using Factors = std::optional<Array<const double, nb::c_contig>>;  // None if there is no round to add
using Prices = std::optional<Array<const double, nb::c_contig>>;   // None if costs are not multiplied
using LeafSums = Array<const Sum, nb::ndim<2>, nb::c_contig>;      // (n_leaves, n_classes)
using PairSums = Array<const Sum, nb::ndim<3>, nb::c_contig>;      // (n_leaves, n_classes, n_classes)

comboost::Loss loss_of(const Square& unit, const std::optional<Vector<double>>& tops, int log_exponent, bool logistic,
                       std::size_t n_classes) {
    require_n_classes(n_classes);
    require(unit.shape(0) == n_classes && unit.shape(1) == n_classes, "unit must be (n_classes, n_classes)");
    require(!tops || tops->size() == n_classes, "tops must have one entry per class");
    require(!tops || !logistic, "only the log-loss has tops");
    return {span_of(unit), span_or_empty(tops), log_exponent, logistic};
}

void require_labels(const Vector<Label>& labels, const std::optional<Vector<Weight>>& weights, std::size_t n_classes) {
    require(!weights || weights->size() == labels.size(), "weights and labels differ in length");
    require_classes(span_of(labels), n_classes, "a label lies outside the classes");
}

void construct_table(CostTable* self, const Vector<Label>& labels, const std::optional<Vector<Weight>>& weights,
                     const Square& unit, const std::optional<Vector<double>>& tops, int log_exponent, bool logistic,
                     int n_threads) {
    const std::size_t n_classes = unit.shape(0);
    const auto loss = loss_of(unit, tops, log_exponent, logistic, n_classes);
    require_labels(labels, weights, n_classes);
    new (self) CostTable(span_of(labels), span_or_empty(weights), {n_classes, false}, loss, n_threads);
}

void construct_binned(BinnedRows* self, const Vector<Label>& labels, const std::optional<Vector<Weight>>& weights,
                      const Square& unit, const std::optional<Vector<double>>& tops, int log_exponent, bool logistic,
                      comboost::Grower& grower, const CodeColumns& codes, std::size_t histogram_bytes,
                      double small_share, std::size_t packed_bytes, int n_threads) {
    const auto loss = loss_of(unit, tops, log_exponent, logistic, grower.channels().n_classes);
    require_labels(labels, weights, unit.shape(0));
    require(codes.shape(1) == labels.size() && codes.shape(0) == grower.layout().n_features(),
            "codes do not fit the samples or the bins");
    new (self) BinnedRows(span_of(labels), span_or_empty(weights), loss, grower, codes_of(codes),
                          {histogram_bytes, small_share, packed_bytes}, n_threads);
}

void construct_sparse(SparseRows* self, const Vector<Label>& labels, const std::optional<Vector<Weight>>& weights,
                      const Square& unit, const std::optional<Vector<double>>& tops, int log_exponent, bool logistic,
                      comboost::Grower& grower, const comboost::SparseCodes& codes, int n_threads) {
    const auto loss = loss_of(unit, tops, log_exponent, logistic, grower.channels().n_classes);
    require_labels(labels, weights, unit.shape(0));
    require(codes.n_rows() == labels.size() && codes.n_features() == grower.layout().n_features(),
            "codes do not fit the samples or the bins");
    new (self) SparseRows(span_of(labels), span_or_empty(weights), loss, grower, codes, n_threads);
}

void require_leaves(const CostTable& table) { require(table.n_leaves() > 0, "the samples have no leaves yet"); }

LeafFactors factors_of(const CostTable& table, const Factors& growth, const Factors& shrink) {
    require(growth.has_value() == shrink.has_value(), "growth and shrink belong together");
    if (!growth || !shrink) return {};
    require_leaves(table);
    require(growth->size() == shrink->size() &&
                (growth->size() == 1 || growth->size() == table.n_leaves() * table.n_classes()),
            "growth and shrink must be (n_leaves, n_classes), or one number each");
    return {span_of(*growth), span_of(*shrink)};
}

void require_square(const std::optional<Square>& prices, std::size_t n_classes) {
    require(!prices || (prices->shape(0) == n_classes && prices->shape(1) == n_classes),
            "prices must be (n_classes, n_classes)");
}

comboost::Prices prices_of(const CostTable& table, const Prices& prices) {
    if (!prices) return {};
    const std::size_t n_classes = table.n_classes(), ndim = table.loss().tops.empty() ? 2 : 1;
    require(prices->ndim() == ndim && prices->shape(0) == n_classes && prices->shape(ndim - 1) == n_classes,
            "prices must be (n_classes, n_classes), for the log-loss (n_classes,)");
    return span_of(*prices);
}

nb::int_ wide_integer(comboost::WideSum value) {
    constexpr int kWord = 64;  // nanobind knows no wider integers
    const nb::int_ high(static_cast<std::int64_t>(value >> kWord));
    return nb::int_((high << nb::int_(kWord)) | nb::int_(static_cast<std::uint64_t>(value)));
}

std::tuple<Sum, double, nb::int_> quantise(CostTable& table, const Factors& growth, const Factors& shrink, int exponent,
                                           const Prices& prices) {
    comboost::PassResult pass;
    {
        WithoutPython release;
        pass = table.quantise(factors_of(table, growth, shrink), exponent, prices_of(table, prices));
    }
    return {pass.loss, pass.largest, wide_integer(pass.log_loss)};
}

// The costs, and the log-loss as a number if that is the loss and was summed.
using CostTuple = std::tuple<int, Sum, double, std::optional<double>>;

CostTuple tuple_of(const comboost::Costs& costs, const comboost::Loss& loss, const Prices& prices) {
    std::optional<double> log_loss;
    if (!loss.tops.empty() && !prices) log_loss = std::ldexp(static_cast<double>(costs.log_loss), -loss.log_exponent);
    return {costs.exponent, costs.loss, costs.largest, log_loss};
}

CostTuple update_table(CostTable& table, const Factors& growth, const Factors& shrink, double bound,
                       const Prices& prices) {
    return tuple_of(table.update(factors_of(table, growth, shrink), bound, prices_of(table, prices)), table.loss(),
                    prices);
}

auto add(CostTable& table, const Factors& growth, const Factors& shrink, int exponent) {
    constexpr int kWord = 32;
    const std::size_t n_losses = table.n_losses(), n_classes = table.n_classes();
    std::vector<Sum> words(2 * n_losses);
    double largest = 0.0;
    {
        WithoutPython release;
        std::vector<comboost::WideSum> sums(n_losses);
        largest = table.add(factors_of(table, growth, shrink), exponent, sums);
        for (std::size_t k = 0; k < n_losses; ++k) {
            words[k] = static_cast<Sum>(sums[k] >> kWord);
            words[n_losses + k] = static_cast<std::uint32_t>(sums[k]);
        }
    }
    if (n_losses == n_classes) return std::pair(own_vector<Sum>(std::move(words), {2, n_classes}), largest);
    return std::pair(own_vector<Sum>(std::move(words), {2, n_classes, n_classes}), largest);
}

auto covers(const TreeRows& rows) { return copy_records<Sum, Sum, nb::ndim<1>>(rows.covers(), {rows.covers().size()}); }

auto next_round(TreeRows& rows, const Factors& growth, const Factors& shrink, double bound, bool with_root,
                const Prices& prices) {
    comboost::Costs costs{};
    {
        WithoutPython release;
        costs = rows.update(factors_of(rows, growth, shrink), bound, with_root, prices_of(rows, prices));
    }
    std::optional<decltype(covers(rows))> weights;
    if (growth) weights = covers(rows);
    return std::tuple_cat(tuple_of(costs, rows.loss(), prices), std::tuple(std::move(weights)));
}

void set_predicted(CostTable& table, const Vector<Label>& predicted) {
    require(predicted.size() == table.n_rows(), "predicted must have one entry per sample");
    require_classes(span_of(predicted), table.n_classes(), "a predicted class lies outside the classes");
    table.set_predicted(span_of(predicted));
}

template <auto Sums>
std::vector<Sum> without_python(const CostTable& table, std::size_t size) {
    require_leaves(table);
    WithoutPython release;
    std::vector<Sum> sums(size);
    (table.*Sums)(sums);
    return sums;
}

auto sum_leaves(const CostTable& table) {
    const std::size_t n_leaves = table.n_leaves(), k = table.n_classes();
    return own_vector<Sum, nb::ndim<3>>(without_python<&CostTable::sum_leaves>(table, n_leaves * k * k),
                                        {n_leaves, k, k});
}

auto sum_pairs(CostTable& table, int exponent) {
    require_leaves(table);
    const std::size_t n_leaves = table.n_leaves(), k = table.n_classes();
    std::vector<Sum> sums(n_leaves * k * k);
    {
        WithoutPython release;
        table.sum_pairs(exponent, sums);
    }
    return own_vector<Sum, nb::ndim<3>>(std::move(sums), {n_leaves, k, k});
}

auto sum_leaf_losses(const CostTable& table) {
    const std::size_t n_leaves = table.n_leaves(), k = table.n_classes();
    return own_vector<Sum, nb::ndim<2>>(without_python<&CostTable::sum_leaf_losses>(table, n_leaves * k),
                                        {n_leaves, k});
}

auto row_losses(const CostTable& table) {
    std::vector<double> losses(table.n_rows());
    table.row_losses(losses);
    return own_vector<double, nb::ndim<1>>(std::move(losses), {table.n_rows()});
}

auto leaves(const CostTable& table) {
    require_leaves(table);
    return copy_records<comboost::RowIndex, comboost::RowIndex, nb::ndim<1>>(table.leaves(), {table.n_rows()});
}

Sum advantage(const CostTable& table) {
    require_leaves(table);
    return table.advantage();
}

auto confusion(const CostTable& table, const Vector<Label>& predicted) {
    const std::size_t k = table.n_classes();
    require(predicted.size() == table.n_rows(), "predicted must have one entry per sample");
    require_classes(span_of(predicted), k, "a predicted class lies outside the classes");
    std::vector<Sum> counts(k * k);
    table.confusion(span_of(predicted), counts);
    return own_vector<Sum, nb::ndim<2>>(std::move(counts), {k, k});
}

auto grow(TreeRows& rows, std::uint64_t round, double smoothing) {
    require(rows.may_grow(), "a tree grows from its root; call next_round with with_root=True before");
    std::vector<double> gains;
    std::vector<Sum> costs;
    Sum advantage = 0;
    {
        WithoutPython release;
        rows.grow(round, smoothing);
        advantage = rows.grower().advantage();
        costs = rows.grower().leaf_costs();
        gains = rows.grower().gain_fractions();
    }
    const std::size_t n_splits = gains.size();
    return std::tuple(nodes_of(rows.grower()), sets_of(rows.grower()), advantage,
                      own_vector<Sum, nb::ndim<2>>(std::move(costs), {rows.n_leaves(), rows.n_classes()}),
                      own_vector<double, nb::ndim<1>>(std::move(gains), {n_splits}));
}

void find_leaves(TreeRows& rows, const NodeBytes& nodes, const SetBytes& sets) {
    const comboost::Tree tree{records_of<comboost::Node>(nodes), records_of<comboost::CodeSet>(sets)};
    comboost::check_tree(tree, rows.grower().layout().n_features());
    require(tree.nodes.size() >= rows.n_nodes(), "the tree has fewer nodes than the samples were divided into");
    require(std::ranges::all_of(tree.nodes, [&](const auto& node) { return node.label < rows.n_classes(); }),
            "a leaf predicts a class that is not there");
    rows.find_leaves(tree);
}

comboost::Smoothing smoothing_of(const Square& unit, const Square& hidden, int exponent, std::size_t n_classes) {
    require(unit.shape(0) == n_classes && unit.shape(1) == n_classes && hidden.shape(0) == n_classes &&
                hidden.shape(1) == n_classes,
            "the smoothing must be (n_classes, n_classes)");
    return {span_of(unit), span_of(hidden), exponent};
}

auto tuple_of(comboost::LeafValues&& leaves, std::size_t n_classes) {
    const std::size_t n_leaves = leaves.values.size() / n_classes;
    return std::tuple(own_vector<float, nb::ndim<2>>(std::move(leaves.values), {n_leaves, n_classes}),
                      own_vector<double, nb::ndim<2>>(std::move(leaves.growth), {n_leaves, n_classes}),
                      own_vector<double, nb::ndim<2>>(std::move(leaves.shrink), {n_leaves, n_classes}), leaves.largest,
                      leaves.remaining);
}

auto leaf_values(const TreeRows& rows, const Square& smoothing, const Square& hidden, int exponent,
                 double learning_rate, bool by_pairs) {
    require_leaves(rows);
    require(rows.grower().nodes().size() == 2 * rows.n_leaves() - 1, "the samples are in the leaves of another tree");
    comboost::LeafValues leaves;
    {
        WithoutPython release;
        leaves = rows.leaf_values(smoothing_of(smoothing, hidden, exponent, rows.n_classes()), learning_rate, by_pairs);
    }
    return tuple_of(std::move(leaves), rows.n_classes());
}

auto balance_leaves(const std::optional<PairSums>& pairs, const std::optional<LeafSums>& losses, const LeafSums& costs,
                    const Square& smoothing, const Square& hidden, int exponent, double learning_rate, int n_threads,
                    const std::optional<Square>& prices) {
    const std::size_t n_leaves = costs.shape(0), n_classes = costs.shape(1);
    require(pairs.has_value() != losses.has_value(), "either pairs or losses must be given");
    require(!pairs || (pairs->shape(0) == n_leaves && pairs->shape(1) == n_classes && pairs->shape(2) == n_classes),
            "pairs must be (n_leaves, n_classes, n_classes)");
    require(!losses || (losses->shape(0) == n_leaves && losses->shape(1) == n_classes),
            "losses must be (n_leaves, n_classes)");
    require(!prices || pairs, "only pairs have prices");
    require_square(prices, n_classes);
    comboost::LeafSums sums{{}, {}, span_of(costs)};
    if (prices) sums.prices = span_of(*prices);
    if (pairs) sums.pairs = span_of(*pairs);
    if (losses) sums.losses = span_of(*losses);
    comboost::LeafValues leaves;
    {
        WithoutPython release;
        leaves = comboost::balance_leaves(sums, smoothing_of(smoothing, hidden, exponent, n_classes), n_classes,
                                          learning_rate, n_threads);
    }
    return tuple_of(std::move(leaves), n_classes);
}

auto forecast(const PairSums& pairs, const Square& values, double step) {
    const std::size_t k = values.shape(1);
    require(pairs.shape(0) == values.shape(0) && pairs.shape(1) == k && pairs.shape(2) == k,
            "pairs must be (n_leaves, n_classes, n_classes), and values (n_leaves, n_classes)");
    comboost::Forecast result;
    {
        WithoutPython release;
        result = comboost::forecast(span_of(pairs), span_of(values), k, step);
    }
    return std::pair(own_vector<double, nb::ndim<2>>(std::move(result.value), {k, k}),
                     own_vector<double, nb::ndim<2>>(std::move(result.slope), {k, k}));
}

auto exponentiate(const Array<const float, nb::ndim<2>, nb::c_contig>& values) {
    require(values.shape(1) > 0, "values must be (n_leaves, n_classes)");
    return tuple_of(comboost::exponentiate_values(span_of(values), values.shape(1)), values.shape(1));
}

auto split(BinnedRows& rows, const Splits& splits) {
    const auto wanted = records_of<comboost::Split>(splits);
    const std::size_t first = rows.n_nodes();
    for (const comboost::Split& split : wanted) {
        require(split.node >= 0 && static_cast<std::size_t>(split.node) < first, "a split names no node");
        require(split.feature >= 0 && static_cast<std::size_t>(split.feature) < rows.codes().n_features,
                "a split names no feature");
    }
    std::vector<std::int32_t> smaller(wanted.size());
    {
        WithoutPython release;
        rows.split(wanted);
        for (std::size_t k = 0; k < smaller.size(); ++k) {
            const std::size_t left = first + 2 * k;
            const bool right_is_smaller = rows.partition().rows(left + 1).size < rows.partition().rows(left).size;
            smaller[k] = static_cast<std::int32_t>(left + (right_is_smaller ? 1 : 0));
        }
    }
    return own_vector<std::int32_t, nb::ndim<1>>(std::move(smaller), {wanted.size()});
}

void count(BinnedRows& rows, const Vector<std::int32_t>& nodes, const OutHistograms& histograms) {
    require(histograms.size() == nodes.size() * rows.histogram_size(),
            "histograms do not fit the nodes, bins and channels");
    for (const std::int32_t node : span_of(nodes))
        require(node >= 0 && static_cast<std::size_t>(node) < rows.n_nodes(), "there is no such node");
    require(nodes.size() == 1 || std::ranges::find(span_of(nodes), 0) == span_of(nodes).end(),
            "the root is counted alone");
    rows.count(span_of(nodes), span_of(histograms));
}

std::vector<std::vector<std::size_t>> bundles_of(const BinnedRows& rows) {
    std::vector<std::vector<std::size_t>> features;
    for (const comboost::Bundle& bundle : rows.bundles().all()) features.push_back(bundle.features);
    return features;
}

}  // namespace

void bind_rows(nb::module_& m) {
    const auto release = nb::call_guard<WithoutPython>();
    // The rows use the arrays of the loss, the grower and the codes where they are.
    const nb::keep_alive<1, 4> holds_unit;
    const nb::keep_alive<1, 5> holds_tops;
    const nb::keep_alive<1, 8> holds_grower;
    const nb::keep_alive<1, 9> holds_codes;

    nb::class_<CostTable>(m, "CostTable", "The samples' excess and quantised costs.")
        .def("__init__", &construct_table, "labels"_a.noconvert(), "weights"_a.noconvert().none(), "unit"_a.noconvert(),
             "tops"_a.noconvert().none(), "log_exponent"_a, "logistic"_a, "n_threads"_a, holds_unit, holds_tops)
        .def("set_predicted", &set_predicted, "predicted"_a.noconvert(), release,
             "Makes the predicted class of every sample its leaf.")
        .def("quantise", &quantise, "growth"_a.noconvert().none(), "shrink"_a.noconvert().none(), "exponent"_a,
             "prices"_a.noconvert().none() = nb::none(),
             "Adds a round and quantises the costs, times their prices; the loss, the largest sample, the log-loss, "
             "all of them scaled.")
        .def("update", &update_table, "growth"_a.noconvert().none(), "shrink"_a.noconvert().none(), "bound"_a,
             "prices"_a.noconvert().none() = nb::none(), release,
             "Adds a round and quantises the costs, times their prices; the exponent, the loss, the largest sample, "
             "the log-loss.")
        .def("add", &add, "growth"_a.noconvert().none(), "shrink"_a.noconvert().none(), "exponent"_a,
             "Adds a round and sums up the losses by (truth, class), for the log-loss by truth, in units of "
             "2^-exponent: their multiples of 2^32 and the rest; and the largest sample, not scaled.")
        .def("sum_pairs", &sum_pairs, "exponent"_a,
             "The costs of every leaf by (truth, class) in units of 2^-exponent, without prices.")
        .def("sum_leaves", &sum_leaves, "The cost sums of every leaf by (truth, class).")
        .def("sum_leaf_losses", &sum_leaf_losses, "The loss of every leaf by truth.")
        .def("row_losses", &row_losses, "The loss of every sample.")
        .def("confusion", &confusion, "predicted"_a.noconvert(), "The weight by (truth, predicted class).")
        .def_prop_ro("advantage", &advantage, "A, minus the costs of the classes that the leaves predict.")
        .def("leaves", &leaves, "The leaf of every sample.");

    nb::class_<TreeRows, CostTable>(m, "TreeRows", "Samples in memory that trees grow on.")
        .def("grow", &grow, "round"_a, "smoothing"_a,
             "Grows a tree on the costs: its nodes, its sets, A, the costs of every leaf by class, and of every split "
             "its fraction of the cost that all saved.")
        .def("find_leaves", &find_leaves, "nodes"_a.noconvert(), "sets"_a.noconvert(), release,
             "Sends every sample to its leaf of a tree.")
        .def("leaf_values", &leaf_values, "smoothing"_a.noconvert(), "hidden"_a.noconvert(), "exponent"_a,
             "learning_rate"_a, "by_pairs"_a,
             "The values that balance the leaves: these, exp(v), exp(-v), the largest factor, the remaining cost.")
        .def("next_round", &next_round, "growth"_a.noconvert().none(), "shrink"_a.noconvert().none(), "bound"_a,
             "with_root"_a, "prices"_a.noconvert().none() = nb::none(),
             "Adds a round, quantises the costs, times their prices, and starts a new tree; the exponent, the loss, "
             "the largest sample, the "
             "log-loss, and what the samples of every leaf weigh.")
        .def("start_tree", &TreeRows::start_tree, "with_root"_a, release, "Puts all samples into the root again.")
        .def("covers", &covers, "What the samples of every leaf weigh.");

    nb::class_<BinnedRows, TreeRows>(m, "BinnedRows", "Samples with the code of every value.")
        .def("__init__", &construct_binned, "labels"_a.noconvert(), "weights"_a.noconvert().none(),
             "unit"_a.noconvert(), "tops"_a.noconvert().none(), "log_exponent"_a, "logistic"_a, "grower"_a,
             "codes"_a.noconvert(), "histogram_bytes"_a, "small_share"_a, "packed_bytes"_a, "n_threads"_a, holds_unit,
             holds_tops, holds_grower, holds_codes, release)
        .def("arrange_codes", &BinnedRows::arrange_codes, release, "Must be called after codes have changed.")
        .def("split", &split, "splits"_a.noconvert(),
             "Divides nodes; the children become the next nodes, left before right. The smaller of each two.")
        .def("count", &count, "nodes"_a.noconvert(), "histograms"_a.noconvert(), release,
             "Writes the histograms of these nodes.")
        .def_prop_ro("bundles", &bundles_of, "The features of every bundle, one or several that share a code.");

    nb::class_<SparseRows, TreeRows>(m, "SparseRows", "Samples with the codes of a sparse table.")
        .def("__init__", &construct_sparse, "labels"_a.noconvert(), "weights"_a.noconvert().none(),
             "unit"_a.noconvert(), "tops"_a.noconvert().none(), "log_exponent"_a, "logistic"_a, "grower"_a, "codes"_a,
             "n_threads"_a, holds_unit, holds_tops, holds_grower, holds_codes, release);

    m.def("balance_leaves", &balance_leaves, "pairs"_a.noconvert().none(), "losses"_a.noconvert().none(),
          "costs"_a.noconvert(), "smoothing"_a.noconvert(), "hidden"_a.noconvert(), "exponent"_a, "learning_rate"_a,
          "n_threads"_a, "prices"_a.noconvert().none() = nb::none(),
          "The values that balance leaves, from their sums by (truth, class), times their prices, or their losses by "
          "truth, and the costs of "
          "their classes: as TreeRows.leaf_values.");
    m.def("forecast", &forecast, "pairs"_a.noconvert(), "values"_a.noconvert(), "step"_a,
          "What the sums of leaves by (truth, class) become in total if leaves get these values times a step, and the "
          "derivative by the step.");
    m.def("exponentiate", &exponentiate, "values"_a.noconvert(),
          "Stored values, exp(v), exp(-v), the largest factor, and 0.");
}

}  // namespace comboost_python
