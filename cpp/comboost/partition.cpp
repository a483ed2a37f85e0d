#include "comboost/partition.hpp"

#include <numeric>

#include "comboost/parallel.hpp"

namespace comboost {

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

void Partition::settle(const Codes& codes, const Tree& tree, int n_threads, std::span<Label> votes) const {
    settle_rows(codes, tree, n_threads, [&](RowIndex row, const Node& leaf) { votes[row] = leaf.label; });
}

void Partition::settle_leaves(const Codes& codes, const Tree& tree, int n_threads, std::span<RowIndex> leaves) const {
    settle_rows(codes, tree, n_threads,
                [&](RowIndex row, const Node& leaf) { leaves[row] = static_cast<RowIndex>(leaf.left); });
}

template <class Reach>
void Partition::settle_rows(const Codes& codes, const Tree& tree, int n_threads, Reach&& reach) const {
    if (tree.sets.empty())
        settle_rows<false>(codes, tree, n_threads, reach);
    else
        settle_rows<true>(codes, tree, n_threads, reach);
}

template <bool WithSets, class Reach>
void Partition::settle_rows(const Codes& codes, const Tree& tree, int n_threads, Reach&& reach) const {
    Lookout lookout;
    for (std::size_t c = 0; c < cells_.size(); ++c) {
        const Cell& cell = cells_[c];
        if (cell.divided) continue;
        lookout.after(cell.end - cell.begin);
        const RowIndex* rows = buffers_[cell.buffer].data() + cell.begin;
        for_each_block(cell.end - cell.begin, 1, n_threads, [&](std::size_t begin, std::size_t end) {
            for (std::size_t k = begin; k < end; ++k) {
                const Node* node = &tree.nodes[c];
                while (node->feature != kLeaf) {
                    const Code code = codes.column(static_cast<std::size_t>(node->feature))[rows[k]];
                    node = &tree.nodes[static_cast<std::size_t>(node->left) +
                                       (tree.goes_left<WithSets>(*node, code) ? 0 : 1)];
                }
                reach(rows[k], *node);
            }
        });
    }
}

}  // namespace comboost
