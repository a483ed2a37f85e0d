// The search of a frontier's splits straight from the entries of a sparse table: Grower::search_sparse.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <utility>

#include "comboost/growing.hpp"
#include "comboost/parallel.hpp"
#include "comboost/sparse_bins.hpp"

namespace comboost {
namespace {

constexpr std::size_t kMostDrawn = 1 << 21;  // features that nodes draw, held at once
constexpr std::size_t kTasksPerThread = 8;
constexpr std::size_t kUpdatesPerEntry = 4;
constexpr double kRounding = 1e-9;  // more than rounding moves a score by, relative to it

// How much a split can gain at most, if the side without the zeros has at most that much loss. D of a side is a sum of
// what its rows' costs are, u in all on other classes and -u on the own, so |D_l| <= Λ, ΣD² <= 2Λ², and the product of
// a side's D and the node's is at least -Λ·(max D - min D).
class GainBound {
  public:
    GainBound(const NodeSums& node, const SplitRules& rules) : rules_(rules), loss_(static_cast<double>(node.loss)) {
        for (const Sum cost : node.costs) squares_ += static_cast<double>(cost) * static_cast<double>(cost);
        const auto [lowest, highest] = std::minmax_element(node.costs.begin(), node.costs.end());
        range_ = static_cast<double>(*highest) - static_cast<double>(*lowest);
    }

    double most_gained(double loss) const {
        if (rules_.criterion == Criterion::cost) return 2.0 * loss * (1.0 + kRounding);
        const double rest = loss_ - loss + rules_.smoothing;
        if (rest <= 0.0) return std::numeric_limits<double>::infinity();
        const double of_side = loss == 0.0 ? 0.0 : 2.0 * loss * loss / (loss + rules_.smoothing);
        const double of_rest = (squares_ + 2.0 * loss * (range_ + loss)) / rest;
        const double of_node = squares_ / (loss_ + rules_.smoothing);
        return of_side + of_rest - of_node + kRounding * (of_side + of_rest);
    }

  private:
    SplitRules rules_;
    double loss_, squares_ = 0.0, range_;
};

float rounded_up(Sum loss) {
    return loss == 0 ? 0.0F : std::nextafter(static_cast<float>(loss), std::numeric_limits<float>::infinity());
}

// Which features which nodes have drawn: (feature's rank, index), ascending; none if all nodes have all features.
using Draws = std::vector<std::pair<std::uint32_t, NodeIndex>>;

}  // namespace

// One search: nodes of the frontier, and the best split found of each.
class Grower::SparseSearch {
  public:
    SparseSearch(Grower& grower, const SparseCodes& codes, const Records& records, const SparsePartition& partition,
                 std::span<const std::size_t> nodes)
        : grower_(grower),
          codes_(codes),
          records_(records),
          rules_(grower.split_rules()),
          nodes_(nodes),
          rows_(codes.n_rows()),
          bars_(nodes.size()),
          best_(nodes.size()) {
        const std::size_t width = records.channels.size();
        searched_ = {rows_, std::vector<Sum>(nodes.size() * width), nodes.size()};
        std::vector<NodeIndex> index_of_slot(partition.n_slots(), kNoNode);
        for (std::size_t index = 0; index < nodes.size(); ++index) {
            const NodeSums& sums = grower.sums_[nodes[index]];
            index_of_slot[partition.slot_of_node(nodes[index])] = static_cast<NodeIndex>(index);
            Sum* record = searched_.sums.data() + index * width;
            std::copy_n(sums.costs.data(), records.channels.loss(), record);
            record[records.channels.loss()] = sums.loss;
            if (records.channels.counted) record[records.channels.count()] = sums.count;
            gain_bounds_.emplace_back(sums, rules_);
        }
        for_each_stretch(0, rows_.size(), 4, [&](std::size_t from, std::size_t to) {
            for (std::size_t i = from; i < to; ++i) {
                const Sum weight = records.weights == nullptr ? 1 : Sum{records.weights[i]};
                const Sum loss = weight * records.units[i * width + records.channels.loss()];
                rows_[i] = {rounded_up(loss), index_of_slot[partition.slot_of_row(i)]};
            }
        });
    }

