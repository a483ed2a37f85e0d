#include "comboost/splitting.hpp"

#include <algorithm>
#include <array>

#include "comboost/categories.hpp"
#include "comboost/kernels.hpp"

namespace comboost {

std::size_t NodeSums::best_class() const {
    return static_cast<std::size_t>(std::min_element(costs.begin(), costs.end()) - costs.begin());
}

Sum NodeSums::best_cost() const { return *std::min_element(costs.begin(), costs.end()); }

Score score_of(const NodeSums& node, const SplitRules& rules) {
    if (rules.criterion == Criterion::cost) return {-node.best_cost(), 0.0};
    double squares = 0.0;
    for (const Sum cost : node.costs) squares += static_cast<double>(cost) * static_cast<double>(cost);
    return {0, node.loss == 0 ? 0.0 : squares / (static_cast<double>(node.loss) + rules.smoothing)};
}

void add_bins(const Sum* bins, std::size_t n_bins, const Channels& channels, NodeSums& sums) {
    Sum& last = sums.costs.back();
    for (std::size_t b = 0; b < n_bins; ++b) {
        const Sum* bin = bins + b * channels.size();
        for (std::size_t j = 0; j + 1 < channels.n_classes; ++j) {
            sums.costs[j] += bin[j];
            last -= bin[j];
        }
        sums.loss += bin[channels.loss()];
        if (channels.counted) sums.count += bin[channels.count()];
    }
}

NodeSums sum_bins(const Sum* bins, std::size_t n_bins, const Channels& channels) {
    NodeSums sums{std::vector<Sum>(channels.n_classes)};
    add_bins(bins, n_bins, channels, sums);
    return sums;
}

NodeSums difference(const NodeSums& whole, const NodeSums& part) {
    NodeSums rest{std::vector<Sum>(whole.costs.size()), whole.loss - part.loss, whole.count - part.count};
    for (std::size_t j = 0; j < whole.costs.size(); ++j) rest.costs[j] = whole.costs[j] - part.costs[j];
    return rest;
}

namespace {

// Whether both sides keep what they must, if the left one has this loss and so many rows.
bool allows(const SplitRules& rules, Sum loss, Sum count, const Channels& channels, const NodeSums& node) {
    return static_cast<double>(loss) >= rules.min_loss && static_cast<double>(node.loss - loss) >= rules.min_loss &&
           (!channels.counted || (count >= rules.min_count && node.count - count >= rules.min_count));
}

using Cuts = std::array<std::size_t, Draw::kMost>;

// Cuts that stand together. There is one after every bin that counts but the last, numbered as a scan does.
struct CutRange {
    std::size_t first, size;
};

CutRange all_cuts(const Sum* bins, std::size_t n_bins, const Channels& channels) {
    std::size_t n_counting = 0;
    for (std::size_t b = 0; b < n_bins; ++b) n_counting += counts(bins + b * channels.size(), channels);
    return {0, n_counting - std::min<std::size_t>(1, n_counting)};
}

// Those that leave enough on both sides: no bin takes anything away.
CutRange allowed_cuts(const Sum* bins, std::size_t n_bins, const Channels& channels, const NodeSums& node,
                      const SplitRules& rules) {
    std::size_t n_counting = 0, first = 0, n_cuts = 0;
    Sum loss = 0, count = 0;
    for (std::size_t b = 0; b < n_bins; ++b) {
        const Sum* bin = bins + b * channels.size();
        if (!counts(bin, channels)) continue;
        if (n_counting > 0 && allows(rules, loss, count, channels, node) && n_cuts++ == 0) first = n_counting - 1;
        loss += bin[channels.loss()];
        if (channels.counted) count += bin[channels.count()];
        ++n_counting;
    }
    return {first, n_cuts};
}

// Draws some of the cuts that are allowed, or takes all if they are few.
std::span<const std::size_t> draw_cuts(const Sum* bins, std::size_t n_bins, const Channels& channels,
                                       const NodeSums& node, const SplitRules& rules, const Draw& draw, Cuts& cuts) {
    const auto [first, n_cuts] = rules.min_loss <= 0.0 && !channels.counted
                                     ? all_cuts(bins, n_bins, channels)
                                     : allowed_cuts(bins, n_bins, channels, node, rules);
    const std::size_t n_tried = std::min(n_cuts, draw.n_drawn);
    for (std::size_t r = 0; r < n_tried; ++r) cuts[r] = first + (n_cuts > draw.n_drawn ? draw.cut(r, n_cuts) : r);
    return {cuts.data(), n_tried};
}

}  // namespace

BestBin find_best_bin(const Sum* bins, std::size_t n_bins, const Channels& channels, const NodeSums& node,
                      const SplitRules& rules, const Draw& draw) {
    Cuts room;
    std::span<const std::size_t> cuts;  // none is all
    if (draw.n_drawn > 0) {
        cuts = draw_cuts(bins, n_bins, channels, node, rules, draw, room);
        if (cuts.empty()) return {score_of(node, rules)};
    }
    const ScanInput input{bins,       n_bins,          channels,       node.costs.data(), node.loss,
                          node.count, rules.min_count, rules.min_loss, rules.smoothing,   cuts};
    if (rules.criterion == Criterion::cost) {
        const auto found = kernels().scan_cost(input);
        return {{found.score, 0.0}, found.bin};
    }
    const auto found = kernels().scan_gini(input);
    return {{0, found.score}, found.bin};
}

namespace {

// The code of the best bin, of those from `first` on.
std::int32_t code_of(const BinView& bins, std::size_t first, const BestBin& best) {
    return best.bin == kLeaf ? kLeaf : static_cast<std::int32_t>(bins.code(first + static_cast<std::size_t>(best.bin)));
}

// Of a feature whose code 0 is kept for missing values, which are tried on the left, then on the right.
Cut find_cut_with_missing(const BinView& bins, const Channels& channels, const NodeSums& node, const SplitRules& rules,
                          const Draw& draw) {
    const std::size_t first = bins.size > 0 && bins.code(0) == 0 ? 1 : 0;  // of the bins of values
    const BestBin right =
        find_best_bin(bins.sums + first * channels.size(), bins.size - first, channels, node, rules, draw);
    if (first == 0 || !counts(bins.sums, channels))
        return {right.score, code_of(bins, first, right), Side::heavier, {}};
    const BestBin left = find_best_bin(bins.sums, bins.size, channels, node, rules, draw);
    if (right.score > left.score) return {right.score, code_of(bins, first, right), Side::right, {}};
    return {left.score, code_of(bins, 0, left), Side::left, {}};
}

}  // namespace

Cut find_best_cut(const BinView& bins, Kind kind, const Channels& channels, const NodeSums& node,
                  const SplitRules& rules, const Draw& draw) {
    if (kind == Kind::categories) return find_best_set(bins, channels, node, rules, draw);
    if (kind == Kind::missing) return find_cut_with_missing(bins, channels, node, rules, draw);
    const BestBin best = find_best_bin(bins.sums, bins.size, channels, node, rules, draw);
    return {best.score, code_of(bins, 0, best), Side::heavier, {}};
}

NodeSums sum_left(const BinView& bins, Kind kind, const Channels& channels, const Cut& cut) {
    const auto goes_left = [&](std::size_t code) {
        if (kind == Kind::categories) return cut.left.contains(static_cast<Code>(code));
        if (kind == Kind::missing && code == 0) return cut.missing == Side::left;  // `heavier`: none of them counts
        return static_cast<std::int32_t>(code) <= cut.bin;
    };
    if (kind == Kind::complete && bins.codes == nullptr)
        return sum_bins(bins.sums, static_cast<std::size_t>(cut.bin) + 1, channels);
    NodeSums sums{std::vector<Sum>(channels.n_classes)};
    for (std::size_t b = 0; b < bins.size; ++b)
        if (goes_left(bins.code(b))) add_bins(bins.sums + b * channels.size(), 1, channels, sums);
    return sums;
}

void complete_cut(const BinView& bins, std::size_t n_codes, Kind kind, const Channels& channels, bool left_is_heavier,
                  Cut& cut) {
    if (kind == Kind::categories) {
        CodeSet counting;
        for (std::size_t b = 0; b < bins.size; ++b)
            if (counts(bins.sums + b * channels.size(), channels)) counting.insert(static_cast<Code>(bins.code(b)));
        for (std::size_t code = 0; code < n_codes; ++code)
            if (left_is_heavier && !counting.contains(static_cast<Code>(code)))
                cut.left.insert(static_cast<Code>(code));
        cut.missing = cut.left.contains(0) ? Side::left : Side::right;
        return;
    }
    if (cut.missing == Side::heavier) cut.missing = left_is_heavier ? Side::left : Side::right;
    if (needs_set(kind, cut))
        for (std::int32_t code = 1; code <= cut.bin; ++code) cut.left.insert(static_cast<Code>(code));
}

}  // namespace comboost
