#include "comboost/histogram.hpp"

#include <algorithm>
#include <vector>

#include "comboost/kernels.hpp"
#include "comboost/parallel.hpp"
#include "comboost/scratch.hpp"

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

// The codes that are counted, and where.
struct Table {
    const Codes& codes;
    const Bundles& bundles;
    const BinLayout& layout;
};

// Codes of all rows, and the histogram that they are counted in.
struct Column {
    const Code* codes;
    SpreadHistogram histogram;
};

// Adds some rows, whose records stand one after the other, to the histograms of columns.
void count_columns(std::span<const Column> columns, const RowSet& set, const Records& records, InterruptPoll& poll) {
    const std::size_t width = records.channels.size();
    const std::size_t block_rows = n_cached_rows(width);
    const bool all_rows = set.rows == nullptr;
    for (std::size_t begin = 0; begin < set.size; begin += block_rows) {
        const std::size_t n_rows = std::min(block_rows, set.size - begin);
        for (const Column& column : columns) {
            kernels().accumulate(column.codes + (all_rows ? begin : 0), all_rows ? nullptr : set.rows + begin, n_rows,
                                 from_row(records, begin), column.histogram);
            poll.after(n_rows * width);
        }
    }
}

// Memory for bundles' own histograms; kept for the next time.
class OwnSums {
  public:
    // Cleared, and valid until the next call.
    Sum* clear(std::size_t size) {
        if (sums_.size() < size) sums_ = AlignedArray<Sum>(size);
        std::fill_n(sums_.data(), size, Sum{0});
        return sums_.data();
    }

  private:
    AlignedArray<Sum> sums_;
};

// Adds some bundles of a piece, whose records stand one after the other, to its histogram.
void count_bundles(const Table& table, std::span<const Bundle> bundles, std::size_t first_row, const Records& records,
                   const Piece& piece, InterruptPoll& poll) {
    Borrowed<OwnSums> own_sums;
    const std::size_t width = records.channels.size();
    std::size_t n_bins = 0;
    for (const Bundle& bundle : bundles) n_bins += bundle.n_bins(bundle.cheapest(piece.set.size, width));
    Sum* const own = own_sums->clear(n_bins * width);
    std::vector<Column> columns;
    const auto codes_of = [&](std::size_t feature) { return table.codes.column(feature) + first_row; };
    Sum* sums = own;
    for (const Bundle& bundle : bundles) {
        const Counting counting = bundle.cheapest(piece.set.size, width);
        if (counting == Counting::by_feature)
            for (const std::size_t f : bundle.features)
                columns.push_back({codes_of(f), {piece.histogram + table.layout.begin(f) * width, 0}});
        else
            columns.push_back({bundle.is_shared() ? bundle.codes.data() + first_row : codes_of(bundle.features[0]),
                               {sums, counting == Counting::in_turns ? bundle.n_codes * width : 0}});
        sums += bundle.n_bins(counting) * width;
    }
    count_columns(columns, piece.set, records, poll);
    sums = own;
    for (const Bundle& bundle : bundles) {
        const Counting counting = bundle.cheapest(piece.set.size, width);
        if (counting != Counting::by_feature) add_margins(bundle, counting, table.layout, width, sums, piece.histogram);
        sums += bundle.n_bins(counting) * width;
    }
}

// Adds pieces, whose records stand one after the other, to their histograms: a task has some bundles of all of them.
void count_pieces(const Table& table, std::size_t first_row, const Records& records, std::span<const Piece> pieces,
                  int n_threads) {
    std::size_t n_rows = 0;
    for (const Piece& piece : pieces) n_rows += piece.set.size;
    const std::span<const Bundle> bundles = table.bundles.all();
    const std::size_t width = records.channels.size();
    const std::size_t n_own_sums = table.bundles.n_bins(width) * width;
    const std::size_t work = n_rows * bundles.size() * width;
    const std::size_t n_groups = std::min(
        bundles.size(), std::max(n_feature_groups(bundles.size(), work, n_threads), n_own_sums / kMostOwnSums + 1));
    for_each_task(n_groups, work, n_threads, [&](std::size_t group) {
        const std::size_t first = bundles.size() * group / n_groups;
        const std::size_t last = bundles.size() * (group + 1) / n_groups;
        std::size_t first_record = 0;
        InterruptPoll poll;
        for (const Piece& piece : pieces) {
            count_bundles(table, bundles.subspan(first, last - first), first_row, from_row(records, first_record),
                          piece, poll);
            first_record += piece.set.size;
        }
    });
}

// Updates after which threads wait for each other: whoever waits for the last one cannot look for interrupts.
constexpr std::size_t kUpdatesTogether = std::size_t{1} << 30;

void count_all_rows(const Table& table, const Records& records, int n_threads, Sum* histogram) {
    const std::size_t width = records.channels.size();
    const std::size_t most_rows =
        std::max(n_cached_rows(width), kUpdatesTogether / std::max<std::size_t>(1, table.codes.n_features * width));
    for (std::size_t begin = 0; begin < table.codes.n_rows; begin += most_rows) {
        const Piece piece{{nullptr, std::min(most_rows, table.codes.n_rows - begin)}, histogram};
        count_pieces(table, begin, from_row(records, begin), std::span(&piece, 1), n_threads);
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

void count_histograms(const Codes& codes, const Bundles& bundles, const CostTable& costs, const BinLayout& layout,
                      std::span<const RowSet> sets, int n_threads, RecordPacker& packer, Sum* histograms) {
    const Table table{codes, bundles, layout};
    const Records records = costs.records();
    const std::size_t width = records.channels.size();
    const std::size_t size = layout.n_bins() * width;
    for_each_task(sets.size(), sets.size() * size, n_threads, [&](std::size_t s) {
        for_each_stretch(s * size, (s + 1) * size, 1, [&](std::size_t from, std::size_t to) {
            std::fill(histograms + from, histograms + to, Sum{0});
        });
    });
    if (sets.size() == 1 && sets[0].rows == nullptr) {
        count_all_rows(table, records, n_threads, histograms);
        return;
    }
    const std::size_t most_rows = std::max<std::size_t>(1, RecordPacker::kBytes / (width * sizeof(Unit)));
    packer.reserve(std::min(most_rows, costs.n_rows()), records);
    const Records packed{packer.units(), packer.weights(), records.channels};
    for (const std::vector<Piece>& batch : batches_of(sets, most_rows, size, histograms)) {
        pack(batch, records, n_threads, packer.units(), packer.weights());
        count_pieces(table, 0, packed, batch, n_threads);
    }
}

void subtract_histogram(const Sum* parent, const Sum* counted, std::size_t size, Sum* counted_out, Sum* other_out) {
    for (std::size_t k = 0; k < size; ++k) {
        counted_out[k] = counted[k];
        other_out[k] = parent[k] - counted[k];
    }
}

}  // namespace comboost
