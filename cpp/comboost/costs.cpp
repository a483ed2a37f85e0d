#include "comboost/costs.hpp"

#include <cmath>

#include "comboost/parallel.hpp"

namespace comboost {

CostTable::CostTable(std::span<const Label> labels, std::span<const Weight> weights, std::size_t n_classes)
    : n_classes_(n_classes),
      labels_(labels.begin(), labels.end()),
      weights_(weights.begin(), weights.end()),
      excess_(labels.size() * n_classes, 1.0),
      units_(labels.size() * n_classes) {}

void CostTable::vote_row(std::size_t row, Label vote, double up, double down) {
    double* excess = excess_.data() + row * n_classes_;
    if (vote != labels_[row]) {
        excess[vote] *= up;
        return;
    }
    for (std::size_t j = 0; j < n_classes_; ++j) excess[j] *= down;
    excess[vote] = 1.0;  // never read, but denormal numbers would be slow
}

// Writes the row's channels and returns Σ_j v(i,j).
double CostTable::quantise_row(std::size_t row, const double* factors) {
    const std::size_t truth = labels_[row];
    const double* factor = factors + truth * n_classes_;
    const double* excess = excess_.data() + row * n_classes_;
    Unit* units = units_.data() + row * n_classes_;
    double row_sum = 0.0;
    Unit loss = 0;
    for (std::size_t j = 0; j < n_classes_; ++j) {
        // A pair without cost counts nothing, even once its excess has overflowed; the diagonal factor is 0, too.
        const double v = factor[j] == 0.0 ? 0.0 : factor[j] * excess[j];
        const Unit u = static_cast<Unit>(std::nearbyint(v));
        row_sum += v;
        loss += u;
        units[j] = u;
    }
    units[truth] = -loss;
    units[n_classes_ - 1] = loss;
    return row_sum;
}

PassResult CostTable::advance(std::span<const Label> votes, double up, double down, std::span<const double> factors,
                              int n_threads) {
    std::vector<PassResult> parts(n_blocks(n_rows()));
    for_each_block(n_rows(), n_classes_, n_threads, [&](std::size_t begin, std::size_t end) {
        PassResult part{0, 0.0};
        for (std::size_t i = begin; i < end; ++i) {
            if (!votes.empty()) vote_row(i, votes[i], up, down);
            part.largest = std::max(part.largest, quantise_row(i, factors.data()));
            part.loss += weight(i) * units(i)[n_classes_ - 1];
        }
        parts[begin / kBlock] = part;
    });
    PassResult result{0, 0.0};
    for (const PassResult& part : parts) {
        result.loss += part.loss;
        result.largest = std::max(result.largest, part.largest);
    }
    return result;
}

Unit CostTable::unit(std::size_t row, std::size_t label) const {
    const Unit* channels = units(row);
    if (label + 1 < n_classes_) return channels[label];
    Unit others = 0;
    for (std::size_t j = 0; j + 1 < n_classes_; ++j) others += channels[j];
    return -others;
}

void CostTable::measure(std::span<const Label> votes, int n_threads, std::span<Sum> sums) const {
    const std::size_t square = n_classes_ * n_classes_;
    std::fill(sums.begin(), sums.end(), 0);
    const int n_parts = n_rows() * n_classes_ < kSerialWork ? 1 : n_threads;
    std::vector<std::vector<Sum>> parts(static_cast<std::size_t>(n_parts), std::vector<Sum>(3 * square));
    for_each_task(parts.size(), n_rows() * n_classes_, n_threads, [&](std::size_t part) {
        const std::size_t begin = n_rows() * part / parts.size();
        const std::size_t end = n_rows() * (part + 1) / parts.size();
        for (std::size_t i = begin; i < end; ++i) {
            const std::size_t truth = labels_[i];
            for (std::size_t j = 0; j < n_classes_; ++j) {
                if (j == truth) continue;
                const std::size_t fate = votes[i] == truth ? 0 : (votes[i] == j ? 1 : 2);
                parts[part][fate * square + truth * n_classes_ + j] += weight(i) * unit(i, j);
            }
        }
    });
    for (const auto& part : parts)
        for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += part[k];
}

void CostTable::row_losses(std::span<double> losses) const {
    for (std::size_t i = 0; i < n_rows(); ++i) losses[i] = static_cast<double>(weight(i) * units(i)[n_classes_ - 1]);
}

void CostTable::confusion(std::span<const Label> votes, std::span<Sum> counts) const {
    std::fill(counts.begin(), counts.end(), 0);
    for (std::size_t i = 0; i < n_rows(); ++i) counts[labels_[i] * n_classes_ + votes[i]] += weight(i);
}

}  // namespace comboost
