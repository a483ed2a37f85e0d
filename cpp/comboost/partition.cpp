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
    for (const Split& split : splits) divide(codes, split, n_threads);
}

void Partition::divide(const Codes& codes, const Split& split, int n_threads) {
    Cell& cell = cells_[static_cast<std::size_t>(split.node)];
    const std::size_t size = cell.end - cell.begin;
    const RowIndex* from = buffers_[cell.buffer].data() + cell.begin;
    RowIndex* to = buffers_[1 - cell.buffer].data() + cell.begin;
    const Code* column = codes.column(static_cast<std::size_t>(split.feature));

    n_left_.assign(n_blocks(size) + 1, 0);
    for_each_block(size, 1, n_threads, [&](std::size_t begin, std::size_t end) {
        std::size_t n_left = 0;
        for (std::size_t k = begin; k < end; ++k) n_left += column[from[k]] <= split.bin;
        n_left_[begin / kBlock + 1] = n_left;
    });
    std::partial_sum(n_left_.begin(), n_left_.end(), n_left_.begin());
    const std::size_t middle = n_left_.back();

    for_each_block(size, 1, n_threads, [&](std::size_t begin, std::size_t end) {
        RowIndex* left = to + n_left_[begin / kBlock];
        RowIndex* right = to + middle + (begin - n_left_[begin / kBlock]);
        for (std::size_t k = begin; k < end; ++k) {
            if (column[from[k]] <= split.bin)
                *left++ = from[k];
            else
                *right++ = from[k];
        }
    });

    cell.divided = true;
    const Cell left{cell.begin, cell.begin + middle, 1 - cell.buffer, false};
    const Cell right{cell.begin + middle, cell.end, 1 - cell.buffer, false};
    cells_.push_back(left);
    cells_.push_back(right);
}

void Partition::settle(const Codes& codes, std::span<const Node> tree, int n_threads, std::span<Label> votes) const {
    for (std::size_t c = 0; c < cells_.size(); ++c) {
        const Cell& cell = cells_[c];
        if (cell.divided) continue;
        const RowIndex* rows = buffers_[cell.buffer].data() + cell.begin;
        for_each_block(cell.end - cell.begin, 1, n_threads, [&](std::size_t begin, std::size_t end) {
            for (std::size_t k = begin; k < end; ++k) {
                std::size_t node = c;
                while (tree[node].feature != kLeaf) {
                    const Code code = codes.column(static_cast<std::size_t>(tree[node].feature))[rows[k]];
                    node = static_cast<std::size_t>(tree[node].left) + (code > tree[node].bin ? 1 : 0);
                }
                votes[rows[k]] = static_cast<Label>(tree[node].label);
            }
        });
    }
}

}  // namespace comboost
