// A tree that grows on rows in memory, every node searched the way that takes least: by a histogram or by its rows.
#pragma once

#include <cstdint>
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

// How nodes are searched; the splits are the same whatever it says.
struct SearchLimits {
    std::size_t histogram_bytes;  // of the histograms that are held at most, though two may always be
    double small_share;           // nodes with fewer rows than this times the bins of a feature are searched by rows
    std::size_t packed_bytes;     // of records that a thread copies together; larger nodes are counted by all threads
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
    explicit RowGrower(const SearchLimits& limits) : limits_(limits) {}

    // Grows a tree from its root, whose histogram this is. The splits are those that Grower::search() and
    // Grower::branch(), or branch_best(), make of all histograms.
    void grow(Grower& grower, const Codes& codes, const Bundles& bundles, const CostTable& costs, Partition& partition,
              RecordPacker& packer, const Sum* root, int n_threads);

    // Must be called after codes have changed.
    void forget_codes() { by_row_ = {}; }

  private:
    class Growth;

    SearchLimits limits_;
    HistogramPool pool_;
    CodesByRow by_row_;  // made for trees of many leaves only
};

}  // namespace comboost
