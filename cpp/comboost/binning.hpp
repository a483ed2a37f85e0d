// Values to bins: cut points at exact quantiles of the integer weights, and the codes of values.
#pragma once

#include <span>
#include <vector>

#include "comboost/types.hpp"

namespace comboost {

// The edges of every feature, ascending. `weights` is empty where every row weighs 1.
template <class T>
std::vector<std::vector<double>> find_edges(const Matrix<T>& values, std::span<const Weight> weights,
                                            std::size_t max_bins, int n_threads);

// codes[f * n_rows + i] = number of edges of feature f below values(i, f). `edges` of feature f are at [starts[f],
// starts[f + 1]).
template <class T>
void encode(const Matrix<T>& values, std::span<const double> edges, std::span<const std::int64_t> starts, int n_threads,
            Code* codes);

}  // namespace comboost
