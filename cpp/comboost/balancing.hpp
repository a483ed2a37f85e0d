// Values of the leaves of a tree, one per class, from the sums of their costs.
#pragma once

#include <span>
#include <vector>

#include "comboost/types.hpp"

namespace comboost {

inline constexpr int kSweeps = 8;

// What a round multiplies the excess by: growth(q,j)·shrink(q,y_i) for sample i in leaf q. K factors per leaf; or one
// each, e^α and e^-α, if every leaf has the value α·onehot(its class). None if there is no round.
struct LeafFactors {
    std::span<const double> growth, shrink;

    bool one_hot() const { return growth.size() == 1; }
};

// The costs of leaves.
struct LeafSums {
    std::span<const Sum> pairs;           // S_q(l,j), K×K per leaf, zero diagonals; empty if there are too many classes
    std::span<const Sum> losses;          // Σ_j S_q(l,j), K per leaf; needed only without `pairs`
    std::span<const Sum> costs;           // D of every class, K per leaf
    std::span<const double> prices = {};  // K×K, what `pairs` are multiplied by; empty if by nothing

    double pair(std::size_t leaf, std::size_t index, std::size_t square) const {
        const auto sum = static_cast<double>(pairs[leaf * square + index]);
        return prices.empty() ? sum : sum * prices[index];
    }
};

// What is added to the costs of every pair of classes, K×K: max(2^exponent·smoothing, hidden).
struct Smoothing {
    std::span<const double> unit;
    std::span<const double> hidden;
    int exponent;
};

struct LeafValues {
    std::vector<float> values;           // K per leaf
    std::vector<double> growth, shrink;  // exp(v) and exp(-v), K per leaf
    double remaining;                    // what the leaves cost after the round at most; with `pairs` exactly that
    double largest;                      // the excess of no sample grows by more than this

    LeafFactors factors() const { return {growth, shrink}; }
};

// The values that balance the soft confusion matrix of every leaf, times the learning rate; their mean is zero.
LeafValues balance_leaves(const LeafSums& sums, const Smoothing& smoothing, std::size_t n_classes, double learning_rate,
                          int n_threads);

// Σ_q S_q(l,j)·exp(step·(v_q(j) - v_q(l))), K×K, and its derivative by the step.
struct Forecast {
    std::vector<double> value, slope;
};

// What the sums of leaves, K×K each, become if they get these values, K each, times a step.
Forecast forecast(std::span<const Sum> pairs, std::span<const double> values, std::size_t n_classes, double step);

// The factors of values, which are stored: `remaining` is left at 0.
LeafValues exponentiate_values(std::span<const float> values, std::size_t n_classes);

}  // namespace comboost
