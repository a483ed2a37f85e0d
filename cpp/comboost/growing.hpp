// A tree that grows level by level, or the best leaf first, from the histograms of its frontier.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "comboost/kernels.hpp"
#include "comboost/limits.hpp"
#include "comboost/random.hpp"
#include "comboost/sparse.hpp"
#include "comboost/splitting.hpp"
#include "comboost/types.hpp"

namespace comboost {

// How far a tree may grow.
struct TreeLimits {
    static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

    std::size_t max_depth = kNone;
    std::size_t max_leaves = kNone;  // if there is a limit, the best leaf is divided first, and not level by level

    bool allow_many_leaves() const { return max_depth >= kManyLevels && max_leaves >= kManyLeaves; }
};

struct GrowthRules {
    Criterion criterion;
    Sum min_samples_leaf;
    double min_weight_fraction_leaf;
    std::size_t max_features;
    std::uint64_t seed;
    std::size_t max_thresholds = 0;  // cuts of a feature that are tried in a node; 0 is all
    double noise = 0.0;              // gains of features are multiplied by exp(-noise) to exp(noise)
    TreeLimits limits = {};
    bool numbers_leaves = false;  // whether `left` of a leaf is its number, in the order of the nodes, and not kLeaf
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
        std::size_t index = 0;  // of the node in the frontier
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

    // Ends a tree that is not to grow any further.
    void finish();

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

    // Of the cost that all splits saved together, the fraction of every split, in the order of the nodes.
    std::vector<double> gain_fractions() const;

    BinLayout layout() const { return {bin_offsets_}; }
    Channels channels() const { return channels_; }
    const TreeLimits& limits() const { return rules_.limits; }

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
    std::vector<Candidate> candidates(std::span<const std::size_t> indices) const;
    std::uint64_t node_key(std::size_t node) const { return comboost::node_key(rules_.seed, round_, node); }
    void judge(Candidate& candidate, const BinView& bins) const;
    bool beats(const Candidate& candidate, const Candidate& other) const;

    // Searches nodes of the frontier; with_bins(index, feature, use) calls use(bins).
    template <class WithBins>
    void search_bins(std::span<const std::size_t> indices, std::size_t work, int n_threads, WithBins&& with_bins);
    template <class WithBins>
    void search_some(std::span<const std::size_t> indices, std::size_t work, int n_threads, WithBins&& with_bins);

    double threshold(std::size_t feature, std::int32_t bin) const;
    void add_node(NodeSums sums);
    void divide(std::size_t node);  // turns a leaf into a split, and adds its children
    void describe(std::size_t node, const Found& found);
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

// Divides the nodes of a tree whose root was searched, as far as its limits allow. divide(splits, search, keep) applies
// splits, then searches the children if `search`; `keep` says whether these may be divided themselves.
template <class Divide>
void grow_tree(Grower& grower, Divide&& divide) {
    const TreeLimits& limits = grower.limits();
    if (limits.max_leaves == TreeLimits::kNone) {
        for (std::size_t depth = 1;; ++depth) {
            const std::vector<Split>& splits = grower.branch();
            if (splits.empty() || depth == limits.max_depth) return;
            divide(splits, true, depth + 1 < limits.max_depth);
        }
    }
    std::vector<std::size_t> depths{0};
    while (depths.size() / 2 + 1 < limits.max_leaves) {
        const std::vector<Split>& splits = grower.branch_best();
        if (splits.empty() || depths.size() / 2 + 2 == limits.max_leaves) return;
        const std::size_t depth = depths[static_cast<std::size_t>(splits[0].node)] + 1;
        depths.insert(depths.end(), 2, depth);
        divide(splits, depth < limits.max_depth, depth + 1 < limits.max_depth);
    }
}

}  // namespace comboost
