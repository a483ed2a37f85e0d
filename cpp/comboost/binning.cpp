#include "comboost/binning.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "comboost/limits.hpp"
#include "comboost/parallel.hpp"
#include "comboost/quantiles.hpp"
#include "comboost/scratch.hpp"

namespace comboost {
namespace {

constexpr std::size_t kEncodeRows = 256;

template <class T, class Item, class MakeItem>
void find_group_edges(const Matrix<T>& values, std::size_t first, std::size_t last, std::size_t max_bins,
                      MakeItem&& make_item, std::vector<FeatureEdges>& edges) {
    std::vector<std::vector<Item>> columns(last - first, std::vector<Item>(values.n_rows));
    for_each_stretch(0, values.n_rows, last - first, [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i)
            for (std::size_t f = first; f < last; ++f) columns[f - first][i] = make_item(values(i, f), i);
    });
    std::vector<Item> scratch;
    for (std::size_t f = first; f < last; ++f) {
        radix_sort(columns[f - first], scratch);
        edges[f] = edges_of<T>(columns[f - first], max_bins);
    }
}

// Cells are counted in an array if they are not many more than the rows, and by sorting if they are.
constexpr ValueKey kMostCounters = 1 << 16;
constexpr ValueKey kCountersPerRow = 4;

// Keys are taken from a tile of a few columns, as wide as a cache line of floats and as high as the nearest cache
// holds, and counted column by column over many rows, so that the counters of one column at a time are in the caches.
constexpr std::size_t kCountedColumns = 16;
constexpr std::size_t kCountedRows = 1 << 15;
constexpr std::size_t kTileRows = 64;

constexpr std::size_t kUpdatesPerKey = 8;  // to find its place

// A closed interval of keys, and its cells, which are numbered through the intervals of a feature.
struct Interval {
    ValueKey low, span;
    std::size_t first_cell;
    int shift;

    bool holds(ValueKey key) const { return key - low <= span; }
    ValueKey cell(ValueKey key) const { return (key >> shift) - (low >> shift); }
    ValueKey last_cell() const { return cell(low + span); }
};

// The intervals of one feature. Buckets of keys say where among them a search begins; it then takes the same few steps
// for every key.
class Intervals {
  public:
    Intervals(const KeyIntervals& all, std::size_t feature, std::size_t n_rows)
        : size_(static_cast<std::size_t>(all.starts[feature + 1] - all.starts[feature])) {
        const auto begin = static_cast<std::size_t>(all.starts[feature]), end = begin + size_;
        first_ = all.lows[begin];
        span_ = all.highs[end - 1] - first_;
        for (std::size_t i = begin; i < end; ++i) {
            intervals_.push_back({all.lows[i], all.highs[i] - all.lows[i], n_cells_, all.shifts[i]});
            highs_.push_back(all.highs[i]);
            n_cells_ = std::min(kMostCounters, n_cells_ + std::min(kMostCounters, intervals_.back().last_cell())) + 1;
        }
        if (size_ > 1) fill_buckets(std::clamp(static_cast<int>(std::bit_width(n_rows)), 1, kBucketBits));
    }

    std::span<const Interval> each() const { return {intervals_.data(), size_}; }
    std::size_t n_cells() const { return n_cells_; }  // kMostCounters + 1 stands for any number above kMostCounters

    // The only interval that may hold a key.
    const Interval& candidate(ValueKey key) const {
        if (size_ == 1) return intervals_[0];
        std::size_t i = buckets_[std::min(key - first_, span_) >> bucket_shift_];
        for (std::size_t step = first_step_; step > 0; step /= 2) i += highs_[i + step - 1] < key ? step : 0;
        return intervals_[i];
    }

  private:
    static constexpr int kBucketBits = 16;

    void fill_buckets(int bits) {
        bucket_shift_ = std::max(0, static_cast<int>(std::bit_width(span_)) - bits);
        std::uint32_t i = 0;
        for (ValueKey bucket = 0; bucket <= span_ >> bucket_shift_; ++bucket) {
            while (highs_[i] - first_ < bucket << bucket_shift_) ++i;
            buckets_.push_back(i);
        }
        std::size_t most = 1;  // intervals in a bucket
        for (std::size_t k = 0; k < size_; ++k)
            most = std::max(most, k + 1 - buckets_[(intervals_[k].low - first_) >> bucket_shift_]);
        first_step_ = std::bit_ceil(most) / 2;
        const std::size_t overrun = 2 * first_step_;
        highs_.resize(size_ + overrun, std::numeric_limits<ValueKey>::max());
        intervals_.resize(size_ + overrun, intervals_.back());
    }

