#include "comboost/sparse_bins.hpp"

#include <algorithm>

namespace comboost {

SparseBins::SparseBins(const SparseCodes& codes, const Records& records, const SearchedRows& searched)
    : table_(codes),
      records_(records),
      searched_(searched),
      shares_(searched.n_places),
      rooms_(searched.n_places),
      counted_(searched.n_places) {}

std::span<const PlaceIndex> SparseBins::survey(std::uint32_t rank) {
    for (const PlaceIndex place : surveyed_) shares_[place] = {};
    surveyed_.clear();
    rank_ = rank;
    const auto [rows, codes, zero] = table_.entries(rank);
    for (std::size_t k = 0; k < rows.size(); ++k) {
        const SearchedRow& row = searched_.rows[rows[k]];
        if (row.place == kNoPlace) continue;
        Share& share = shares_[row.place];
        if (share.n_rows++ == 0) surveyed_.push_back(row.place);
        share.loss += row.loss;
        share.n_codes = static_cast<std::uint16_t>(share.n_codes + (share.last_code != codes[k]));
        share.last_code = codes[k];
    }
    return surveyed_;
}

void SparseBins::count(std::span<const PlaceIndex> places) {
    lay_out(places);
    number_entries(places);
    kernels().add_records(rows_.data(), bins_.data(), rows_.size(), records_, sums_.data());
    for (const PlaceIndex place : places) fill_zero_bin(place);
}

void SparseBins::lay_out(std::span<const PlaceIndex> places) {
    std::uint32_t n_bins = 0;
    for (const PlaceIndex place : places) {
        rooms_[place] = {n_bins, n_bins, 0};
        counted_[place] = 1;
        n_bins += shares_[place].n_codes + 1U;
    }
    codes_.resize(n_bins);
    sums_.assign(n_bins * records_.channels.size(), 0);
}

// Entries come in the order of their codes, so bins do, too.
void SparseBins::number_entries(std::span<const PlaceIndex> places) {
    const auto [rows, codes, zero_code] = table_.entries(rank_);
    const Code zero = zero_code;
    const auto add_zero_bins = [&] {
        for (const PlaceIndex place : places) {
            rooms_[place].zero = rooms_[place].next;
            codes_[rooms_[place].next++] = zero;
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
        const PlaceIndex place = searched_.rows[rows[k]].place;
        if (place == kNoPlace || !counted_[place]) continue;
        Room& room = rooms_[place];
        if (room.next == room.begin || codes_[room.next - 1] != codes[k]) codes_[room.next++] = codes[k];
        rows_.push_back(rows[k]);
        bins_.push_back(room.next - 1);
    }
    if (is_below) add_zero_bins();
    for (const PlaceIndex place : places) counted_[place] = 0;
}

// What the entries leave of the node's sums is in the zeros.
void SparseBins::fill_zero_bin(PlaceIndex place) {
    const std::size_t width = records_.channels.size();
    const Room& room = rooms_[place];
    Sum* zero = sums_.data() + room.zero * width;
    std::copy_n(searched_.sums.data() + place * width, width, zero);
    for (std::uint32_t bin = room.begin; bin < room.next; ++bin) {
        if (bin == room.zero) continue;
        for (std::size_t j = 0; j < width; ++j) zero[j] -= sums_[bin * width + j];
    }
}

BinView SparseBins::bins(PlaceIndex place) const {
    const Room& room = rooms_[place];
    return {sums_.data() + room.begin * records_.channels.size(), room.next - room.begin, codes_.data() + room.begin};
}

}  // namespace comboost
