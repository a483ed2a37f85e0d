#include "comboost/predicting.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "comboost/kernels.hpp"
#include "comboost/layout.hpp"
#include "comboost/parallel.hpp"

namespace comboost {
namespace {

// Fewer rows are walked node by node: laying out the trees would take longer.
constexpr std::size_t kFewRows = 64;

constexpr std::size_t kUpdatesPerWalk = 8;        // of a row down a tree
constexpr std::size_t kUpdatesPerDeepWalk = 128;  // at most, where most nodes on the way are in no cache

// Adds a leaf to the scores of a row.
inline void add_leaf(const Forest& forest, std::size_t tree, const Node& leaf, std::span<double> scores) {
    if (forest.leaf_values.empty()) {
        scores[leaf.label] += forest.weights[tree];
        return;
    }
    const std::span<const float> values = forest.values_of(leaf, scores.size());
    for (std::size_t l = 0; l < scores.size(); ++l) scores[l] += static_cast<double>(values[l]);
}

// Adds trees of any depth to the scores of any rows, node by node; goes_left(row, node) decides.
template <class GoesLeft>
void walk_trees(const Forest& forest, std::size_t first, std::size_t last, std::size_t begin, std::size_t end,
                std::size_t n_classes, std::span<double> scores, GoesLeft&& goes_left) {
    for_each_stretch(begin, end, (last - first) * kUpdatesPerDeepWalk, [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) {
            const auto of_row = scores.subspan(i * n_classes, n_classes);
            for (std::size_t t = first; t < last; ++t) {
                const Node* root = &forest.nodes[static_cast<std::size_t>(forest.offsets[t])];
                const Node* node = root;
                while (node->feature != kLeaf) node = root + node->left + (goes_left(i, *node) ? 0 : 1);
                add_leaf(forest, t, *node, of_row);
            }
        }
    });
}

// Scores blocks of rows with laid out trees: fill(begin, n_rows, codes) writes the codes of a block, use(begin, n_rows,
// add) calls add(scores).
template <class Fill, class Use>
void score_blocks(const ForestLayout& layout, std::size_t n_rows, std::size_t n_classes, int n_threads, Fill&& fill,
                  Use&& use) {
    const LevelTrees trees = layout.trees();
    const std::size_t updates = layout.depth() + 1;  // of a row by a tree
    for_each_block(n_rows, layout.n_trees() * updates, n_threads, [&](std::size_t first, std::size_t last) {
        std::vector<CodeBlock::Signed> codes(std::max<std::size_t>(1, layout.columns().size()) * CodeBlock::kRows);
        for (std::size_t begin = first; begin < last; begin += CodeBlock::kRows) {
            const CodeBlock block{codes, std::min(CodeBlock::kRows, last - begin)};
            fill(begin, block.n_rows, std::span(codes));
            use(begin, block.n_rows, [&](std::span<double> scores) {
                for_each_stretch(0, layout.n_trees(), block.n_rows * updates, [&](std::size_t from, std::size_t to) {
                    kernels().add_scores(trees, from, to, block, n_classes, scores);
                });
            });
        }
    });
}

void count_below(std::span<const float> edges, std::span<const float> values, std::span<CodeBlock::Signed> codes) {
    kernels().count_floats(edges, values, codes);
}

void count_below(std::span<const double> edges, std::span<const double> values, std::span<CodeBlock::Signed> codes) {
    kernels().count_doubles(edges, values, codes);
}

// Turns rows into the codes that laid out trees compare.
template <class T>
class Encoder {
  public:
    Encoder(const ForestLayout& layout, std::span<const CodeSet> sets) : columns_(layout.columns()), sets_(sets) {
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            edges_.emplace_back();
            for (const double threshold : layout.thresholds(c)) edges_.back().push_back(round_down(threshold));
        }
    }

