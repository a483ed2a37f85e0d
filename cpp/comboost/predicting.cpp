#include "comboost/predicting.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "comboost/parallel.hpp"

namespace comboost {
namespace {

// Deeper trees are walked node by node: padding them would cost more than it saves.
constexpr std::size_t kMaxLevels = 6;
constexpr std::size_t kRowsAtOnce = 64;  // their values stay in the fastest cache while tree after tree reads them

// The largest T that is not above the threshold: a value of type T is at most the one where it is at most the other.
template <class T>
T threshold_as(const Node& node) {
    if constexpr (std::is_same_v<T, Code>) {
        return static_cast<Code>(node.bin);
    } else {
        const T rounded = static_cast<T>(node.threshold);
        return static_cast<double>(rounded) > node.threshold
                   ? std::nextafter(rounded, -std::numeric_limits<T>::infinity())
                   : rounded;
    }
}

// A node that sends every value to the left.
template <class T>
constexpr T kAlwaysLeft =
    std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();

std::size_t depth_below(const Node* root, const Node& node) {
    if (node.feature == kLeaf) return 0;
    return 1 + std::max(depth_below(root, root[node.left]), depth_below(root, root[node.left + 1]));
}

std::size_t depth_of(const Forest& forest, std::size_t first, std::size_t last) {
    std::size_t depth = 0;
    for (std::size_t t = first; t < last; ++t) {
        const Node* root = forest.nodes.data() + forest.offsets[t];
        depth = std::max(depth, depth_below(root, *root));
    }
    return depth;
}

// Trees whose paths are all made as long as the longest one, so that walking them needs no branches.
template <class T>
class LevelTrees {
  public:
    LevelTrees(const Matrix<T>& values, const Forest& forest, std::size_t first, std::size_t last, std::size_t depth)
        : depth_(depth), first_(first), last_(last), weights_(forest.weights) {
        steps_.resize((last - first) * n_steps());
        labels_.resize((last - first) << depth);
        for (std::size_t t = first; t < last; ++t) {
            const Node* root = forest.nodes.data() + forest.offsets[t];
            fill(values, root, *root, (t - first) * n_steps(), 0, (t - first) << depth);
        }
    }

    // Adds the votes for the rows begin .. end - 1, tree by tree, to scores that start with those of row `begin`.
    template <std::size_t Depth>
    void add_votes(const Matrix<T>& values, std::size_t begin, std::size_t end, std::size_t n_classes,
                   double* scores) const {
        const Step* steps = steps_.data();
        const Label* labels = labels_.data();
        for (std::size_t t = first_; t < last_; ++t) {
            const double weight = weights_[t];
            const T* row = values.data + static_cast<std::ptrdiff_t>(begin) * values.row_stride;
            double* row_scores = scores;
            for (std::size_t i = begin; i < end; ++i) {
                std::size_t step = 0;
                for (std::size_t level = 0; level < Depth; ++level)
                    step = 2 * step + 1 + !(row[steps[step].offset] <= steps[step].threshold);
                row_scores[labels[step - ((std::size_t{1} << Depth) - 1)]] += weight;
                row += values.row_stride;
                row_scores += n_classes;
            }
            steps += n_steps();
            labels += std::size_t{1} << Depth;
        }
    }

  private:
    struct Step {
        T threshold;
        std::int32_t offset;
    };

    std::size_t n_steps() const { return (std::size_t{1} << depth_) - 1; }

    // Fills the steps below one place of a tree, and its labels; a leaf that stands too high goes left down to the last
    // level.
    void fill(const Matrix<T>& values, const Node* root, const Node& node, std::size_t tree, std::size_t step,
              std::size_t labels) {
        if (step >= n_steps()) {
            labels_[labels + step - n_steps()] = static_cast<Label>(node.label);
            return;
        }
        const bool is_leaf = node.feature == kLeaf;
        steps_[tree + step] = {is_leaf ? kAlwaysLeft<T> : threshold_as<T>(node),
                               is_leaf ? 0 : static_cast<std::int32_t>(node.feature * values.column_stride)};
        fill(values, root, is_leaf ? node : root[node.left], tree, 2 * step + 1, labels);
        fill(values, root, is_leaf ? node : root[node.left + 1], tree, 2 * step + 2, labels);
    }

