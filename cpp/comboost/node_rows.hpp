// The rows of one small node, copied together, and what its features' bins hold.
#pragma once

#include <vector>

#include "comboost/kernels.hpp"
#include "comboost/partition.hpp"
#include "comboost/splitting.hpp"
#include "comboost/types.hpp"

namespace comboost {

class NodeRows {
  public:
    // Copies the records of a node. What the others say is of this node, until the next call.
    void pack(const RowSet& set, const Records& records);

    // The bins of a feature of `n_bins`: only those that hold rows, if rows are few. Valid until the next call.
    BinView bins(const Code* column, std::size_t n_bins);

    // Writes the histogram of a feature.
    BinView count(const Code* column, std::size_t n_bins, Sum* histogram) const;

  private:
    BinView filled_bins(const Code* column);

    RowSet set_{};
    Records records_{};
    std::vector<Unit> units_;
    std::vector<Weight> weights_;
    std::vector<Code> codes_;   // of the bins that hold rows, ascending
    std::vector<Code> places_;  // of every row, among these bins
    std::vector<Sum> sums_;
};

// Takes what some bins hold from a feature's histogram.
void remove_bins(const BinView& bins, std::size_t width, Sum* histogram);

}  // namespace comboost
