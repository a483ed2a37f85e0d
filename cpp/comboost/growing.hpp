// A tree that grows level by level, or the best leaf first, from the histograms of its frontier.
#pragma once

#include <span>
#include <vector>

#include "comboost/kernels.hpp"
#include "comboost/random.hpp"
#include "comboost/sparse.hpp"
#include "comboost/splitting.hpp"
#include "comboost/types.hpp"

namespace comboost {

struct GrowthRules {
    Criterion criterion;
    Sum min_samples_leaf;
    double min_weight_fraction_leaf;
    std::size_t max_features;
    std::uint64_t seed;
    std::size_t max_thresholds = 0;  // cuts of a feature that are tried in a node; 0 is all
    double noise = 0.0;              // gains of features are multiplied by exp(-noise) to exp(noise)
};

class Grower {
  public:
    // `edges` of feature f are at [edge_starts[f], edge_starts[f + 1]): one fewer than bins of values.
    Grower(std::span<const std::int64_t> bin_offsets, std::span<const Kind> kinds, std::span<const double> edges,
           std::span<const std::int64_t> edge_starts, std::size_t n_classes, GrowthRules rules);

    // Starts a tree with its root as the frontier, whose sums are a record of these channels. `smoothing` is added to
    // the loss that `gini` divides by.
    void plant(std::span<const Sum> totals, std::uint64_t round, double smoothing = 0.0);

    // Looks for the best split of the frontier's nodes first, first + 1, ... whose histograms these are.
    void search(std::size_t first, const Sum* histograms, std::size_t n_nodes, int n_threads);

    // A feature to split a node of the frontier by.
    struct Candidate {
        std::size_t place = 0;
        std::size_t feature = 0;
        Cut best;
        double appeal = 0.0;  // what it gains, with noise; not used without

        bool found() const { return best.bin != kLeaf; }
    };

    // For those who look at the bins of the frontier's nodes themselves: whether a node of so many rows may have a
    // split, the features that it draws, what these bins of one of them are good for, ...
    bool may_split(std::size_t node, std::size_t n_rows) const;
    DrawnFeatures draw(std::size_t node) const;
    void consider(std::size_t node, std::size_t feature, const BinView& bins, Candidate& best) const;
    void prefer(const Candidate& candidate, Candidate& best) const;

    // ... and the end of it: the winner, whose bins these are. Threads may end with different nodes at once.
    void keep(const Candidate& winner, const BinView& bins);
    bool has_split(std::size_t node) const { return found_[node].feature != kLeaf; }

    // The same for a sparse table, straight from its entries.
    void search_sparse(const SparseCodes& codes, const Records& records, const SparsePartition& partition,
                       int n_threads);

    // Divides the frontier's nodes by the splits found; their children are the new frontier. The splits are in order of
    // node.
    const std::vector<Split>& branch();

    // Divides the one leaf, of the frontier or older, whose split raises the criterion most, the lowest on a tie; its
    // children are the new frontier. No split if no leaf has one.
    const std::vector<Split>& branch_best();

    // The histograms of the new frontier after branch(), from those of the old one and of the one child that was
    // counted of every split.
    void derive(const Sum* old_histograms, const Sum* counted, std::span<const std::int32_t> counted_nodes,
                int n_threads, Sum* histograms) const;

    const std::vector<Node>& nodes() const { return nodes_; }
    const std::vector<CodeSet>& sets() const { return sets_; }
    const std::vector<Split>& branches() const { return branched_; }
    std::size_t frontier_begin() const { return frontier_begin_; }
    std::size_t frontier_size() const { return nodes_.size() - frontier_begin_; }
    std::size_t old_frontier_size() const { return old_frontier_size_; }

    // D of every class in every leaf, leaves in the order of their nodes.
    std::vector<Sum> leaf_costs() const;

    // A = -Σ of the leaves' costs, and Λ: their ratio is the edge.
    Sum advantage() const;
    Sum loss() const { return sums_.front().loss; }

    // Shares `amount` out among the features, by the cost that the splits on each of them saved.
    void share_out(double amount, std::span<double> shares) const;

    BinLayout layout() const { return {bin_offsets_}; }
    Channels channels() const { return channels_; }

  private:
    // The best split found of a leaf.
    struct Found {
        std::int32_t feature = kLeaf;  // kLeaf if there is none
        Cut cut;
        NodeSums left;
        double gain = 0.0;  // by how much it raises the criterion
    };

    // A leaf that has a split; the one to divide first is the greatest.
    struct OpenLeaf {
        double gain;
        std::size_t node;

        bool operator<(const OpenLeaf& other) const {
            return gain < other.gain || (gain == other.gain && node > other.node);
        }
    };

    class SparseSearch;

    SplitRules split_rules() const;
    // Whether one class carries all of the loss.
    bool is_pure(std::size_t node) const { return -sums_[node].best_cost() == sums_[node].loss; }
    bool draws_features() const { return rules_.max_features < layout().n_features(); }
    std::vector<Candidate> candidates(std::span<const std::size_t> places) const;
    std::uint64_t node_key(std::size_t node) const { return comboost::node_key(rules_.seed, round_, node); }
    void judge(Candidate& candidate, const BinView& bins) const;
    bool beats(const Candidate& candidate, const Candidate& other) const;

    // Searches nodes of the frontier; with_bins(place, feature, use) calls use(bins).
    template <class WithBins>
    void search_bins(std::span<const std::size_t> places, std::size_t work, int n_threads, WithBins&& with_bins);
    template <class WithBins>
    void search_some(std::span<const std::size_t> places, std::size_t work, int n_threads, WithBins&& with_bins);

    double threshold(std::size_t feature, std::int32_t bin) const;
    void add_node(NodeSums sums);
    void divide(std::size_t node);  // turns a leaf into a split, and adds its children
    void describe(std::size_t place, const Found& found);
    void begin_frontier(std::size_t begin, std::size_t old_begin, std::size_t old_size);

    std::vector<std::int64_t> bin_offsets_;
    std::vector<Kind> kinds_;
    std::vector<double> edges_;
    std::vector<std::int64_t> edge_starts_;
    Channels channels_;
    GrowthRules rules_;

    std::uint64_t round_ = 0;
    double smoothing_ = 0.0;
    std::size_t frontier_begin_ = 0;
    std::size_t old_frontier_begin_ = 0;
    std::size_t old_frontier_size_ = 0;
    std::vector<Node> nodes_;
    std::vector<CodeSet> sets_;
    std::vector<NodeSums> sums_;  // of every node
    std::vector<Found> found_;    // of every node
    std::vector<OpenLeaf> open_;  // a heap of the leaves that were searched, but for the frontier's
    std::vector<Split> branched_;
};

}  // namespace comboost
