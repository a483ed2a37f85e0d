// What the rows of leaves weigh, counted while rows are sent to them.
#pragma once

#include <span>
#include <vector>

#include "comboost/types.hpp"

namespace comboost {

// Where to write the weight of the rows of every leaf, in the order of the nodes; nowhere if `sums` is empty.
struct LeafCovers {
    std::span<const Weight> weights;  // of the rows; empty if all are 1
    std::span<Sum> sums;
};

// The number of every leaf, counted in the order of the nodes, by its node.
inline std::vector<RowIndex> number_leaves(const Tree& tree) {
    std::vector<RowIndex> numbers(tree.nodes.size());
    RowIndex next = 0;
    for (std::size_t c = 0; c < tree.nodes.size(); ++c)
        if (tree.nodes[c].feature == kLeaf) numbers[c] = next++;
    return numbers;
}

// Counts it node by node. Sums of integers are the same in any order, so threads may add at any time.
class NodeCovers {
  public:
    NodeCovers(const LeafCovers& leaves, std::size_t n_nodes)
        : leaves_(leaves), of_nodes_(leaves.sums.empty() ? 0 : n_nodes) {}

    bool counts() const { return !of_nodes_.empty(); }
    std::size_t n_nodes() const { return of_nodes_.size(); }
    const Weight* weights() const { return leaves_.weights.empty() ? nullptr : leaves_.weights.data(); }
    Sum weight(RowIndex row) const { return leaves_.weights.empty() ? 1 : Sum{leaves_.weights[row]}; }

    Sum weight(std::span<const RowIndex> rows) const {
        if (leaves_.weights.empty()) return static_cast<Sum>(rows.size());
        Sum sum = 0;
        for (const RowIndex row : rows) sum += leaves_.weights[row];
        return sum;
    }

    void add(std::size_t node, Sum weight) {
        if (counts()) __atomic_fetch_add(&of_nodes_[node], weight, __ATOMIC_RELAXED);  // libc++ got atomic_ref late
    }

    void write(const Tree& tree) const {
        auto next = leaves_.sums.begin();
        for (std::size_t c = 0; c < of_nodes_.size(); ++c)
            if (tree.nodes[c].feature == kLeaf) *next++ = of_nodes_[c];
    }

  private:
    LeafCovers leaves_;
    std::vector<Sum> of_nodes_;
};

}  // namespace comboost
