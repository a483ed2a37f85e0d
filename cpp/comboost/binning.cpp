#include "comboost/binning.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include "comboost/parallel.hpp"

namespace comboost {
namespace {

// Columns are gathered a few at a time, so that a row-major matrix is not read once per column, in at most this many
// bytes.
constexpr std::size_t kGatheredBytes = 1 << 24;
constexpr std::size_t kMostGathered = 8;
constexpr std::size_t kEncodeRows = 256;

// Unsigned integers in the order of the values; -0 is 0.
template <class T>
using KeyOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
KeyOf<T> key_of(T value) {
    using Key = KeyOf<T>;
    constexpr Key sign = Key{1} << (8 * sizeof(Key) - 1);
    const Key bits = std::bit_cast<Key>(value + T{0});  // -0 + 0 is 0
    return bits & sign ? ~bits : bits | sign;
}

template <class T>
double value_of(KeyOf<T> key) {
    using Key = KeyOf<T>;
    constexpr Key sign = Key{1} << (8 * sizeof(Key) - 1);
    return static_cast<double>(std::bit_cast<T>(key & sign ? key ^ sign : ~key));
}

template <class Key>
struct WeightedKey {
    Key key;
    Weight weight;
};

template <class Key>
Key key_in(Key item) {
    return item;
}
template <class Key>
Key key_in(const WeightedKey<Key>& item) {
    return item.key;
}
template <class Key>
std::uint64_t weight_in(Key) {
    return 1;
}
template <class Key>
std::uint64_t weight_in(const WeightedKey<Key>& item) {
    return item.weight;
}

// Least significant digit first. Linear in the items; a digit that all of them share is passed over.
template <class Item>
void radix_sort(std::vector<Item>& items, std::vector<Item>& scratch) {
    using Key = decltype(key_in(items[0]));
    constexpr std::size_t kDigitBits = 11, kDigits = (8 * sizeof(Key) + kDigitBits - 1) / kDigitBits;
    constexpr std::size_t kValues = std::size_t{1} << kDigitBits;
    const auto digit = [](const Item& item, std::size_t d) {
        return static_cast<std::size_t>(key_in(item) >> (d * kDigitBits)) & (kValues - 1);
    };

    std::vector<std::array<std::size_t, kValues>> counts(kDigits);
    for (auto& of_digit : counts) of_digit.fill(0);
    for (const Item& item : items)
        for (std::size_t d = 0; d < kDigits; ++d) ++counts[d][digit(item, d)];

    scratch.resize(items.size());
    for (std::size_t d = 0; d < kDigits; ++d) {
        if (counts[d][digit(items[0], d)] == items.size()) continue;
        std::size_t start = 0;
        for (std::size_t& count : counts[d]) start += std::exchange(count, start);
        for (const Item& item : items) scratch[counts[d][digit(item, d)]++] = item;
        items.swap(scratch);
    }
}

double cut_between(double a, double b) {
    const double middle = a / 2 + b / 2;
    return a <= middle && middle < b ? middle : a;
}

// Calls body(key, weight) for every distinct key of sorted items.
template <class Item, class Body>
void for_each_distinct(std::span<const Item> items, Body&& body) {
    const Item* const end = items.data() + items.size();
    for (const Item* item = items.data(); item != end;) {
        const auto key = key_in(*item);
        std::uint64_t weight = 0;
        for (; item != end && key_in(*item) == key; ++item) weight += weight_in(*item);
        body(key, weight);
    }
}

// The edges between sorted items, none of which is NaN.
template <class T, class Item>
std::vector<double> edges_between(std::span<const Item> sorted, std::size_t max_bins) {
    std::size_t n_distinct = 1;
    std::uint64_t total = 0;
    for (std::size_t i = 1; i < sorted.size(); ++i) n_distinct += key_in(sorted[i - 1]) != key_in(sorted[i]) ? 1 : 0;
    for (const Item& item : sorted) total += weight_in(item);

    std::vector<double> edges;
    std::uint64_t cumulated = 0, last_quantile = 0;
    double last_value = 0.0;
    for_each_distinct(sorted, [&](auto key, std::uint64_t weight) {
        // The quantile of the middle of a value's ranks: a heavy value leaves its lighter neighbours to bins of their
        // own.
        const std::uint64_t quantile = (2 * cumulated + weight) * max_bins / (2 * total);
        const double value = value_of<T>(key);
        if (cumulated > 0 && (n_distinct <= max_bins || quantile > last_quantile))
            edges.push_back(cut_between(last_value, value));
        cumulated += weight;
        last_quantile = quantile;
        last_value = value;
    });
    return edges;
}

// NaN stands at the ends of sorted items: below minus infinity where its sign is set, above infinity elsewhere.
template <class T, class Item>
FeatureEdges edges_of(const std::vector<Item>& sorted, std::size_t max_bins) {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    const auto lowest = key_of(-infinity), highest = key_of(infinity);
    const auto below = [](const Item& item, auto key) { return key_in(item) < key; };
    const auto above = [](auto key, const Item& item) { return key < key_in(item); };
    const auto first = std::lower_bound(sorted.begin(), sorted.end(), lowest, below);
    const auto last = std::upper_bound(first, sorted.end(), highest, above);
    const std::span<const Item> numbers(first, last);
    const bool infinite = !numbers.empty() && (key_in(numbers.front()) == lowest || key_in(numbers.back()) == highest);
    return {edges_between<T>(numbers, max_bins), numbers.size() < sorted.size(), infinite};
}

template <class T, class Item, class MakeItem>
void find_group_edges(const Matrix<T>& values, std::size_t first, std::size_t last, std::size_t max_bins,
                      MakeItem&& make_item, std::vector<FeatureEdges>& edges) {
    std::vector<std::vector<Item>> columns(last - first, std::vector<Item>(values.n_rows));
    for (std::size_t i = 0; i < values.n_rows; ++i)
        for (std::size_t f = first; f < last; ++f) columns[f - first][i] = make_item(values(i, f), i);
    std::vector<Item> scratch;
    for (std::size_t f = first; f < last; ++f) {
        radix_sort(columns[f - first], scratch);
        edges[f] = edges_of<T>(columns[f - first], max_bins);
    }
}

}  // namespace

template <class T>
std::vector<FeatureEdges> find_edges(const Matrix<T>& values, std::span<const Weight> weights, std::size_t max_bins,
                                     int n_threads) {
    using Key = KeyOf<T>;
    const std::size_t column_bytes = values.n_rows * (weights.empty() ? sizeof(Key) : sizeof(WeightedKey<Key>));
    const std::size_t group_size = std::clamp<std::size_t>(kGatheredBytes / column_bytes, 1, kMostGathered);
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
    for (std::size_t f = 0; f < values.n_columns; ++f)
        tables.emplace_back(
            edges.subspan(static_cast<std::size_t>(starts[f]), static_cast<std::size_t>(starts[f + 1] - starts[f])));
    const std::size_t n_blocks = (values.n_rows + kEncodeRows - 1) / kEncodeRows;
    for_each_task(n_blocks, values.n_rows * values.n_columns * 8, n_threads, [&](std::size_t block) {
        const std::size_t begin = block * kEncodeRows;
        const std::size_t end = std::min(values.n_rows, begin + kEncodeRows);
        for (std::size_t f = 0; f < values.n_columns; ++f) {
            Code* column = codes + f * values.n_rows;
            if (keeps_code_for_missing(kinds[f]))
                for (std::size_t i = begin; i < end; ++i) {
                    const auto value = static_cast<double>(values(i, f));
                    column[i] = std::isnan(value) ? Code{0} : static_cast<Code>(1 + tables[f].code(value));
                }
            else
                for (std::size_t i = begin; i < end; ++i) column[i] = tables[f].code(static_cast<double>(values(i, f)));
        }
    });
}

template std::vector<FeatureEdges> find_edges(const Matrix<float>&, std::span<const Weight>, std::size_t, int);
template std::vector<FeatureEdges> find_edges(const Matrix<double>&, std::span<const Weight>, std::size_t, int);
template void encode(const Matrix<float>&, std::span<const double>, std::span<const std::int64_t>,
                     std::span<const Kind>, int, Code*);
template void encode(const Matrix<double>&, std::span<const double>, std::span<const std::int64_t>,
                     std::span<const Kind>, int, Code*);

}  // namespace comboost
