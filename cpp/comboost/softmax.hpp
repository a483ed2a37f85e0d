// Votes as probabilities: powers of e, found side by side, with the same bits on every CPU.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "comboost/types.hpp"

namespace comboost {

// What votes are multiplied by, and what is then added for every class; nothing if `shift` is empty.
struct VoteScale {
    double factor;
    std::span<const double> shift;
};

// e^(factor·vote + shift) of some rows at once, each row divided by its largest.
class Powers {
  public:
    // As many rows at once as there are, or as little memory holds.
    Powers(std::size_t n_rows, std::size_t n_classes, const VoteScale& scale)
        : n_classes_(n_classes),
          scale_(scale),
          values_(std::clamp<std::size_t>(kAtOnce / n_classes, 1, std::max<std::size_t>(1, n_rows)) * n_classes) {}

    std::size_t rows_at_once() const { return values_.size() / n_classes_; }
    double* row(std::size_t i) { return values_.data() + i * n_classes_; }

    // Logarithms of the powers, none above 0.
    void take(const double* votes, std::size_t n_rows);

    void raise(std::size_t n_rows);

  private:
    static constexpr std::size_t kAtOnce = 1024;

    std::size_t n_classes_;
    VoteScale scale_;
    std::vector<double> values_;
};

// An exponential costs as much as some two of the updates that `work` counts.
inline constexpr std::size_t kUpdatesPerPower = 2;

// The shares of the powers in the sum of their row; they may take the place of the votes.
void softmax(const double* votes, std::size_t n_rows, std::size_t n_classes, const VoteScale& scale, int n_threads,
             double* shares);

}  // namespace comboost
