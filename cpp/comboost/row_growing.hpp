// A tree that grows on rows in memory, every node searched the way that takes least: by a histogram or by its rows.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "comboost/bundles.hpp"
#include "comboost/costs.hpp"
#include "comboost/growing.hpp"
#include "comboost/histogram.hpp"
#include "comboost/limits.hpp"
#include "comboost/node_rows.hpp"
#include "comboost/partition.hpp"
#include "comboost/types.hpp"

namespace comboost {

// How far a tree may grow.
struct TreeLimits {
    static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

    std::size_t max_depth = kNone;
    std::size_t max_leaves = kNone;  // if there is a limit, the best leaf is divided first, and not level by level

    bool allow_many_leaves() const { return max_depth >= kManyLevels && max_leaves >= kManyLeaves; }
};

// Histograms of one size, which are used again and again: memory that is new to a process is slow.
class HistogramPool {
  public:
    // All that were taken are free again; from now on there are at most `most` of this size, but at least one.
    void reset(std::size_t size, std::size_t most);

    Sum* take();   // null if there is no room
    Sum* spare();  // another one, always the same
    void give(Sum* histogram) { free_.push_back(histogram); }

  private:
    std::size_t size_ = 0;
    std::size_t most_ = 0;
    AlignedArray<Sum> spare_;
    std::vector<AlignedArray<Sum>> all_;
    std::vector<Sum*> free_;
};

class RowGrower {
  public:
    // Histograms take at most `budget` bytes, but two may always be held. Nodes with fewer rows than `small_share`
    // times the bins of a feature are searched by their rows. Records of at most `packed_bytes` are copied together by
    // a thread; those of larger nodes are counted by all threads together.
    RowGrower(std::size_t budget, double small_share, std::size_t packed_bytes)
        : budget_(budget), small_share_(small_share), packed_bytes_(packed_bytes) {}

    // Grows a tree from its root, whose histogram this is. The splits are those that Grower::search() and
    // Grower::branch(), or branch_best(), make of all histograms.
    void grow(Grower& grower, const Codes& codes, const Bundles& bundles, const CostTable& costs, Partition& partition,
              RecordPacker& packer, const Sum* root, const TreeLimits& limits, int n_threads);

    // Must be called after codes have changed.
    void forget_codes() { by_row_ = {}; }

  private:
    class Growth;

    std::size_t budget_;
    double small_share_;
    std::size_t packed_bytes_;
    HistogramPool pool_;
    CodesByRow by_row_;  // made for trees of many leaves only
};

}  // namespace comboost
