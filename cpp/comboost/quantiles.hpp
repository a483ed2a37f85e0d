// The values of a feature, in order, and the edges between them at exact quantiles of integer weights.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "comboost/binning.hpp"
#include "comboost/interrupts.hpp"
#include "comboost/types.hpp"

namespace comboost {

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

template <class Key, class W = Weight>
struct WeightedKey {
    Key key;
    W weight;
};

template <class Key>
Key key_in(Key item) {
    return item;
}
template <class Key, class W>
Key key_in(const WeightedKey<Key, W>& item) {
    return item.key;
}
template <class Key>
std::uint64_t weight_in(Key) {
    return 1;
}
template <class Key, class W>
std::uint64_t weight_in(const WeightedKey<Key, W>& item) {
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
    for_each_stretch(0, items.size(), kDigits, [&](std::size_t from, std::size_t to) {
        for (const Item& item : std::span(items).subspan(from, to - from))
            for (std::size_t d = 0; d < kDigits; ++d) ++counts[d][digit(item, d)];
    });

    scratch.resize(items.size());
    for (std::size_t d = 0; d < kDigits; ++d) {
        if (counts[d][digit(items[0], d)] == items.size()) continue;
        std::size_t start = 0;
        for (std::size_t& count : counts[d]) start += std::exchange(count, start);
        for_each_stretch(0, items.size(), 1, [&](std::size_t from, std::size_t to) {
            for (const Item& item : std::span(items).subspan(from, to - from))
                scratch[counts[d][digit(item, d)]++] = item;
        });
        items.swap(scratch);
    }
}

inline double cut_between(double a, double b) {
    const double middle = a / 2 + b / 2;
    return a <= middle && middle < b ? middle : a;
}

// Calls body(key, weight) for every distinct key of sorted items.
template <class Item, class Body>
void for_each_distinct(std::span<const Item> items, Body&& body) {
    for (auto item = items.begin(); item != items.end();) {
        const auto key = key_in(*item);
        std::uint64_t weight = 0;
        for (; item != items.end() && key_in(*item) == key; ++item) weight += weight_in(*item);
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
        // The quantile of the middle of a value's ranks: a heavy value leaves bins of their own to its lighter
        // neighbours.
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

// NaN stands at the ends of sorted items: below minus infinity if its sign is set, above infinity if not.
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

}  // namespace comboost