    std::size_t depth_, first_, last_;
    std::span<const double> weights_;
    std::vector<Step> steps_;
    std::vector<Label> labels_;
};

// Any tree, node by node.
template <class T>
void walk_trees(const Matrix<T>& values, const Forest& forest, std::size_t first, std::size_t last, std::size_t begin,
                std::size_t end, std::size_t n_classes, double* scores) {
    for (std::size_t i = begin; i < end; ++i, scores += n_classes)
        for (std::size_t t = first; t < last; ++t) {
            const Node* root = forest.nodes.data() + forest.offsets[t];
            const Node* node = root;
            while (node->feature != kLeaf) {
                const bool left = values(i, static_cast<std::size_t>(node->feature)) <= threshold_as<T>(*node);
                node = root + node->left + (left ? 0 : 1);
            }
            scores[node->label] += forest.weights[t];
        }
}

// Calls body(begin, end, add) for blocks of rows; add(scores) adds the votes of the trees first .. last - 1 for them.
template <class T, class Body>
void for_each_voted_block(const Matrix<T>& values, const Forest& forest, std::size_t first, std::size_t last,
                          std::size_t n_classes, int n_threads, Body&& body) {
    const std::size_t depth = depth_of(forest, first, last);
    const std::size_t work = (last - first) * (depth + 1);
    const bool offsets_fit =
        static_cast<double>(values.n_columns) * static_cast<double>(std::abs(values.column_stride)) < 2e9;
    if (depth > kMaxLevels || values.n_rows < kRowsAtOnce || !offsets_fit) {
        for_each_block(values.n_rows, work, n_threads, [&](std::size_t begin, std::size_t end) {
            body(begin, end,
                 [&](double* scores) { walk_trees(values, forest, first, last, begin, end, n_classes, scores); });
        });
        return;
    }
    const LevelTrees<T> trees(values, forest, first, last, depth);
    using Adder = void (LevelTrees<T>::*)(const Matrix<T>&, std::size_t, std::size_t, std::size_t, double*) const;
    constexpr std::array<Adder, kMaxLevels + 1> adders{
        &LevelTrees<T>::template add_votes<0>, &LevelTrees<T>::template add_votes<1>,
        &LevelTrees<T>::template add_votes<2>, &LevelTrees<T>::template add_votes<3>,
        &LevelTrees<T>::template add_votes<4>, &LevelTrees<T>::template add_votes<5>,
        &LevelTrees<T>::template add_votes<6>};
    for_each_block(values.n_rows, work, n_threads, [&](std::size_t block_begin, std::size_t block_end) {
        for (std::size_t begin = block_begin; begin < block_end; begin += kRowsAtOnce) {
            const std::size_t end = std::min(block_end, begin + kRowsAtOnce);
            body(begin, end, [&](double* scores) { (trees.*adders[depth])(values, begin, end, n_classes, scores); });
        }
    });
}

}  // namespace

template <class T>
void add_votes(const Matrix<T>& values, const Forest& forest, std::size_t first, std::size_t last,
               std::size_t n_classes, int n_threads, double* scores) {
    for_each_voted_block(values, forest, first, last, n_classes, n_threads,
                         [&](std::size_t begin, std::size_t, auto&& add) { add(scores + begin * n_classes); });
}

template void add_votes(const Matrix<float>&, const Forest&, std::size_t, std::size_t, std::size_t, int, double*);
template void add_votes(const Matrix<double>&, const Forest&, std::size_t, std::size_t, std::size_t, int, double*);

void elect(const Codes& codes, const Forest& forest, std::size_t n_classes, int n_threads, std::span<Label> elected) {
    const Matrix<Code> values{codes.data, codes.n_rows, codes.n_features, 1, static_cast<std::ptrdiff_t>(codes.n_rows)};
    const auto elect_block = [&](std::size_t begin, std::size_t end, auto&& add) {
        std::vector<double> scores((end - begin) * n_classes);
        add(scores.data());
        for (std::size_t i = begin; i < end; ++i) {
            const double* row = scores.data() + (i - begin) * n_classes;
            elected[i] = static_cast<Label>(std::max_element(row, row + n_classes) - row);
        }
    };
    for_each_voted_block(values, forest, 0, forest.weights.size(), n_classes, n_threads, elect_block);
}

}  // namespace comboost
