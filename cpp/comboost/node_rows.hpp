// The rows of one small node, copied together, and what its features' bins hold.
#pragma once

#include <vector>

#include "comboost/kernels.hpp"
#include "comboost/partition.hpp"
#include "comboost/splitting.hpp"
#include "comboost/types.hpp"

namespace comboost {

// Codes, row by row: those of a row that stands alone lie in one or two cache lines, and not in one per feature.
class CodesByRow {
  public:
    CodesByRow() = default;
    CodesByRow(const Codes& codes, int n_threads);

    bool empty() const { return rows_.size() == 0; }
    const Code* row(std::size_t row) const { return rows_.data() + row * stride_; }

  private:
    std::size_t stride_ = 0;
    AlignedArray<Code> rows_;
};

class NodeRows {
  public:
    // Copies the records of a node, and its codes if they are given by row, too. What the others say is of this node,
    // until the next call.
    void pack(const RowSet& set, const Records& records, const Codes& codes, const CodesByRow* by_row);

    // The bins of a feature of `n_bins`: only those that hold rows, if rows are few. Valid until the next call.
    BinView bins(std::size_t feature, std::size_t n_bins);

    // Writes the histogram of a feature.
    BinView count(std::size_t feature, std::size_t n_bins, Sum* histogram) const;

  private:
    // The code of the k-th row is codes[rows[k]], or codes[k] if `rows` is null.
    struct Column {
        const Code* codes;
        const RowIndex* rows;
    };

    Column column(std::size_t feature) const;
    BinView filled_bins(const Column& column);

    RowSet set_{};
    Codes codes_{};
    bool codes_are_packed_ = false;
    Records records_{};
    std::vector<Unit> units_;
    std::vector<Weight> weights_;
    std::vector<Code> packed_codes_;  // feature by feature
    std::vector<Code> filled_;        // the codes of the bins that hold rows, ascending
    std::vector<Code> indices_;       // of every row, among these bins
    std::vector<Sum> sums_;
};

// Takes what some bins hold from a feature's histogram.
void remove_bins(const BinView& bins, const Channels& channels, Sum* histogram);

}  // namespace comboost
