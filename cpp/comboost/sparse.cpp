#include "comboost/sparse.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "comboost/binning.hpp"
#include "comboost/parallel.hpp"
#include "comboost/quantiles.hpp"

namespace comboost {
namespace {

constexpr std::size_t kUpdatesPerEntry = 16;  // to sort or code it
constexpr std::size_t kUpdatesPerFeature = 64;
constexpr std::size_t kWorthDigits = 1 << 12;  // entries; for fewer, counting digits takes longer than comparing
constexpr std::size_t kFeaturesAtOnce = 64;

std::size_t work_of(const SparseMatrix& matrix) {
    return matrix.rows.size() * kUpdatesPerEntry + matrix.n_columns() * kUpdatesPerFeature;
}

// body(first, last) for groups of features.
template <class Body>
void for_each_group(std::size_t n_features, std::size_t work, int n_threads, Body&& body) {
    const std::size_t n_groups = (n_features + kFeaturesAtOnce - 1) / kFeaturesAtOnce;
    for_each_task(n_groups, work, n_threads, [&](std::size_t group) {
        body(group * kFeaturesAtOnce, std::min(n_features, (group + 1) * kFeaturesAtOnce));
    });
}

using Item = WeightedKey<ValueKey, std::uint64_t>;

// The entries of a column and, as one item, its zeros, in order of value.
void sort_column(const SparseMatrix& matrix, std::size_t column, std::span<const Weight> weights,
                 std::uint64_t total_weight, std::vector<Item>& items, std::vector<Item>& scratch) {
    items.clear();
    std::uint64_t in_entries = 0;
    for (std::size_t k = matrix.begin(column); k < matrix.end(column); ++k) {
        const std::uint64_t weight = weights.empty() ? 1 : weights[matrix.rows[k]];
        items.push_back({key_of(matrix.values[k]), weight});
        in_entries += weight;
    }
    if (matrix.end(column) - matrix.begin(column) < matrix.n_rows)
        items.push_back({key_of(0.0), total_weight - in_entries});
    if (items.size() < kWorthDigits)
        std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) { return a.key < b.key; });
    else
        radix_sort(items, scratch);
}

}  // namespace

SparseEdges find_sparse_edges(const SparseMatrix& matrix, std::span<const Weight> weights, std::size_t max_bins,
                              int n_threads) {
    const std::size_t n_features = matrix.n_columns();
    std::uint64_t total_weight = matrix.n_rows;
    if (!weights.empty()) total_weight = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
    SparseEdges found{{},
                      std::vector<std::int64_t>(n_features + 1),
                      std::vector<std::uint8_t>(n_features),
                      std::vector<std::uint8_t>(n_features)};
    const std::size_t n_groups = (n_features + kFeaturesAtOnce - 1) / kFeaturesAtOnce;
    std::vector<std::vector<double>> of_groups(n_groups);
    for_each_group(n_features, work_of(matrix), n_threads, [&](std::size_t first, std::size_t last) {
        std::vector<Item> items, scratch;
        for (std::size_t f = first; f < last; ++f) {
            sort_column(matrix, f, weights, total_weight, items, scratch);
            const FeatureEdges of_feature = edges_of<double>(items, max_bins);
            found.missing[f] = of_feature.missing;
            found.infinite[f] = of_feature.infinite;
            found.starts[f + 1] = static_cast<std::int64_t>(of_feature.edges.size());
            auto& group = of_groups[first / kFeaturesAtOnce];
            group.insert(group.end(), of_feature.edges.begin(), of_feature.edges.end());
        }
    });
    std::partial_sum(found.starts.begin(), found.starts.end(), found.starts.begin());
    found.edges.reserve(static_cast<std::size_t>(found.starts.back()));
    for (auto& group : of_groups) {
        found.edges.insert(found.edges.end(), group.begin(), group.end());
        group = {};
    }
    return found;
}

SparseCodes::SparseCodes(const SparseMatrix& matrix, std::span<const double> zeros, std::span<const double> edges,
                         std::span<const std::int64_t> edge_starts, std::span<const Kind> kinds, int n_threads)
    : n_rows_(matrix.n_rows) {
    const std::size_t n_features = matrix.n_columns();
    std::vector<Code> all(matrix.rows.size()), zero_codes(n_features);
    std::vector<std::int64_t> sizes(n_features);
    for_each_group(n_features, work_of(matrix), n_threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t f = first; f < last; ++f) {
            const auto begin = static_cast<std::size_t>(edge_starts[f]);
            const SearchTable table(edges.subspan(begin, static_cast<std::size_t>(edge_starts[f + 1]) - begin));
            const auto code_of = [&](double value) {
                if (!keeps_code_for_missing(kinds[f])) return table.code(value);
                return std::isnan(value) ? Code{0} : static_cast<Code>(1 + table.code(value));
            };
            zero_codes[f] = code_of(zeros[f]);
            for (std::size_t k = matrix.begin(f); k < matrix.end(f); ++k) {
                all[k] = code_of(matrix.values[k]);
                sizes[f] += all[k] != zero_codes[f];
            }
        }
    });
    rank_features(sizes);
    rows_.resize(static_cast<std::size_t>(starts_.back()));
    codes_.resize(rows_.size());
    zero_codes_.resize(n_features);
    for_each_group(n_features, work_of(matrix), n_threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t f = first; f < last; ++f) {
            zero_codes_[ranks_[f]] = zero_codes[f];
            if (sizes[f] == 0) continue;
            std::array<std::uint32_t, 257> next{};
            for (std::size_t k = matrix.begin(f); k < matrix.end(f); ++k) ++next[all[k] + 1U];
            next[zero_codes[f] + 1U] = 0;
            std::partial_sum(next.begin(), next.end(), next.begin());
            for (std::size_t k = matrix.begin(f); k < matrix.end(f); ++k) {
                if (all[k] == zero_codes[f]) continue;
                const std::size_t index = static_cast<std::size_t>(starts_[ranks_[f]]) + next[all[k]]++;
                rows_[index] = matrix.rows[k];
                codes_[index] = all[k];
            }
        }
    });
}

