#include "comboost/costs.hpp"

#include <algorithm>

#include "comboost/parallel.hpp"

namespace comboost {

CostTable::CostTable(std::span<const Label> labels, std::span<const Weight> weights, const Channels& channels)
    : channels_(channels),
      labels_(labels.begin(), labels.end()),
      weights_(weights.begin(), weights.end()),
      units_(labels.size() * channels.size()) {
    const std::size_t n_excess = labels.size() * channels.n_classes;
    excess_.reserve(n_excess);
    for_each_stretch(0, n_excess, 1, [&](std::size_t, std::size_t to) { excess_.resize(to, 1.0); });
    for_each_stretch(0, units_.size(), 1, [&](std::size_t from, std::size_t to) {
        std::fill(units_.data() + from, units_.data() + to, Unit{0});
    });
    if (!channels.counted) return;
    for (std::size_t i = 0; i < labels.size(); ++i) units_.data()[i * channels.size() + channels.count()] = 1;
}

template <class DoBlock>
PassResult CostTable::pass_over_blocks(int n_threads, DoBlock&& do_block) const {
    std::vector<PassResult> parts(n_blocks(n_rows()));
    for_each_block(n_rows(), 4 * n_classes(), n_threads,
                   [&](std::size_t begin, std::size_t end) { parts[begin / kBlock] = do_block(begin, end); });
    PassResult result{0, 0.0, 0};
    for (const PassResult& part : parts) {
        result.loss += part.loss;
        result.largest = std::max(result.largest, part.largest);
        result.log_loss += part.log_loss;
    }
    return result;
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
    return pass_over_blocks(n_threads,
                            [&](std::size_t begin, std::size_t end) { return kernels().advance(pass, begin, end); });
}

PassResult CostTable::advance_leaves(std::span<const RowIndex> leaves, std::span<const double> growth,
                                     std::span<const double> shrink, std::span<const double> factors,
                                     std::span<const double> tops, std::span<const double> bits, int n_threads) {
    const LeafPass pass{
        labels_.data(), leaves.empty() ? nullptr : leaves.data(), records().weights, growth.data(), shrink.data(),
        factors.data(), tops.empty() ? nullptr : tops.data(),     bits.data(),       channels_,     excess_.data(),
        units_.data()};
    return pass_over_blocks(
        n_threads, [&](std::size_t begin, std::size_t end) { return kernels().advance_leaves(pass, begin, end); });
}

void CostTable::sum_leaves(std::span<const RowIndex> leaves, std::size_t n_leaves, int n_threads,
                           std::span<Sum> sums) const {
    constexpr std::size_t kMostSums = 1 << 20;  // of all parts together, unless there is but one
    const std::size_t size = n_leaves * n_classes() * channels_.size();
    const std::size_t work = n_rows() * channels_.size();
    std::vector<std::vector<Sum>> parts(
        std::max<std::size_t>(1, std::min(n_parts(work, n_threads), kMostSums / std::max<std::size_t>(1, size))),
        std::vector<Sum>(size));
    for_each_task(parts.size(), work, n_threads, [&](std::size_t part) {
        for_each_stretch(n_rows() * part / parts.size(), n_rows() * (part + 1) / parts.size(), channels_.size(),
                         [&](std::size_t from, std::size_t to) {
                             kernels().sum_leaves(leaves.data(), labels_.data(), from, to, records(),
                                                  parts[part].data());
                         });
    });
    for_each_task(n_leaves, size, n_threads, [&](std::size_t leaf) {
        for (std::size_t truth = 0; truth < n_classes(); ++truth) {
            const std::size_t place = leaf * n_classes() + truth;
            Sum* row = sums.data() + place * n_classes();
            Sum last = 0;  // a record's costs add up to zero over the classes
            for (std::size_t j = 0; j + 1 < n_classes(); ++j) {
                row[j] = 0;
                for (const auto& part : parts) row[j] += part[place * channels_.size() + j];
                last -= row[j];
            }
            row[n_classes() - 1] = last;
            row[truth] = 0;
        }
    });
}

void CostTable::sum_leaf_losses(std::span<const RowIndex> leaves, std::span<Sum> sums) const {
    std::fill(sums.begin(), sums.end(), 0);
    for_each_stretch(0, n_rows(), 1, [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i)
            sums[leaves[i] * n_classes() + labels_[i]] += weight(i) * record(i)[channels_.loss()];
    });
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
        for_each_stretch(begin, end, n_classes(), [&](std::size_t from, std::size_t to) {
            for (std::size_t i = from; i < to; ++i) {
                const std::size_t truth = labels_[i];
                for (std::size_t j = 0; j < n_classes(); ++j) {
                    if (j == truth) continue;
                    const std::size_t fate = votes[i] == truth ? 0 : (votes[i] == j ? 1 : 2);
                    parts[part][fate * square + truth * n_classes() + j] += weight(i) * unit(i, j);
                }
            }
        });
    });
    for (const auto& part : parts)
        for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += part[k];
}

void CostTable::sum_rows(std::span<Sum> sums) const {
    std::fill(sums.begin(), sums.end(), 0);
    for_each_stretch(0, n_rows(), channels_.size(), [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i)
            for (std::size_t j = 0; j < channels_.size(); ++j) sums[j] += weight(i) * record(i)[j];
    });
    if (channels_.counted) sums[channels_.count()] = static_cast<Sum>(n_rows());  // whatever they weigh
}

void CostTable::row_losses(std::span<double> losses) const {
    for_each_stretch(0, n_rows(), 1, [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i)
            losses[i] = static_cast<double>(weight(i) * record(i)[channels_.loss()]);
    });
}

void CostTable::confusion(std::span<const Label> votes, std::span<Sum> counts) const {
    std::fill(counts.begin(), counts.end(), 0);
    for_each_stretch(0, n_rows(), 1, [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) counts[labels_[i] * n_classes() + votes[i]] += weight(i);
    });
}

}  // namespace comboost
