#include "comboost/sparse_bins.hpp"

#include <algorithm>

namespace comboost {

SparseBins::SparseBins(const SparseCodes& codes, const Records& records, const SearchedRows& searched)
    : table_(codes),
      records_(records),
      searched_(searched),
      shares_(searched.n_nodes),
      rooms_(searched.n_nodes),
      counted_(searched.n_nodes) {}

std::span<const NodeIndex> SparseBins::survey(std::uint32_t rank) {
    for (const NodeIndex index : surveyed_) shares_[index] = {};
    surveyed_.clear();
    rank_ = rank;
    const auto [rows, codes, zero] = table_.entries(rank);
    for (std::size_t k = 0; k < rows.size(); ++k) {
        const SearchedRow& row = searched_.rows[rows[k]];
        if (row.index == kNoNode) continue;
        Share& share = shares_[row.index];
        if (share.n_rows++ == 0) surveyed_.push_back(row.index);
        share.loss += row.loss;
        share.n_codes = static_cast<std::uint16_t>(share.n_codes + (share.last_code != codes[k]));
        share.last_code = codes[k];
    }
    return surveyed_;
}

void SparseBins::count(std::span<const NodeIndex> indices) {
    lay_out(indices);
    number_entries(indices);
    kernels().add_records(rows_.data(), bins_.data(), rows_.size(), records_, sums_.data());
    for (const NodeIndex index : indices) fill_zero_bin(index);
}

void SparseBins::lay_out(std::span<const NodeIndex> indices) {
    std::uint32_t n_bins = 0;
    for (const NodeIndex index : indices) {
        rooms_[index] = {n_bins, n_bins, 0};
        counted_[index] = 1;
        n_bins += shares_[index].n_codes + 1U;
    }
    codes_.resize(n_bins);
    sums_.assign(n_bins * records_.channels.size(), 0);
}

// Entries come in the order of their codes, so bins do, too.
void SparseBins::number_entries(std::span<const NodeIndex> indices) {
    const auto [rows, codes, zero_code] = table_.entries(rank_);
    const Code zero = zero_code;
    const auto add_zero_bins = [&] {
        for (const NodeIndex index : indices) {
            rooms_[index].zero = rooms_[index].next;
            codes_[rooms_[index].next++] = zero;
        }
    };
    rows_.clear();
    bins_.clear();
    bool is_below = true;
    for (std::size_t k = 0; k < rows.size(); ++k) {
        if (is_below && codes[k] > zero) {
            add_zero_bins();
            is_below = false;
        }
        const NodeIndex index = searched_.rows[rows[k]].index;
        if (index == kNoNode || !counted_[index]) continue;
        Room& room = rooms_[index];
        if (room.next == room.begin || codes_[room.next - 1] != codes[k]) codes_[room.next++] = codes[k];
        rows_.push_back(rows[k]);
        bins_.push_back(room.next - 1);
    }
    if (is_below) add_zero_bins();
    for (const NodeIndex index : indices) counted_[index] = 0;
}

// What the entries leave of the node's sums is in the zeros.
void SparseBins::fill_zero_bin(NodeIndex index) {
    const std::size_t width = records_.channels.size();
    const Room& room = rooms_[index];
    Sum* zero = sums_.data() + room.zero * width;
    std::copy_n(searched_.sums.data() + index * width, width, zero);
    for (std::uint32_t bin = room.begin; bin < room.next; ++bin) {
        if (bin == room.zero) continue;
        for (std::size_t j = 0; j < width; ++j) zero[j] -= sums_[bin * width + j];
    }
}

BinView SparseBins::bins(NodeIndex index) const {
    const Room& room = rooms_[index];
    return {sums_.data() + room.begin * records_.channels.size(), room.next - room.begin, codes_.data() + room.begin};
}

}  // namespace comboost
