// Histograms: the cost sums of row sets, bin by bin of every feature.
#pragma once

#include <span>
#include <vector>

#include "comboost/bundles.hpp"
#include "comboost/costs.hpp"
#include "comboost/partition.hpp"
#include "comboost/splitting.hpp"
#include "comboost/types.hpp"

namespace comboost {

// Memory for copies of records that lie scattered; kept for the next time.
class RecordPacker {
  public:
    static constexpr std::size_t kBytes = 1 << 21;  // more would only take memory: a batch should stay in the cache

    void reserve(std::size_t n_rows, const Records& records) {
        if (units_.size() < n_rows * records.channels.size())
            units_ = AlignedArray<Unit>(n_rows * records.channels.size());
        if (records.weights != nullptr && weights_.size() < n_rows) weights_ = AlignedArray<Weight>(n_rows);
    }

    Unit* units() const { return units_.data(); }
    Weight* weights() const { return weights_.data(); }

  private:
    AlignedArray<Unit> units_;
    AlignedArray<Weight> weights_;
};

// histograms[set][bin of layout][channel], overwritten. The set of all rows stands alone. `bundles` are those of the
// codes.
void count_histograms(const Codes& codes, const Bundles& bundles, const CostTable& costs, const BinLayout& layout,
                      std::span<const RowSet> sets, int n_threads, RecordPacker& packer, Sum* histograms);

// The histograms of a node's two children: the counted one as it is, the other as the difference.
void subtract_histogram(const Sum* parent, const Sum* counted, std::size_t size, Sum* counted_out, Sum* other_out);

}  // namespace comboost