    std::size_t size_, n_cells_ = 0, first_step_ = 0;
    ValueKey first_, span_;  // from the first interval's low to the last one's high
    int bucket_shift_ = 0;
    std::vector<Interval> intervals_;  // this and `highs_` are padded by as much as a search may overrun
    std::vector<ValueKey> highs_;
    std::vector<std::uint32_t> buckets_;  // the first interval that reaches into a bucket, or beyond it
};

constexpr Cell kEmptyCell{std::numeric_limits<ValueKey>::max(), 0, 0, 0, 0};

void add_key(Cell& cell, ValueKey key, Weight weight) {
    cell.low = std::min(cell.low, key);
    cell.high = std::max(cell.high, key);
    cell.weight += weight;
    ++cell.rows;
}

// The cells of one feature, while rows are added.
class CellCounter {
  public:
    CellCounter(const KeyIntervals& all, std::size_t feature, std::size_t n_rows)
        : feature_(static_cast<std::uint32_t>(feature)),
          intervals_(all, feature, n_rows),
          is_dense_(intervals_.n_cells() <= std::min(kMostCounters, kCountersPerRow * n_rows)) {}

    // Cells to count in, the one for keys outside all intervals included; none if keys are kept and sorted.
    std::size_t n_counters() const { return is_dense_ ? intervals_.n_cells() + 1 : 0; }

    void count_in(Cell* counters) {
        counters_ = counters;
        std::fill_n(counters_, n_counters(), kEmptyCell);
    }

    // weight_of(k) is the weight of keys[k].
    template <class WeightOf>
    void add(std::span<const ValueKey> keys, WeightOf&& weight_of) {
        if (is_dense_)
            count(keys, weight_of);
        else
            for (std::size_t k = 0; k < keys.size(); ++k)
                if (intervals_.candidate(keys[k]).holds(keys[k])) items_.push_back({keys[k], weight_of(k)});
    }

    // As far as it is known before keys are sorted: how many cells there are.
    std::size_t n_filled() const {
        const auto is_filled = [](const Cell& cell) { return cell.rows > 0; };
        return static_cast<std::size_t>(std::count_if(counters_, counters_ + n_counters(), is_filled)) + items_.size();
    }

    void append_cells(std::vector<Cell>& cells) {
        if (is_dense_)
            append_counted(cells);
        else if (!items_.empty())
            append_sorted(cells);
    }

  private:
    // Cells first, then their counters, which are on their way to the caches by then. Nothing branches on a value: keys
    // outside all intervals have a counter of their own.
    template <class WeightOf>
    void count(std::span<const ValueKey> keys, WeightOf&& weight_of) {
        Cell* const counters = counters_;
        const std::size_t outside = intervals_.n_cells();
        std::array<std::size_t, 256> cells;
        for (std::size_t begin = 0; begin < keys.size(); begin += cells.size()) {
            const std::size_t size = std::min(cells.size(), keys.size() - begin);
            for (std::size_t k = 0; k < size; ++k) {
                const Interval& interval = intervals_.candidate(keys[begin + k]);
                const std::size_t cell = interval.first_cell + interval.cell(keys[begin + k]);
                const std::size_t all_bits_if_held = std::size_t{0} - (interval.holds(keys[begin + k]) ? 1 : 0);
                cells[k] = (cell & all_bits_if_held) | (outside & ~all_bits_if_held);
                __builtin_prefetch(counters + cells[k], 1);
            }
            for (std::size_t k = 0; k < size; ++k) add_key(counters[cells[k]], keys[begin + k], weight_of(begin + k));
        }
    }

    Cell tagged(Cell cell, const Interval& interval) const {
        cell.tag = feature_ << Cell::kShiftBits | static_cast<std::uint32_t>(interval.shift);
        return cell;
    }

    void append_counted(std::vector<Cell>& cells) const {
        for (const Interval& interval : intervals_.each()) {
            const Cell* const first = counters_ + interval.first_cell;
            for (const Cell* cell = first; cell <= first + interval.last_cell(); ++cell)
                if (cell->rows > 0) cells.push_back(tagged(*cell, interval));
        }
    }

    void append_sorted(std::vector<Cell>& cells) {
        std::vector<WeightedKey<ValueKey>> scratch;
        radix_sort(items_, scratch);
        Cell open = kEmptyCell;
        for_each_stretch(0, items_.size(), kUpdatesPerKey, [&](std::size_t from, std::size_t to) {
            for (std::size_t i = from; i < to; ++i) {
                const auto& [key, weight] = items_[i];
                const Interval& interval = intervals_.candidate(open.low);
                if (open.rows > 0 && (!interval.holds(key) || interval.cell(key) != interval.cell(open.low)))
                    cells.push_back(tagged(std::exchange(open, kEmptyCell), interval));
                add_key(open, key, weight);
            }
        });
        cells.push_back(tagged(open, intervals_.candidate(open.low)));
    }

