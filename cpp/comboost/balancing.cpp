#include "comboost/balancing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "comboost/parallel.hpp"

namespace comboost {
namespace {

// As the paper's round weights, no value exceeds ½·ln(2³¹).
const double kMostRatio = std::sqrt(0x1p31);
const double kMostValue = 0.5 * std::log(0x1p31);

constexpr std::size_t kUpdatesPerValue = 32;  // a logarithm, or two exponentials

// One leaf's matrix, by rows and by columns, and the ratios x with their inverses.
class Balance {
  public:
    explicit Balance(std::size_t n_classes)
        : n_classes_(n_classes),
          rows_(n_classes * n_classes),
          columns_(n_classes * n_classes),
          x_(n_classes),
          inverse_(n_classes) {}

    void read(const LeafSums& sums, std::size_t leaf, std::span<const double> smoothing) {
        for (std::size_t l = 0; l < n_classes_; ++l)
            for (std::size_t j = 0; j < n_classes_; ++j) {
                const std::size_t pair = l * n_classes_ + j;
                rows_[pair] = columns_[j * n_classes_ + l] = sums.pair(leaf, pair, rows_.size()) + smoothing[pair];
            }
        std::fill(x_.begin(), x_.end(), 1.0);
        std::fill(inverse_.begin(), inverse_.end(), 1.0);
    }

    void sweep(std::size_t first) {
        for (std::size_t j = first; j < n_classes_; ++j) update(j);
        for (std::size_t j = 0; j < first; ++j) update(j);
    }

    const std::vector<double>& ratios() const { return x_; }

  private:
    // Makes what class j is confused with equal to what is confused with it.
    void update(std::size_t j) {
        const double* row = rows_.data() + j * n_classes_;
        const double* column = columns_.data() + j * n_classes_;
        double out = 0.0, in = 0.0;  // the diagonal is zero
        for (std::size_t l = 0; l < n_classes_; ++l) {
            out += row[l] * x_[l];
            in += column[l] * inverse_[l];
        }
        double ratio = 1.0;
        if (in > 0.0 || out > 0.0)
            ratio = in > 0.0 ? std::clamp(std::sqrt(out / in), 1.0 / kMostRatio, kMostRatio) : kMostRatio;
        x_[j] = ratio;
        inverse_[j] = 1.0 / ratio;
    }

