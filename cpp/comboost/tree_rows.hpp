// Samples in memory that trees grow on: their codes, costs, leaves, and all that growing needs.
#pragma once

#include <span>
#include <vector>

#include "comboost/bundles.hpp"
#include "comboost/costs.hpp"
#include "comboost/growing.hpp"
#include "comboost/histogram.hpp"
#include "comboost/partition.hpp"
#include "comboost/row_growing.hpp"
#include "comboost/sparse.hpp"
#include "comboost/types.hpp"

namespace comboost {

// A round is grow(), leaf_values() if leaves have a value for every class, and update(). The grower must outlive the
// rows.
class TreeRows : public CostTable {
  public:
    TreeRows(std::span<const Label> labels, std::span<const Weight> weights, const Loss& loss, Grower& grower,
             int n_threads)
        : CostTable(labels, weights, grower.channels(), loss, n_threads), grower_(grower) {}

    // Grows a tree on the costs and sends every sample to its leaf. Needs an update with `with_root` before.
    void grow(std::uint64_t round, double smoothing);

    // Sends every sample to its leaf of another tree.
    void find_leaves(const Tree& tree);

    // The values of the leaves that balance their soft confusion matrices.
    LeafValues leaf_values(const Smoothing& smoothing, double learning_rate, bool by_pairs) const;

    // Adds a round to the excess, quantises the costs and puts all samples into the root of a new tree, whose sums are
    // found if it is to grow.
    Costs update(const LeafFactors& factors, double bound, bool with_root, Prices prices = {});

    // Puts all samples into the root of a new tree.
    virtual void start_tree(bool with_root) = 0;

    virtual bool may_grow() const = 0;        // whether all samples are in the root, and its sums are known
    virtual std::size_t n_nodes() const = 0;  // into which the samples were divided
    const Grower& grower() const { return grower_; }
    const std::vector<Sum>& covers() const { return covers_; }  // what the samples of every leaf weigh

  protected:
    // Grows the tree from its root, whose sums these are.
    virtual void plant_and_grow(std::uint64_t round, double smoothing) = 0;
    virtual void send_to_leaves(const Tree& tree, std::span<RowIndex> leaves, const LeafCovers& covers) = 0;

    Grower& grower_;

  private:
    std::vector<Sum> covers_;
};

// Samples with the code of every value. The codes must outlive them.
class BinnedRows : public TreeRows {
  public:
    BinnedRows(std::span<const Label> labels, std::span<const Weight> weights, const Loss& loss, Grower& grower,
               const Codes& codes, const SearchLimits& limits, int n_threads);

    void start_tree(bool with_root) override;

    // Must be called after codes have changed.
    void arrange_codes();

    // For those who grow trees step by step: divides nodes, see Partition::split(), and counts some.
    void split(std::span<const Split> splits) { partition_.split(codes_, splits, n_threads()); }
    void count(std::span<const std::int32_t> nodes, std::span<Sum> histograms);

    bool may_grow() const override { return has_root_ && n_nodes() == 1; }
    std::size_t n_nodes() const override { return partition_.n_nodes(); }
    std::size_t histogram_size() const { return grower_.layout().n_bins() * channels().size(); }
    const Codes& codes() const { return codes_; }
    const Partition& partition() const { return partition_; }
    const Bundles& bundles() const { return bundles_; }

  protected:
    void plant_and_grow(std::uint64_t round, double smoothing) override;
    void send_to_leaves(const Tree& tree, std::span<RowIndex> leaves, const LeafCovers& covers) override {
        partition_.find_leaves(codes_, tree, n_threads(), leaves, covers);
    }

  private:
    Codes codes_;
    Bundles bundles_;
    Partition partition_;
    RecordPacker packer_;
    RowGrower row_grower_;
    AlignedArray<Sum> root_;  // the histogram of all samples
    bool has_root_ = false;   // whether `root_` holds the costs of this round
};

// Samples with the codes of a sparse table, which must outlive them. Splits are searched straight from the entries.
class SparseRows : public TreeRows {
  public:
    SparseRows(std::span<const Label> labels, std::span<const Weight> weights, const Loss& loss, Grower& grower,
               const SparseCodes& codes, int n_threads)
        : TreeRows(labels, weights, loss, grower, n_threads), codes_(codes), partition_(codes.n_rows()) {}

    void start_tree(bool) override { partition_.reset(); }
    bool may_grow() const override { return n_nodes() == 1; }
    std::size_t n_nodes() const override { return partition_.n_nodes(); }

  protected:
    void plant_and_grow(std::uint64_t round, double smoothing) override;
    void send_to_leaves(const Tree& tree, std::span<RowIndex> leaves, const LeafCovers& covers) override {
        partition_.find_leaves(codes_, tree, leaves, covers);
    }

  private:
    const SparseCodes& codes_;
    SparsePartition partition_;
};

}  // namespace comboost