    std::uint32_t feature_;
    Intervals intervals_;
    bool is_dense_;
    Cell* counters_ = nullptr;
    std::vector<WeightedKey<ValueKey>> items_;
};

// Memory to count in. A thread keeps it for its next part, up to a limit: fresh pages take as long as the counting.
struct CountingRoom {
    static constexpr std::size_t kMostKept = 1 << 25;  // bytes

    AlignedArray<ValueKey> keys;
    AlignedArray<Cell> counters;

    void reserve(std::size_t n_keys, std::size_t n_counters) {
        if (keys.size() < n_keys) keys = AlignedArray<ValueKey>(n_keys);
        if (counters.size() < n_counters) counters = AlignedArray<Cell>(n_counters);
    }

    void trim() {
        if (keys.size() * sizeof(ValueKey) + counters.size() * sizeof(Cell) > kMostKept) *this = CountingRoom();
    }
};

// keys[k * size + i] is the key of row begin + i in the k-th of some features.
template <class T>
void gather_keys(const Matrix<T>& values, std::span<const std::size_t> features, std::size_t begin, std::size_t size,
                 ValueKey* keys) {
    for (std::size_t top = 0; top < size; top += kTileRows)
        for (std::size_t k = 0; k < features.size(); ++k)
            for (std::size_t i = top; i < std::min(size, top + kTileRows); ++i)
                keys[k * size + i] = key_of(static_cast<double>(values(begin + i, features[k])));
}

// The cells of some features.
template <class T>
std::vector<Cell> count_group(const Matrix<T>& values, std::span<const Weight> weights,
                              std::span<const std::size_t> features, const KeyIntervals& intervals) {
    std::vector<CellCounter> counters;
    std::size_t n_counters = 0;
    for (const std::size_t f : features) n_counters += counters.emplace_back(intervals, f, values.n_rows).n_counters();
    Borrowed<CountingRoom> room;
    room->reserve(features.size() * std::min(kCountedRows, values.n_rows), n_counters);
    Cell* free = room->counters.data();
    for (CellCounter& counter : counters) {
        counter.count_in(free);
        free += counter.n_counters();
    }
    InterruptPoll poll;
    for (std::size_t begin = 0; begin < values.n_rows; begin += kCountedRows) {
        const std::size_t size = std::min(kCountedRows, values.n_rows - begin);
        gather_keys(values, features, begin, size, room->keys.data());
        for (std::size_t k = 0; k < features.size(); ++k) {
            const std::span<const ValueKey> column(room->keys.data() + k * size, size);
            if (weights.empty())
                counters[k].add(column, [](std::size_t) { return Weight{1}; });
            else
                counters[k].add(column, [&](std::size_t i) { return weights[begin + i]; });
            poll.after(size * kUpdatesPerKey);
        }
    }
    std::vector<Cell> cells;
    std::size_t n_filled = 0;
    for (const CellCounter& counter : counters) n_filled += counter.n_filled();
    cells.reserve(n_filled);
    for (CellCounter& counter : counters) counter.append_cells(cells);
    room->trim();
    return cells;
}

}  // namespace

template <class T>
std::vector<FeatureEdges> find_edges(const Matrix<T>& values, std::span<const Weight> weights, std::size_t max_bins,
                                     int n_threads) {
    using Key = KeyOf<T>;
    const std::size_t column_bytes = values.n_rows * (weights.empty() ? sizeof(Key) : sizeof(WeightedKey<Key>));
    const std::size_t group_size = std::clamp<std::size_t>(kMaxSortedBytes / column_bytes, 1, kMaxSortedColumns);
    const std::size_t n_groups = (values.n_columns + group_size - 1) / group_size;
    std::vector<FeatureEdges> edges(values.n_columns);
    for_each_task(n_groups, values.n_rows * values.n_columns * 8, n_threads, [&](std::size_t group) {
        const std::size_t first = group * group_size;
        const std::size_t last = std::min(values.n_columns, first + group_size);
        if (weights.empty())
            find_group_edges<T, Key>(
                values, first, last, max_bins, [](T value, std::size_t) { return key_of(value); }, edges);
        else
            find_group_edges<T, WeightedKey<Key>>(
                values, first, last, max_bins,
                [&](T value, std::size_t i) { return WeightedKey<Key>{key_of(value), weights[i]}; }, edges);
    });
    return edges;
}

