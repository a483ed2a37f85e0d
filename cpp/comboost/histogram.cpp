#include "comboost/histogram.hpp"

#include <algorithm>
#include <vector>

#include "comboost/kernels.hpp"
#include "comboost/parallel.hpp"

namespace comboost {
namespace {

// Records that stay in the second-level cache while feature after feature reads them.
constexpr std::size_t kCachedBytes = 1 << 17;

// The features of one task: enough tasks to keep the threads busy, few enough to read the records seldom.
std::size_t n_feature_groups(std::size_t n_features, int n_threads) {
    return n_threads <= 1 ? 1 : std::min(n_features, 2 * static_cast<std::size_t>(n_threads));
}

// Copies of records that lie scattered.
class Packed {
  public:
    Packed(std::size_t most_rows, const Records& from)
        : units_(most_rows * from.channels.size()), weights_(from.weights == nullptr ? 0 : most_rows) {}

    Records pack(const RowIndex* rows, std::size_t n_rows, const Records& from) {
        const std::size_t width = from.channels.size();
        for (std::size_t k = 0; k < n_rows; ++k)
            std::copy_n(from.units + rows[k] * width, width, units_.data() + k * width);
        for (std::size_t k = 0; k < n_rows && from.weights != nullptr; ++k) weights_[k] = from.weights[rows[k]];
        return {units_.data(), from.weights == nullptr ? nullptr : weights_.data(), from.channels};
    }

  private:
    std::vector<Unit> units_;
    std::vector<Weight> weights_;
};

Records from_row(const Records& records, std::size_t row) {
    return {records.units + row * records.channels.size(), records.weights == nullptr ? nullptr : records.weights + row,
            records.channels};
}

// Counts the features first .. last - 1 of one row set.
void count_features(const Codes& codes, const Records& records, const BinLayout& layout, const RowSet& set,
                    std::size_t first, std::size_t last, Sum* histogram) {
    const std::size_t width = records.channels.size();
    std::fill(histogram + layout.begin(first) * width, histogram + layout.begin(last) * width, Sum{0});
    const std::size_t block_rows = std::max<std::size_t>(1, kCachedBytes / (width * sizeof(Unit)));
    const bool all_rows = set.rows == nullptr;
    Packed packed(all_rows ? 0 : std::min(block_rows, set.size), records);
    for (std::size_t begin = 0; begin < set.size; begin += block_rows) {
        const std::size_t n_rows = std::min(block_rows, set.size - begin);
        const RowIndex* rows = all_rows ? nullptr : set.rows + begin;
        const Records block = all_rows ? from_row(records, begin) : packed.pack(rows, n_rows, records);
        for (std::size_t f = first; f < last; ++f)
            kernels().accumulate(codes.column(f) + (all_rows ? begin : 0), rows, n_rows, block,
                                 histogram + layout.begin(f) * width);
    }
}

}  // namespace

void count_histograms(const Codes& codes, const CostTable& costs, const BinLayout& layout, std::span<const RowSet> sets,
                      int n_threads, Sum* histograms) {
    const Records records = costs.records();
    const std::size_t width = records.channels.size();
    const std::size_t n_groups = n_feature_groups(codes.n_features, n_threads);
    std::size_t work = sets.size() * layout.n_bins() * width;
    for (const RowSet& set : sets) work += set.size * codes.n_features * width;
    for_each_task(sets.size() * n_groups, work, n_threads, [&](std::size_t task) {
        const std::size_t group = task % n_groups;
        count_features(codes, records, layout, sets[task / n_groups], codes.n_features * group / n_groups,
                       codes.n_features * (group + 1) / n_groups,
                       histograms + task / n_groups * layout.n_bins() * width);
    });
}

void subtract_histogram(const Sum* parent, const Sum* counted, std::size_t size, Sum* counted_out, Sum* other_out) {
    for (std::size_t k = 0; k < size; ++k) {
        counted_out[k] = counted[k];
        other_out[k] = parent[k] - counted[k];
    }
}

}  // namespace comboost
