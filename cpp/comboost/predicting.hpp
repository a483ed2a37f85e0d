// Votes of flat trees on new rows.
#pragma once

#include <span>

#include "comboost/types.hpp"

namespace comboost {

// Trees in one array: tree t owns nodes [offsets[t], offsets[t + 1]); `left` counts from the tree's first node.
struct Forest {
    std::span<const Node> nodes;
    std::span<const CodeSet> sets;
    std::span<const std::int64_t> offsets;
    std::span<const double> weights;
    std::span<const float> votes;  // K per leaf, if leaves vote for every class; `left` of a leaf is the row
};

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
