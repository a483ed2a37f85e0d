// The best split of one feature of one node.
#pragma once

#include <vector>

#include "comboost/random.hpp"
#include "comboost/types.hpp"

namespace comboost {

enum class Criterion { cost, gini };

// The sums of a row set: D of every class, the loss Λ and the number of rows (0 if rows are not counted).
struct NodeSums {
    std::vector<Sum> costs;
    Sum loss = 0;
    Sum count = 0;

    std::size_t best_class() const;  // the lowest of the cheapest classes
    Sum best_cost() const;           // its cost, never above 0
};

// The bins of a feature in a node: all of them, or only those that hold rows, with their codes.
struct BinView {
    const Sum* sums;
    std::size_t size;
    const Code* codes;  // ascending; null if bin and code are the same

    std::size_t code(std::size_t bin) const { return codes == nullptr ? bin : codes[bin]; }
};

// Adds up `n_bins` bins.
void add_bins(const Sum* bins, std::size_t n_bins, const Channels& channels, NodeSums& sums);
NodeSums sum_bins(const Sum* bins, std::size_t n_bins, const Channels& channels);

NodeSums difference(const NodeSums& whole, const NodeSums& part);

struct SplitRules {
    Criterion criterion;
    Sum min_count;           // rows that each side must keep
    double min_loss;         // loss that each side must keep
    double smoothing = 0.0;  // added to the loss of a side that `gini` divides by
};

// How good a split is. Integers for `cost`, doubles for `gini`; only one of the two is ever used.
struct Score {
    Sum cost = 0;
    double gini = 0.0;

    bool operator>(const Score& other) const { return cost > other.cost || gini > other.gini; }

    // By how much it is above another one.
    double above(const Score& other) const { return static_cast<double>(cost - other.cost) + (gini - other.gini); }
};

// The score of a node that is not split.
Score score_of(const NodeSums& node, const SplitRules& rules);

struct BestBin {
    Score score;
    std::int32_t bin = kLeaf;  // kLeaf if no bin is allowed and better than not splitting
};

// The first bin, of those that are drawn, with the highest score above that of the node itself.
BestBin find_best_bin(const Sum* bins, std::size_t n_bins, const Channels& channels, const NodeSums& node,
                      const SplitRules& rules, const Draw& draw = {});

enum class Side : std::uint8_t { left, right, heavier };  // heavier: the side with more loss, the left one on a tie

// How a split divides the codes of its feature.
struct Cut {
    Score score;
    std::int32_t bin = kLeaf;      // codes <= bin go left, unless the feature is one of categories; kLeaf: no split
    Side missing = Side::heavier;  // where missing values go, and categories that do not count in the node
    CodeSet left;                  // the codes that go left, if `bin` cannot tell
};

// The best split of a feature's bins, of those that are drawn.
Cut find_best_cut(const BinView& bins, Kind kind, const Channels& channels, const NodeSums& node,
                  const SplitRules& rules, const Draw& draw = {});

// The sums of the rows that go left.
NodeSums sum_left(const BinView& bins, Kind kind, const Channels& channels, const Cut& cut);

// Says where the codes go that do not count in the node, of `n_codes` that there are, and sets `left` if `bin`
// cannot tell.
void complete_cut(const BinView& bins, std::size_t n_codes, Kind kind, const Channels& channels, bool left_is_heavier,
                  Cut& cut);

// Whether `bin` cannot tell which codes go left.
inline bool needs_set(Kind kind, const Cut& cut) {
    return kind == Kind::categories || (kind == Kind::missing && cut.missing == Side::right);
}

// Whether the rows of a bin count in a node.
inline bool counts(const Sum* bin, const Channels& channels) {
    return bin[channels.loss()] != 0 || (channels.counted && bin[channels.count()] != 0);
}

}  // namespace comboost
