// Softmax of scores: powers of e, computed side by side, with the same bits on every CPU.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "comboost/types.hpp"

namespace comboost {

// Scores are multiplied by `factor`; then `shift` is added, one number per class, unless it is empty.
struct ScoreScale {
    double factor;
    std::span<const double> shift;
};

// e^(factor·score + shift) of some rows at once, each row divided by its largest.
class Powers {
  public:
    // As many rows at once as there are, or as little memory holds.
    Powers(std::size_t n_rows, std::size_t n_classes, const ScoreScale& scale)
        : n_classes_(n_classes),
          scale_(scale),
          values_(std::clamp<std::size_t>(kAtOnce / n_classes, 1, std::max<std::size_t>(1, n_rows)) * n_classes) {}

    std::size_t rows_at_once() const { return values_.size() / n_classes_; }
    std::span<double> row(std::size_t i) { return std::span(values_).subspan(i * n_classes_, n_classes_); }

    // Logarithms of the powers of as many rows as there are scores, none above 0.
    void take(std::span<const double> scores);

    void raise(std::size_t n_rows);

  private:
    static constexpr std::size_t kAtOnce = 1024;

    std::size_t n_classes_;
    ScoreScale scale_;
    std::vector<double> values_;
};

// An exponential costs as much as some two of the updates that `work` counts.
inline constexpr std::size_t kUpdatesPerPower = 2;

// The powers divided by the sum of their row; `probabilities` may be the same memory as `scores`.
void softmax(std::span<const double> scores, std::size_t n_classes, const ScoreScale& scale, int n_threads,
             std::span<double> probabilities);

}  // namespace comboost
