#include "comboost/row_growing.hpp"

#include <algorithm>
#include <utility>

#include "comboost/parallel.hpp"
#include "comboost/scratch.hpp"

namespace comboost {
namespace {

constexpr std::size_t kPackedCodes = 1 << 20;  // that a thread copies together at most
constexpr std::size_t kTasksPerThread = 8;
constexpr std::size_t kFeaturesPerTask = 4;  // at least: every task copies the records of its node

}  // namespace

void HistogramPool::reset(std::size_t size, std::size_t most) {
    if (size != size_) {
        all_.clear();
        spare_ = {};
    }
    size_ = size;
    most_ = std::max<std::size_t>(1, most);
    free_.clear();
    for (const AlignedArray<Sum>& histogram : all_) free_.push_back(histogram.data());
}

Sum* HistogramPool::take() {
    if (free_.empty()) {
        if (all_.size() >= most_) return nullptr;
        all_.emplace_back(size_);
        free_.push_back(all_.back().data());
    }
    Sum* histogram = free_.back();
    free_.pop_back();
    return histogram;
}

Sum* HistogramPool::spare() {
    if (spare_.size() == 0) spare_ = AlignedArray<Sum>(size_);
    return spare_.data();
}

// One tree on its way.
class RowGrower::Growth {
  public:
    Growth(RowGrower& self, Grower& grower, const Codes& codes, const Bundles& bundles, const CostTable& costs,
           Partition& partition, RecordPacker& packer, int n_threads)
        : pool_(self.pool_),
          by_row_(self.by_row_),
          packed_bytes_(self.limits_.packed_bytes),
          grower_(grower),
          codes_(codes),
          bundles_(bundles),
          costs_(costs),
          partition_(partition),
          packer_(packer),
          n_threads_(n_threads),
          layout_(grower.layout()),
          width_(grower.channels().size()),
          n_small_rows_(self.limits_.small_share * static_cast<double>(layout_.n_bins()) /
                        static_cast<double>(layout_.n_features())) {
        const std::size_t size = layout_.n_bins() * width_;
        pool_.reset(size, self.limits_.histogram_bytes / (size * sizeof(Sum)));
    }

    void start(const Sum* root) {
        grower_.search(0, root, 1, n_threads_);
        histograms_ = {pool_.take()};
        std::copy_n(root, layout_.n_bins() * width_, histograms_[0]);
    }

    // Applies splits and searches the children, if they are to be searched; `keep` their histograms if these are to be
    // divided.
    void divide(std::span<const Split> splits, bool searched, bool keep) {
        partition_.split(codes_, splits, n_threads_);
        histograms_.resize(grower_.nodes().size());
        std::vector<NodeTask> nodes;
        for (std::size_t k = 0; k < splits.size(); ++k) {
            Sum* parent = std::exchange(histograms_[static_cast<std::size_t>(splits[k].node)], nullptr);
            if (searched)
                add_children(grower_.frontier_begin() + 2 * k, parent, keep, nodes);
            else
                release(parent);
        }
        search(nodes);
        for (const NodeTask& task : nodes) end(task, keep);
    }

  private:
    // A node that is counted. If the parent's histogram is known, what is left of it is the sibling's, which is
    // searched, too.
    struct NodeTask {
        std::size_t node;
        RowSet rows;
        bool searched;
        Sum* histogram = nullptr;  // to be written, and kept if that helps; null if bins are only looked at
        bool counted = false;      // whether it is written already
        std::size_t sibling = 0;
        Sum* remainder = nullptr;  // the parent's histogram, then the sibling's; null if that is not known
    };

    struct Winners {
        Grower::Candidate node, sibling;
    };

    // Some nodes, or some features of a single one.
    struct Task {
        std::size_t first_node, last_node;
        std::size_t first_feature, last_feature;
        Winners winners;
    };

    bool is_small(std::size_t n_rows) const { return static_cast<double>(n_rows) < n_small_rows_; }
    bool is_large(std::size_t n_rows) const {
        return n_rows * width_ * sizeof(Unit) > packed_bytes_ || bundles_.pay(n_rows, width_);
    }
    bool is_searched(std::size_t node) const { return grower_.may_split(node, partition_.rows(node).size); }
    Sum* of_feature(Sum* histogram, std::size_t feature) const { return histogram + layout_.begin(feature) * width_; }

