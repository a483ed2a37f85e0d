// Histograms: the cost sums of row sets, bin by bin of every feature.
#pragma once

#include <span>

#include "comboost/costs.hpp"
#include "comboost/partition.hpp"
#include "comboost/types.hpp"

namespace comboost {

// Copies of records that lie scattered, set after set. Keeps its memory for the next time.
class RecordPacker {
  public:
    Records pack(std::span<const RowSet> sets, const Records& from, int n_threads);

  private:
    AlignedArray<Unit> units_;
    AlignedArray<Weight> weights_;
};

// histograms[set][bin of layout][channel], overwritten. The set of all rows stands alone.
void count_histograms(const Codes& codes, const CostTable& costs, const BinLayout& layout, std::span<const RowSet> sets,
                      int n_threads, RecordPacker& packer, Sum* histograms);

// The histograms of a node's two children: the counted one as it is, the other as the difference.
void subtract_histogram(const Sum* parent, const Sum* counted, std::size_t size, Sum* counted_out, Sum* other_out);

}  // namespace comboost
