#include "comboost/predicting.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstring>
#include <vector>

#include "comboost/binning.hpp"
#include "comboost/kernels.hpp"
#include "comboost/parallel.hpp"

namespace comboost {
namespace {

// Fewer rows are walked node by node: preparing the trees would take longer.
constexpr std::size_t kFewRows = 64;

constexpr std::size_t kUpdatesPerNode = 8;        // to find the place of its threshold
constexpr std::size_t kUpdatesPerWalk = 8;        // of a row down a tree
constexpr std::size_t kUpdatesPerDeepWalk = 128;  // at most, where most nodes on the way are in no cache

// How deep a tree is, up to one more than can be laid out level by level.
std::size_t depth_below(const Node* root, const Node& node, std::size_t above = 0) {
    if (node.feature == kLeaf || above > LevelTrees::kMaxDepth) return above;
    return std::max(depth_below(root, root[node.left], above + 1), depth_below(root, root[node.left + 1], above + 1));
}

std::size_t depth_of(const Forest& forest, std::size_t first, std::size_t last) {
    std::size_t depth = 0;
    Lookout lookout;
    for (std::size_t t = first; t < last; ++t) {
        const Node* root = forest.nodes.data() + forest.offsets[t];
        depth = std::max(depth, depth_below(root, *root));
        lookout.after(static_cast<std::size_t>(forest.offsets[t + 1] - forest.offsets[t]));
    }
    return depth;
}

// How the values, or codes, of a feature are turned into the codes that level trees compare. A node whose decision is
// no comparison, or that sends missing values another way than others do, reads a column of its own kind.
struct Column {
    static constexpr std::int32_t kPlain = -1;         // none missing
    static constexpr std::int32_t kMissingLeft = -2;   // the missing ones come first
    static constexpr std::int32_t kMissingRight = -3;  // the missing ones come last

    std::int32_t feature;
    std::int32_t how;  // one of these, or the set of codes that become 0 while the others become 1

    bool by_set() const { return how >= 0; }
    auto operator<=>(const Column&) const = default;
};

// The trees first .. last - 1 as LevelTrees. Values are read once: column c holds the codes of columns()[c], which
// count the trees' own thresholds below a value, or are those of training.
class LevelForest {
  public:
    enum class From { codes, values, values_with_missing };

    LevelForest(const Forest& forest, std::size_t first, std::size_t last, std::size_t depth, From from)
        : depth_(depth),
          from_(from),
          weights_(forest.weights.subspan(first, last - first)),
          votes_(forest.votes.empty() ? nullptr : forest.votes.data()) {
        const auto nodes = forest.nodes.subspan(static_cast<std::size_t>(forest.offsets[first]),
                                                static_cast<std::size_t>(forest.offsets[last] - forest.offsets[first]));
        for (const Node& node : nodes)
            if (node.feature != kLeaf) columns_.push_back(column_of(node));
        std::sort(columns_.begin(), columns_.end());
        columns_.erase(std::unique(columns_.begin(), columns_.end()), columns_.end());
        if (from != From::codes) collect_thresholds(nodes);

        steps_.resize((last - first) * n_steps());
        labels_.resize((last - first) << depth);
        if (votes_ != nullptr) rows_.resize(labels_.size());
        Lookout lookout;
        for (std::size_t t = first; t < last; ++t) {
            const Node* root = forest.nodes.data() + forest.offsets[t];
            fill(root, *root, t - first, 0);
            lookout.after(n_steps() * kUpdatesPerNode);
        }
    }

    LevelTrees trees() const { return {depth_, weights_, steps_.data(), labels_.data(), rows_.data(), votes_}; }
    const std::vector<Column>& columns() const { return columns_; }
    const std::vector<std::vector<double>>& thresholds() const { return thresholds_; }

  private:
    std::size_t n_steps() const { return (std::size_t{1} << depth_) - 1; }

    Column column_of(const Node& node) const {
        const bool by_set = from_ == From::codes ? node.set != kNoSet : node.has(Node::kCategorical);
        if (by_set) return {node.feature, node.set};
        if (from_ != From::values_with_missing) return {node.feature, Column::kPlain};
        return {node.feature, node.has(Node::kMissingLeft) ? Column::kMissingLeft : Column::kMissingRight};
    }