    void run(int n_threads) {
        const Draws draws = draw(n_threads);
        const std::size_t work = work_of(draws);
        const std::size_t n_tasks = n_parts(work, n_threads) == 1 ? 1 : kTasksPerThread * n_parts(work, n_threads);
        for_each_task(n_tasks, work, n_threads, [&](std::size_t number) {
            Task task{SparseBins(codes_, records_, searched_), {}, {}};
            if (grower_.draws_features())
                judge_drawn(draws, task, number, n_tasks);
            else
                for (std::size_t rank = number; rank < codes_.n_filled(); rank += n_tasks)
                    judge_feature(static_cast<std::uint32_t>(rank), task, [](NodeIndex) { return true; });
        });
        keep_best();
    }

  private:
    // What one thread needs while it goes from feature to feature.
    struct Task {
        SparseBins bins;
        std::vector<NodeIndex> hopeful;
        InterruptPoll poll;
    };

    // Draws the features of every node, by rank: how many entries they have.
    Draws draw(int n_threads) const {
        if (!grower_.draws_features()) return {};
        std::vector<Draws> drawn(nodes_.size());
        for_each_task(nodes_.size(), nodes_.size() * codes_.n_features(), n_threads, [&](std::size_t index) {
            const std::uint64_t key = grower_.node_key(nodes_[index]);
            for (const std::size_t f : draw_features(key, codes_.n_features(), grower_.rules_.max_features))
                if (codes_.rank(f) < codes_.n_filled())
                    drawn[index].emplace_back(codes_.rank(f), static_cast<NodeIndex>(index));
        });
        Draws all;
        for (const Draws& of_node : drawn) all.insert(all.end(), of_node.begin(), of_node.end());
        std::sort(all.begin(), all.end());
        return all;
    }

    std::size_t work_of(const Draws& draws) const {
        if (!grower_.draws_features()) return codes_.n_entries() * kUpdatesPerEntry;
        std::size_t n_entries = 0;
        for (const auto& [rank, index] : draws) n_entries += codes_.entries(rank).rows.size();
        return n_entries * kUpdatesPerEntry;
    }

    void judge_drawn(const Draws& draws, Task& task, std::size_t number, std::size_t n_tasks) {
        std::vector<std::uint32_t> asked(nodes_.size());  // the last rank that a index asked for, and 1
        for (std::size_t begin = 0, end = 0; begin < draws.size(); begin = end) {
            const std::uint32_t rank = draws[begin].first;
            while (end < draws.size() && draws[end].first == rank) ++end;
            if (rank % n_tasks != number) continue;
            for (std::size_t k = begin; k < end; ++k) asked[draws[k].second] = rank + 1;
            judge_feature(rank, task, [&](NodeIndex index) { return asked[index] == rank + 1; });
        }
    }

    // Judges a feature at all indices that ask for it, have entries of it, and may gain more by it than is found yet.
    template <class Asks>
    void judge_feature(std::uint32_t rank, Task& task, Asks&& asks) {
        const std::size_t feature = codes_.feature(rank);
        task.hopeful.clear();
        for (const NodeIndex index : task.bins.survey(rank))
            if (asks(index) && may_win(index, feature, task.bins.share(index))) task.hopeful.push_back(index);
        task.poll.after(codes_.entries(rank).rows.size() * kUpdatesPerEntry);
        if (task.hopeful.empty()) return;
        task.bins.count(task.hopeful);
        for (const NodeIndex index : task.hopeful) {
            Candidate candidate{nodes_[index] - grower_.frontier_begin_, feature, {}};
            grower_.judge(candidate, task.bins.bins(index));
            if (candidate.best.bin != kLeaf) offer(index, candidate);
        }
        task.poll.after(task.hopeful.size() * records_.channels.size() * kUpdatesPerEntry);
    }

