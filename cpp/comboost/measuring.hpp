// Metrics of predictions: of counts N(truth, predicted), and of the order of scores.
#pragma once

#include <span>

#include "comboost/types.hpp"

namespace comboost {

// Weights of rows by truth and prediction, n_classes times n_classes; classes without rows have a row of zeros.
struct Counts {
    std::span<const double> counts;
    std::size_t n_classes;

    double operator()(std::size_t truth, std::size_t predicted) const { return counts[truth * n_classes + predicted]; }
    double of_class(std::size_t truth) const;
};

// confusion[l * n_classes + j] = fraction of class l that is predicted as j; 0 on the diagonal and for classes without
// rows.
void find_confusion(const Counts& counts, std::span<double> confusion);

// Of the recalls of the classes that have rows, at least one.
double geometric_mean_recall(const Counts& counts);
double mean_recall(const Counts& counts);
double min_recall(const Counts& counts);

// Fractions of the weight that is predicted wrong, and right.
double error_rate(const Counts& counts);
double accuracy(const Counts& counts);

// The probability of a row of class j to have a higher score for j than a row of class k, ties counting one half: the
// mean over all pairs of different classes that have rows, two at least (MAUC). The probabilities are quotients of
// integers, so the order of the rows changes nothing.
double mean_chance_above(const Matrix<double>& scores, std::span<const Label> labels, int n_threads);

}  // namespace comboost
