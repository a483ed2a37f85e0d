// The rows' excess E(i,j) and their quantised costs u(i,j): updated by votes, rounded, summed up.
#pragma once

#include <span>
#include <vector>

#include "comboost/kernels.hpp"
#include "comboost/types.hpp"

namespace comboost {

class CostTable {
  public:
    // `weights` is empty if every row weighs 1. Starts with E = 1 and no costs: call advance() first.
    CostTable(std::span<const Label> labels, std::span<const Weight> weights, const Channels& channels);

    // Adds a round's votes to the excess, then quantises the costs: u(i,j) = rint(factors[y_i][j]·E(i,j)).
    // `votes` is empty if there is nothing to add; `up` and `down` are e^α and e^-α.
    PassResult advance(std::span<const Label> votes, double up, double down, std::span<const double> factors,
                       int n_threads);

    // Adds a round's votes for every class to the excess, then quantises the costs. `leaves` is empty if there is
    // nothing to add; `growth` and `shrink` are exp(v) and exp(-v), K per leaf. `tops` and `bits` are empty for the
    // exponential loss.
    PassResult advance_leaves(std::span<const RowIndex> leaves, std::span<const double> growth,
                              std::span<const double> shrink, std::span<const double> factors,
                              std::span<const double> tops, std::span<const double> bits, int n_threads);

    // The cost sums of every leaf by (true class, class), zero diagonal: n_leaves × K × K.
    void sum_leaves(std::span<const RowIndex> leaves, std::size_t n_leaves, int n_threads, std::span<Sum> sums) const;

    // The loss of every leaf by true class: n_leaves × K.
    void sum_leaf_losses(std::span<const RowIndex> leaves, std::span<Sum> sums) const;

    // The cost sums by (true class, class), K×K each, split by what these votes would do: sums[0] of the entries that
    // would shrink (the rows voted right), sums[1] of those that would grow (a wrong row's entry voted for), sums[2] of
    // the rest.
    void measure(std::span<const Label> votes, int n_threads, std::span<Sum> sums) const;

    // The sums of all rows, channel by channel.
    void sum_rows(std::span<Sum> sums) const;

    // n·Σ_j u(i,j) of every row: what -D(i,y_i) is to a weak learner that takes sample weights.
    void row_losses(std::span<double> losses) const;

    // Counts n by (true class, voted class). K×K.
    void confusion(std::span<const Label> votes, std::span<Sum> counts) const;

    std::size_t n_rows() const { return labels_.size(); }
    std::size_t n_classes() const { return channels_.n_classes; }
    const Channels& channels() const { return channels_; }
    std::span<const Weight> weights() const { return weights_; }  // of the rows; empty if all are 1

    // What histograms add up: per row, u of the first K - 1 classes, then the row's loss.
    Records records() const { return {units_.data(), weights_.empty() ? nullptr : weights_.data(), channels_}; }

  private:
    // Does a pass over the blocks of rows.
    template <class DoBlock>
    PassResult pass_over_blocks(int n_threads, DoBlock&& do_block) const;

    Sum weight(std::size_t row) const { return weights_.empty() ? 1 : Sum{weights_[row]}; }
    const Unit* record(std::size_t row) const { return units_.data() + row * channels_.size(); }
    Unit unit(std::size_t row, std::size_t label) const;

    Channels channels_;
    std::vector<Label> labels_;
    std::vector<Weight> weights_;
    std::vector<double> excess_;
    AlignedArray<Unit> units_;
};

}  // namespace comboost
