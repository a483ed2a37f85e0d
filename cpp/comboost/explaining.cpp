#include "comboost/explaining.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "comboost/kernels.hpp"
#include "comboost/parallel.hpp"

// A leaf with value v to which M features lead is the game v·Π_j a_j of these: if feature j is known, a_j is 1 or 0,
// whether its value leads there; if not, a_j is the fraction z_j of the training weight that it lets pass. The Shapley
// value of feature m is v·(a_m − z_m)·∫₀¹ Π_{j≠m} (t·a_j + (1−t)·z_j) dt. The integrand is a polynomial of degree M−1,
// so that the rule of Gauss and Legendre with ⌈M/2⌉ points is exact; no factor is negative, so that nothing cancels.

namespace comboost {
namespace {

constexpr std::size_t kLanes = LeafPath::kRows;
constexpr std::uint32_t kUnused = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kTasksPerThread = 8;

// The rule of Gauss and Legendre on [0, 1].
struct Rule {
    static constexpr int kNewtonSteps = 8;

    std::vector<double> points, weights;

    explicit Rule(std::size_t n_points) : points(n_points), weights(n_points) {
        const auto n = static_cast<double>(n_points);
        for (std::size_t k = 0; k < n_points; ++k) {
            double x = std::cos(std::numbers::pi * (static_cast<double>(k) + 0.75) / (n + 0.5)), slope = 1.0;
            for (int step = 0; step < kNewtonSteps; ++step) {
                const auto [value, lower] = legendre(n_points, x);
                slope = n * (x * value - lower) / (x * x - 1.0);
                x -= value / slope;
            }
            points[k] = 0.5 * (1.0 + x);
            weights[k] = 1.0 / ((1.0 - x * x) * slope * slope);
        }
    }

    // The Legendre polynomial of this degree, and that of the next lower one.
    static std::pair<double, double> legendre(std::size_t degree, double x) {
        double value = 1.0, lower = 0.0;
        for (std::size_t j = 1; j <= degree; ++j) {
            const auto d = static_cast<double>(j);
            const double lowest = std::exchange(lower, value);
            value = ((2.0 * d - 1.0) * x * lower - (d - 1.0) * lowest) / d;
        }
        return {value, lower};
    }
};

// The rules for paths of up to so many features. One for many features serves some fewer, too.
class Rules {
  public:
    explicit Rules(std::size_t most_features) {
        for (std::size_t m = 1; m <= most_features; ++m) {
            if (all_.empty() || all_.back().points.size() < (m + 1) / 2) {
                all_.emplace_back(n_points(m));
                poll_interrupts();
            }
            of_.push_back(static_cast<std::uint32_t>(all_.size() - 1));
        }
    }

    const Rule& of(std::size_t n_features) const { return all_[of_[n_features - 1]]; }

  private:
    static std::size_t n_points(std::size_t n_features) {
        constexpr std::size_t kSteps = 8;  // from a power of two to the next
        const std::size_t least = (n_features + 1) / 2, step = std::max<std::size_t>(1, std::bit_floor(least) / kSteps);
        return (least + step - 1) / step * step;
    }

    std::vector<Rule> all_;
    std::vector<std::uint32_t> of_;
};

// Training weights of the nodes, in units of the leaves' covers.
std::vector<double> node_covers(const Forest& forest) {
    std::vector<double> covers(forest.nodes.size());
    std::size_t n_leaves = forest.covers.size();
    for (std::size_t t = forest.n_trees(); t-- > 0;) {
        const auto begin = static_cast<std::size_t>(forest.offsets[t]);
        for (auto c = static_cast<std::size_t>(forest.offsets[t + 1]); c-- > begin;) {
            const Node& node = forest.nodes[c];
            const std::size_t left = begin + static_cast<std::size_t>(node.left);
            covers[c] = node.feature == kLeaf ? forest.covers[--n_leaves] : covers[left] + covers[left + 1];
        }
    }
    return covers;
}

// What all paths through the trees have in common.
class TreePaths {
  public:
    TreePaths(const Forest& forest, std::size_t n_features, std::size_t n_classes)
        : forest_(forest),
          n_classes_(n_classes),
          indices_(n_features, kUnused),
          fractions_(node_covers(forest)),
          rules_(most_features()) {
        divide_by_parents();
    }

    const Forest& forest() const { return forest_; }
    std::size_t n_classes() const { return n_classes_; }
    const Rules& rules() const { return rules_; }
    std::span<const std::size_t> features() const { return features_; }  // that trees use
    std::size_t most_on_path() const { return most_on_path_; }           // of them
    std::uint32_t index(const Node& node) const { return indices_[static_cast<std::size_t>(node.feature)]; }
    double fraction(std::size_t node) const { return fractions_[node]; }  // of its parent's cover

