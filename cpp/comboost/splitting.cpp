#include "comboost/splitting.hpp"

#include <algorithm>

namespace comboost {
namespace {

// The costs of one side of a split. `costs` points to scratch of the caller.
struct Side {
    Sum* costs;
    Sum loss = 0;
    Sum count = 0;
};

template <std::size_t K>
void add_bin(const Sum* bin, const Channels& channels, Side& side) {
    const std::size_t n_classes = K ? K : channels.n_classes;
    Sum last = 0;
    for (std::size_t j = 0; j + 1 < n_classes; ++j) {
        side.costs[j] += bin[j];
        last -= bin[j];
    }
    side.costs[n_classes - 1] += last;
    side.loss += bin[channels.loss()];
    if (channels.counted) side.count += bin[channels.count()];
}

double gini(const Sum* costs, std::size_t n_classes, Sum loss) {
    if (loss == 0) return 0.0;
    double squares = 0.0;
    for (std::size_t j = 0; j < n_classes; ++j)
        squares += static_cast<double>(costs[j]) * static_cast<double>(costs[j]);
    return squares / static_cast<double>(loss);
}

Sum smallest(const Sum* costs, std::size_t n_classes) {
    Sum smallest = costs[0];
    for (std::size_t j = 1; j < n_classes; ++j) smallest = std::min(smallest, costs[j]);
    return smallest;
}

template <Criterion C>
auto side_score(const Sum* costs, std::size_t n_classes, Sum loss) {
    if constexpr (C == Criterion::cost)
        return -smallest(costs, n_classes);
    else
        return gini(costs, n_classes, loss);
}

bool keeps_enough(Sum loss, Sum count, const Channels& channels, const SplitRules& rules) {
    return (!channels.counted || count >= rules.min_count) && static_cast<double>(loss) >= rules.min_loss;
}

// A bin without loss holds no costs either; without rows to count it cannot change a side.
bool is_empty(const Sum* bin, const Channels& channels) {
    return bin[channels.loss()] == 0 && (!channels.counted || bin[channels.count()] == 0);
}

// K is the number of classes where it is known to the compiler, 0 where it is not.
template <Criterion C, std::size_t K>
BestBin scan(const Sum* bins, std::size_t n_bins, const Channels& channels, const NodeSums& node,
             const SplitRules& rules) {
    const std::size_t n_classes = K ? K : channels.n_classes;
    Sum small_scratch[2 * (K ? K : 1)] = {};
    std::vector<Sum> large_scratch(K ? 0 : 2 * n_classes);
    Sum* scratch = K ? small_scratch : large_scratch.data();
    Side left{scratch};
    Sum* right = scratch + n_classes;

    auto best_score = side_score<C>(node.costs.data(), n_classes, node.loss);
    std::int32_t best_bin = kLeaf;
    for (std::size_t b = 0; b + 1 < n_bins; ++b) {
        const Sum* bin = bins + b * channels.size();
        if (is_empty(bin, channels)) continue;
        add_bin<K>(bin, channels, left);
        const Sum right_loss = node.loss - left.loss;
        if (!keeps_enough(left.loss, left.count, channels, rules) ||
            !keeps_enough(right_loss, node.count - left.count, channels, rules))
            continue;
        for (std::size_t j = 0; j < n_classes; ++j) right[j] = node.costs[j] - left.costs[j];
        const auto score =
            side_score<C>(left.costs, n_classes, left.loss) + side_score<C>(right, n_classes, right_loss);
        if (score > best_score) {
            best_score = score;
            best_bin = static_cast<std::int32_t>(b);
        }
    }
    if constexpr (C == Criterion::cost)
        return {{best_score, 0.0}, best_bin};
    else
        return {{0, best_score}, best_bin};
}

template <Criterion C>
auto scanner(std::size_t n_classes) {
    switch (n_classes) {
        case 2: return &scan<C, 2>;
        case 3: return &scan<C, 3>;
        case 4: return &scan<C, 4>;
        case 5: return &scan<C, 5>;
        case 6: return &scan<C, 6>;
        case 7: return &scan<C, 7>;
        case 8: return &scan<C, 8>;
        default: return &scan<C, 0>;
    }
}

}  // namespace

std::size_t NodeSums::best_class() const {
    return static_cast<std::size_t>(std::min_element(costs.begin(), costs.end()) - costs.begin());
}

Sum NodeSums::best_cost() const { return smallest(costs.data(), costs.size()); }

NodeSums sum_bins(const Sum* bins, std::size_t n_bins, const Channels& channels) {
    NodeSums sums{std::vector<Sum>(channels.n_classes)};
    Side side{sums.costs.data()};
    for (std::size_t b = 0; b < n_bins; ++b) add_bin<0>(bins + b * channels.size(), channels, side);
    sums.loss = side.loss;
    sums.count = side.count;
    return sums;
}

NodeSums difference(const NodeSums& whole, const NodeSums& part) {
    NodeSums rest{std::vector<Sum>(whole.costs.size()), whole.loss - part.loss, whole.count - part.count};
    for (std::size_t j = 0; j < whole.costs.size(); ++j) rest.costs[j] = whole.costs[j] - part.costs[j];
    return rest;
}

BestBin find_best_bin(const Sum* bins, std::size_t n_bins, const Channels& channels, const NodeSums& node,
                      const SplitRules& rules) {
    const auto scan_bins = rules.criterion == Criterion::cost ? scanner<Criterion::cost>(channels.n_classes)
                                                              : scanner<Criterion::gini>(channels.n_classes);
    return scan_bins(bins, n_bins, channels, node, rules);
}

}  // namespace comboost
