// Trees laid out for prediction: what the kernels walk, and which columns of codes they read.
#pragma once

#include <compare>
#include <span>
#include <vector>

#include "comboost/forest.hpp"
#include "comboost/kernels.hpp"
#include "comboost/types.hpp"

namespace comboost {

// How the values, or codes, of a feature are turned into the codes that laid out trees compare. A node whose decision
// is no comparison, or that sends missing values another way than others do, reads a column of its own kind.
struct Column {
    static constexpr std::int32_t kPlain = -1;         // none missing
    static constexpr std::int32_t kMissingLeft = -2;   // the missing ones come first
    static constexpr std::int32_t kMissingRight = -3;  // the missing ones come last

    std::int32_t feature;
    std::int32_t how;  // one of these, or the set of codes that become 0 while the others become 1

    bool by_set() const { return how >= 0; }
    auto operator<=>(const Column&) const = default;
};

// The trees first .. last - 1 of a forest as LevelTrees. Column c of a block holds the codes of columns()[c], which
// count the trees' own thresholds below a value, or are those of training.
class ForestLayout {
  public:
    // Columns of blocks begin at 32-bit indices.
    static constexpr std::size_t kMaxNodes = (std::size_t{1} << 32) / CodeBlock::kRows;

    enum class From { codes, values, values_with_missing };

    ForestLayout(const Forest& forest, std::size_t first, std::size_t last, std::size_t n_classes, From from);

    LevelTrees trees() const;
    std::size_t n_trees() const { return weights_.size(); }
    std::size_t depth() const { return depth_; }  // of the deepest tree

    // In the order of the features.
    std::span<const Column> columns() const { return columns_; }
    // The thresholds of all trees that the values of a column are compared with, ascending.
    std::span<const double> thresholds(std::size_t column) const { return thresholds_[group_of_[column]]; }

  private:
    void find_columns();
    void collect_thresholds();
    void find_depth();
    void allocate();
    void fill_levels(std::span<const Node> nodes, std::size_t node, std::size_t tree, std::size_t step);
    void fill_stops(std::span<const Node> nodes, std::size_t tree);
    void fill_leaf(const Node& leaf, std::size_t tree, std::size_t index);
    std::span<const Node> tree(std::size_t t) const;
    std::uint32_t root_of(std::size_t tree) const { return static_cast<std::uint32_t>(offsets_[tree] - offsets_[0]); }

    std::size_t n_steps() const { return (std::size_t{1} << levels_) - 1; }
    bool is_deep() const { return depth_ > levels_; }
    std::size_t width_of_table() const;
    Column column_of(const Node& node) const;
    std::size_t index_of(const Column& column) const;
    LevelTrees::Step step_of(const Node& node) const;

    From from_;
    std::size_t n_classes_;
    std::size_t width_ = 0;  // of the table, 0 if there is none
    std::size_t depth_ = 0;
    std::size_t levels_ = 0;
    std::size_t n_leaves_ = 0;
    std::span<const std::int64_t> offsets_;  // of these trees among all nodes
    std::span<const Node> nodes_;            // of these trees
    std::span<const double> weights_;
    std::span<const float> leaf_values_;
    std::vector<std::int32_t> same_set_;  // the first set that equals a set
    std::vector<Column> columns_;
    std::vector<std::uint32_t> group_of_;  // of columns: those of one feature have the same thresholds
    std::vector<std::vector<double>> thresholds_;
    std::vector<LevelTrees::Step> steps_;
    std::vector<std::uint32_t> starts_;
    std::vector<LevelTrees::Stop> stops_;
    AlignedArray<double> table_;
    std::vector<Label> labels_;
    std::vector<std::uint32_t> value_rows_;
};

}  // namespace comboost
