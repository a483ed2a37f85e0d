#include "comboost/histogram.hpp"

#include <algorithm>
#include <vector>

#include "comboost/kernels.hpp"
#include "comboost/parallel.hpp"

namespace comboost {
namespace {

// Records that stay in the second-level cache while feature after feature reads them.
constexpr std::size_t kCachedBytes = 1 << 17;

// The features of one task: tasks small enough that a slow core does not keep the others waiting.
std::size_t n_feature_groups(std::size_t n_features, int n_threads) {
    return n_threads <= 1 ? 1 : std::min(n_features, 4 * static_cast<std::size_t>(n_threads));
}

Records from_row(const Records& records, std::size_t row) {
    return {records.units + row * records.channels.size(), records.weights == nullptr ? nullptr : records.weights + row,
            records.channels};
}

// Counts the features first .. last - 1 of one row set, whose records stand one after the other.
void count_features(const Codes& codes, const Records& records, const BinLayout& layout, const RowSet& set,
                    std::size_t first, std::size_t last, Sum* histogram) {
    const std::size_t width = records.channels.size();
    std::fill(histogram + layout.begin(first) * width, histogram + layout.begin(last) * width, Sum{0});
    const std::size_t block_rows = std::max<std::size_t>(1, kCachedBytes / (width * sizeof(Unit)));
    for (std::size_t begin = 0; begin < set.size; begin += block_rows) {
        const std::size_t n_rows = std::min(block_rows, set.size - begin);
        const bool all_rows = set.rows == nullptr;
        for (std::size_t f = first; f < last; ++f)
            kernels().accumulate(codes.column(f) + (all_rows ? begin : 0), all_rows ? nullptr : set.rows + begin,
                                 n_rows, from_row(records, begin), histogram + layout.begin(f) * width);
    }
}

}  // namespace

Records RecordPacker::pack(std::span<const RowSet> sets, const Records& from, int n_threads) {
    const std::size_t width = from.channels.size();
    std::size_t n_rows = 0;
    for (const RowSet& set : sets) n_rows += set.size;
    if (units_.size() < n_rows * width) units_ = AlignedArray<Unit>(n_rows * width);
    if (from.weights != nullptr && weights_.size() < n_rows) weights_ = AlignedArray<Weight>(n_rows);

    Unit* units = units_.data();
    Weight* weights = from.weights == nullptr ? nullptr : weights_.data();
    for (const RowSet& set : sets) {
        for_each_block(set.size, width, n_threads, [&](std::size_t begin, std::size_t end) {
            for (std::size_t k = begin; k < end; ++k) {
                std::copy_n(from.units + set.rows[k] * width, width, units + k * width);
                if (weights != nullptr) weights[k] = from.weights[set.rows[k]];
            }
        });
        units += set.size * width;
        if (weights != nullptr) weights += set.size;
    }
    return {units_.data(), from.weights == nullptr ? nullptr : weights_.data(), from.channels};
}

void count_histograms(const Codes& codes, const CostTable& costs, const BinLayout& layout, std::span<const RowSet> sets,
                      int n_threads, RecordPacker& packer, Sum* histograms) {
    const std::size_t width = costs.channels().size();
    const bool all_rows = sets.size() == 1 && sets[0].rows == nullptr;
    const Records records = all_rows ? costs.records() : packer.pack(sets, costs.records(), n_threads);
    std::vector<std::size_t> first_row{0};
    for (const RowSet& set : sets) first_row.push_back(first_row.back() + set.size);

    const std::size_t n_groups = n_feature_groups(codes.n_features, n_threads);
    const std::size_t work = (sets.size() * layout.n_bins() + first_row.back() * codes.n_features) * width;
    for_each_task(sets.size() * n_groups, work, n_threads, [&](std::size_t task) {
        const std::size_t set = task / n_groups, group = task % n_groups;
        count_features(codes, from_row(records, first_row[set]), layout, sets[set], codes.n_features * group / n_groups,
                       codes.n_features * (group + 1) / n_groups, histograms + set * layout.n_bins() * width);
    });
}

void subtract_histogram(const Sum* parent, const Sum* counted, std::size_t size, Sum* counted_out, Sum* other_out) {
    for (std::size_t k = 0; k < size; ++k) {
        counted_out[k] = counted[k];
        other_out[k] = parent[k] - counted[k];
    }
}

}  // namespace comboost