  private:
    std::size_t most_features() {
        for (const Node& node : forest_.nodes)
            if (node.feature != kLeaf) indices_[static_cast<std::size_t>(node.feature)] = 0;
        for (std::size_t f = 0; f < indices_.size(); ++f) {
            if (indices_[f] == kUnused) continue;
            indices_[f] = static_cast<std::uint32_t>(features_.size());
            features_.push_back(f);
        }
        most_on_path_ = std::min(features_.size(), depth());
        return most_on_path_;
    }

    std::size_t depth() const {
        std::size_t deepest = 0;
        std::vector<std::size_t> depths;
        for (std::size_t t = 0; t < forest_.n_trees(); ++t) {
            const auto nodes = forest_.tree(t);
            depths.assign(nodes.size(), 0);
            for (std::size_t c = 0; c < nodes.size(); ++c) {
                deepest = std::max(deepest, depths[c]);
                if (nodes[c].feature == kLeaf) continue;
                const auto left = static_cast<std::size_t>(nodes[c].left);
                depths[left] = depths[left + 1] = depths[c] + 1;
            }
        }
        return deepest;
    }

    void divide_by_parents() {
        for (std::size_t t = 0; t < forest_.n_trees(); ++t) {
            const auto nodes = forest_.tree(t);
            const auto covers = std::span(fractions_).subspan(static_cast<std::size_t>(forest_.offsets[t]));
            for (std::size_t c = nodes.size(); c-- > 0;) {  // children come before their parent, which is whole then
                if (nodes[c].feature == kLeaf) continue;
                const auto left = static_cast<std::size_t>(nodes[c].left);
                covers[left] /= covers[c];
                covers[left + 1] /= covers[c];
            }
        }
    }

    const Forest& forest_;
    std::size_t n_classes_;
    std::vector<std::uint32_t> indices_;  // of the features among those that trees use
    std::vector<std::size_t> features_;
    std::size_t most_on_path_ = 0;
    std::vector<double> fractions_;
    Rules rules_;
};

// Follows all paths of all trees with a few rows at once.
class Walker {
  public:
    explicit Walker(const TreePaths& paths)
        : paths_(paths),
          slots_(paths.features().size(), kUnused),
          values_(paths.features().size() * kLanes),
          sums_(paths.features().size() * paths.n_classes() * kLanes),
          follows_(paths.most_on_path() * kLanes),
          scratch_(paths.most_on_path() * kLanes * LeafPath::kScratch),
          fractions_(paths.most_on_path()),
          features_(paths.most_on_path()) {
        path_.fractions = fractions_;
        path_.follows = follows_.span();
        path_.scratch = scratch_.span();
    }

    // Explains the rows begin .. begin + n_rows - 1.
    template <class T>
    void explain(const Matrix<T>& values, std::size_t begin, std::size_t n_rows, std::span<double> contributions) {
        const auto features = paths_.features();
        for (std::size_t p = 0; p < features.size(); ++p)
            for (std::size_t lane = 0; lane < kLanes; ++lane)  // lanes without a row repeat the last one
                values_.span()[p * kLanes + lane] =
                    static_cast<double>(values(begin + std::min(lane, n_rows - 1), features[p]));
        std::ranges::fill(sums_.span(), 0.0);
        for (std::size_t t = 0; t < paths_.forest().n_trees(); ++t) walk(t);
        const std::size_t n_classes = paths_.n_classes();
        for (std::size_t p = 0; p < features.size(); ++p)
            for (std::size_t lane = 0; lane < n_rows; ++lane) {
                const std::size_t cell = (begin + lane) * values.n_columns + features[p];
                const auto out = contributions.subspan(cell * n_classes, n_classes);
                for (std::size_t l = 0; l < n_classes; ++l) out[l] = sums_.span()[(p * n_classes + l) * kLanes + lane];
            }
    }

  private:
    using Lanes = std::array<double, kLanes>;

    // A node on the way from the root, and what its feature was before it.
    struct Turn {
        std::size_t node;
        std::size_t slot;  // of its feature on the path
        int n_taken;       // of its children
        bool is_first;     // node of this feature on the path
        double fraction_before;
        Lanes followed_before;
        Lanes goes_left;
    };

    void walk(std::size_t tree) {
        const auto begin = static_cast<std::size_t>(paths_.forest().offsets[tree]);
        const std::span<const Node> nodes = paths_.forest().nodes;
        if (nodes[begin].feature == kLeaf) return;
        turn_at(begin);
        while (!turns_.empty()) {
            Turn& turn = turns_.back();
            if (turn.n_taken == 2) {
                take_back(turn);
                continue;
            }
            const bool to_left = turn.n_taken++ == 0;
            const std::size_t child = begin + static_cast<std::size_t>(nodes[turn.node].left) + (to_left ? 0 : 1);
            fractions_[turn.slot] = turn.fraction_before * paths_.fraction(child);
            const auto follows = follows_.span().subspan(turn.slot * kLanes, kLanes);
            for (std::size_t lane = 0; lane < kLanes; ++lane)
                follows[lane] =
                    turn.followed_before[lane] * (to_left ? turn.goes_left[lane] : 1.0 - turn.goes_left[lane]);
            if (nodes[child].feature == kLeaf)
                add_leaf(tree, nodes[child]);
            else
                turn_at(child);
        }
    }