    std::size_t place_of(const Node& node) const {
        return static_cast<std::size_t>(std::lower_bound(columns_.begin(), columns_.end(), column_of(node)) -
                                        columns_.begin());
    }

    void collect_thresholds(std::span<const Node> nodes) {
        thresholds_.resize(columns_.size());
        for (const Node& node : nodes)
            if (node.feature != kLeaf) thresholds_[place_of(node)].push_back(node.threshold);
        for (auto& column : thresholds_) {
            std::sort(column.begin(), column.end());
            column.erase(std::unique(column.begin(), column.end()), column.end());
        }
    }

    Code bin_of(const Node& node, std::size_t place) const {
        if (columns_[place].by_set()) return 0;
        if (from_ == From::codes) return node.bin;
        const auto& ascending = thresholds_[place];
        return static_cast<Code>(std::lower_bound(ascending.begin(), ascending.end(), node.threshold) -
                                 ascending.begin());
    }

    // Fills the steps below one place of a tree, and its labels; a leaf that stands too high goes left down to the last
    // level.
    void fill(const Node* root, const Node& node, std::size_t tree, std::size_t step) {
        if (step >= n_steps()) {
            const std::size_t leaf = (tree << depth_) + step - n_steps();
            labels_[leaf] = node.label;
            if (votes_ != nullptr) rows_[leaf] = static_cast<std::uint32_t>(node.left);
            return;
        }
        const bool is_leaf = node.feature == kLeaf;
        const std::size_t place = is_leaf ? 0 : place_of(node);
        steps_[tree * n_steps() + step] = {static_cast<std::uint32_t>(place),
                                           is_leaf ? LevelTrees::kAlwaysLeft : bin_of(node, place)};
        fill(root, is_leaf ? node : root[node.left], tree, 2 * step + 1);
        fill(root, is_leaf ? node : root[node.left + 1], tree, 2 * step + 2);
    }

