#include "comboost/histogram.hpp"

#include <algorithm>

#include "comboost/parallel.hpp"

namespace comboost {
namespace {

struct AllRows {
    std::size_t operator[](std::size_t k) const { return k; }
};

template <bool Counted, class Rows>
void count_column(const Code* column, const CostTable& costs, const Channels& channels, Rows rows, std::size_t n_rows,
                  Sum* histogram) {
    const std::size_t n_classes = channels.n_classes;
    const std::size_t stride = channels.size();
    const Weight* weights = costs.weights();
    for (std::size_t k = 0; k < n_rows; ++k) {
        const std::size_t row = rows[k];
        const Unit* units = costs.units(row);
        Sum* bin = histogram + column[row] * stride;
        if (weights == nullptr) {
            for (std::size_t j = 0; j < n_classes; ++j) bin[j] += units[j];
        } else {
            const Sum weight = weights[row];
            for (std::size_t j = 0; j < n_classes; ++j) bin[j] += weight * units[j];
        }
        if constexpr (Counted) bin[channels.count()] += 1;
    }
}

template <class Rows>
void count_rows(const Code* column, const CostTable& costs, const Channels& channels, Rows rows, std::size_t n_rows,
                Sum* histogram) {
    if (channels.counted)
        count_column<true>(column, costs, channels, rows, n_rows, histogram);
    else
        count_column<false>(column, costs, channels, rows, n_rows, histogram);
}

}  // namespace

void count_histograms(const Codes& codes, const CostTable& costs, const BinLayout& layout, const Channels& channels,
                      std::span<const RowSet> sets, int n_threads, Sum* histograms) {
    const std::size_t size = layout.n_bins() * channels.size();
    std::size_t work = sets.size() * size;
    for (const RowSet& set : sets) work += set.size * codes.n_features * channels.size();
    for_each_task(sets.size() * codes.n_features, work, n_threads, [&](std::size_t task) {
        const RowSet& set = sets[task / codes.n_features];
        const std::size_t feature = task % codes.n_features;
        Sum* histogram = histograms + task / codes.n_features * size + layout.begin(feature) * channels.size();
        std::fill_n(histogram, layout.size(feature) * channels.size(), Sum{0});
        if (set.rows == nullptr)
            count_rows(codes.column(feature), costs, channels, AllRows{}, set.size, histogram);
        else
            count_rows(codes.column(feature), costs, channels, set.rows, set.size, histogram);
    });
}

void subtract_histogram(const Sum* parent, const Sum* counted, std::size_t size, Sum* counted_out, Sum* other_out) {
    for (std::size_t k = 0; k < size; ++k) {
        counted_out[k] = counted[k];
        other_out[k] = parent[k] - counted[k];
    }
}

}  // namespace comboost