    void turn_at(std::size_t at) {
        const Node& node = paths_.forest().nodes[at];
        const std::uint32_t index = paths_.index(node);
        Turn turn{at, slots_[index], 0, slots_[index] == kUnused, 1.0, {}, {}};
        if (turn.is_first) {
            turn.slot = slots_[index] = static_cast<std::uint32_t>(n_on_path_);
            features_[n_on_path_++] = index;
            turn.followed_before.fill(1.0);
        } else {
            turn.fraction_before = fractions_[turn.slot];
            std::ranges::copy(follows_.span().subspan(turn.slot * kLanes, kLanes), turn.followed_before.begin());
        }
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            turn.goes_left[lane] =
                goes_left(values_.span()[index * kLanes + lane], node, paths_.forest().sets) ? 1.0 : 0.0;
        turns_.push_back(turn);
    }

    void take_back(const Turn& turn) {
        if (turn.is_first) {
            slots_[features_[--n_on_path_]] = kUnused;
        } else {
            fractions_[turn.slot] = turn.fraction_before;
            std::ranges::copy(turn.followed_before, follows_.span().subspan(turn.slot * kLanes, kLanes).begin());
        }
        turns_.pop_back();
    }

    void add_leaf(std::size_t tree, const Node& leaf) {
        const Forest& forest = paths_.forest();
        const std::size_t n_classes = paths_.n_classes();
        const Rule& rule = paths_.rules().of(n_on_path_);
        path_.features = std::span(features_).first(n_on_path_);
        path_.points = rule.points;
        path_.point_weights = rule.weights;
        const bool for_one = forest.leaf_values.empty();
        const LeafScores scores{.n_classes = n_classes,
                                .first = for_one ? leaf.label : std::size_t{0},
                                .last = for_one ? leaf.label + std::size_t{1} : n_classes,
                                .values = for_one ? std::span<const float>{} : forest.values_of(leaf, n_classes),
                                .weight = forest.weights[tree]};
        kernels().explain_leaf(path_, scores, sums_.span());
        poll_.after(kLanes * n_on_path_ * (rule.points.size() + scores.last - scores.first));
    }

    const TreePaths& paths_;
    std::vector<std::uint32_t> slots_;  // of the features on the path
    AlignedArray<double> values_, sums_, follows_, scratch_;
    std::vector<double> fractions_;
    std::vector<std::uint32_t> features_;  // indices of those on the path
    std::size_t n_on_path_ = 0;            // features
    std::vector<Turn> turns_;
    LeafPath path_{};
    InterruptPoll poll_;
};

}  // namespace

template <class T>
void explain(const Matrix<T>& values, const Forest& forest, std::size_t n_classes, int n_threads,
             std::span<double> contributions) {
    const TreePaths paths(forest, values.n_columns, n_classes);
    if (paths.features().empty()) return;
    const std::size_t n_groups = (values.n_rows + kLanes - 1) / kLanes;
    const std::size_t n_tasks = std::min(n_groups, kTasksPerThread * static_cast<std::size_t>(std::max(1, n_threads)));
    const std::size_t work = n_groups * kLanes * forest.nodes.size() * (paths.most_on_path() + n_classes);
    for_each_task(n_tasks, work, n_threads, [&](std::size_t task) {
        Walker walker(paths);
        for (std::size_t group = n_groups * task / n_tasks; group < n_groups * (task + 1) / n_tasks; ++group)
            walker.explain(values, group * kLanes, std::min(kLanes, values.n_rows - group * kLanes), contributions);
    });
}

template void explain(const Matrix<float>&, const Forest&, std::size_t, int, std::span<double>);
template void explain(const Matrix<double>&, const Forest&, std::size_t, int, std::span<double>);

void expected_scores(const Forest& forest, std::span<double> scores) {
    const std::vector<double> covers = node_covers(forest);
    std::ranges::fill(scores, 0.0);
    for (std::size_t t = 0; t < forest.n_trees(); ++t) {
        const auto root = static_cast<std::size_t>(forest.offsets[t]);
        std::vector<double> of_tree(scores.size());
        for (auto c = root; c < static_cast<std::size_t>(forest.offsets[t + 1]); ++c) {
            const Node& node = forest.nodes[c];
            if (node.feature != kLeaf) continue;
            if (forest.leaf_values.empty()) {
                of_tree[node.label] += covers[c] * forest.weights[t];
                continue;
            }
            const std::span<const float> values = forest.values_of(node, scores.size());
            for (std::size_t l = 0; l < scores.size(); ++l) of_tree[l] += covers[c] * static_cast<double>(values[l]);
        }
        for (std::size_t l = 0; l < scores.size(); ++l) scores[l] += of_tree[l] / covers[root];
    }
}

}  // namespace comboost
