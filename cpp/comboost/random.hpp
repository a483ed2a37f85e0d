// Random draws keyed by (seed, round, node): no stream, so no order to keep.
#pragma once

#include <algorithm>
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

// The `n_drawn` features with the smallest keys, ascending.
inline std::vector<std::size_t> draw_features(std::uint64_t seed, std::uint64_t round, std::uint64_t node,
                                              std::size_t n_features, std::size_t n_drawn) {
    std::vector<std::size_t> drawn(n_features);
    std::iota(drawn.begin(), drawn.end(), std::size_t{0});
    if (n_drawn >= n_features) return drawn;
    const std::uint64_t node_key = mix(mix(mix(seed) ^ round) ^ node);
    const auto key = [&](std::size_t feature) { return std::pair(mix(node_key ^ feature), feature); };
    std::nth_element(drawn.begin(), drawn.begin() + static_cast<std::ptrdiff_t>(n_drawn), drawn.end(),
                     [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    drawn.resize(n_drawn);
    std::sort(drawn.begin(), drawn.end());
    return drawn;
}

}  // namespace comboost