    std::size_t n_classes_;
    std::vector<double> rows_, columns_, x_, inverse_;
};

// ln x of every leaf and class, where x balances the leaf's matrix. A sweep begins with the class of the lowest cost.
std::vector<double> balance_pairs(const LeafSums& sums, std::span<const double> smoothing, std::size_t n_classes,
                                  int n_threads) {
    const std::size_t square = n_classes * n_classes, n_leaves = sums.pairs.size() / square;
    std::vector<double> values(n_leaves * n_classes);
    for_each_task(n_leaves, n_leaves * square * kSweeps, n_threads, [&](std::size_t leaf) {
        const auto costs = sums.costs.subspan(leaf * n_classes, n_classes);
        const auto first = static_cast<std::size_t>(std::ranges::min_element(costs) - costs.begin());
        Balance balance(n_classes);
        balance.read(sums, leaf, smoothing);
        InterruptPoll poll;
        for (int sweep = 0; sweep < kSweeps; ++sweep) {
            balance.sweep(first);
            poll.after(square);
        }
        for (std::size_t l = 0; l < n_classes; ++l) values[leaf * n_classes + l] = std::log(balance.ratios()[l]);
    });
    return values;
}

// The value of every class by itself, from what pulls it up and pushes it down.
std::vector<double> balance_classes(const LeafSums& sums, std::span<const double> smoothing, std::size_t n_classes,
                                    double learning_rate, int n_threads) {
    std::vector<double> added(n_classes), values(sums.losses.size());  // the smoothing is symmetric
    for (std::size_t l = 0; l < n_classes; ++l)
        for (std::size_t j = 0; j < n_classes; ++j) added[l] += smoothing[l * n_classes + j];
    const double damping = 1.0 - learning_rate / 2.0;  // or the classes would overshoot together
    for_each_task(values.size() / n_classes, kUpdatesPerValue * values.size(), n_threads, [&](std::size_t leaf) {
        for (std::size_t l = 0; l < n_classes; ++l) {
            const std::size_t k = leaf * n_classes + l;
            const double pulled = static_cast<double>(sums.losses[k]) + added[l];
            const double pushed = static_cast<double>(sums.costs[k] + sums.losses[k]) + added[l];
            double value = 0.0;
            if (pulled > 0.0 || pushed > 0.0)  // log(0) and log(∞) are beyond the limits
                value = std::clamp(0.5 * std::log(pulled / pushed), -kMostValue, kMostValue);
            values[k] = value * damping;
        }
    });
    return values;
}

// What a leaf costs after the round: Σ S(l,j)·growth(j)·shrink(l).
double remaining_of_pairs(const LeafSums& sums, std::size_t leaf, std::span<const double> growth,
                          std::span<const double> shrink) {
    const std::size_t n_classes = growth.size();
    double cost = 0.0;
    for (std::size_t l = 0; l < n_classes; ++l)
        for (std::size_t j = 0; j < n_classes; ++j)
            cost += sums.pair(leaf, l * n_classes + j, n_classes * n_classes) * (growth[j] * shrink[l]);
    return cost;
}

// What a leaf costs after the round at most: √(Σ down(l)·growth(l)² · Σ up(l)·shrink(l)²), by Cauchy and Schwarz.
double remaining_of_classes(std::span<const Sum> losses, std::span<const Sum> costs, std::span<const double> growth,
                            std::span<const double> shrink) {
    double pushed = 0.0, pulled = 0.0;
    for (std::size_t l = 0; l < losses.size(); ++l) {
        pushed += static_cast<double>(costs[l] + losses[l]) * (growth[l] * growth[l]);
        pulled += static_cast<double>(losses[l]) * (shrink[l] * shrink[l]);
    }
    return std::sqrt(pushed * pulled);
}

}  // namespace

LeafValues exponentiate_values(std::span<const float> values, std::size_t n_classes) {
    LeafValues leaves{{values.begin(), values.end()},
                      std::vector<double>(values.size()),
                      std::vector<double>(values.size()),
                      0.0,
                      0.0};
    for_each_stretch(0, values.size(), kUpdatesPerValue, [&](std::size_t from, std::size_t to) {
        for (std::size_t k = from; k < to; ++k) {
            leaves.growth[k] = std::exp(static_cast<double>(values[k]));
            leaves.shrink[k] = std::exp(-static_cast<double>(values[k]));
        }
    });
    for (std::size_t k = 0; k < values.size(); k += n_classes)
        leaves.largest = std::max(leaves.largest, std::ranges::max(std::span(leaves.growth).subspan(k, n_classes)) *
                                                      std::ranges::max(std::span(leaves.shrink).subspan(k, n_classes)));
    return leaves;
}

Forecast forecast(std::span<const Sum> pairs, std::span<const double> values, std::size_t n_classes, double step) {
    const std::size_t square = n_classes * n_classes;
    Forecast result{std::vector<double>(square), std::vector<double>(square)};
    std::vector<double> growth(n_classes), shrink(n_classes);
    for_each_stretch(0, values.size() / n_classes, square + kUpdatesPerValue * n_classes, [&](auto from, auto to) {
        for (std::size_t leaf = from; leaf < to; ++leaf) {
            const double* const of_leaf = values.data() + leaf * n_classes;
            for (std::size_t j = 0; j < n_classes; ++j) {
                growth[j] = std::exp(step * of_leaf[j]);
                shrink[j] = std::exp(-step * of_leaf[j]);
            }
            for (std::size_t l = 0; l < n_classes; ++l)
                for (std::size_t j = 0; j < n_classes; ++j) {
                    const std::size_t pair = l * n_classes + j;
                    const double grown = static_cast<double>(pairs[leaf * square + pair]) * (growth[j] * shrink[l]);
                    result.value[pair] += grown;
                    result.slope[pair] += grown * (of_leaf[j] - of_leaf[l]);
                }
        }
    });
    return result;
}

LeafValues balance_leaves(const LeafSums& sums, const Smoothing& smoothing, std::size_t n_classes, double learning_rate,
                          int n_threads) {
    std::vector<double> rho(n_classes * n_classes);
    for (std::size_t k = 0; k < rho.size(); ++k)
        rho[k] = std::max(std::ldexp(smoothing.unit[k], smoothing.exponent), smoothing.hidden[k]);
    const bool paired = !sums.pairs.empty();
    const std::vector<double> balanced = paired ? balance_pairs(sums, rho, n_classes, n_threads)
                                                : balance_classes(sums, rho, n_classes, learning_rate, n_threads);
    const std::size_t n_leaves = balanced.size() / n_classes;
    std::vector<float> values(balanced.size());
    for (std::size_t begin = 0; begin < values.size(); begin += n_classes) {
        double mean = 0.0;
        for (std::size_t k = begin; k < begin + n_classes; ++k) mean += balanced[k];
        mean /= static_cast<double>(n_classes);
        for (std::size_t k = begin; k < begin + n_classes; ++k)
            values[k] = static_cast<float>(learning_rate * (balanced[k] - mean));
    }
    LeafValues leaves = exponentiate_values(values, n_classes);
    std::vector<double> remaining(n_leaves);
    for_each_task(n_leaves, paired ? sums.pairs.size() : values.size(), n_threads, [&](std::size_t leaf) {
        const auto part = [&](auto all) { return std::span(all).subspan(leaf * n_classes, n_classes); };
        const std::span<const double> growth(leaves.growth), shrink(leaves.shrink);
        remaining[leaf] = paired
                              ? remaining_of_pairs(sums, leaf, part(growth), part(shrink))
                              : remaining_of_classes(part(sums.losses), part(sums.costs), part(growth), part(shrink));
    });
    leaves.remaining = std::accumulate(remaining.begin(), remaining.end(), 0.0);
    return leaves;
}

}  // namespace comboost
