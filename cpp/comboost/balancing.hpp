// The votes of leaves for every class, from the sums of their costs.
#pragma once

#include <span>

#include "comboost/types.hpp"

namespace comboost {

inline constexpr int kSweeps = 8;

// The votes that balance the leaves' soft confusion matrices, K×K sums per leaf with zero diagonals: `votes` gets ln x
// of every leaf and class, `promises` the Σ S(l,j)·x_j/x_l of every leaf, still scaled. `smoothing` is the K×K matrix ρ,
// `first` the class of every leaf with which a sweep begins.
void balance_pairs(std::span<const Sum> sums, std::span<const double> smoothing, std::span<const std::int64_t> first,
                   int n_threads, std::span<double> votes, std::span<double> promises);

// The votes of every class for itself, from what pulls it up and pushes it down, K sums per leaf each; `smoothing_up`
// and `smoothing_down` are added to them, K numbers each. `promises` gets what would be left at half of these votes.
void balance_classes(std::span<const Sum> up, std::span<const Sum> down, std::span<const double> smoothing_up,
                     std::span<const double> smoothing_down, int n_threads, std::span<double> votes,
                     std::span<double> promises);

// exp(v) and exp(-v).
void exponentiate(std::span<const float> votes, std::span<double> growth, std::span<double> shrink);

}  // namespace comboost