    // The codes of a block of rows, a few of them at a time, which stay in the nearest cache for all columns.
    void encode(const Matrix<T>& values, std::size_t begin, std::size_t n_rows,
                std::span<CodeBlock::Signed> codes) const {
        for (std::size_t i = 0; i < n_rows; i += kAtOnce)
            encode_few(values, begin + i, std::min(kAtOnce, n_rows - i), codes.subspan(i));
    }

  private:
    static constexpr std::size_t kAtOnce = 64;
    static constexpr CodeBlock::Signed kLast = 127;  // beyond all thresholds

    // A T is above the threshold if it is above this T.
    static T round_down(double threshold) {
        const auto rounded = static_cast<T>(threshold);
        const bool is_above = static_cast<double>(rounded) > threshold;
        return is_above ? std::nextafter(rounded, -std::numeric_limits<T>::infinity()) : rounded;
    }

    void encode_few(const Matrix<T>& matrix, std::size_t begin, std::size_t n_rows,
                    std::span<CodeBlock::Signed> block) const {
        const Matrix<T> values = matrix;  // a copy, which codes, being bytes, cannot overwrite
        T column[kAtOnce];
        Code categories[kAtOnce];
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            const auto codes = block.subspan(c * CodeBlock::kRows, n_rows);
            const auto feature = static_cast<std::size_t>(columns_[c].feature);
            const bool is_new = c == 0 || columns_[c].feature != columns_[c - 1].feature;
            if (is_new)
                for (std::size_t i = 0; i < n_rows; ++i) column[i] = values(begin + i, feature);
            if (columns_[c].by_set()) {
                if (is_new || !columns_[c - 1].by_set())
                    for (std::size_t i = 0; i < n_rows; ++i) categories[i] = category_code(column[i]);
                kernels().find_sides(sets_[static_cast<std::size_t>(columns_[c].how)], {categories, n_rows}, codes);
                continue;
            }
            count_below(std::span<const T>(edges_[c]), std::span<const T>(column, n_rows), codes);
            if (columns_[c].how == Column::kMissingRight)
                for (std::size_t i = 0; i < n_rows; ++i) codes[i] = std::isnan(column[i]) ? kLast : codes[i];
        }
    }

    std::span<const Column> columns_;
    std::span<const CodeSet> sets_;
    std::vector<std::vector<T>> edges_;
};

// The lowest of the classes with the highest score.
std::size_t best_class(std::span<const double> scores) {
    std::size_t best = 0;
    for (std::size_t l = 1; l < scores.size(); ++l) best = scores[l] > scores[best] ? l : best;
    return best;
}

bool has_categories(const Forest& forest, std::size_t first, std::size_t last) {
    return !forest.sets.empty() &&
           std::any_of(forest.nodes.begin() + forest.offsets[first], forest.nodes.begin() + forest.offsets[last],
                       [](const Node& node) { return node.has(Node::kCategorical); });
}

// Whether to lay out the trees. That takes as long as some rows take to walk down a tree of as many nodes.
bool pays_layout(std::size_t n_rows, const Forest& forest, std::size_t first, std::size_t last) {
    const auto n_nodes = static_cast<std::size_t>(forest.offsets[last] - forest.offsets[first]);
    return n_rows >= kFewRows && first < last && n_rows * (last - first) >= n_nodes &&
           n_nodes < ForestLayout::kMaxNodes;
}

}  // namespace

