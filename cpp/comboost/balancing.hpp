// The votes of leaves for every class, from the sums of their costs.
#pragma once

#include <span>

#include "comboost/types.hpp"

namespace comboost {

inline constexpr int kSweeps = 8;

// The votes that balance the leaves' soft confusion matrices, K×K sums per leaf with zero diagonals: ln x of every leaf
// and class. `smoothing` is the K×K matrix ρ, `first` the class of every leaf with which a sweep begins.
void balance_pairs(std::span<const Sum> sums, std::span<const double> smoothing, std::span<const std::int64_t> first,
                   int n_threads, std::span<double> votes);

// The votes of every class for itself, from what pulls it up and pushes it down, K sums per leaf each; `smoothing`, K
// numbers, is added to both.
void balance_classes(std::span<const Sum> up, std::span<const Sum> down, std::span<const double> smoothing,
                     int n_threads, std::span<double> votes);

// What every leaf costs after the votes: Σ S(l,j)·growth(j)·shrink(l).
void remaining_of_pairs(std::span<const Sum> sums, std::span<const double> growth, std::span<const double> shrink,
                        int n_threads, std::span<double> left);

// What every leaf costs after the votes at most: √(Σ down(l)·growth(l)² · Σ up(l)·shrink(l)²).
void remaining_of_classes(std::span<const Sum> up, std::span<const Sum> down, std::span<const double> growth,
                          std::span<const double> shrink, int n_threads, std::span<double> left);

// exp(v) and exp(-v).
void exponentiate(std::span<const float> votes, std::span<double> growth, std::span<double> shrink);

}  // namespace comboost
