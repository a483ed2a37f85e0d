// Votes of flat trees on new rows.
#pragma once

#include <span>

#include "comboost/forest.hpp"
#include "comboost/types.hpp"

namespace comboost {

// scores[i * n_classes + label] += weight for the trees first .. last - 1, in this order. `missing` says whether there
// may be NaN among the values. Categories are given as their codes, and as NaN if they are missing.
template <class T>
void add_votes(const Matrix<T>& values, bool missing, const Forest& forest, std::size_t first, std::size_t last,
               std::size_t n_classes, int n_threads, double* scores);

// The class with the most votes of all trees for rows that are binned already; ties go to the lowest class.
void elect(const Codes& codes, const Forest& forest, std::size_t n_classes, int n_threads, std::span<Label> elected);

// counts[truth * n_classes + elected] = weight of such rows, whose votes these scores are; ties go to the lowest class.
// `weights` is empty if every row weighs 1.
void count_elected(const double* scores, std::span<const Label> labels, std::span<const Weight> weights,
                   std::size_t n_classes, int n_threads, std::span<Sum> counts);

}  // namespace comboost
