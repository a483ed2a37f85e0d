// Log-loss of the scores of validation rows.
#pragma once

#include <span>

#include "comboost/types.hpp"

namespace comboost {

// The mean over the classes that have rows of the weighted mean of −ln p over their rows, where p is the
// probability of the truth by the softmax of scale · scores, at least 2^-52: a certain mistake costs 36, not infinity.
// The loss of a row is rounded to 2^-25 and sums are integers, so the order of the rows changes nothing. `weights` is
// empty if every row weighs 1.
double balanced_log_loss(std::span<const double> scores, std::span<const Label> labels, std::span<const Weight> weights,
                         std::size_t n_classes, double scale, int n_threads);

}  // namespace comboost
