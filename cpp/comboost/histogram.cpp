#include "comboost/histogram.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "comboost/kernels.hpp"
#include "comboost/parallel.hpp"

namespace comboost {
namespace {

// Records that stay in the second-level cache while feature after feature reads them.
constexpr std::size_t kCachedBytes = 1 << 17;

std::size_t n_cached_rows(std::size_t width) { return std::max<std::size_t>(1, kCachedBytes / (width * sizeof(Unit))); }

// The features of one task: tasks small enough that a slow core does not keep the others waiting.
std::size_t n_feature_groups(std::size_t n_features, std::size_t work, int n_threads) {
    return n_parts(work, n_threads) == 1 ? 1 : std::min(n_features, 4 * static_cast<std::size_t>(n_threads));
}

Records from_row(const Records& records, std::size_t row) {
    return {records.units + row * records.channels.size(), records.weights == nullptr ? nullptr : records.weights + row,
            records.channels};
}

// A part of a row set, and the histogram of that set.
struct Piece {
    RowSet set;
    Sum* histogram;
};

// The sets in pieces of at most `most_rows` rows, in batches of no more than that.
std::vector<std::vector<Piece>> batches_of(std::span<const RowSet> sets, std::size_t most_rows, std::size_t size,
                                           Sum* histograms) {
    std::vector<std::vector<Piece>> batches;
    std::size_t room = 0;
    for (std::size_t s = 0; s < sets.size(); ++s)
        for (std::size_t begin = 0; begin < sets[s].size;) {
            if (room == 0) {
                batches.emplace_back();
                room = most_rows;
            }
            const std::size_t n_rows = std::min(room, sets[s].size - begin);
            batches.back().push_back({{sets[s].rows + begin, n_rows}, histograms + s * size});
            begin += n_rows;
            room -= n_rows;
        }
    return batches;
}

// Adds the features first .. last - 1 of some rows, whose records stand one after the other, to their histogram.
void count_features(const Codes& codes, const Records& records, const BinLayout& layout, const Piece& piece,
                    std::size_t first, std::size_t last, Lookout& lookout) {
    const std::size_t width = records.channels.size();
    const std::size_t block_rows = n_cached_rows(width);
    const bool all_rows = piece.set.rows == nullptr;
    for (std::size_t begin = 0; begin < piece.set.size; begin += block_rows) {
        const std::size_t n_rows = std::min(block_rows, piece.set.size - begin);
        for (std::size_t f = first; f < last; ++f) {
            kernels().accumulate(codes.column(f) + (all_rows ? begin : 0), all_rows ? nullptr : piece.set.rows + begin,
                                 n_rows, from_row(records, begin), piece.histogram + layout.begin(f) * width);
            lookout.after(n_rows * width);
        }
    }
}

// Adds pieces, whose records stand one after the other, to their histograms: a task has some features of all of them.
void count_pieces(const Codes& codes, const Records& records, const BinLayout& layout, std::span<const Piece> pieces,
                  int n_threads) {
    std::size_t n_rows = 0;
    for (const Piece& piece : pieces) n_rows += piece.set.size;
    const std::size_t work = n_rows * codes.n_features * records.channels.size();
    const std::size_t n_groups = n_feature_groups(codes.n_features, work, n_threads);
    for_each_task(n_groups, work, n_threads, [&](std::size_t group) {
        std::size_t first_row = 0;
        Lookout lookout;
        for (const Piece& piece : pieces) {
            count_features(codes, from_row(records, first_row), layout, piece, codes.n_features * group / n_groups,
                           codes.n_features * (group + 1) / n_groups, lookout);
            first_row += piece.set.size;
        }
    });
}

// Updates after which threads wait for each other: whoever waits for the last one cannot look for interrupts.
constexpr std::size_t kUpdatesTogether = std::size_t{1} << 30;

void count_all_rows(const Codes& codes, const Records& records, const BinLayout& layout, int n_threads,
                    Sum* histogram) {
    const std::size_t width = records.channels.size();
    const std::size_t most_rows =
        std::max(n_cached_rows(width), kUpdatesTogether / std::max<std::size_t>(1, codes.n_features * width));
    for (std::size_t begin = 0; begin < codes.n_rows; begin += most_rows) {
        const Codes from_here{codes.data + begin, codes.n_rows, codes.n_features};
        const Piece piece{{nullptr, std::min(most_rows, codes.n_rows - begin)}, histogram};
        count_pieces(from_here, from_row(records, begin), layout, std::span(&piece, 1), n_threads);
    }
}

// Copies the records of scattered rows to stand one after the other.
void pack(std::span<const Piece> pieces, const Records& from, int n_threads, Unit* units, Weight* weights) {
    const std::size_t width = from.channels.size();
    for (const Piece& piece : pieces) {
        for_each_block(piece.set.size, width, n_threads, [&](std::size_t begin, std::size_t end) {
            for (std::size_t k = begin; k < end; ++k) {
                std::copy_n(from.units + piece.set.rows[k] * width, width, units + k * width);
                if (weights != nullptr) weights[k] = from.weights[piece.set.rows[k]];
            }
        });
        units += piece.set.size * width;
        if (weights != nullptr) weights += piece.set.size;
    }
}

}  // namespace

void count_histograms(const Codes& codes, const CostTable& costs, const BinLayout& layout, std::span<const RowSet> sets,
                      int n_threads, RecordPacker& packer, Sum* histograms) {
    const Records records = costs.records();
    const std::size_t width = records.channels.size();
    const std::size_t size = layout.n_bins() * width;
    for_each_task(sets.size(), sets.size() * size, n_threads, [&](std::size_t s) {
        for_each_stretch(s * size, (s + 1) * size, 1, [&](std::size_t from, std::size_t to) {
            std::fill(histograms + from, histograms + to, Sum{0});
        });
    });
    if (sets.size() == 1 && sets[0].rows == nullptr) {
        count_all_rows(codes, records, layout, n_threads, histograms);
        return;
    }
    const std::size_t most_rows = std::max<std::size_t>(1, RecordPacker::kBytes / (width * sizeof(Unit)));
    packer.reserve(std::min(most_rows, costs.n_rows()), records);
    const Records packed{packer.units(), packer.weights(), records.channels};
    for (const std::vector<Piece>& batch : batches_of(sets, most_rows, size, histograms)) {
        pack(batch, records, n_threads, packer.units(), packer.weights());
        count_pieces(codes, packed, layout, batch, n_threads);
    }
}

BinView FilledBins::count(const Code* column, const RowSet& set, const Records& records) {
    const std::size_t width = records.channels.size();
    std::array<std::uint64_t, 4> filled{};
    for (std::size_t k = 0; k < set.size; ++k) {
        const Code code = column[set.rows[k]];
        filled[code / 64] |= std::uint64_t{1} << (code % 64);
    }
    std::size_t n_filled = 0;
    for (std::size_t word = 0; word < filled.size(); ++word)
        for (std::uint64_t bits = filled[word]; bits != 0; bits &= bits - 1) {
            const auto code = static_cast<Code>(64 * word + static_cast<std::size_t>(std::countr_zero(bits)));
            place_of_code_[code] = static_cast<std::uint16_t>(n_filled);
            codes_[n_filled++] = code;
        }
    sums_.assign(n_filled * width, 0);
    for (std::size_t k = 0; k < set.size; ++k) {
        const std::size_t row = set.rows[k];
        const Unit* record = records.units + row * width;
        const Sum weight = records.weights == nullptr ? 1 : Sum{records.weights[row]};
        Sum* bin = sums_.data() + place_of_code_[column[row]] * width;
        for (std::size_t j = 0; j < width; ++j) bin[j] += weight * record[j];
        if (records.channels.counted) bin[records.channels.count()] += 1 - weight;  // rows count, whatever they weigh
    }
    return {sums_.data(), n_filled, codes_.data()};
}

void subtract_histogram(const Sum* parent, const Sum* counted, std::size_t size, Sum* counted_out, Sum* other_out) {
    for (std::size_t k = 0; k < size; ++k) {
        counted_out[k] = counted[k];
        other_out[k] = parent[k] - counted[k];
    }
}

}  // namespace comboost
