// Random draws keyed by (seed, round, node, feature): no stream, so no order to keep.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace comboost {

// The step of SplitMix64 (Steele, Lea and Flood 2014).
inline std::uint64_t mix(std::uint64_t z) {
    z += 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
}

// What a node draws its features, and a feature of it its cuts, by.
inline std::uint64_t node_key(std::uint64_t seed, std::uint64_t round, std::uint64_t node) {
    return mix(mix(mix(seed) ^ round) ^ node);
}

inline std::uint64_t feature_key(std::uint64_t node_key, std::uint64_t feature) { return mix(node_key ^ feature); }

// Some of a feature's cuts, evenly spread; 0 of them is all.
struct Draw {
    static constexpr std::size_t kMost = 254;  // 255 bins have as many cuts

    std::size_t n_drawn = 0;
    std::uint64_t key = 0;

    // The r-th that is drawn of so many cuts.
    std::size_t cut(std::size_t r, std::size_t n_cuts) const {
        const std::size_t first = r * n_cuts / n_drawn;
        const std::size_t size = (r + 1) * n_cuts / n_drawn - first;
        return first + static_cast<std::size_t>(((mix(key ^ (r + 2)) >> 32) * size) >> 32);
    }
};

// A factor between exp(-noise) and exp(noise). It is drawn by 1, cuts by 2 and more.
inline double noise_factor(std::uint64_t key, double noise) {
    const double uniform = static_cast<double>(mix(key ^ 1) >> 11) * 0x1p-53;
    return std::exp(noise * (2.0 * uniform - 1.0));
}

// The `n_drawn` features with the smallest keys, ascending.
inline std::vector<std::size_t> draw_features(std::uint64_t node_key, std::size_t n_features, std::size_t n_drawn) {
    std::vector<std::size_t> drawn(n_drawn < n_features ? n_drawn : n_features);
    if (n_drawn >= n_features) {
        std::iota(drawn.begin(), drawn.end(), std::size_t{0});
        return drawn;
    }
    // Keys are spread evenly, so nearly always enough of them are below a bar for a few more than are drawn: what
    // remains is one pass over the features.
    const auto wanted = static_cast<double>(n_drawn);
    double share = (wanted + 4.0 * std::sqrt(wanted) + 8.0) / static_cast<double>(n_features);
    std::vector<std::pair<std::uint64_t, std::size_t>> low;
    for (; low.size() < n_drawn; share *= 2.0) {
        const std::uint64_t bar = share < 1.0 ? static_cast<std::uint64_t>(share * 0x1p64) : ~std::uint64_t{0};
        low.clear();
        for (std::size_t feature = 0; feature < n_features; ++feature)
            if (const std::uint64_t key = feature_key(node_key, feature); key <= bar) low.emplace_back(key, feature);
    }
    std::nth_element(low.begin(), low.begin() + static_cast<std::ptrdiff_t>(n_drawn), low.end());
    for (std::size_t k = 0; k < n_drawn; ++k) drawn[k] = low[k].second;
    std::sort(drawn.begin(), drawn.end());
    return drawn;
}

// The features that a node draws; all of them until told otherwise.
class DrawnFeatures {
  public:
    DrawnFeatures() = default;
    explicit DrawnFeatures(std::vector<std::size_t> ascending) : ascending_(std::move(ascending)) {}

    bool contains(std::size_t feature) const {
        return ascending_.empty() || std::binary_search(ascending_.begin(), ascending_.end(), feature);
    }

  private:
    std::vector<std::size_t> ascending_;
};

}  // namespace comboost
