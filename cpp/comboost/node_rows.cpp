#include "comboost/node_rows.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace comboost {
namespace {

constexpr std::size_t kCodes = 256;

template <class T>
T* room_for(std::vector<T>& values, std::size_t size) {
    if (values.size() < size) values.resize(size);
    return values.data();
}

}  // namespace

void NodeRows::pack(const RowSet& set, const Records& records) {
    const std::size_t width = records.channels.size();
    set_ = set;
    Unit* units = room_for(units_, set.size * width);
    for (std::size_t k = 0; k < set.size; ++k)
        std::copy_n(records.units + set.rows[k] * width, width, units + k * width);
    Weight* weights = nullptr;
    if (records.weights != nullptr) {
        weights = room_for(weights_, set.size);
        for (std::size_t k = 0; k < set.size; ++k) weights[k] = records.weights[set.rows[k]];
    }
    records_ = {units, weights, records.channels};
}

BinView NodeRows::bins(const Code* column, std::size_t n_bins) {
    if (4 * set_.size < n_bins) return filled_bins(column);
    return count(column, n_bins, room_for(sums_, n_bins * records_.channels.size()));
}

BinView NodeRows::count(const Code* column, std::size_t n_bins, Sum* histogram) const {
    std::fill_n(histogram, n_bins * records_.channels.size(), Sum{0});
    kernels().accumulate(column, set_.rows, set_.size, records_, histogram);
    return {histogram, n_bins, nullptr};
}

BinView NodeRows::filled_bins(const Code* column) {
    Code* places = room_for(places_, set_.size);
    Code* codes = room_for(codes_, kCodes);
    std::array<std::uint64_t, kCodes / 64> filled{};
    for (std::size_t k = 0; k < set_.size; ++k) {
        const Code code = column[set_.rows[k]];
        places[k] = code;
        filled[code / 64] |= std::uint64_t{1} << (code % 64);
    }
    std::array<Code, kCodes> place_of_code;
    std::size_t n_filled = 0;
    for (std::size_t word = 0; word < filled.size(); ++word)
        for (std::uint64_t bits = filled[word]; bits != 0; bits &= bits - 1) {
            const auto code = static_cast<Code>(64 * word + static_cast<std::size_t>(std::countr_zero(bits)));
            place_of_code[code] = static_cast<Code>(n_filled);
            codes[n_filled++] = code;
        }
    for (std::size_t k = 0; k < set_.size; ++k) places[k] = place_of_code[places[k]];
    Sum* sums = room_for(sums_, n_filled * records_.channels.size());
    std::fill_n(sums, n_filled * records_.channels.size(), Sum{0});
    kernels().accumulate(places, nullptr, set_.size, records_, sums);
    return {sums, n_filled, codes};
}

void remove_bins(const BinView& bins, std::size_t width, Sum* histogram) {
    if (bins.codes == nullptr) {
        for (std::size_t k = 0; k < bins.size * width; ++k) histogram[k] -= bins.sums[k];
        return;
    }
    for (std::size_t b = 0; b < bins.size; ++b)
        for (std::size_t j = 0; j < width; ++j) histogram[bins.codes[b] * width + j] -= bins.sums[b * width + j];
}

}  // namespace comboost