    bool may_win(NodeIndex index, std::size_t feature, const SparseBins::Share& share) const {
        // One of the two sides has entries alone, and must keep what every side must.
        if (share.loss < rules_.min_loss) return false;
        if (records_.channels.counted && Sum{share.n_rows} < rules_.min_count) return false;
        const double bar = bars_[index].load(std::memory_order_relaxed);
        const double gained = gain_bounds_[index].most_gained(share.loss);
        const double noise = grower_.rules_.noise;
        if (noise <= 0.0) return gained >= bar;
        if (gained * std::exp(noise) * (1.0 + kRounding) < bar) return false;
        const std::uint64_t key = feature_key(grower_.node_key(nodes_[index]), feature);
        return gained * noise_factor(key, noise) * (1.0 + kRounding) >= bar;
    }

    // The bar is what the best candidate is worth: whoever is worth less has lost, whichever thread found it when.
    void offer(NodeIndex index, const Candidate& candidate) {
        const double worth = worth_of(index, candidate);
        if (worth < bars_[index].load(std::memory_order_relaxed)) return;
        const std::lock_guard lock(mutex_);
        Candidate& best = best_[index];
        const bool wins = best.best.bin == kLeaf || grower_.beats(candidate, best) ||
                          (!grower_.beats(best, candidate) && candidate.feature < best.feature);
        if (!wins) return;
        best = candidate;
        bars_[index].store(worth, std::memory_order_relaxed);
    }

    double worth_of(NodeIndex index, const Candidate& candidate) const {
        if (grower_.rules_.noise > 0.0) return candidate.appeal;
        return candidate.best.score.above(score_of(grower_.sums_[nodes_[index]], rules_));
    }

    // Says of every winner what goes left; the bins of a feature that wins at several indices are counted once.
    void keep_best() {
        std::vector<NodeIndex> winners;
        for (NodeIndex index = 0; index < nodes_.size(); ++index)
            if (best_[index].best.bin != kLeaf) winners.push_back(index);
        std::stable_sort(winners.begin(), winners.end(),
                         [&](auto a, auto b) { return best_[a].feature < best_[b].feature; });
        SparseBins bins(codes_, records_, searched_);
        InterruptPoll poll;
        for (std::size_t begin = 0, end = 0; begin < winners.size(); begin = end) {
            const std::size_t feature = best_[winners[begin]].feature;
            while (end < winners.size() && best_[winners[end]].feature == feature) ++end;
            bins.survey(codes_.rank(feature));
            bins.count(std::span(winners).subspan(begin, end - begin));
            for (std::size_t k = begin; k < end; ++k) grower_.keep(best_[winners[k]], bins.bins(winners[k]));
            poll.after(codes_.entries(codes_.rank(feature)).rows.size() * kUpdatesPerEntry);
        }
    }

    Grower& grower_;
    const SparseCodes& codes_;
    const Records& records_;
    SplitRules rules_;
    std::span<const std::size_t> nodes_;
    std::vector<SearchedRow> rows_;
    SearchedRows searched_;
    std::vector<GainBound> gain_bounds_;
    std::vector<std::atomic<double>> bars_;
    std::vector<Candidate> best_;
    std::mutex mutex_;  // of best_
};

void Grower::search_sparse(const SparseCodes& codes, const Records& records, const SparsePartition& partition,
                           int n_threads) {
    std::vector<std::size_t> nodes;
    for (std::size_t node = frontier_begin_; node < nodes_.size(); ++node)
        if (!is_pure(node)) nodes.push_back(node);
    const std::size_t at_once =
        draws_features() ? std::max<std::size_t>(1, kMostDrawn / std::max<std::size_t>(1, rules_.max_features))
                         : std::max<std::size_t>(1, nodes.size());
    for (std::size_t begin = 0; begin < nodes.size(); begin += at_once) {
        const std::size_t size = std::min(at_once, nodes.size() - begin);
        SparseSearch(*this, codes, records, partition, std::span(nodes).subspan(begin, size)).run(n_threads);
    }
}

}  // namespace comboost