void SparseCodes::rank_features(std::span<const std::int64_t> sizes) {
    features_.resize(sizes.size());
    ranks_.resize(sizes.size());
    starts_.resize(sizes.size() + 1);
    std::iota(features_.begin(), features_.end(), std::uint32_t{0});
    std::stable_sort(features_.begin(), features_.end(), [&](auto a, auto b) { return sizes[a] > sizes[b]; });
    for (std::size_t rank = 0; rank < features_.size(); ++rank) {
        const std::uint32_t feature = features_[rank];
        ranks_[feature] = static_cast<std::uint32_t>(rank);
        starts_[rank + 1] = starts_[rank] + sizes[feature];
        n_filled_ += sizes[feature] > 0;
    }
}

SparsePartition::SparsePartition(std::size_t n_rows) : slots_{std::vector<RowIndex>(n_rows), {}, 0} { reset(); }

void SparsePartition::reset() {
    std::fill(slots_.of_row.begin(), slots_.of_row.end(), RowIndex{0});
    slots_.of_node.assign(1, 0);
    slots_.size = 1;
}

template <class GoesLeft>
void SparsePartition::Slots::divide(const SparseCodes& codes, std::size_t feature, std::size_t node, std::size_t left,
                                    GoesLeft&& goes_left) {
    const auto [rows, code_of, zero_code] = codes.entries(codes.rank(feature));
    const bool zeros_left = goes_left(zero_code);
    const RowIndex slot = of_node[node];
    const auto fresh = static_cast<RowIndex>(size++);
    for (std::size_t k = 0; k < rows.size(); ++k)
        if (goes_left(code_of[k]) != zeros_left && of_row[rows[k]] == slot) of_row[rows[k]] = fresh;
    if (of_node.size() < left + 2) of_node.resize(left + 2);
    of_node[left] = zeros_left ? slot : fresh;
    of_node[left + 1] = zeros_left ? fresh : slot;
}

void SparsePartition::split(const SparseCodes& codes, std::span<const Split> splits) {
    InterruptPoll poll;
    for (const Split& split : splits) {
        const auto feature = static_cast<std::size_t>(split.feature), node = static_cast<std::size_t>(split.node);
        if (split.bin == kBySet)
            slots_.divide(codes, feature, node, n_nodes(), [&](Code code) { return split.left.contains(code); });
        else
            slots_.divide(codes, feature, node, n_nodes(), [&](Code code) { return code <= split.bin; });
        poll.after(codes.entries(codes.rank(feature)).rows.size());
    }
}

void SparsePartition::find_leaves(const SparseCodes& codes, const Tree& tree, std::span<RowIndex> leaves,
                                  const LeafCovers& covers) const {
    Slots slots = slots_;
    slots.of_node.resize(tree.nodes.size());
    InterruptPoll poll;
    // Children stand behind their parents. A node whose children have rows here already was divided before.
    for (std::size_t c = 0; c < tree.nodes.size(); ++c) {
        const Node& node = tree.nodes[c];
        const auto left = static_cast<std::size_t>(node.left), feature = static_cast<std::size_t>(node.feature);
        if (node.feature == kLeaf || left < n_nodes()) continue;
        slots.divide(codes, feature, c, left, [&](Code code) { return tree.goes_left<true>(node, code); });
        poll.after(codes.entries(codes.rank(feature)).rows.size());
    }
    const std::vector<RowIndex> leaf_of_node = number_leaves(tree);
    std::vector<RowIndex> leaf_of_slot(slots.size);
    for (std::size_t c = 0; c < tree.nodes.size(); ++c)
        if (tree.nodes[c].feature == kLeaf) leaf_of_slot[slots.of_node[c]] = leaf_of_node[c];
    for (std::size_t row = 0; row < leaves.size(); ++row) leaves[row] = leaf_of_slot[slots.of_row[row]];
    if (covers.sums.empty()) return;
    std::vector<Sum> sums(slots.size);
    for (std::size_t row = 0; row < leaves.size(); ++row)
        sums[slots.of_row[row]] += covers.weights.empty() ? 1 : Sum{covers.weights[row]};
    auto next = covers.sums.begin();
    for (std::size_t c = 0; c < tree.nodes.size(); ++c)
        if (tree.nodes[c].feature == kLeaf) *next++ = sums[slots.of_node[c]];
}

}  // namespace comboost