    std::size_t depth_;
    From from_;
    std::span<const double> weights_;
    const float* votes_;
    std::vector<Column> columns_;
    std::vector<std::vector<double>> thresholds_;
    std::vector<LevelTrees::Step> steps_;
    std::vector<Label> labels_;
    std::vector<std::uint32_t> rows_;
};

// Adds what a leaf votes to the scores of a row.
inline void add_leaf(const Forest& forest, std::size_t tree, const Node& leaf, std::size_t n_classes, double* scores) {
    if (forest.votes.empty()) {
        scores[leaf.label] += forest.weights[tree];
        return;
    }
    const float* votes = forest.votes.data() + static_cast<std::size_t>(leaf.left) * n_classes;
    for (std::size_t l = 0; l < n_classes; ++l) scores[l] += static_cast<double>(votes[l]);
}

// Makes trees of any depth vote on any rows, node by node; goes_left(row, node) decides.
template <class GoesLeft>
void walk_trees(const Forest& forest, std::size_t first, std::size_t last, std::size_t begin, std::size_t end,
                std::size_t n_classes, double* scores, GoesLeft&& goes_left) {
    for_each_stretch(begin, end, (last - first) * kUpdatesPerDeepWalk, [&](std::size_t from, std::size_t to) {
        double* of_row = scores + (from - begin) * n_classes;
        for (std::size_t i = from; i < to; ++i, of_row += n_classes)
            for (std::size_t t = first; t < last; ++t) {
                const Node* root = forest.nodes.data() + forest.offsets[t];
                const Node* node = root;
                while (node->feature != kLeaf) node = root + node->left + (goes_left(i, *node) ? 0 : 1);
                add_leaf(forest, t, *node, n_classes, of_row);
            }
    });
}

// Makes level trees vote on blocks of rows: fill(begin, n_rows, codes) writes the codes of a block, use(begin, n_rows,
// vote) calls vote(scores).
template <class Fill, class Use>
void vote_in_blocks(const LevelForest& forest, std::size_t n_rows, std::size_t n_classes, int n_threads, Fill&& fill,
                    Use&& use) {
    const LevelTrees trees = forest.trees();
    const std::size_t updates = trees.weights.size() * (trees.depth + 1);
    for_each_block(n_rows, updates, n_threads, [&](std::size_t first, std::size_t last) {
        std::vector<Code> codes(std::max<std::size_t>(1, forest.columns().size()) * CodeBlock::kRows);
        Lookout lookout;
        for (std::size_t begin = first; begin < last; begin += CodeBlock::kRows) {
            const CodeBlock block{codes.data(), std::min(CodeBlock::kRows, last - begin)};
            fill(begin, block.n_rows, codes.data());
            use(begin, block.n_rows, [&](double* scores) { kernels().add_votes(trees, block, n_classes, scores); });
            lookout.after(block.n_rows * updates);
        }
    });
}

// The code of a category, which is given as a number.
template <class T>
Code category_code(T value) {
    return std::isnan(value) ? Code{0} : static_cast<Code>(value);
}

// The values of one column of some rows as codes: thresholds below a value, or which side a category is on.
template <class T>
void encode_column(const Matrix<T>& values, std::size_t begin, std::size_t n_rows, const Column& column,
                   const SearchTable& table, std::span<const CodeSet> sets, Code* codes) {
    const auto feature = static_cast<std::size_t>(column.feature);
    if (column.how == Column::kPlain) {
        for (std::size_t i = 0; i < n_rows; ++i) codes[i] = table.code(static_cast<double>(values(begin + i, feature)));
    } else if (column.by_set()) {
        const CodeSet& left = sets[static_cast<std::size_t>(column.how)];
        for (std::size_t i = 0; i < n_rows; ++i)
            codes[i] = left.contains(category_code(values(begin + i, feature))) ? 0 : 1;
    } else {
        const Code missing = column.how == Column::kMissingLeft ? 0 : 255;
        for (std::size_t i = 0; i < n_rows; ++i) {
            const auto value = static_cast<double>(values(begin + i, feature));
            codes[i] = std::isnan(value) ? missing : table.code(value);
        }
    }
}

bool goes_left(double value, const Node& node, std::span<const CodeSet> sets) {
    if (node.has(Node::kCategorical)) return sets[static_cast<std::size_t>(node.set)].contains(category_code(value));
    return std::isnan(value) ? node.has(Node::kMissingLeft) : value <= node.threshold;
}

// The lowest class with the most votes.
std::size_t elect_one(const double* scores, std::size_t n_classes) {
    std::size_t best = 0;
    for (std::size_t l = 1; l < n_classes; ++l) best = scores[l] > scores[best] ? l : best;
    return best;
}

bool has_categories(const Forest& forest, std::size_t first, std::size_t last) {
    return !forest.sets.empty() &&
           std::any_of(forest.nodes.begin() + forest.offsets[first], forest.nodes.begin() + forest.offsets[last],
                       [](const Node& node) { return node.has(Node::kCategorical); });
}

}  // namespace

template <class T>
void add_votes(const Matrix<T>& values, bool missing, const Forest& forest, std::size_t first, std::size_t last,
               std::size_t n_classes, int n_threads, double* scores) {
    const std::size_t depth = values.n_rows < kFewRows ? 0 : depth_of(forest, first, last);
    if (values.n_rows < kFewRows || depth > LevelTrees::kMaxDepth) {
        const auto value_at = [&](std::size_t i, const Node& node) {
            return static_cast<double>(values(i, static_cast<std::size_t>(node.feature)));
        };
        const auto walk = [&](auto&& decide) {
            for_each_block(
                values.n_rows, (last - first) * kUpdatesPerWalk, n_threads, [&](std::size_t begin, std::size_t end) {
                    walk_trees(forest, first, last, begin, end, n_classes, scores + begin * n_classes, decide);
                });
        };
        if (missing || has_categories(forest, first, last))
            walk([&](std::size_t i, const Node& node) { return goes_left(value_at(i, node), node, forest.sets); });
        else
            walk([&](std::size_t i, const Node& node) { return value_at(i, node) <= node.threshold; });
        return;
    }
    using From = LevelForest::From;
    const LevelForest levels(forest, first, last, depth, missing ? From::values_with_missing : From::values);
    std::vector<SearchTable> tables(levels.thresholds().begin(), levels.thresholds().end());
    const auto encode_block = [&](std::size_t begin, std::size_t n_rows, Code* codes) {
        for (std::size_t c = 0; c < tables.size(); ++c)
            encode_column(values, begin, n_rows, levels.columns()[c], tables[c], forest.sets,
                          codes + c * CodeBlock::kRows);
    };
    vote_in_blocks(levels, values.n_rows, n_classes, n_threads, encode_block,
                   [&](std::size_t begin, std::size_t, auto&& vote) { vote(scores + begin * n_classes); });
}

template void add_votes(const Matrix<float>&, bool, const Forest&, std::size_t, std::size_t, std::size_t, int, double*);
template void add_votes(const Matrix<double>&, bool, const Forest&, std::size_t, std::size_t, std::size_t, int,
                        double*);

void elect(const Codes& codes, const Forest& forest, std::size_t n_classes, int n_threads, std::span<Label> elected) {
    const std::size_t n_trees = forest.weights.size();
    const auto elect_rows = [&](std::size_t begin, std::size_t n_rows, auto&& vote) {
        std::vector<double> scores(n_rows * n_classes);
        vote(scores.data());
        for (std::size_t i = 0; i < n_rows; ++i)
            elected[begin + i] = static_cast<Label>(elect_one(scores.data() + i * n_classes, n_classes));
    };
    const std::size_t depth = depth_of(forest, 0, n_trees);
    if (depth > LevelTrees::kMaxDepth) {
        const Tree any_tree{forest.nodes, forest.sets};
        const auto decide = [&](std::size_t i, const Node& node) {
            return any_tree.goes_left<true>(node, codes.column(static_cast<std::size_t>(node.feature))[i]);
        };
        for_each_block(codes.n_rows, n_trees * depth, n_threads, [&](std::size_t begin, std::size_t end) {
            elect_rows(begin, end - begin,
                       [&](double* scores) { walk_trees(forest, 0, n_trees, begin, end, n_classes, scores, decide); });
        });
        return;
    }
    const LevelForest levels(forest, 0, n_trees, depth, LevelForest::From::codes);
    const auto copy_block = [&](std::size_t begin, std::size_t n_rows, Code* block) {
        for (const Column& column : levels.columns()) {
            const Code* from = codes.column(static_cast<std::size_t>(column.feature)) + begin;
            if (column.by_set()) {
                const CodeSet& left = forest.sets[static_cast<std::size_t>(column.how)];
                for (std::size_t i = 0; i < n_rows; ++i) block[i] = left.contains(from[i]) ? 0 : 1;
            } else {
                std::memcpy(block, from, n_rows);
            }
            block += CodeBlock::kRows;
        }
    };
    vote_in_blocks(levels, codes.n_rows, n_classes, n_threads, copy_block, elect_rows);
}

void count_elected(const double* scores, std::span<const Label> labels, std::span<const Weight> weights,
                   std::size_t n_classes, int n_threads, std::span<Sum> counts) {
    const std::size_t n_rows = labels.size();
    const std::size_t work = n_rows * n_classes;
    std::vector<std::vector<Sum>> parts(n_parts(work, n_threads), std::vector<Sum>(counts.size()));
    for_each_task(parts.size(), work, n_threads, [&](std::size_t part) {
        for_each_stretch(n_rows * part / parts.size(), n_rows * (part + 1) / parts.size(), n_classes,
                         [&](std::size_t from, std::size_t to) {
                             for (std::size_t i = from; i < to; ++i)
                                 parts[part][labels[i] * n_classes + elect_one(scores + i * n_classes, n_classes)] +=
                                     weights.empty() ? 1 : Sum{weights[i]};
                         });
    });
    std::fill(counts.begin(), counts.end(), 0);
    for (const auto& part : parts)
        for (std::size_t k = 0; k < counts.size(); ++k) counts[k] += part[k];
}

}  // namespace comboost
