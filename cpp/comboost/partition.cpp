#include "comboost/partition.hpp"

#include <numeric>

#include "comboost/parallel.hpp"

namespace comboost {
namespace {

// Sends rows to the leaf that their node is.
template <class Reach>
void reach_leaf(std::size_t leaf, std::span<const RowIndex> rows, NodeCovers& covers, Reach&& reach) {
    for (const RowIndex row : rows) reach(row, leaf);
    if (covers.counts()) covers.add(leaf, covers.weight(rows));
}

// Sends rows to the two leaves that their node has.
template <bool WithSets, class Reach>
void reach_pair(const Codes& codes, const Tree& tree, std::size_t parent, std::span<const RowIndex> rows,
                NodeCovers& covers, Reach&& reach) {
    const Node node = tree.nodes[parent];
    const Code* column = codes.column(static_cast<std::size_t>(node.feature));
    const auto left = static_cast<std::size_t>(node.left);
    const auto send = [&](auto&& weigh) {
        Sum to_left = 0;
        for (const RowIndex row : rows) {
            const bool is_left = tree.goes_left<WithSets>(node, column[row]);
            reach(row, left + (is_left ? 0 : 1));
            to_left += is_left ? weigh(row) : 0;
        }
        return to_left;
    };
    const Weight* weights = covers.weights();
    const Sum to_left = weights == nullptr ? send([](RowIndex) { return Sum{1}; })
                                           : send([=](RowIndex row) { return Sum{weights[row]}; });
    if (!covers.counts()) return;
    covers.add(left, to_left);
    covers.add(left + 1, covers.weight(rows) - to_left);
}

// Walks rows from their node to a leaf, however far that is.
template <bool WithSets, class Reach>
void walk_below(const Codes& codes, const Tree& tree, std::size_t from, std::span<const RowIndex> rows,
                NodeCovers& covers, Reach&& reach) {
    std::vector<Sum> sums(covers.n_nodes());
    for (const RowIndex row : rows) {
        std::size_t index = from;
        while (tree.nodes[index].feature != kLeaf) {
            const Node& node = tree.nodes[index];
            const Code code = codes.column(static_cast<std::size_t>(node.feature))[row];
            index = static_cast<std::size_t>(node.left) + (tree.goes_left<WithSets>(node, code) ? 0 : 1);
        }
        reach(row, index);
        if (covers.counts()) sums[index] += covers.weight(row);
    }
    for (std::size_t c = 0; c < sums.size(); ++c)
        if (sums[c] != 0) covers.add(c, sums[c]);
}

}  // namespace

Partition::Partition(std::size_t n_rows) : buffers_{std::vector<RowIndex>(n_rows), std::vector<RowIndex>(n_rows)} {
    reset();
}

void Partition::reset() {
    std::iota(buffers_[0].begin(), buffers_[0].end(), RowIndex{0});
    cells_.assign(1, Cell{0, buffers_[0].size(), 0, false});
}

RowSet Partition::rows(std::size_t node) const {
    const Cell& cell = cells_[node];
    return {node == 0 ? nullptr : buffers_[cell.buffer].data() + cell.begin, cell.end - cell.begin};
}

void Partition::split(const Codes& codes, std::span<const Split> splits, int n_threads) {
    const std::size_t first = cells_.size();
    cells_.resize(first + 2 * splits.size());
    const auto size_of = [&](const Split& split) { return rows(static_cast<std::size_t>(split.node)).size; };
    std::size_t in_small = 0;
    for (std::size_t k = 0; k < splits.size(); ++k) {
        if (size_of(splits[k]) > kBlock)
            apply(codes, splits[k], first + 2 * k, n_threads);
        else
            in_small += size_of(splits[k]);
    }
    // Of small nodes, a task has several.
    const std::size_t n_tasks = std::min(splits.size(), in_small / kBlock + 1);
    for_each_task(n_tasks, in_small, n_threads, [&](std::size_t task) {
        for (std::size_t k = splits.size() * task / n_tasks; k < splits.size() * (task + 1) / n_tasks; ++k)
            if (size_of(splits[k]) <= kBlock) apply(codes, splits[k], first + 2 * k, 1);
    });
}

void Partition::apply(const Codes& codes, const Split& split, std::size_t left, int n_threads) {
    const Code* column = codes.column(static_cast<std::size_t>(split.feature));
    const auto node = static_cast<std::size_t>(split.node);
    if (split.bin == kBySet)
        divide(column, node, left, n_threads, [&](Code code) { return split.left.contains(code); });
    else
        divide(column, node, left, n_threads, [&](Code code) { return code <= split.bin; });
}

template <class GoesLeft>
void Partition::divide(const Code* column, std::size_t node, std::size_t left, int n_threads, GoesLeft&& goes_left) {
    Cell& cell = cells_[node];
    const std::size_t size = cell.end - cell.begin;
    const RowIndex* from = buffers_[cell.buffer].data() + cell.begin;
    RowIndex* to = buffers_[1 - cell.buffer].data() + cell.begin;

    std::vector<std::size_t> n_left(n_blocks(size) + 1);
    for_each_block(size, 1, n_threads, [&](std::size_t begin, std::size_t end) {
        std::size_t n = 0;
        for (std::size_t k = begin; k < end; ++k) n += goes_left(column[from[k]]);
        n_left[begin / kBlock + 1] = n;
    });
    std::partial_sum(n_left.begin(), n_left.end(), n_left.begin());
    const std::size_t middle = n_left.back();

    for_each_block(size, 1, n_threads, [&](std::size_t begin, std::size_t end) {
        std::size_t next_left = n_left[begin / kBlock];
        std::size_t next_right = middle + begin - next_left;
        for (std::size_t k = begin; k < end; ++k) {
            // No branch: which way a row goes cannot be guessed.
            const std::size_t is_left = goes_left(column[from[k]]);
            to[is_left ? next_left : next_right] = from[k];
            next_left += is_left;
            next_right += 1 - is_left;
        }
    });

    cell.divided = true;
    cells_[left] = {cell.begin, cell.begin + middle, 1 - cell.buffer, false};
    cells_[left + 1] = {cell.begin + middle, cell.end, 1 - cell.buffer, false};
}

void Partition::find_leaves(const Codes& codes, const Tree& tree, int n_threads, std::span<RowIndex> leaves,
                            const LeafCovers& covers) const {
    const std::vector<RowIndex> leaf_of_node = number_leaves(tree);
    const auto reach = [&](RowIndex row, std::size_t node) { leaves[row] = leaf_of_node[node]; };
    NodeCovers of_nodes(covers, tree.nodes.size());
    if (tree.sets.empty())
        walk_rows<false>(codes, tree, n_threads, of_nodes, reach);
    else
        walk_rows<true>(codes, tree, n_threads, of_nodes, reach);
    of_nodes.write(tree);
}

template <bool WithSets, class Reach>
void Partition::walk_rows(const Codes& codes, const Tree& tree, int n_threads, NodeCovers& covers,
                          Reach&& reach) const {
    InterruptPoll poll;
    const auto is_leaf = [&](std::size_t node) { return tree.nodes[node].feature == kLeaf; };
    for (std::size_t c = 0; c < cells_.size(); ++c) {
        const Cell& cell = cells_[c];
        if (cell.divided) continue;
        poll.after(cell.end - cell.begin);
        const auto left = static_cast<std::size_t>(tree.nodes[c].left);
        for_each_block(cell.end - cell.begin, 1, n_threads, [&](std::size_t begin, std::size_t end) {
            const std::span rows(buffers_[cell.buffer].data() + cell.begin + begin, end - begin);
            if (is_leaf(c))
                reach_leaf(c, rows, covers, reach);
            else if (is_leaf(left) && is_leaf(left + 1))  // as of all trees that just grew
                reach_pair<WithSets>(codes, tree, c, rows, covers, reach);
            else
                walk_below<WithSets>(codes, tree, c, rows, covers, reach);
        });
    }
}

}  // namespace comboost
