#include "comboost/measuring.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "comboost/parallel.hpp"

namespace comboost {
namespace {

template <class Use>
void for_each_recall(const Counts& counts, Use&& use) {
    for (std::size_t k = 0; k < counts.n_classes; ++k)
        if (const double total = counts.of_class(k); total > 0.0) use(counts(k, k) / total);
}

// The scores of one class, ascending, and how many are below each of them.
class SortedScores {
  public:
    explicit SortedScores(std::vector<double> scores) : n_scores_(scores.size()), distinct_(std::move(scores)) {
        std::sort(distinct_.begin(), distinct_.end());
        std::size_t n_distinct = 0;
        for (std::size_t k = 0; k < n_scores_; ++k) {
            if (k > 0 && distinct_[k] == distinct_[k - 1]) continue;
            below_.push_back(static_cast<Sum>(k));
            distinct_[n_distinct++] = distinct_[k];
        }
        // A search ends with a number of scores that is one less than a power of two. None is above the last.
        distinct_.resize(std::bit_ceil(n_distinct + 1));
        std::fill(distinct_.begin() + static_cast<std::ptrdiff_t>(n_distinct), distinct_.end(),
                  std::numeric_limits<double>::infinity());
        below_.resize(distinct_.size() + 1, static_cast<Sum>(n_scores_));
    }

    // twice[i] = twice the number of the scores that are above others[i], equal ones counting one half.
    void count_above(std::span<const double> others, std::span<Sum> twice) const {
        std::size_t i = 0;
        for (; i + kAbreast <= others.size(); i += kAbreast) count<kAbreast>(&others[i], &twice[i]);
        for (; i < others.size(); ++i) count<1>(&others[i], &twice[i]);
    }

  private:
    static constexpr std::size_t kAbreast = 8;  // searches, so that none waits for what another one loads

    template <std::size_t N>
    void count(const double* others, Sum* twice) const {
        std::size_t below[N] = {};
        for (std::size_t step = distinct_.size() / 2; step > 0; step /= 2)
            for (std::size_t k = 0; k < N; ++k) below[k] += distinct_[below[k] + step - 1] < others[k] ? step : 0;
        for (std::size_t k = 0; k < N; ++k) {
            const std::size_t up_to = below[k] + (distinct_[below[k]] == others[k] ? 1 : 0);
            twice[k] = 2 * static_cast<Sum>(n_scores_) - below_[below[k]] - below_[up_to];
        }
    }

    std::size_t n_scores_;
    std::vector<double> distinct_;
    std::vector<Sum> below_;
};

}  // namespace

double Counts::of_class(std::size_t truth) const {
    double total = 0.0;
    for (std::size_t j = 0; j < n_classes; ++j) total += (*this)(truth, j);
    return total;
}

void find_confusion(const Counts& counts, std::span<double> confusion) {
    for (std::size_t l = 0; l < counts.n_classes; ++l) {
        const double total = counts.of_class(l);
        for (std::size_t j = 0; j < counts.n_classes; ++j)
            confusion[l * counts.n_classes + j] = j == l || total == 0.0 ? 0.0 : counts(l, j) / total;
    }
}

double geometric_mean_recall(const Counts& counts) {
    double logs = 0.0;
    int n_present = 0;
    for_each_recall(counts, [&](double recall) {
        logs += std::log(recall);
        ++n_present;
    });
    return std::exp(logs / n_present);
}

double mean_recall(const Counts& counts) {
    double total = 0.0;
    int n_present = 0;
    for_each_recall(counts, [&](double recall) {
        total += recall;
        ++n_present;
    });
    return total / n_present;
}

double min_recall(const Counts& counts) {
    double least = 1.0;
    for_each_recall(counts, [&](double recall) { least = std::min(least, recall); });
    return least;
}

double error_rate(const Counts& counts) {
    double wrong = 0.0, total = 0.0;
    for (std::size_t k = 0; k < counts.n_classes; ++k) {
        for (std::size_t j = 0; j < counts.n_classes; ++j) wrong += j == k ? 0.0 : counts(k, j);
        total += counts.of_class(k);
    }
    return wrong / total;
}

double accuracy(const Counts& counts) {
    double right = 0.0, total = 0.0;
    for (std::size_t k = 0; k < counts.n_classes; ++k) {
        right += counts(k, k);
        total += counts.of_class(k);
    }
    return right / total;
}

double mean_chance_above(const Matrix<double>& scores, std::span<const Label> labels, int n_threads) {
    const std::size_t n_classes = scores.n_columns, n_rows = labels.size();
    std::vector<Sum> sizes(n_classes);
    for (const Label label : labels) ++sizes[label];
    std::vector<double> totals(n_classes);
    const std::size_t updates = 4 * static_cast<std::size_t>(std::bit_width(n_rows));  // of a row in a column
    for_each_task(n_classes, n_rows * n_classes * updates, n_threads, [&](std::size_t j) {
        if (sizes[j] == 0) return;
        std::vector<double> column(n_rows), own;
        own.reserve(static_cast<std::size_t>(sizes[j]));
        for (std::size_t i = 0; i < n_rows; ++i) {
            column[i] = scores(i, j);
            if (labels[i] == j) own.push_back(column[i]);
        }
        const SortedScores sorted(std::move(own));
        std::vector<Sum> twice(n_rows), beaten(n_classes);
        for_each_stretch(0, n_rows, updates, [&](std::size_t from, std::size_t to) {
            sorted.count_above(std::span(column).subspan(from, to - from), std::span(twice).subspan(from, to - from));
        });
        for (std::size_t i = 0; i < n_rows; ++i) beaten[labels[i]] += twice[i];
        for (std::size_t k = 0; k < n_classes; ++k)
            if (k != j && sizes[k] != 0)
                totals[j] += static_cast<double>(beaten[k]) / static_cast<double>(2 * sizes[j] * sizes[k]);
    });
    const auto n_present = static_cast<double>(n_classes) - static_cast<double>(std::ranges::count(sizes, Sum{0}));
    return std::accumulate(totals.begin(), totals.end(), 0.0) / (n_present * (n_present - 1));
}

}  // namespace comboost
