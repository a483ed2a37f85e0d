// The best split of a feature of categories: which of them go left.
#pragma once

#include "comboost/splitting.hpp"
#include "comboost/types.hpp"

namespace comboost {

// Up to this many categories all their subsets are tried; more are tried in one order only, of whose cuts some may be
// drawn.
inline constexpr std::size_t kFewCategories = 8;

// The best set of codes to go left, of those that count in the node; code 0 stands for the missing ones. The cut's
// bin is kLeaf if no set is allowed and better than not splitting.
Cut find_best_set(const BinView& bins, const Channels& channels, const NodeSums& node, const SplitRules& rules,
                  const Draw& draw = {});

}  // namespace comboost
