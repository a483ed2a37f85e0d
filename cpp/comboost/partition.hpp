// Which rows stand in which node of the tree that is being grown.
#pragma once

#include <span>
#include <vector>

#include "comboost/covers.hpp"
#include "comboost/types.hpp"

namespace comboost {

// The rows of a node, ascending; `rows` is null if they are all rows.
struct RowSet {
    const RowIndex* rows;
    std::size_t size;
};

class Partition {
  public:
    explicit Partition(std::size_t n_rows);

    // Back to one node, the root, with every row.
    void reset();

    // Splits nodes; the children of the k-th split become the nodes n + 2k and n + 2k + 1, n being the number of nodes
    // before.
    void split(const Codes& codes, std::span<const Split> splits, int n_threads);

    // The leaf of every row: walks from the row's node on to a leaf of `tree`, whose nodes are numbered as the nodes
    // here. Leaves are counted in the order of their nodes. What the rows of every leaf weigh is written, too.
    void find_leaves(const Codes& codes, const Tree& tree, int n_threads, std::span<RowIndex> leaves,
                     const LeafCovers& covers = {}) const;

    RowSet rows(std::size_t node) const;
    std::size_t n_nodes() const { return cells_.size(); }

  private:
    struct Cell {
        std::size_t begin;
        std::size_t end;
        std::size_t buffer;  // which of the two buffers holds the rows
        bool divided;
    };

    // Divides a node into the nodes left and left + 1.
    void apply(const Codes& codes, const Split& split, std::size_t left, int n_threads);

    // The same: goes_left(code) says where its rows go.
    template <class GoesLeft>
    void divide(const Code* column, std::size_t node, std::size_t left, int n_threads, GoesLeft&& goes_left);

    template <bool WithSets, class Reach>
    void walk_rows(const Codes& codes, const Tree& tree, int n_threads, NodeCovers& covers, Reach&& reach) const;

    // A node's rows stand in one buffer, its children's at the same indices of the other: nothing is copied back.
    std::vector<RowIndex> buffers_[2];
    std::vector<Cell> cells_;
};

}  // namespace comboost