template <class T>
void encode(const Matrix<T>& values, std::span<const double> edges, std::span<const std::int64_t> starts,
            std::span<const Kind> kinds, int n_threads, Code* codes) {
    std::vector<SearchTable> tables;
    InterruptPoll poll;
    for (std::size_t f = 0; f < values.n_columns; ++f) {
        tables.emplace_back(
            edges.subspan(static_cast<std::size_t>(starts[f]), static_cast<std::size_t>(starts[f + 1] - starts[f])));
        poll.after(kMaxBins);
    }
    const std::size_t n_blocks = (values.n_rows + kEncodeRows - 1) / kEncodeRows;
    for_each_task(n_blocks, values.n_rows * values.n_columns * 8, n_threads, [&](std::size_t block) {
        const std::size_t begin = block * kEncodeRows;
        const std::size_t end = std::min(values.n_rows, begin + kEncodeRows);
        const Matrix<T> matrix = values;  // a copy, which codes, being bytes, cannot overwrite
        for (std::size_t f = 0; f < matrix.n_columns; ++f) {
            const SearchTable& table = tables[f];
            Code* column = codes + f * matrix.n_rows;
            if (keeps_code_for_missing(kinds[f]))
                for (std::size_t i = begin; i < end; ++i) {
                    const auto value = static_cast<double>(matrix(i, f));
                    column[i] = std::isnan(value) ? Code{0} : static_cast<Code>(1 + table.code(value));
                }
            else
                for (std::size_t i = begin; i < end; ++i) column[i] = table.code(static_cast<double>(matrix(i, f)));
        }
    });
}

template <class T>
std::vector<Cell> count_cells(const Matrix<T>& values, std::span<const Weight> weights, const KeyIntervals& intervals,
                              int n_threads) {
    std::vector<std::size_t> features;
    for (std::size_t f = 0; f < values.n_columns; ++f)
        if (intervals.starts[f] < intervals.starts[f + 1]) features.push_back(f);
    const auto n_shares = static_cast<std::size_t>(std::max(1, n_threads));
    const std::size_t group_size =
        std::clamp<std::size_t>((features.size() + n_shares - 1) / n_shares, 1, kCountedColumns);
    std::vector<std::vector<Cell>> cells((features.size() + group_size - 1) / group_size);
    for_each_task(cells.size(), values.n_rows * features.size() * 8, n_threads, [&](std::size_t group) {
        const std::size_t first = group * group_size;
        const std::size_t size = std::min(group_size, features.size() - first);
        cells[group] = count_group(values, weights, std::span(features).subspan(first, size), intervals);
    });
    if (cells.size() == 1) return std::move(cells[0]);
    std::size_t n_cells = 0;
    for (const auto& of_group : cells) n_cells += of_group.size();
    std::vector<Cell> all;
    all.reserve(n_cells);
    for (const auto& of_group : cells) all.insert(all.end(), of_group.begin(), of_group.end());
    return all;
}

std::vector<Cell> merge_cells(std::span<const std::span<const Cell>> sets) {
    const auto is_before = [](const Cell& one, const Cell& other) {
        return std::pair(one.feature(), one.low) < std::pair(other.feature(), other.low);
    };
    std::vector<std::span<const Cell>> rest;
    std::size_t n_cells = 0;
    for (const auto& set : sets) {
        if (!set.empty()) rest.push_back(set);
        n_cells += set.size();
    }
    std::vector<Cell> merged;
    merged.reserve(n_cells);
    InterruptPoll poll;
    while (!rest.empty()) {
        const Cell* first = &rest[0].front();
        for (const auto& set : rest)
            if (is_before(set.front(), *first)) first = &set.front();
        Cell sum = *first;
        sum.rows = 0, sum.weight = 0;
        for (auto& set : rest) {
            const Cell& cell = set.front();
            if (cell.tag != sum.tag || cell.place() != sum.place()) continue;
            sum.high = std::max(sum.high, cell.high);
            sum.rows += cell.rows;
            sum.weight += cell.weight;
            set = set.subspan(1);
        }
        merged.push_back(sum);
        std::erase_if(rest, [](const auto& set) { return set.empty(); });
        poll.after(kUpdatesPerKey * sets.size());
    }
    return merged;
}

template std::vector<FeatureEdges> find_edges(const Matrix<float>&, std::span<const Weight>, std::size_t, int);
template std::vector<FeatureEdges> find_edges(const Matrix<double>&, std::span<const Weight>, std::size_t, int);
template void encode(const Matrix<float>&, std::span<const double>, std::span<const std::int64_t>,
                     std::span<const Kind>, int, Code*);
template void encode(const Matrix<double>&, std::span<const double>, std::span<const std::int64_t>,
                     std::span<const Kind>, int, Code*);
template std::vector<Cell> count_cells(const Matrix<float>&, std::span<const Weight>, const KeyIntervals&, int);
template std::vector<Cell> count_cells(const Matrix<double>&, std::span<const Weight>, const KeyIntervals&, int);

}  // namespace comboost