    // Says how the children left and left + 1 are searched.
    void add_children(std::size_t left, Sum* parent, bool keep, std::vector<NodeTask>& nodes) {
        const bool right_is_smaller = partition_.rows(left + 1).size < partition_.rows(left).size;
        const std::size_t smaller = left + right_is_smaller, larger = left + !right_is_smaller;
        if (parent != nullptr && (!is_searched(larger) || is_small(partition_.rows(larger).size))) release(parent);
        if (parent != nullptr || is_searched(smaller)) {
            NodeTask task{smaller, partition_.rows(smaller), is_searched(smaller)};
            task.sibling = larger;
            task.remainder = parent;
            add_task(task, keep, nodes);
        }
        if (parent == nullptr && is_searched(larger)) add_task({larger, partition_.rows(larger), true}, keep, nodes);
    }

    void add_task(NodeTask task, bool keep, std::vector<NodeTask>& nodes) {
        if (!is_large(task.rows.size)) {
            if (keep && task.searched && !is_small(task.rows.size)) task.histogram = pool_.take();
            nodes.push_back(task);
            return;
        }
        task.histogram = pool_.take();
        if (task.histogram != nullptr) {
            count_large(task);
            nodes.push_back(task);
            return;
        }
        task.histogram = pool_.spare();  // there is one for all of them, so this task is done before the next
        count_large(task);
        search(std::span(&task, 1));
        task.histogram = nullptr;
        end(task, keep);
    }

    void count_large(NodeTask& task) {
        count_histograms(codes_, bundles_, costs_, layout_, std::span(&task.rows, 1), n_threads_, packer_,
                         task.histogram);
        task.counted = true;
    }

    // Keeps the histograms of nodes that will be divided.
    void end(const NodeTask& task, bool keep) {
        end(task.node, task.histogram, keep);
        end(task.sibling, task.remainder, keep);
    }

    void end(std::size_t node, Sum* histogram, bool keep) {
        if (histogram == nullptr) return;
        if (keep && grower_.has_split(node))
            histograms_[node] = histogram;
        else
            pool_.give(histogram);
    }

    void release(Sum*& histogram) {
        if (histogram != nullptr) pool_.give(histogram);
        histogram = nullptr;
    }

    std::size_t work_of(const NodeTask& task) const {
        const std::size_t n_histograms = (task.histogram != nullptr) + (task.remainder != nullptr);
        const std::size_t n_counted = task.counted ? 0 : task.rows.size;
        return width_ * (n_counted * layout_.n_features() + n_histograms * layout_.n_bins());
    }

    // Nodes that take little are searched by one task, features of one that takes much by several.
    std::vector<Task> tasks_of(std::span<const NodeTask> nodes, std::size_t work) const {
        const std::size_t n_features = layout_.n_features();
        const std::size_t share =
            std::max(kSerialWork, work / (kTasksPerThread * static_cast<std::size_t>(n_threads_)));
        std::vector<Task> tasks;
        std::size_t open_work = share;
        for (std::size_t p = 0; p < nodes.size(); ++p) {
            const std::size_t n_groups =
                n_threads_ > 1 ? std::min(n_features / kFeaturesPerTask, work_of(nodes[p]) / share) : 1;
            if (n_groups > 1) {
                for (std::size_t g = 0; g < n_groups; ++g)
                    tasks.push_back({p, p + 1, n_features * g / n_groups, n_features * (g + 1) / n_groups, {}});
                open_work = share;
                continue;
            }
            if (open_work >= share) {
                tasks.push_back({p, p, 0, n_features, {}});
                open_work = 0;
            }
            ++tasks.back().last_node;
            open_work += work_of(nodes[p]);
        }
        return tasks;
    }

    void search(std::span<const NodeTask> nodes) {
        std::size_t work = 0;
        for (const NodeTask& task : nodes) work += work_of(task);
        std::vector<Task> tasks = tasks_of(nodes, work);
        for_each_task(tasks.size(), work, n_threads_, [&](std::size_t t) { do_task(nodes, tasks[t]); });
        for (std::size_t t = 0; t < tasks.size();) {
            if (is_whole(tasks[t])) {
                ++t;
                continue;
            }
            const std::size_t p = tasks[t].first_node;
            Winners winners;
            for (; t < tasks.size() && tasks[t].first_node == p; ++t) {
                grower_.prefer(tasks[t].winners.node, winners.node);
                grower_.prefer(tasks[t].winners.sibling, winners.sibling);
            }
            Borrowed<NodeRows> rows;
            if (nodes[p].histogram == nullptr && winners.node.found()) pack(nodes[p], false, *rows);
            keep(nodes[p], winners, *rows);
        }
    }

