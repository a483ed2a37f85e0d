// What every feature adds to the scores of a row: the exact, path-dependent Shapley values of trees.
#pragma once

#include <span>

#include "comboost/forest.hpp"
#include "comboost/types.hpp"

namespace comboost {

// contributions[(i * n_features + f) * n_classes + l] = what feature f adds to the score of row i for class l,
// relative to the expected score. Features that no tree uses are left as they are. The forest must have covers.
// Categories are given as their codes, and as NaN if they are missing.
template <class T>
void explain(const Matrix<T>& values, const Forest& forest, std::size_t n_classes, int n_threads,
             std::span<double> contributions);

// Writes the mean score of every class over the training rows, which the covers count.
void expected_scores(const Forest& forest, std::span<double> scores);

}  // namespace comboost
