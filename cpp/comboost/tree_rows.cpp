#include "comboost/tree_rows.hpp"

namespace comboost {

void TreeRows::grow(std::uint64_t round, double smoothing) {
    plant_and_grow(round, smoothing);
    grower_.finish();
    find_leaves({grower_.nodes(), grower_.sets()});
}

void TreeRows::find_leaves(const Tree& tree) {
    leaf_classes_.clear();
    for (const Node& node : tree.nodes)
        if (node.feature == kLeaf) leaf_classes_.push_back(node.label);
    covers_.assign(n_leaves(), 0);
    send_to_leaves(tree, new_leaves(), {weights(), covers_});
}

LeafValues TreeRows::leaf_values(const Smoothing& smoothing, double learning_rate, bool by_pairs) const {
    const std::vector<Sum> costs = grower_.leaf_costs();
    std::vector<Sum> sums(n_leaves() * n_classes() * (by_pairs ? n_classes() : 1));
    if (by_pairs)
        sum_leaves(sums);
    else
        sum_leaf_losses(sums);
    LeafSums of_leaves{{}, {}, costs};
    (by_pairs ? of_leaves.pairs : of_leaves.losses) = sums;
    return balance_leaves(of_leaves, smoothing, n_classes(), learning_rate, n_threads());
}

Costs TreeRows::update(const LeafFactors& factors, double bound, bool with_root, Prices prices) {
    const Costs costs = CostTable::update(factors, bound, prices);
    start_tree(with_root);
    return costs;
}

BinnedRows::BinnedRows(std::span<const Label> labels, std::span<const Weight> weights, const Loss& loss, Grower& grower,
                       const Codes& codes, const SearchLimits& limits, int n_threads)
    : TreeRows(labels, weights, loss, grower, n_threads),
      codes_(codes),
      bundles_(codes, grower.layout(), n_threads),
      partition_(codes.n_rows),
      row_grower_(limits) {}

void BinnedRows::arrange_codes() {
    bundles_ = Bundles(codes_, grower_.layout(), n_threads());
    row_grower_.forget_codes();
}

void BinnedRows::start_tree(bool with_root) {
    partition_.reset();
    has_root_ = false;
    if (!with_root) return;
    if (root_.size() == 0) root_ = AlignedArray<Sum>(histogram_size());
    const std::int32_t root = 0;
    count(std::span(&root, 1), {root_.data(), root_.size()});
    has_root_ = true;
}

void BinnedRows::count(std::span<const std::int32_t> nodes, std::span<Sum> histograms) {
    std::vector<RowSet> sets;
    for (const std::int32_t node : nodes) sets.push_back(partition_.rows(static_cast<std::size_t>(node)));
    count_histograms(codes_, bundles_, *this, grower_.layout(), sets, n_threads(), packer_, histograms.data());
}

void BinnedRows::plant_and_grow(std::uint64_t round, double smoothing) {
    // The bins of any feature add up to the sums of all samples.
    const std::size_t width = channels().size();
    std::vector<Sum> totals(width);
    for (std::size_t k = 0; k < grower_.layout().size(0) * width; ++k) totals[k % width] += root_.data()[k];
    grower_.plant(totals, round, smoothing);
    row_grower_.grow(grower_, codes_, bundles_, *this, partition_, packer_, root_.data(), n_threads());
}

void SparseRows::plant_and_grow(std::uint64_t round, double smoothing) {
    std::vector<Sum> totals(channels().size());
    sum_rows(totals);
    grower_.plant(totals, round, smoothing);
    const auto search = [&] { grower_.search_sparse(codes_, records(), partition_, n_threads()); };
    search();
    grow_tree(grower_, [&](std::span<const Split> splits, bool searched, bool) {
        partition_.split(codes_, splits);
        if (searched) search();
    });
}

}  // namespace comboost