    // Codes are packed, too, if they are few and all will be used.
    void pack(const NodeTask& task, bool all_features, NodeRows& rows) const {
        const bool by_row = all_features && !by_row_.empty() && task.rows.size * layout_.n_features() <= kPackedCodes;
        rows.pack(task.rows, costs_.records(), codes_, by_row ? &by_row_ : nullptr);
    }

    bool is_whole(const Task& task) const { return task.last_feature - task.first_feature == layout_.n_features(); }

    void do_task(std::span<const NodeTask> nodes, Task& task) {
        Borrowed<NodeRows> rows;
        InterruptPoll poll;
        for (std::size_t p = task.first_node; p < task.last_node; ++p) {
            if (!nodes[p].counted) pack(nodes[p], is_whole(task), *rows);
            task.winners = search_features(nodes[p], task.first_feature, task.last_feature, *rows, poll);
            if (is_whole(task)) keep(nodes[p], task.winners, *rows);
        }
    }

    Winners search_features(const NodeTask& task, std::size_t first, std::size_t last, NodeRows& rows,
                            InterruptPoll& poll) const {
        const DrawnFeatures drawn = grower_.draw(task.node);
        const DrawnFeatures drawn_by_sibling = task.remainder == nullptr ? drawn : grower_.draw(task.sibling);
        Winners winners;
        for (std::size_t f = first; f < last; ++f) {
            const bool is_drawn = task.searched && drawn.contains(f);
            if (!is_drawn && task.histogram == nullptr && task.remainder == nullptr) continue;
            const BinView bins = bins_of(task, f, rows);
            if (is_drawn) grower_.consider(task.node, f, bins, winners.node);
            if (task.remainder != nullptr) {
                remove_bins(bins, grower_.channels(), of_feature(task.remainder, f));
                if (drawn_by_sibling.contains(f))
                    grower_.consider(task.sibling, f, whole_feature(task.remainder, f), winners.sibling);
            }
            poll.after(work_of(task) / layout_.n_features());
        }
        return winners;
    }

    BinView bins_of(const NodeTask& task, std::size_t feature, NodeRows& rows) const {
        if (task.counted) return whole_feature(task.histogram, feature);
        const std::size_t n_bins = layout_.size(feature);
        return task.histogram == nullptr ? rows.bins(feature, n_bins)
                                         : rows.count(feature, n_bins, of_feature(task.histogram, feature));
    }

    BinView whole_feature(Sum* histogram, std::size_t feature) const {
        return {of_feature(histogram, feature), layout_.size(feature), nullptr};
    }

    // Keeps the splits found; `rows` are those of the task, if it was not counted before.
    void keep(const NodeTask& task, const Winners& winners, NodeRows& rows) {
        if (const std::size_t f = winners.node.feature; winners.node.found())
            grower_.keep(winners.node,
                         task.histogram == nullptr ? bins_of(task, f, rows) : whole_feature(task.histogram, f));
        if (const std::size_t f = winners.sibling.feature; winners.sibling.found())
            grower_.keep(winners.sibling, whole_feature(task.remainder, f));
    }

    HistogramPool& pool_;
    const CodesByRow& by_row_;
    std::size_t packed_bytes_;
    Grower& grower_;
    const Codes& codes_;
    const Bundles& bundles_;
    const CostTable& costs_;
    Partition& partition_;
    RecordPacker& packer_;
    int n_threads_;
    BinLayout layout_;
    std::size_t width_;
    double n_small_rows_;
    std::vector<Sum*> histograms_;  // of nodes that may be divided, null if they are not kept
};

void RowGrower::grow(Grower& grower, const Codes& codes, const Bundles& bundles, const CostTable& costs,
                     Partition& partition, RecordPacker& packer, const Sum* root, int n_threads) {
    if (by_row_.empty() && grower.limits().allow_many_leaves()) by_row_ = CodesByRow(codes, n_threads);
    Growth growth(*this, grower, codes, bundles, costs, partition, packer, n_threads);
    growth.start(root);
    grow_tree(grower,
              [&](std::span<const Split> splits, bool searched, bool keep) { growth.divide(splits, searched, keep); });
}

}  // namespace comboost
