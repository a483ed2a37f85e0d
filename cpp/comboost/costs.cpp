#include "comboost/costs.hpp"

#include <algorithm>

#include "comboost/parallel.hpp"

namespace comboost {

CostTable::CostTable(std::span<const Label> labels, std::span<const Weight> weights, const Channels& channels)
    : channels_(channels),
      labels_(labels.begin(), labels.end()),
      weights_(weights.begin(), weights.end()),
      excess_(labels.size() * channels.n_classes, 1.0),
      units_(labels.size() * channels.size()) {
    std::fill_n(units_.data(), units_.size(), Unit{0});
    if (!channels.counted) return;
    for (std::size_t i = 0; i < labels.size(); ++i) units_.data()[i * channels.size() + channels.count()] = 1;
}

PassResult CostTable::advance(std::span<const Label> votes, double up, double down, std::span<const double> factors,
                              int n_threads) {
    const Pass pass{labels_.data(),
                    votes.empty() ? nullptr : votes.data(),
                    records().weights,
                    factors.data(),
                    up,
                    down,
                    channels_,
                    excess_.data(),
                    units_.data()};
    std::vector<PassResult> parts(n_blocks(n_rows()));
    for_each_block(n_rows(), 4 * n_classes(), n_threads, [&](std::size_t begin, std::size_t end) {
        parts[begin / kBlock] = kernels().advance(pass, begin, end);
    });
    PassResult result{0, 0.0};
    for (const PassResult& part : parts) {
        result.loss += part.loss;
        result.largest = std::max(result.largest, part.largest);
    }
    return result;
}

Unit CostTable::unit(std::size_t row, std::size_t label) const {
    const Unit* channels = record(row);
    if (label + 1 < n_classes()) return channels[label];
    Unit others = 0;
    for (std::size_t j = 0; j + 1 < n_classes(); ++j) others += channels[j];
    return -others;
}

void CostTable::measure(std::span<const Label> votes, int n_threads, std::span<Sum> sums) const {
    const std::size_t square = n_classes() * n_classes();
    std::fill(sums.begin(), sums.end(), 0);
    const std::size_t work = n_rows() * n_classes();
    std::vector<std::vector<Sum>> parts(n_parts(work, n_threads), std::vector<Sum>(3 * square));
    for_each_task(parts.size(), work, n_threads, [&](std::size_t part) {
        const std::size_t begin = n_rows() * part / parts.size();
        const std::size_t end = n_rows() * (part + 1) / parts.size();
        for (std::size_t i = begin; i < end; ++i) {
            const std::size_t truth = labels_[i];
            for (std::size_t j = 0; j < n_classes(); ++j) {
                if (j == truth) continue;
                const std::size_t fate = votes[i] == truth ? 0 : (votes[i] == j ? 1 : 2);
                parts[part][fate * square + truth * n_classes() + j] += weight(i) * unit(i, j);
            }
        }
    });
    for (const auto& part : parts)
        for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += part[k];
}

void CostTable::row_losses(std::span<double> losses) const {
    for (std::size_t i = 0; i < n_rows(); ++i) losses[i] = static_cast<double>(weight(i) * record(i)[channels_.loss()]);
}

void CostTable::confusion(std::span<const Label> votes, std::span<Sum> counts) const {
    std::fill(counts.begin(), counts.end(), 0);
    for (std::size_t i = 0; i < n_rows(); ++i) counts[labels_[i] * n_classes() + votes[i]] += weight(i);
}

}  // namespace comboost
