#include "comboost/balancing.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "comboost/parallel.hpp"

namespace comboost {
namespace {

// As the paper's votes, no vote exceeds ½·ln(2³¹).
const double kMostRatio = std::sqrt(0x1p31);
const double kMostVote = 0.5 * std::log(0x1p31);

constexpr std::size_t kUpdatesPerVote = 32;  // a logarithm, or two exponentials

// One leaf's matrix, by rows and by columns, and the ratios x with their inverses.
class Balance {
  public:
    explicit Balance(std::size_t n_classes)
        : n_classes_(n_classes),
          rows_(n_classes * n_classes),
          columns_(n_classes * n_classes),
          x_(n_classes),
          inverse_(n_classes) {}

    void read(const Sum* sums, std::span<const double> smoothing) {
        for (std::size_t l = 0; l < n_classes_; ++l)
            for (std::size_t j = 0; j < n_classes_; ++j) {
                const std::size_t place = l * n_classes_ + j;
                rows_[place] = columns_[j * n_classes_ + l] = static_cast<double>(sums[place]) + smoothing[place];
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
    // Makes what class j is taken for equal to what is taken for it.
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

}  // namespace

void balance_pairs(std::span<const Sum> sums, std::span<const double> smoothing, std::span<const std::int64_t> first,
                   int n_threads, std::span<double> votes) {
    const std::size_t n_leaves = first.size();
    const std::size_t n_classes = votes.size() / std::max<std::size_t>(1, n_leaves);
    const std::size_t square = n_classes * n_classes;
    for_each_task(n_leaves, n_leaves * square * kSweeps, n_threads, [&](std::size_t leaf) {
        Balance balance(n_classes);
        balance.read(sums.data() + leaf * square, smoothing);
        InterruptPoll poll;
        for (int sweep = 0; sweep < kSweeps; ++sweep) {
            balance.sweep(static_cast<std::size_t>(first[leaf]));
            poll.after(square);
        }
        for (std::size_t l = 0; l < n_classes; ++l) votes[leaf * n_classes + l] = std::log(balance.ratios()[l]);
    });
}

void balance_classes(std::span<const Sum> up, std::span<const Sum> down, std::span<const double> smoothing,
                     int n_threads, std::span<double> votes) {
    const std::size_t n_classes = smoothing.size();
    for_each_task(votes.size() / n_classes, kUpdatesPerVote * votes.size(), n_threads, [&](std::size_t leaf) {
        for (std::size_t l = 0; l < n_classes; ++l) {
            const std::size_t place = leaf * n_classes + l;
            const double pulled = static_cast<double>(up[place]) + smoothing[l];
            const double pushed = static_cast<double>(down[place]) + smoothing[l];
            double vote = 0.0;
            if (pulled > 0.0 || pushed > 0.0)  // log(0) and log(∞) are beyond the limits
                vote = std::clamp(0.5 * std::log(pulled / pushed), -kMostVote, kMostVote);
            votes[place] = vote;
        }
    });
}

void remaining_of_pairs(std::span<const Sum> sums, std::span<const double> growth, std::span<const double> shrink,
                        int n_threads, std::span<double> left) {
    const std::size_t n_classes = growth.size() / std::max<std::size_t>(1, left.size());
    for_each_task(left.size(), sums.size(), n_threads, [&](std::size_t leaf) {
        const Sum* own = sums.data() + leaf * n_classes * n_classes;
        const double* up = growth.data() + leaf * n_classes;
        const double* down = shrink.data() + leaf * n_classes;
        double cost = 0.0;
        for (std::size_t l = 0; l < n_classes; ++l)
            for (std::size_t j = 0; j < n_classes; ++j)
                cost += static_cast<double>(own[l * n_classes + j]) * (up[j] * down[l]);
        left[leaf] = cost;
    });
}

void remaining_of_classes(std::span<const Sum> up, std::span<const Sum> down, std::span<const double> growth,
                          std::span<const double> shrink, int n_threads, std::span<double> left) {
    const std::size_t n_classes = growth.size() / std::max<std::size_t>(1, left.size());
    for_each_task(left.size(), up.size(), n_threads, [&](std::size_t leaf) {
        double pushed = 0.0, pulled = 0.0;
        for (std::size_t k = leaf * n_classes; k < (leaf + 1) * n_classes; ++k) {
            pushed += static_cast<double>(down[k]) * (growth[k] * growth[k]);
            pulled += static_cast<double>(up[k]) * (shrink[k] * shrink[k]);
        }
        left[leaf] = std::sqrt(pushed * pulled);  // Cauchy and Schwarz
    });
}

void exponentiate(std::span<const float> votes, std::span<double> growth, std::span<double> shrink) {
    for_each_stretch(0, votes.size(), kUpdatesPerVote, [&](std::size_t from, std::size_t to) {
        for (std::size_t k = from; k < to; ++k) {
            growth[k] = std::exp(static_cast<double>(votes[k]));
            shrink[k] = std::exp(-static_cast<double>(votes[k]));
        }
    });
}

}  // namespace comboost
