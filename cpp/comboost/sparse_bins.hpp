// The bins of one feature of a sparse table in many nodes at once, from its entries alone.
#pragma once

#include <span>
#include <vector>

#include "comboost/kernels.hpp"
#include "comboost/sparse.hpp"
#include "comboost/splitting.hpp"
#include "comboost/types.hpp"

namespace comboost {

using NodeIndex = std::uint32_t;
inline constexpr NodeIndex kNoNode = ~NodeIndex{0};

// What a search asks of a row again and again, in few bytes that caches hold: its loss, rounded up, and the index of
// its node among those that are searched.
struct SearchedRow {
    float loss;
    NodeIndex index;
};

// The rows of a sparse table while some nodes are searched; `sums` are those of the nodes, a record each.
struct SearchedRows {
    std::span<const SearchedRow> rows;
    std::vector<Sum> sums;
    std::size_t n_nodes;
};

class SparseBins {
  public:
    // What the entries of a feature are in a node; their loss is not above `loss`.
    struct Share {
        double loss = 0.0;
        std::uint32_t n_rows = 0;
        std::uint16_t n_codes = 0;
        std::int16_t last_code = -1;
    };

    SparseBins(const SparseCodes& codes, const Records& records, const SearchedRows& searched);

    // Goes through the entries of a feature: the indices that have some. Valid until the next call.
    std::span<const NodeIndex> survey(std::uint32_t rank);
    const Share& share(NodeIndex index) const { return shares_[index]; }

    // Counts the bins of the feature just surveyed at some of the indices that have entries.
    void count(std::span<const NodeIndex> indices);

    // The bins that hold entries, and the one that holds the zeros. Valid until the next count.
    BinView bins(NodeIndex index) const;

  private:
    void lay_out(std::span<const NodeIndex> indices);
    void number_entries(std::span<const NodeIndex> indices);
    void fill_zero_bin(NodeIndex index);

    const SparseCodes& table_;
    const Records& records_;
    const SearchedRows& searched_;
    std::uint32_t rank_ = 0;
    std::vector<Share> shares_;        // of every index
    std::vector<NodeIndex> surveyed_;  // indices with entries

    struct Room {
        std::uint32_t begin, next, zero;  // where its bins begin, where the next one stands, and the one of the zeros
    };
    std::vector<Room> rooms_;  // of every index that is counted
    std::vector<std::uint8_t> counted_;
    std::vector<Code> codes_;
    std::vector<Sum> sums_;
    std::vector<RowIndex> rows_;       // of the entries that are counted
    std::vector<std::uint32_t> bins_;  // where these go
};

}  // namespace comboost
