#include "comboost/categories.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <vector>

namespace comboost {
namespace {

constexpr int kPowerSteps = 16;

// The categories of a node, and a scan over them: every bin of the scan adds a category to the left side, or takes it
// away again.
class CategoryScan {
  public:
    CategoryScan(const BinView& bins, const Channels& channels, const std::vector<std::size_t>& items)
        : bins_(bins), width_(channels.size()), items_(items) {}

    // Moves an item to the other side.
    void move(std::size_t item) {
        const Sum* bin = bins_.sums + items_[item] * width_;
        const Sum sign = on_left_[item] ? -1 : 1;
        on_left_[item] = !on_left_[item];
        for (std::size_t j = 0; j < width_; ++j) steps_.push_back(sign * bin[j]);
        moved_.push_back(item);
    }

    Cut best(const Channels& channels, const NodeSums& node, const SplitRules& rules, const Draw& draw) {
        steps_.resize(steps_.size() + width_);  // a scan leaves out the split after its last bin
        const BestBin found = find_best_bin(steps_.data(), moved_.size() + 1, channels, node, rules, draw);
        Cut cut{found.score, found.bin, Side::heavier, {}};
        if (found.bin == kLeaf) return cut;
        std::vector<bool> on_left(items_.size());
        for (std::size_t step = 0; step <= static_cast<std::size_t>(found.bin); ++step)
            on_left[moved_[step]] = !on_left[moved_[step]];
        for (std::size_t k = 0; k < items_.size(); ++k)
            if (on_left[k]) cut.left.insert(static_cast<Code>(bins_.code(items_[k])));
        return cut;
    }

  private:
    BinView bins_;
    std::size_t width_;
    const std::vector<std::size_t>& items_;  // the bins that count
    std::vector<bool> on_left_ = std::vector<bool>(items_.size());
    std::vector<Sum> steps_;
    std::vector<std::size_t> moved_;
};

// Items along the first principal direction of their cost vectors: with two classes the best split is one of this
// order, with more it is close to it.
class PrincipalOrder {
  public:
    PrincipalOrder(const BinView& bins, const Channels& channels, const NodeSums& node,
                   const std::vector<std::size_t>& items)
        : n_items_(items.size()), n_classes_(channels.n_classes), vectors_(n_items_ * n_classes_), shares_(n_items_) {
        const auto node_loss = static_cast<double>(node.loss);
        for (std::size_t c = 0; c < n_items_; ++c) {
            const NodeSums sums = sum_bins(bins.sums + items[c] * channels.size(), 1, channels);
            const auto loss = static_cast<double>(sums.loss);
            shares_[c] = loss / node_loss;
            for (std::size_t l = 0; l < n_classes_; ++l) {
                const double mean = sums.loss == 0 ? 0.0 : static_cast<double>(sums.costs[l]) / loss;
                vector(c)[l] = mean - static_cast<double>(node.costs[l]) / node_loss;
            }
        }
    }

    std::vector<std::size_t> order() {
        const std::vector<double> direction = principal_direction();
        std::vector<double> keys(n_items_);
        for (std::size_t c = 0; c < n_items_; ++c) keys[c] = product(vector(c), direction.data());
        std::vector<std::size_t> order(n_items_);
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
        return order;
    }

  private:
    double* vector(std::size_t item) { return vectors_.data() + item * n_classes_; }

    double product(const double* a, const double* b) const {
        double sum = 0.0;
        for (std::size_t l = 0; l < n_classes_; ++l) sum += a[l] * b[l];
        return sum;
    }

    // Power iteration, from the item that spreads most.
    std::vector<double> principal_direction() {
        std::size_t first = 0;
        double widest = -1.0;
        for (std::size_t c = 0; c < n_items_; ++c) {
            const double spread = shares_[c] * product(vector(c), vector(c));
            if (spread > widest) {
                widest = spread;
                first = c;
            }
        }
        std::vector<double> direction(vector(first), vector(first) + n_classes_), next(n_classes_);
        for (int step = 0; step < kPowerSteps; ++step) {
            std::fill(next.begin(), next.end(), 0.0);
            for (std::size_t c = 0; c < n_items_; ++c) {
                const double scale = shares_[c] * product(vector(c), direction.data());
                for (std::size_t l = 0; l < n_classes_; ++l) next[l] += scale * vector(c)[l];
            }
            double largest = 0.0;
            for (const double entry : next) largest = std::max(largest, std::abs(entry));
            if (largest == 0.0) break;
            for (std::size_t l = 0; l < n_classes_; ++l) direction[l] = next[l] / largest;
        }
        return direction;
    }

    std::size_t n_items_, n_classes_;
    std::vector<double> vectors_;  // an item's costs over its loss, from the node's
    std::vector<double> shares_;   // in the node's loss
};

}  // namespace

Cut find_best_set(const BinView& bins, const Channels& channels, const NodeSums& node, const SplitRules& rules,
                  const Draw& draw) {
    std::vector<std::size_t> items;
    for (std::size_t b = 0; b < bins.size; ++b)
        if (counts(bins.sums + b * channels.size(), channels)) items.push_back(b);
    if (items.size() < 2) return {};

    CategoryScan scan(bins, channels, items);
    if (items.size() <= kFewCategories) {
        // A Gray code moves one item at a time through all subsets; the last item stays on the right.
        for (unsigned step = 1; step < 1U << (items.size() - 1); ++step)
            scan.move(static_cast<std::size_t>(std::countr_zero(step)));
        return scan.best(channels, node, rules, {});
    }
    // The last item too, so that the cut before it is one; the one after it gains nothing.
    for (const std::size_t item : PrincipalOrder(bins, channels, node, items).order()) scan.move(item);
    return scan.best(channels, node, rules, draw);
}

}  // namespace comboost
