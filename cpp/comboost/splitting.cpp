#include "comboost/splitting.hpp"

#include <algorithm>

namespace comboost {
namespace {

void add_bin(const Sum* bin, const Channels& channels, NodeSums& sums) {
    Sum last = 0;
    for (std::size_t j = 0; j + 1 < channels.n_classes; ++j) {
        sums.costs[j] += bin[j];
        last -= bin[j];
    }
    sums.costs[channels.n_classes - 1] += last;
    sums.loss += bin[channels.loss()];
    if (channels.counted) sums.count += bin[channels.count()];
}

void subtract(const NodeSums& whole, const NodeSums& part, NodeSums& rest) {
    for (std::size_t j = 0; j < whole.costs.size(); ++j) rest.costs[j] = whole.costs[j] - part.costs[j];
    rest.loss = whole.loss - part.loss;
    rest.count = whole.count - part.count;
}

double gini(const NodeSums& sums) {
    if (sums.loss == 0) return 0.0;
    double squares = 0.0;
    for (const Sum cost : sums.costs) squares += static_cast<double>(cost) * static_cast<double>(cost);
    return squares / static_cast<double>(sums.loss);
}

bool keeps_enough(const NodeSums& side, const Channels& channels, const SplitRules& rules) {
    return (!channels.counted || side.count >= rules.min_count) && static_cast<double>(side.loss) >= rules.min_loss;
}

}  // namespace

std::size_t NodeSums::best_class() const {
    return static_cast<std::size_t>(std::min_element(costs.begin(), costs.end()) - costs.begin());
}

Sum NodeSums::best_cost() const { return *std::min_element(costs.begin(), costs.end()); }

NodeSums sum_bins(const Sum* bins, std::size_t n_bins, const Channels& channels) {
    NodeSums sums{std::vector<Sum>(channels.n_classes)};
    for (std::size_t b = 0; b < n_bins; ++b) add_bin(bins + b * channels.size(), channels, sums);
    return sums;
}

NodeSums difference(const NodeSums& whole, const NodeSums& part) {
    NodeSums rest{std::vector<Sum>(whole.costs.size())};
    subtract(whole, part, rest);
    return rest;
}

Score node_score(const NodeSums& sums, Criterion criterion) {
    if (criterion == Criterion::cost) return {-sums.best_cost(), 0.0};
    return {0, gini(sums)};
}

BestBin find_best_bin(const Sum* bins, std::size_t n_bins, const Channels& channels, const NodeSums& node,
                      const SplitRules& rules) {
    BestBin best{node_score(node, rules.criterion)};
    NodeSums left{std::vector<Sum>(channels.n_classes)};
    NodeSums right{std::vector<Sum>(channels.n_classes)};
    for (std::size_t b = 0; b + 1 < n_bins; ++b) {
        add_bin(bins + b * channels.size(), channels, left);
        subtract(node, left, right);
        if (!keeps_enough(left, channels, rules) || !keeps_enough(right, channels, rules)) continue;
        const Score left_score = node_score(left, rules.criterion);
        const Score right_score = node_score(right, rules.criterion);
        const Score score{left_score.cost + right_score.cost, left_score.gini + right_score.gini};
        if (score > best.score) best = {score, static_cast<std::int32_t>(b)};
    }
    return best;
}

}  // namespace comboost
