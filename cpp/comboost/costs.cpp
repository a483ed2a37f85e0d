#include "comboost/costs.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>

#include "comboost/parallel.hpp"

namespace comboost {
namespace {

constexpr int kUnitBits = 30;        // no sample's quantised costs add up to more than 2^30
constexpr double kCoarse = 1 << 27;  // a pass whose largest sample is below this is repeated in finer units

// The largest e for which rounded samples of at most `bound` add up to no more than 2^30 units of 2^-e.
int exponent_below(double bound, std::size_t n_classes) {
    int bits = 0;
    std::frexp(bound, &bits);
    const int exponent = kUnitBits - bits;
    const bool too_large = std::ldexp(bound, exponent) > std::ldexp(1.0, kUnitBits) - static_cast<double>(n_classes);
    return exponent - (too_large ? 1 : 0);
}

void scale(std::span<const double> values, int exponent, std::vector<double>& scaled) {
    scaled.resize(values.size());
    std::ranges::transform(values, scaled.begin(), [=](double value) { return std::ldexp(value, exponent); });
}

double priced(std::span<const double> values, Prices prices, std::size_t index) {
    return prices.empty() ? values[index] : values[index] * prices[index];
}

// The most that a sample costs per unit of weight, whatever its excess.
double most_costs(const Loss& loss, Prices prices, std::size_t n_classes) {
    if (loss.kind() == LossKind::exponential) return std::numeric_limits<double>::infinity();
    const bool is_log = loss.kind() == LossKind::log;
    double most = 0.0;
    for (std::size_t l = 0; l < n_classes; ++l) {
        double of_class = is_log ? priced(loss.tops, prices, l) : 0.0;
        for (std::size_t j = 0; j < (is_log ? 0 : n_classes); ++j)
            of_class += priced(loss.unit, prices, l * n_classes + j);
        most = std::max(most, of_class);
    }
    return most;
}

}  // namespace

CostTable::CostTable(std::span<const Label> labels, std::span<const Weight> weights, const Channels& channels,
                     const Loss& loss, int n_threads)
    : channels_(channels),
      loss_(loss),
      n_threads_(n_threads),
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

std::span<RowIndex> CostTable::new_leaves() {
    leaves_.resize(n_rows());
    return leaves_;
}

void CostTable::set_predicted(std::span<const Label> predicted) {
    std::ranges::copy(predicted, new_leaves().begin());
    leaf_classes_.resize(n_classes());
    std::iota(leaf_classes_.begin(), leaf_classes_.end(), Label{0});
}

// The pass in units of 2^-exponent, which add() and sum_pairs() do, too.
SamplePass CostTable::scaled_pass(const LeafFactors& factors, int exponent, Prices prices) {
    const bool is_log = loss_.kind() == LossKind::log, adds = !factors.growth.empty();
    std::vector<double>& scaled = is_log ? tops_ : factors_;
    scale(is_log ? loss_.tops : loss_.unit, exponent, scaled);
    for (std::size_t k = 0; k < prices.size(); ++k) scaled[k] *= prices[k];
    return {.kind = loss_.kind(),
            .labels = labels_,
            .weights = weights_,
            .leaves = adds ? std::span<const RowIndex>(leaves_) : std::span<const RowIndex>(),
            .classes = factors.one_hot() ? std::span<const Label>(leaf_classes_) : std::span<const Label>(),
            .growth = factors.growth,
            .shrink = factors.shrink,
            .factors = is_log ? loss_.unit : factors_,
            .tops = tops_,
            .log_units = {},
            .channels = channels_,
            .excess = excess_,
            .units = units_.data()};
}

PassResult CostTable::quantise(const LeafFactors& factors, int exponent, Prices prices) {
    SamplePass pass = scaled_pass(factors, exponent, prices);
    if (loss_.kind() == LossKind::log && prices.empty()) {
        scale(loss_.tops, loss_.log_exponent, log_units_);
        pass.log_units = log_units_;
    }
    std::vector<PassResult> parts(n_blocks(n_rows()));
    for_each_block(n_rows(), 4 * n_classes(), n_threads_, [&](std::size_t begin, std::size_t end) {
        parts[begin / kBlock] = kernels().update(pass, begin, end);
    });
    PassResult result;
    for (const PassResult& part : parts) {
        result.loss += part.loss;
        result.largest = std::max(result.largest, part.largest);
        result.log_loss += part.log_loss;
    }
    return result;
}

Costs CostTable::update(const LeafFactors& factors, double bound, Prices prices) {
    bound = std::min(bound, most_costs(loss_, prices, n_classes()));
    int exponent = exponent_below(bound, n_classes());
    PassResult pass = quantise(factors, exponent, prices);
    if (pass.largest < kCoarse) {  // nearly every sample was right
        exponent = exponent_below(std::ldexp(pass.largest, -exponent), n_classes());
        pass = quantise({}, exponent, prices);
    }
    return {exponent, pass.loss, std::ldexp(pass.largest, -exponent), pass.log_loss};
}

// Sums of integers over the samples, in parts that threads add up on their own: body(from, to, sums of the part).
template <class T, class Body>
std::vector<std::vector<T>> CostTable::add_parts(std::size_t size, std::size_t updates_per_row, Body&& body) const {
    constexpr std::size_t kMostSums = 1 << 20;  // of all parts together, unless there is but one
    const std::size_t work = n_rows() * updates_per_row;
    std::vector<std::vector<T>> parts(
        std::max<std::size_t>(1, std::min(n_parts(work, n_threads_), kMostSums / std::max<std::size_t>(1, size))),
        std::vector<T>(size));
    for_each_task(parts.size(), work, n_threads_, [&](std::size_t part) {
        for_each_stretch(n_rows() * part / parts.size(), n_rows() * (part + 1) / parts.size(), updates_per_row,
                         [&](std::size_t from, std::size_t to) { body(from, to, parts[part].data()); });
    });
    return parts;
}

double CostTable::add(const LeafFactors& factors, int exponent, std::span<WideSum> sums) {
    const SamplePass pass = scaled_pass(factors, exponent, {});
    const std::size_t n_losses = sums.size() / n_classes();  // of a true class
    std::atomic<double> largest = 0.0;
    const auto parts =
        add_parts<WideSum>(sums.size(), 4 * n_classes(), [&](std::size_t from, std::size_t to, WideSum* of_part) {
            std::vector<std::uint64_t> digits(2 * sums.size());
            double most = 0.0;
            for (std::size_t begin = from; begin < to; begin += kBlock) {
                std::ranges::fill(digits, 0);
                most = std::max(most, kernels().add(pass, begin, std::min(to, begin + kBlock), {digits.data()}));
                for (std::size_t k = 0; k < sums.size(); ++k) {
                    const std::size_t low = (k / n_losses) * 2 * n_losses + k % n_losses;
                    of_part[k] += (WideSum{digits[low + n_losses]} << LossSums::kDigit) + digits[low];
                }
            }
            double before = largest.load();
            while (before < most && !largest.compare_exchange_weak(before, most)) continue;
        });
    std::ranges::fill(sums, 0);
    for (const auto& part : parts)
        for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += part[k];
    return std::ldexp(largest, -exponent);
}

void CostTable::sum_pairs(int exponent, std::span<Sum> sums) {
    SamplePass pass = scaled_pass({}, exponent, {});
    pass.leaves = leaves_;
    const auto parts = add_parts<Sum>(sums.size(), n_classes(), [&](std::size_t from, std::size_t to, Sum* of_part) {
        kernels().sum_pairs(pass, from, to, of_part);
    });
    for_each_stretch(0, sums.size(), parts.size(), [&](std::size_t from, std::size_t to) {
        for (std::size_t k = from; k < to; ++k) {
            sums[k] = 0;
            for (const auto& part : parts) sums[k] += part[k];
        }
    });
}

void CostTable::sum_leaves(std::span<Sum> sums) const {
    const std::size_t size = n_leaves() * n_classes() * channels_.size();
    const auto parts = add_parts<Sum>(size, channels_.size(), [&](std::size_t from, std::size_t to, Sum* of_part) {
        kernels().sum_leaves(leaves_.data(), labels_.data(), from, to, records(), of_part);
    });
    for_each_task(n_leaves(), size, n_threads_, [&](std::size_t leaf) {
        for (std::size_t truth = 0; truth < n_classes(); ++truth) {
            const std::size_t index = leaf * n_classes() + truth;
            Sum* row = sums.data() + index * n_classes();
            Sum last = 0;  // a record's costs add up to zero over the classes
            for (std::size_t j = 0; j + 1 < n_classes(); ++j) {
                row[j] = 0;
                for (const auto& part : parts) row[j] += part[index * channels_.size() + j];
                last -= row[j];
            }
            row[n_classes() - 1] = last;
            row[truth] = 0;
        }
    });
}

void CostTable::sum_leaf_losses(std::span<Sum> sums) const {
    std::fill(sums.begin(), sums.end(), 0);
    for_each_stretch(0, n_rows(), 1, [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i)
            sums[leaves_[i] * n_classes() + labels_[i]] += weight(i) * record(i)[channels_.loss()];
    });
}

Unit CostTable::unit(std::size_t row, std::size_t label) const {
    const std::span<const Unit> channels = record(row);
    if (label + 1 < n_classes()) return channels[label];
    Unit others = 0;
    for (std::size_t j = 0; j + 1 < n_classes(); ++j) others += channels[j];
    return -others;
}

Sum CostTable::advantage() const {
    Sum advantage = 0;
    for_each_stretch(0, n_rows(), n_classes(), [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) advantage -= weight(i) * unit(i, leaf_classes_[leaves_[i]]);
    });
    return advantage;
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

void CostTable::confusion(std::span<const Label> predicted, std::span<Sum> counts) const {
    std::fill(counts.begin(), counts.end(), 0);
    for_each_stretch(0, n_rows(), 1, [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) counts[labels_[i] * n_classes() + predicted[i]] += weight(i);
    });
}

}  // namespace comboost
