// Tables that are mostly zeros: their codes, how they are made, and which of their rows stand in which node.
#pragma once

#include <span>
#include <vector>

#include "comboost/covers.hpp"
#include "comboost/types.hpp"

namespace comboost {

// A matrix that is mostly zeros, column after column: the entries of column f are at [starts[f], starts[f + 1]).
struct SparseMatrix {
    std::span<const std::int64_t> starts;
    std::span<const RowIndex> rows;
    std::span<const double> values;
    std::size_t n_rows;

    std::size_t n_columns() const { return starts.size() - 1; }
    std::size_t begin(std::size_t column) const { return static_cast<std::size_t>(starts[column]); }
    std::size_t end(std::size_t column) const { return static_cast<std::size_t>(starts[column + 1]); }
};

// The edges of all features, one after the other; those of feature f are at [starts[f], starts[f + 1]).
struct SparseEdges {
    std::vector<double> edges;
    std::vector<std::int64_t> starts;
    std::vector<std::uint8_t> missing, infinite;  // whether a feature has such values
};

// As find_edges(); the zeros of a feature are one heavy value. `weights` is empty if every row weighs 1.
SparseEdges find_sparse_edges(const SparseMatrix& matrix, std::span<const Weight> weights, std::size_t max_bins,
                              int n_threads);

// The codes of a table: per feature, those entries whose code is not the one of its zeros, ascending by code and then
// by row. Features stand in the order of their ranks, those with most entries first: a search goes through them in this
// order, and so does memory.
class SparseCodes {
  public:
    // `zeros` is what the zeros of every feature count as; the rest is as for encode().
    SparseCodes(const SparseMatrix& matrix, std::span<const double> zeros, std::span<const double> edges,
                std::span<const std::int64_t> edge_starts, std::span<const Kind> kinds, int n_threads);

    // The entries of one feature.
    struct Entries {
        std::span<const RowIndex> rows;
        std::span<const Code> codes;
        Code zero_code;
    };

    Entries entries(std::uint32_t rank) const {
        const auto begin = static_cast<std::size_t>(starts_[rank]), end = static_cast<std::size_t>(starts_[rank + 1]);
        return {{rows_.data() + begin, end - begin}, {codes_.data() + begin, end - begin}, zero_codes_[rank]};
    }

    std::size_t n_rows() const { return n_rows_; }
    std::size_t n_features() const { return zero_codes_.size(); }
    std::size_t n_entries() const { return rows_.size(); }
    std::size_t n_filled() const { return n_filled_; }  // features that have entries: those with the first ranks
    std::uint32_t rank(std::size_t feature) const { return ranks_[feature]; }
    std::size_t feature(std::uint32_t rank) const { return features_[rank]; }

    const std::vector<std::uint32_t>& features() const { return features_; }
    const std::vector<std::int64_t>& starts() const { return starts_; }
    const std::vector<RowIndex>& rows() const { return rows_; }
    const std::vector<Code>& codes() const { return codes_; }
    const std::vector<Code>& zero_codes() const { return zero_codes_; }

  private:
    void rank_features(std::span<const std::int64_t> sizes);

    std::size_t n_rows_;
    std::vector<std::uint32_t> features_, ranks_;  // of every rank, of every feature
    std::size_t n_filled_ = 0;
    std::vector<std::int64_t> starts_;  // by rank
    std::vector<RowIndex> rows_;
    std::vector<Code> codes_;
    std::vector<Code> zero_codes_;  // by rank
};

// Which rows of a sparse table stand in which node of the tree that is being grown. A row has a slot. When a node is
// divided, the child that zeros go to takes over its slot, and the entries that go to the other one move to a new slot:
// no other row is looked at.
class SparsePartition {
  public:
    explicit SparsePartition(std::size_t n_rows);

    // These do what those of Partition do.
    void reset();
    void split(const SparseCodes& codes, std::span<const Split> splits);
    void find_leaves(const SparseCodes& codes, const Tree& tree, std::span<RowIndex> leaves,
                     const LeafCovers& covers = {}) const;

    std::size_t n_rows() const { return slots_.of_row.size(); }
    std::size_t n_nodes() const { return slots_.of_node.size(); }
    std::size_t n_slots() const { return slots_.size; }
    RowIndex slot_of_row(std::size_t row) const { return slots_.of_row[row]; }
    RowIndex slot_of_node(std::size_t node) const { return slots_.of_node[node]; }

  private:
    struct Slots {
        std::vector<RowIndex> of_row, of_node;
        std::size_t size;

        // Divides a node, whose children are `left` and the next; goes_left(code) says where its rows go.
        template <class GoesLeft>
        void divide(const SparseCodes& codes, std::size_t feature, std::size_t node, std::size_t left,
                    GoesLeft&& goes_left);
    };

    Slots slots_;
};

}  // namespace comboost