template <class T>
void add_scores(const Matrix<T>& values, bool missing, const Forest& forest, std::size_t first, std::size_t last,
                std::size_t n_classes, int n_threads, std::span<double> scores) {
    if (pays_layout(values.n_rows, forest, first, last)) {
        using From = ForestLayout::From;
        const ForestLayout layout(forest, first, last, n_classes, missing ? From::values_with_missing : From::values);
        const Encoder<T> encoder(layout, forest.sets);
        score_blocks(
            layout, values.n_rows, n_classes, n_threads,
            [&](std::size_t begin, std::size_t n_rows, std::span<CodeBlock::Signed> codes) {
                encoder.encode(values, begin, n_rows, codes);
            },
            [&](std::size_t begin, std::size_t n_rows, auto&& add) {
                add(scores.subspan(begin * n_classes, n_rows * n_classes));
            });
        return;
    }
    const auto value_at = [&](std::size_t i, const Node& node) {
        return static_cast<double>(values(i, static_cast<std::size_t>(node.feature)));
    };
    const auto walk = [&](auto&& decide) {
        for_each_block(values.n_rows, (last - first) * kUpdatesPerWalk, n_threads,
                       [&](std::size_t begin, std::size_t end) {
                           walk_trees(forest, first, last, begin, end, n_classes, scores, decide);
                       });
    };
    if (missing || has_categories(forest, first, last))
        walk([&](std::size_t i, const Node& node) { return goes_left(value_at(i, node), node, forest.sets); });
    else
        walk([&](std::size_t i, const Node& node) { return value_at(i, node) <= node.threshold; });
}

template void add_scores(const Matrix<float>&, bool, const Forest&, std::size_t, std::size_t, std::size_t, int,
                         std::span<double>);
template void add_scores(const Matrix<double>&, bool, const Forest&, std::size_t, std::size_t, std::size_t, int,
                         std::span<double>);

void predict_classes(const Codes& codes, const Forest& forest, std::size_t n_classes, int n_threads,
                     std::span<Label> predicted) {
    const ForestLayout layout(forest, 0, forest.n_trees(), n_classes, ForestLayout::From::codes);
    const auto copy_block = [&](std::size_t begin, std::size_t n_rows, std::span<CodeBlock::Signed> block) {
        for (std::size_t c = 0; c < layout.columns().size(); ++c) {
            const Column& column = layout.columns()[c];
            const std::span from(codes.column(static_cast<std::size_t>(column.feature)) + begin, n_rows);
            const auto to = block.subspan(c * CodeBlock::kRows, n_rows);
            if (column.by_set())
                kernels().find_sides(forest.sets[static_cast<std::size_t>(column.how)], from, to);
            else
                for (std::size_t i = 0; i < n_rows; ++i)
                    to[i] = static_cast<CodeBlock::Signed>(from[i] - CodeBlock::kOffset);
        }
    };
    const auto predict_block = [&](std::size_t begin, std::size_t n_rows, auto&& add) {
        std::vector<double> scores(n_rows * n_classes);
        add(std::span(scores));
        for (std::size_t i = 0; i < n_rows; ++i)
            predicted[begin + i] = static_cast<Label>(best_class(std::span(scores).subspan(i * n_classes, n_classes)));
    };
    score_blocks(layout, codes.n_rows, n_classes, n_threads, copy_block, predict_block);
}

void count_predicted(std::span<const double> scores, std::span<const Label> labels, std::span<const Weight> weights,
                     std::size_t n_classes, int n_threads, std::span<Sum> counts) {
    const std::size_t n_rows = labels.size();
    const std::size_t work = n_rows * n_classes;
    std::vector<std::vector<Sum>> parts(n_parts(work, n_threads), std::vector<Sum>(counts.size()));
    for_each_task(parts.size(), work, n_threads, [&](std::size_t part) {
        for_each_stretch(n_rows * part / parts.size(), n_rows * (part + 1) / parts.size(), n_classes,
                         [&](std::size_t from, std::size_t to) {
                             for (std::size_t i = from; i < to; ++i) {
                                 const std::size_t best = best_class(scores.subspan(i * n_classes, n_classes));
                                 parts[part][labels[i] * n_classes + best] += weights.empty() ? 1 : Sum{weights[i]};
                             }
                         });
    });
    std::ranges::fill(counts, 0);
    for (const auto& part : parts)
        for (std::size_t k = 0; k < counts.size(); ++k) counts[k] += part[k];
}

}  // namespace comboost
