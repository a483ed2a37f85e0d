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
          packed_bytes_(self.packed_bytes_),
          grower_(grower),
          codes_(codes),
          bundles_(bundles),
          costs_(costs),
          partition_(partition),
          packer_(packer),
          n_threads_(n_threads),
          layout_(grower.layout()),
          width_(grower.channels().size()),
          n_small_rows_(self.small_share_ * static_cast<double>(layout_.n_bins()) /
                        static_cast<double>(layout_.n_features())) {
        const std::size_t size = layout_.n_bins() * width_;
        pool_.reset(size, self.budget_ / (size * sizeof(Sum)));
    }

    void start(const Sum* root) {
        grower_.search(0, root, 1, n_threads_);
        histograms_ = {pool_.take()};
        std::copy_n(root, layout_.n_bins() * width_, histograms_[0]);
    }

    void grow_levels(std::size_t max_depth) {
        for (std::size_t depth = 1;; ++depth) {
            const std::vector<Split>& splits = grower_.branch();
            if (splits.empty() || depth == max_depth) return;
            divide(splits, depth + 1 < max_depth);
        }
    }

    void grow_best_first(const TreeLimits& limits) {
        std::vector<std::size_t> depths{0};
        while (depths.size() / 2 + 1 < limits.max_leaves) {
            const std::vector<Split>& splits = grower_.branch_best();
            if (splits.empty() || depths.size() / 2 + 2 == limits.max_leaves) return;
            const std::size_t depth = depths[static_cast<std::size_t>(splits[0].node)] + 1;
            depths.insert(depths.end(), 2, depth);
            if (depth < limits.max_depth)
                divide(splits, depth + 1 < limits.max_depth);
            else
                close(splits[0]);
        }
    }

  private:
    // A node that is counted. If the parent's histogram is known, what is left of it is the sibling's, which is
    // searched, too.
    struct Plot {
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

    // Some plots, or some features of a single one.
    struct Task {
        std::size_t first_plot, last_plot;
        std::size_t first_feature, last_feature;
        Winners winners;
    };

    bool is_small(std::size_t n_rows) const { return static_cast<double>(n_rows) < n_small_rows_; }
    bool is_large(std::size_t n_rows) const {
        return n_rows * width_ * sizeof(Unit) > packed_bytes_ || bundles_.pay(n_rows, width_);
    }
    bool is_searched(std::size_t node) const { return grower_.may_split(node, partition_.rows(node).size); }
    Sum* of_feature(Sum* histogram, std::size_t feature) const { return histogram + layout_.begin(feature) * width_; }

    // Divides a node whose children are not searched.
    void close(const Split& split) {
        partition_.split(codes_, std::span(&split, 1), n_threads_);
        release(histograms_[static_cast<std::size_t>(split.node)]);
        histograms_.resize(grower_.nodes().size());
    }

    // Applies splits and searches the children; `keep` their histograms if these are to be divided.
    void divide(const std::vector<Split>& splits, bool keep) {
        partition_.split(codes_, splits, n_threads_);
        histograms_.resize(grower_.nodes().size());
        std::vector<Plot> plots;
        for (std::size_t k = 0; k < splits.size(); ++k) {
            Sum* parent = std::exchange(histograms_[static_cast<std::size_t>(splits[k].node)], nullptr);
            add_children(grower_.frontier_begin() + 2 * k, parent, keep, plots);
        }
        search(plots);
        for (const Plot& plot : plots) end(plot, keep);
    }

    // Says how the children left and left + 1 are searched.
    void add_children(std::size_t left, Sum* parent, bool keep, std::vector<Plot>& plots) {
        const bool right_is_smaller = partition_.rows(left + 1).size < partition_.rows(left).size;
        const std::size_t smaller = left + right_is_smaller, larger = left + !right_is_smaller;
        if (parent != nullptr && (!is_searched(larger) || is_small(partition_.rows(larger).size))) release(parent);
        if (parent != nullptr || is_searched(smaller)) {
            Plot plot{smaller, partition_.rows(smaller), is_searched(smaller)};
            plot.sibling = larger;
            plot.remainder = parent;
            add_plot(plot, keep, plots);
        }
        if (parent == nullptr && is_searched(larger)) add_plot({larger, partition_.rows(larger), true}, keep, plots);
    }

    void add_plot(Plot plot, bool keep, std::vector<Plot>& plots) {
        if (!is_large(plot.rows.size)) {
            if (keep && plot.searched && !is_small(plot.rows.size)) plot.histogram = pool_.take();
            plots.push_back(plot);
            return;
        }
        plot.histogram = pool_.take();
        if (plot.histogram != nullptr) {
            count_large(plot);
            plots.push_back(plot);
            return;
        }
        plot.histogram = pool_.spare();  // there is one for all of them, so this plot is done before the next
        count_large(plot);
        search(std::span(&plot, 1));
        plot.histogram = nullptr;
        end(plot, keep);
    }

    void count_large(Plot& plot) {
        count_histograms(codes_, bundles_, costs_, layout_, std::span(&plot.rows, 1), n_threads_, packer_,
                         plot.histogram);
        plot.counted = true;
    }

    // Keeps the histograms of nodes that will be divided.
    void end(const Plot& plot, bool keep) {
        end(plot.node, plot.histogram, keep);
        end(plot.sibling, plot.remainder, keep);
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

    std::size_t work_of(const Plot& plot) const {
        const std::size_t n_histograms = (plot.histogram != nullptr) + (plot.remainder != nullptr);
        const std::size_t n_counted = plot.counted ? 0 : plot.rows.size;
        return width_ * (n_counted * layout_.n_features() + n_histograms * layout_.n_bins());
    }

    // Plots that take little are searched by one task, features of one that takes much by several.
    std::vector<Task> tasks_of(std::span<const Plot> plots, std::size_t work) const {
        const std::size_t n_features = layout_.n_features();
        const std::size_t share =
            std::max(kSerialWork, work / (kTasksPerThread * static_cast<std::size_t>(n_threads_)));
        std::vector<Task> tasks;
        std::size_t open_work = share;
        for (std::size_t p = 0; p < plots.size(); ++p) {
            const std::size_t n_groups =
                n_threads_ > 1 ? std::min(n_features / kFeaturesPerTask, work_of(plots[p]) / share) : 1;
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
            ++tasks.back().last_plot;
            open_work += work_of(plots[p]);
        }
        return tasks;
    }

    void search(std::span<const Plot> plots) {
        std::size_t work = 0;
        for (const Plot& plot : plots) work += work_of(plot);
        std::vector<Task> tasks = tasks_of(plots, work);
        for_each_task(tasks.size(), work, n_threads_, [&](std::size_t t) { do_task(plots, tasks[t]); });
        for (std::size_t t = 0; t < tasks.size();) {
            if (is_whole(tasks[t])) {
                ++t;
                continue;
            }
            const std::size_t p = tasks[t].first_plot;
            Winners winners;
            for (; t < tasks.size() && tasks[t].first_plot == p; ++t) {
                grower_.prefer(tasks[t].winners.node, winners.node);
                grower_.prefer(tasks[t].winners.sibling, winners.sibling);
            }
            Borrowed<NodeRows> rows;
            if (plots[p].histogram == nullptr && winners.node.found()) pack(plots[p], false, *rows);
            keep(plots[p], winners, *rows);
        }
    }

    // Codes are packed, too, if they are few and all will be used.
    void pack(const Plot& plot, bool all_features, NodeRows& rows) const {
        const bool by_row = all_features && !by_row_.empty() && plot.rows.size * layout_.n_features() <= kPackedCodes;
        rows.pack(plot.rows, costs_.records(), codes_, by_row ? &by_row_ : nullptr);
    }

    bool is_whole(const Task& task) const { return task.last_feature - task.first_feature == layout_.n_features(); }

    void do_task(std::span<const Plot> plots, Task& task) {
        Borrowed<NodeRows> rows;
        InterruptPoll poll;
        for (std::size_t p = task.first_plot; p < task.last_plot; ++p) {
            if (!plots[p].counted) pack(plots[p], is_whole(task), *rows);
            task.winners = search_features(plots[p], task.first_feature, task.last_feature, *rows, poll);
            if (is_whole(task)) keep(plots[p], task.winners, *rows);
        }
    }

    Winners search_features(const Plot& plot, std::size_t first, std::size_t last, NodeRows& rows,
                            InterruptPoll& poll) const {
        const DrawnFeatures drawn = grower_.draw(plot.node);
        const DrawnFeatures drawn_by_sibling = plot.remainder == nullptr ? drawn : grower_.draw(plot.sibling);
        Winners winners;
        for (std::size_t f = first; f < last; ++f) {
            const bool is_drawn = plot.searched && drawn.contains(f);
            if (!is_drawn && plot.histogram == nullptr && plot.remainder == nullptr) continue;
            const BinView bins = bins_of(plot, f, rows);
            if (is_drawn) grower_.consider(plot.node, f, bins, winners.node);
            if (plot.remainder != nullptr) {
                remove_bins(bins, grower_.channels(), of_feature(plot.remainder, f));
                if (drawn_by_sibling.contains(f))
                    grower_.consider(plot.sibling, f, whole_feature(plot.remainder, f), winners.sibling);
            }
            poll.after(work_of(plot) / layout_.n_features());
        }
        return winners;
    }

    BinView bins_of(const Plot& plot, std::size_t feature, NodeRows& rows) const {
        if (plot.counted) return whole_feature(plot.histogram, feature);
        const std::size_t n_bins = layout_.size(feature);
        return plot.histogram == nullptr ? rows.bins(feature, n_bins)
                                         : rows.count(feature, n_bins, of_feature(plot.histogram, feature));
    }

    BinView whole_feature(Sum* histogram, std::size_t feature) const {
        return {of_feature(histogram, feature), layout_.size(feature), nullptr};
    }

    // Keeps the splits found; `rows` are those of the plot, if it was not counted before.
    void keep(const Plot& plot, const Winners& winners, NodeRows& rows) {
        if (const std::size_t f = winners.node.feature; winners.node.found())
            grower_.keep(winners.node,
                         plot.histogram == nullptr ? bins_of(plot, f, rows) : whole_feature(plot.histogram, f));
        if (const std::size_t f = winners.sibling.feature; winners.sibling.found())
            grower_.keep(winners.sibling, whole_feature(plot.remainder, f));
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
                     Partition& partition, RecordPacker& packer, const Sum* root, const TreeLimits& limits,
                     int n_threads) {
    if (by_row_.empty() && limits.allow_many_leaves()) by_row_ = CodesByRow(codes, n_threads);
    Growth growth(*this, grower, codes, bundles, costs, partition, packer, n_threads);
    growth.start(root);
    if (limits.max_leaves == TreeLimits::kNone)
        growth.grow_levels(limits.max_depth);
    else
        growth.grow_best_first(limits);
}

}  // namespace comboost
