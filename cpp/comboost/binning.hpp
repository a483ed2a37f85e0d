// Values to bins: cut points at exact quantiles of the integer weights, and the codes of values.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <span>
#include <vector>

#include "comboost/types.hpp"

namespace comboost {

// Edges of one feature, padded so that a search takes the same few steps for every value.
struct SearchTable {
    std::array<double, kMaxBins> edges;
    std::size_t first_step;

    explicit SearchTable(std::span<const double> ascending) : first_step(std::bit_ceil(ascending.size() + 1) / 2) {
        edges.fill(std::numeric_limits<double>::infinity());
        std::copy(ascending.begin(), ascending.end(), edges.begin());
    }

    // The number of edges below a value.
    Code code(double value) const {
        std::size_t below = 0;
        for (std::size_t step = first_step; step > 0; step /= 2) below += edges[below + step - 1] < value ? step : 0;
        return static_cast<Code>(below);
    }
};

// What the values of a feature are: edges between them, ascending, and whether some are missing (NaN) or infinite.
struct FeatureEdges {
    std::vector<double> edges;
    bool missing;
    bool infinite;
};

// The edges of every feature. `weights` is empty if every row weighs 1.
template <class T>
std::vector<FeatureEdges> find_edges(const Matrix<T>& values, std::span<const Weight> weights, std::size_t max_bins,
                                     int n_threads);

// codes[f * n_rows + i] = number of edges of feature f below values(i, f), one more if code 0 is kept for missing
// values. `edges` of feature f are at [starts[f], starts[f + 1]).
template <class T>
void encode(const Matrix<T>& values, std::span<const double> edges, std::span<const std::int64_t> starts,
            std::span<const Kind> kinds, int n_threads, Code* codes);

// Keys stand for doubles: unsigned integers in the order of the values. -0 is 0; NaN lies beyond the infinities.
using ValueKey = std::uint64_t;

// Closed intervals of keys to count in, disjoint and ascending; feature f's are at [starts[f], starts[f + 1]). Keys of
// an interval that agree but for their last `shift` bits share a cell.
struct KeyIntervals {
    std::span<const ValueKey> lows, highs;
    std::span<const std::uint8_t> shifts;
    std::span<const std::int64_t> starts;
};

// What the rows of a cell are; cells of several row sets add up.
struct Cell {
    ValueKey low, high;  // the smallest and the largest key seen
    std::int64_t weight;
    std::uint32_t rows;
    std::uint32_t tag;  // the feature and the shift

    static constexpr int kShiftBits = 6;
    static constexpr std::size_t kMostFeatures = std::size_t{1} << (32 - kShiftBits);

    std::uint32_t feature() const { return tag >> kShiftBits; }
    ValueKey place() const { return low >> (tag & ((1u << kShiftBits) - 1)); }
};
static_assert(sizeof(Cell) == 32 && alignof(Cell) == 8, "CELL_DTYPE of _distributed/quantiles.py mirrors this record");
static_assert(offsetof(Cell, low) == 0 && sizeof(Cell::low) == 8);
static_assert(offsetof(Cell, high) == 8 && sizeof(Cell::high) == 8);
static_assert(offsetof(Cell, weight) == 16 && sizeof(Cell::weight) == 8);
static_assert(offsetof(Cell, rows) == 24 && sizeof(Cell::rows) == 4);
static_assert(offsetof(Cell, tag) == 28 && sizeof(Cell::tag) == 4);

// The cells that hold rows, in the order of features and keys. A feature without intervals is not read. `weights` is
// empty if every row weighs 1.
template <class T>
std::vector<Cell> count_cells(const Matrix<T>& values, std::span<const Weight> weights, const KeyIntervals& intervals,
                              int n_threads);

// Sets of cells as one. All are in the order of features and keys; those that are the same cell add up.
std::vector<Cell> merge_cells(std::span<const std::span<const Cell>> sets);

}  // namespace comboost
