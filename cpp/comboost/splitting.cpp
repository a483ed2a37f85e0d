#include "comboost/splitting.hpp"

#include <algorithm>

#include "comboost/kernels.hpp"

namespace comboost {

std::size_t NodeSums::best_class() const {
    return static_cast<std::size_t>(std::min_element(costs.begin(), costs.end()) - costs.begin());
}

Sum NodeSums::best_cost() const { return *std::min_element(costs.begin(), costs.end()); }

NodeSums sum_bins(const Sum* bins, std::size_t n_bins, const Channels& channels) {
    NodeSums sums{std::vector<Sum>(channels.n_classes)};
    Sum& last = sums.costs.back();
    for (std::size_t b = 0; b < n_bins; ++b) {
        const Sum* bin = bins + b * channels.size();
        for (std::size_t j = 0; j + 1 < channels.n_classes; ++j) {
            sums.costs[j] += bin[j];
            last -= bin[j];
        }
        sums.loss += bin[channels.loss()];
        if (channels.counted) sums.count += bin[channels.count()];
    }
    return sums;
}

NodeSums difference(const NodeSums& whole, const NodeSums& part) {
    NodeSums rest{std::vector<Sum>(whole.costs.size()), whole.loss - part.loss, whole.count - part.count};
    for (std::size_t j = 0; j < whole.costs.size(); ++j) rest.costs[j] = whole.costs[j] - part.costs[j];
    return rest;
}

BestBin find_best_bin(const Sum* bins, std::size_t n_bins, const Channels& channels, const NodeSums& node,
                      const SplitRules& rules) {
    const ScanInput input{bins,      n_bins,     channels,        node.costs.data(),
                          node.loss, node.count, rules.min_count, rules.min_loss};
    if (rules.criterion == Criterion::cost) {
        const auto found = kernels().scan_cost(input);
        return {{found.score, 0.0}, found.bin};
    }
    const auto found = kernels().scan_gini(input);
    return {{0, found.score}, found.bin};
}

}  // namespace comboost
