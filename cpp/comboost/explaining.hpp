// What every feature adds to the votes on a row: the exact Shapley values of trees, path-dependent.
#pragma once

#include <span>

#include "comboost/forest.hpp"
#include "comboost/types.hpp"

namespace comboost {

// contributions[(i * n_features + f) * n_classes + l] = what feature f adds to the votes on row i for class l, beyond
// those that are expected. Features that no tree looks at are left as they are. The forest must have covers. Categories
// are given as their codes, and as NaN if they are missing.
template <class T>
void explain(const Matrix<T>& values, const Forest& forest, std::size_t n_classes, int n_threads,
             double* contributions);

// The mean votes for every class on the rows that the covers count.
void expect_votes(const Forest& forest, std::span<double> votes);

}  // namespace comboost
