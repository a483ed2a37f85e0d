// The best split of one feature of one node.
#pragma once

#include <vector>

#include "comboost/types.hpp"

namespace comboost {

enum class Criterion { cost, gini };

// The sums of a row set: D of every class, the loss Λ and the number of rows (0 where rows are not counted).
struct NodeSums {
    std::vector<Sum> costs;
    Sum loss = 0;
    Sum count = 0;

    std::size_t best_class() const;  // the lowest of the cheapest classes
    Sum best_cost() const;           // its cost, never above 0
};

// The sums of `n_bins` bins.
NodeSums sum_bins(const Sum* bins, std::size_t n_bins, const Channels& channels);

NodeSums difference(const NodeSums& whole, const NodeSums& part);

struct SplitRules {
    Criterion criterion;
    Sum min_count;    // rows that each side must keep
    double min_loss;  // loss that each side must keep
};

// How good a split is. Integers for `cost`, doubles for `gini`; only one of the two is ever used.
struct Score {
    Sum cost = 0;
    double gini = 0.0;

    bool operator>(const Score& other) const { return cost > other.cost || gini > other.gini; }
};

struct BestBin {
    Score score;
    std::int32_t bin = kLeaf;  // kLeaf where no bin is allowed and better than not splitting
};

// The first bin with the highest score above that of the node itself.
BestBin find_best_bin(const Sum* bins, std::size_t n_bins, const Channels& channels, const NodeSums& node,
                      const SplitRules& rules);

}  // namespace comboost
