#include "comboost/binning.hpp"

#include <algorithm>
#include <utility>

#include "comboost/parallel.hpp"

namespace comboost {
namespace {

// Columns gathered together, so that a row-major matrix is read one cache line at a time.
constexpr std::size_t kColumnGroup = 8;
constexpr std::size_t kEncodeRows = 256;

struct Distinct {
    double value;
    std::uint64_t cumulated;  // weight of this and all smaller values
};

double cut_between(double a, double b) {
    const double middle = a / 2 + b / 2;
    return a <= middle && middle < b ? middle : a;
}

template <class T>
double ordered(T value) {
    return static_cast<double>(value) + 0.0;  // -0 + 0 is 0
}

std::vector<Distinct> distinct_unweighted(std::vector<double>& column) {
    std::sort(column.begin(), column.end());
    std::vector<Distinct> distinct;
    for (std::size_t i = 0; i < column.size(); ++i) {
        if (distinct.empty() || distinct.back().value != column[i]) distinct.push_back({column[i], 0});
        distinct.back().cumulated = i + 1;
    }
    return distinct;
}

std::vector<Distinct> distinct_weighted(const std::vector<double>& column, std::span<const Weight> weights) {
    std::vector<std::pair<double, Weight>> pairs(column.size());
    for (std::size_t i = 0; i < column.size(); ++i) pairs[i] = {column[i], weights[i]};
    std::sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Distinct> distinct;
    std::uint64_t cumulated = 0;
    for (const auto& [value, weight] : pairs) {
        cumulated += weight;
        if (distinct.empty() || distinct.back().value != value) distinct.push_back({value, 0});
        distinct.back().cumulated = cumulated;
    }
    return distinct;
}

std::vector<double> edges_of(const std::vector<Distinct>& distinct, std::size_t max_bins) {
    std::vector<double> edges;
    const bool every_value = distinct.size() <= max_bins;
    const std::uint64_t total = distinct.empty() ? 1 : distinct.back().cumulated;
    // The quantile of the middle of a value's ranks: a heavy value leaves its lighter neighbours to bins of their own.
    const auto quantile = [&](std::size_t i) {
        return ((i == 0 ? 0 : distinct[i - 1].cumulated) + distinct[i].cumulated) * max_bins / (2 * total);
    };
    for (std::size_t i = 0; i + 1 < distinct.size(); ++i)
        if (every_value || quantile(i + 1) > quantile(i))
            edges.push_back(cut_between(distinct[i].value, distinct[i + 1].value));
    return edges;
}

}  // namespace

template <class T>
std::vector<std::vector<double>> find_edges(const Matrix<T>& values, std::span<const Weight> weights,
                                            std::size_t max_bins, int n_threads) {
    std::vector<std::vector<double>> edges(values.n_columns);
    const std::size_t n_groups = (values.n_columns + kColumnGroup - 1) / kColumnGroup;
    const std::size_t work = values.n_rows * values.n_columns * 8;
    for_each_task(n_groups, work, n_threads, [&](std::size_t group) {
        const std::size_t first = group * kColumnGroup;
        const std::size_t last = std::min(values.n_columns, first + kColumnGroup);
        std::vector<std::vector<double>> columns(last - first, std::vector<double>(values.n_rows));
        for (std::size_t i = 0; i < values.n_rows; ++i)
            for (std::size_t f = first; f < last; ++f) columns[f - first][i] = ordered(values(i, f));
        for (std::size_t f = first; f < last; ++f) {
            std::vector<double>& column = columns[f - first];
            edges[f] =
                edges_of(weights.empty() ? distinct_unweighted(column) : distinct_weighted(column, weights), max_bins);
        }
    });
    return edges;
}

template <class T>
void encode(const Matrix<T>& values, std::span<const double> edges, std::span<const std::int64_t> starts, int n_threads,
            Code* codes) {
    const std::size_t n_blocks = (values.n_rows + kEncodeRows - 1) / kEncodeRows;
    const std::size_t work = values.n_rows * values.n_columns * 8;
    for_each_task(n_blocks, work, n_threads, [&](std::size_t block) {
        const std::size_t begin = block * kEncodeRows;
        const std::size_t end = std::min(values.n_rows, begin + kEncodeRows);
        for (std::size_t f = 0; f < values.n_columns; ++f) {
            const double* from = edges.data() + starts[f];
            const double* to = edges.data() + starts[f + 1];
            Code* out = codes + f * values.n_rows;
            for (std::size_t i = begin; i < end; ++i)
                out[i] = static_cast<Code>(std::lower_bound(from, to, static_cast<double>(values(i, f))) - from);
        }
    });
}

template std::vector<std::vector<double>> find_edges(const Matrix<float>&, std::span<const Weight>, std::size_t, int);
template std::vector<std::vector<double>> find_edges(const Matrix<double>&, std::span<const Weight>, std::size_t, int);
template void encode(const Matrix<float>&, std::span<const double>, std::span<const std::int64_t>, int, Code*);
template void encode(const Matrix<double>&, std::span<const double>, std::span<const std::int64_t>, int, Code*);

}  // namespace comboost
