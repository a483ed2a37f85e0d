// Scores and classes that flat trees predict for new rows.
#pragma once

#include <span>

#include "comboost/forest.hpp"
#include "comboost/types.hpp"

namespace comboost {

// Adds the trees first .. last - 1, in this order, to the scores, n_classes per row: the values of the leaf, or the
// weight of the tree to the class that the leaf predicts. `missing` says whether there may be NaN among the values.
// Categories are given as their codes, and as NaN if they are missing.
template <class T>
void add_scores(const Matrix<T>& values, bool missing, const Forest& forest, std::size_t first, std::size_t last,
                std::size_t n_classes, int n_threads, std::span<double> scores);

// Writes the class with the highest score of all trees for rows that are binned already; ties go to the lowest class.
void predict_classes(const Codes& codes, const Forest& forest, std::size_t n_classes, int n_threads,
                     std::span<Label> predicted);

// counts[truth * n_classes + predicted] = weight of such rows; the class with the highest score is predicted, the
// lowest one on a tie. `weights` is empty if every row weighs 1.
void count_predicted(std::span<const double> scores, std::span<const Label> labels, std::span<const Weight> weights,
                     std::size_t n_classes, int n_threads, std::span<Sum> counts);

}  // namespace comboost
