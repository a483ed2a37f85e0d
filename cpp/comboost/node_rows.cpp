#include "comboost/node_rows.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "comboost/limits.hpp"
#include "comboost/parallel.hpp"

namespace comboost {
namespace {

constexpr std::size_t kCodes = 256;
constexpr std::size_t kAhead = 8;   // rows that are fetched before they are needed
constexpr std::size_t kSparse = 4;  // bins per row, from which on it pays to find those that hold rows

template <class T>
T* room_for(std::vector<T>& values, std::size_t size) {
    if (values.size() < size) values.resize(size);
    return values.data();
}

// Records are whole vectors; a call to copy as many bytes as there may be would take longer.
void copy_record(const Unit* from, std::size_t width, Unit* to) {
    for (std::size_t v = 0; v < width; v += Channels::kLanes)
        std::memcpy(to + v, from + v, Channels::kLanes * sizeof(Unit));
}

}  // namespace

CodesByRow::CodesByRow(const Codes& codes, int n_threads)
    : stride_((codes.n_features + kRowPadding - 1) / kRowPadding * kRowPadding), rows_(codes.n_rows * stride_) {
    // A few rows at a time, which stay in the cache while column after column is written into them.
    constexpr std::size_t kTurned = 256;
    for_each_block(codes.n_rows, codes.n_features, n_threads, [&](std::size_t begin, std::size_t end) {
        for (; begin < end; begin += kTurned)
            for (std::size_t f = 0; f < codes.n_features; ++f)
                for (std::size_t i = begin; i < std::min(end, begin + kTurned); ++i)
                    rows_.data()[i * stride_ + f] = codes.column(f)[i];
    });
}

void NodeRows::pack(const RowSet& set, const Records& records, const Codes& codes, const CodesByRow* by_row) {
    const std::size_t width = records.channels.size();
    set_ = set;
    codes_ = codes;
    codes_are_packed_ = by_row != nullptr;
    Unit* units = room_for(units_, set.size * width);
    Weight* weights = records.weights == nullptr ? nullptr : room_for(weights_, set.size);
    Code* packed = codes_are_packed_ ? room_for(packed_codes_, set.size * codes.n_features) : nullptr;
    for (std::size_t k = 0; k < set.size; ++k) {
        if (k + kAhead < set.size) {
            const std::size_t next = set.rows[k + kAhead];
            __builtin_prefetch(records.units + next * width);
            if (by_row != nullptr) __builtin_prefetch(by_row->row(next));
        }
        const std::size_t row = set.rows[k];
        copy_record(records.units + row * width, width, units + k * width);
        if (weights != nullptr) weights[k] = records.weights[row];
        if (by_row == nullptr) continue;
        const Code* from = by_row->row(row);
        for (std::size_t f = 0; f < codes.n_features; ++f) packed[f * set.size + k] = from[f];
    }
    records_ = {units, weights, records.channels};
}

NodeRows::Column NodeRows::column(std::size_t feature) const {
    if (codes_are_packed_) return {packed_codes_.data() + feature * set_.size, nullptr};
    return {codes_.column(feature), set_.rows};
}

BinView NodeRows::bins(std::size_t feature, std::size_t n_bins) {
    if (kSparse * set_.size < n_bins) return filled_bins(column(feature));
    return count(feature, n_bins, room_for(sums_, n_bins * records_.channels.size()));
}

BinView NodeRows::count(std::size_t feature, std::size_t n_bins, Sum* histogram) const {
    const Column from = column(feature);
    std::fill_n(histogram, n_bins * records_.channels.size(), Sum{0});
    kernels().accumulate(from.codes, from.rows, set_.size, records_, {histogram, 0});
    return {histogram, n_bins, nullptr};
}

BinView NodeRows::filled_bins(const Column& column) {
    Code* indices = room_for(indices_, set_.size);
    Code* codes = room_for(filled_, kCodes);
    std::array<std::uint64_t, kCodes / 64> filled{};
    for (std::size_t k = 0; k < set_.size; ++k) {
        const Code code = column.codes[column.rows == nullptr ? k : column.rows[k]];
        indices[k] = code;
        filled[code / 64] |= std::uint64_t{1} << (code % 64);
    }
    std::array<Code, kCodes> index_of_code;
    std::size_t n_filled = 0;
    for (std::size_t word = 0; word < filled.size(); ++word)
        for (std::uint64_t bits = filled[word]; bits != 0; bits &= bits - 1) {
            const auto code = static_cast<Code>(64 * word + static_cast<std::size_t>(std::countr_zero(bits)));
            index_of_code[code] = static_cast<Code>(n_filled);
            codes[n_filled++] = code;
        }
    for (std::size_t k = 0; k < set_.size; ++k) indices[k] = index_of_code[indices[k]];
    Sum* sums = room_for(sums_, n_filled * records_.channels.size());
    std::fill_n(sums, n_filled * records_.channels.size(), Sum{0});
    kernels().accumulate(indices, nullptr, set_.size, records_, {sums, 0});
    return {sums, n_filled, codes};
}

void remove_bins(const BinView& bins, const Channels& channels, Sum* histogram) {
    const std::size_t width = channels.size();
    for (std::size_t b = 0; b < bins.size; ++b) {
        const Sum* bin = bins.sums + b * width;
        if (!counts(bin, channels)) continue;  // then it holds nothing else either
        Sum* from = histogram + bins.code(b) * width;
        for (std::size_t j = 0; j < width; ++j) from[j] -= bin[j];
    }
}

}  // namespace comboost
