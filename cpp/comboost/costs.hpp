// The samples' excess E(i,j) and their quantised costs u(i,j): updated by the rounds, rounded, summed up.
#pragma once

#include <span>
#include <vector>

#include "comboost/balancing.hpp"
#include "comboost/kernels.hpp"
#include "comboost/types.hpp"

namespace comboost {

// What boosting minimises. The arrays must outlive their users.
struct Loss {
    std::span<const double> unit;  // K×K, zero diagonal: c(l,j)/M_l, or c(l,j)/c̄_l for the log-loss
    std::span<const double> tops;  // K: c̄_l/M_l; of the log-loss only
    int log_exponent = 0;          // the log-loss is summed in units of 2^-log_exponent
    bool logistic = false;         // whether it is the logistic loss of every pair of classes

    LossKind kind() const {
        if (!tops.empty()) return LossKind::log;
        return logistic ? LossKind::logistic : LossKind::exponential;
    }
};

// What the costs of a sample are multiplied by, as a norm of the losses weighs them: K×K by true class and class, for
// the log-loss K by true class. None if empty.
using Prices = std::span<const double>;

// The costs D of a round.
struct Costs {
    int exponent;      // sums are in units of 2^-exponent
    Sum loss;          // Λ
    double largest;    // the largest loss of a sample per unit of weight
    WideSum log_loss;  // in units of 2^-log_exponent; 0 for other losses, and with prices
};

class CostTable {
  public:
    // `weights` is empty if every sample weighs 1. Starts with E = 1, no leaves and no costs: call update() first.
    CostTable(std::span<const Label> labels, std::span<const Weight> weights, const Channels& channels,
              const Loss& loss, int n_threads);
    virtual ~CostTable() = default;  // its address is that of derived objects, which the bindings need

    // Makes the classes that are predicted for the samples their leaves.
    void set_predicted(std::span<const Label> predicted);

    // Adds a round to the excess and quantises the costs to units of 2^-exponent: u(i,j) = rint(2^e·c·E(i,j)), c being
    // the unit of the loss times the price. There is nothing to add if `factors` are empty. With prices the log-loss is
    // not summed.
    PassResult quantise(const LeafFactors& factors, int exponent, Prices prices = {});

    // Does the same in the units that a bound on the largest loss of a sample per unit of weight allows; and once more,
    // in finer ones, if the bound was too wide.
    Costs update(const LeafFactors& factors, double bound, Prices prices = {});

    // Adds a round to the excess, sums up the losses by true class and class, for the log-loss by true class, and
    // leaves the costs as they are. A loss is rounded to units of 2^-exponent, and may have up to 2^51 of them. Returns
    // the largest loss of a sample per unit of weight, as Costs has it, without prices.
    double add(const LeafFactors& factors, int exponent, std::span<WideSum> sums);

    // The costs of every leaf by (true class, class) in units of 2^-exponent, zero diagonal, without prices:
    // n_leaves × K × K. They come from the excess, not from what was quantised last.
    void sum_pairs(int exponent, std::span<Sum> sums);

    // The cost sums of every leaf by (true class, class), zero diagonal: n_leaves × K × K.
    void sum_leaves(std::span<Sum> sums) const;

    // The loss of every leaf by true class: n_leaves × K.
    void sum_leaf_losses(std::span<Sum> sums) const;

    // A = -Σ D(i, class of the leaf of i).
    Sum advantage() const;

    // The sums of all samples, channel by channel.
    void sum_rows(std::span<Sum> sums) const;

    // n·Σ_j u(i,j) of every sample: what -D(i,y_i) is to a weak learner that takes sample weights.
    void row_losses(std::span<double> losses) const;

    // Counts n by (true class, predicted class). K×K.
    void confusion(std::span<const Label> predicted, std::span<Sum> counts) const;

    std::size_t n_rows() const { return labels_.size(); }
    std::size_t n_classes() const { return channels_.n_classes; }
    std::size_t n_leaves() const { return leaf_classes_.size(); }
    std::size_t n_losses() const { return loss_.tops.empty() ? n_classes() * n_classes() : n_classes(); }  // add() sums
    const std::vector<RowIndex>& leaves() const { return leaves_; }  // of the samples
    int n_threads() const { return n_threads_; }
    const Channels& channels() const { return channels_; }
    const Loss& loss() const { return loss_; }
    std::span<const Weight> weights() const { return weights_; }  // of the samples; empty if all are 1

    // What histograms add up: per sample, u of the first K - 1 classes, then its loss.
    Records records() const { return {units_.data(), weights_.empty() ? nullptr : weights_.data(), channels_}; }

  protected:
    // To be written: the leaf of every sample, and the classes that the leaves predict.
    std::span<RowIndex> new_leaves();
    std::vector<Label> leaf_classes_;

  private:
    Sum weight(std::size_t row) const { return weights_.empty() ? 1 : Sum{weights_[row]}; }
    std::span<const Unit> record(std::size_t row) const {
        return {units_.data() + row * channels_.size(), channels_.size()};
    }
    Unit unit(std::size_t row, std::size_t label) const;
    SamplePass scaled_pass(const LeafFactors& factors, int exponent, Prices prices);
    template <class T, class Body>
    std::vector<std::vector<T>> add_parts(std::size_t size, std::size_t updates_per_row, Body&& body) const;

    Channels channels_;
    Loss loss_;
    int n_threads_;
    std::vector<Label> labels_;
    std::vector<Weight> weights_;
    std::vector<RowIndex> leaves_;
    std::vector<double> factors_, tops_, log_units_;  // of the last pass
    std::vector<double> excess_;
    AlignedArray<Unit> units_;
};

}  // namespace comboost
