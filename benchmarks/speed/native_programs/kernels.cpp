// The kernels of the core on a small fixed problem, one per word, on one thread: for callgrind, which counts
// instructions. Every run sets everything up; the word says which kernel is run once more. "setup" runs none: its count
// is what to take off from the others.
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "comboost/binning.hpp"
#include "comboost/costs.hpp"
#include "comboost/growing.hpp"
#include "comboost/histogram.hpp"
#include "comboost/partition.hpp"
#include "comboost/predicting.hpp"

using namespace comboost;

namespace {

constexpr int kDepth = 3;

struct Sizes {
    std::size_t n_rows, n_features, n_classes, n_trees;
};

// What every kernel needs of what the others made.
class Bench {
  public:
    explicit Bench(const Sizes& sizes) : sizes_(sizes), random_(20131), codes_(sizes.n_rows * sizes.n_features) {
        draw_rows();
        keep_edges();
        encode_values();
        const GrowthRules rules{Criterion::gini, 1, 0.0, sizes.n_features, 0};
        grower_.emplace_back(offsets_, kinds_, edges_, starts_, sizes.n_classes, rules);
        costs_.emplace_back(labels_, std::span<const Weight>{}, grower().channels(), Loss{unit_, {}}, 1);
        costs_.front().set_predicted(predicted_);
        update();
        bundles_.emplace_back(code_view(), BinLayout{offsets_}, 1);
        histogram_.resize(grower().layout().n_bins() * grower().channels().size());
        count_root();
        search_root();
        draw_forest();
        scores_.resize(sizes.n_rows * sizes.n_classes);
    }

    std::vector<FeatureEdges> find_edges_of_values() const {
        return find_edges(matrix(), std::span<const Weight>{}, kMaxBins, 1);
    }

    void encode_values() { encode(matrix(), std::span<const double>(edges_), starts_, kinds_, 1, codes_.data()); }

    void update() {
        const double growth = 1.25, shrink = 0.8;
        costs_.front().quantise({std::span(&growth, 1), std::span(&shrink, 1)}, 0);
    }

    void count_root() {
        const RowSet all{nullptr, sizes_.n_rows};
        RecordPacker packer;
        count_histograms(code_view(), bundles_.front(), costs_.front(), {offsets_}, std::span(&all, 1), 1, packer,
                         histogram_.data());
    }

    void search_root() {
        std::vector<Sum> totals(grower().channels().size());
        costs_.front().sum_rows(totals);
        grower().plant(totals, 0);
        grower().search(0, histogram_.data(), 1, 1);
    }

    void split_root() {
        Partition partition(sizes_.n_rows);
        const Split half{0, 0, static_cast<std::int32_t>(kMaxBins / 2), {}};
        partition.split(code_view(), std::span(&half, 1), 1);
    }

    void predict() {
        const Forest forest{nodes_, {}, tree_offsets_, tree_weights_, {}, {}};
        add_scores(matrix(), false, forest, 0, sizes_.n_trees, sizes_.n_classes, 1, scores_);
    }

  private:
    Matrix<float> matrix() const {
        return {values_.data(), sizes_.n_rows, sizes_.n_features, static_cast<std::ptrdiff_t>(sizes_.n_features), 1};
    }
    Codes code_view() const { return {codes_.data(), sizes_.n_rows, sizes_.n_features}; }
    Grower& grower() { return grower_.front(); }
    std::size_t below(std::size_t n) { return random_() % n; }

    // Classes are far apart in the first feature only, so that a search has something to find.
    void draw_rows() {
        std::normal_distribution<float> normal;
        for (std::size_t i = 0; i < sizes_.n_rows; ++i) {
            labels_.push_back(static_cast<Label>(below(sizes_.n_classes)));
            predicted_.push_back(static_cast<Label>(below(sizes_.n_classes)));
            for (std::size_t f = 0; f < sizes_.n_features; ++f)
                values_.push_back(normal(random_) + (f == 0 ? static_cast<float>(labels_.back()) : 0.0F));
        }
        unit_.assign(sizes_.n_classes * sizes_.n_classes, 1e6);
        for (std::size_t l = 0; l < sizes_.n_classes; ++l) unit_[l * (sizes_.n_classes + 1)] = 0.0;
    }

    void keep_edges() {
        offsets_ = starts_ = {0};
        kinds_.assign(sizes_.n_features, Kind::complete);
        for (const auto& [column, missing, infinite] : find_edges_of_values()) {
            edges_.insert(edges_.end(), column.begin(), column.end());
            starts_.push_back(static_cast<std::int64_t>(edges_.size()));
            offsets_.push_back(offsets_.back() + static_cast<std::int64_t>(column.size()) + 1);
        }
    }

    // Full trees with random splits: what they cost to predict does not depend on what they learned.
    void draw_forest() {
        tree_offsets_ = {0};
        const std::int32_t n_inner = (1 << kDepth) - 1;
        for (std::size_t t = 0; t < sizes_.n_trees; ++t) {
            for (std::int32_t k = 0; k < 2 * n_inner + 1; ++k) {
                const std::size_t feature = below(sizes_.n_features);
                const auto label = static_cast<Label>(below(sizes_.n_classes));
                const auto bin = static_cast<Code>(below(kMaxBins - 1));
                const double threshold = edges_[static_cast<std::size_t>(starts_[feature] + bin)];
                nodes_.push_back(
                    k < n_inner ? Node{threshold, static_cast<std::int32_t>(feature), 2 * k + 1, kNoSet, label, bin, 0}
                                : Node{0.0, kLeaf, kLeaf, kNoSet, label, 0, 0});
            }
            tree_offsets_.push_back(static_cast<std::int64_t>(nodes_.size()));
            tree_weights_.push_back(0.5);
        }
    }

    Sizes sizes_;
    std::mt19937 random_;
    std::vector<float> values_;
    std::vector<Label> labels_, predicted_;
    std::vector<double> unit_, edges_;
    std::vector<std::int64_t> offsets_, starts_;
    std::vector<Kind> kinds_;
    std::vector<Code> codes_;
    std::vector<Grower> grower_;  // one, once there are bins
    std::deque<CostTable> costs_;
    std::vector<Bundles> bundles_;  // one, once there is a grower
    std::vector<Sum> histogram_;
    std::vector<Node> nodes_;
    std::vector<std::int64_t> tree_offsets_;
    std::vector<double> tree_weights_, scores_;
};

const std::map<std::string, std::function<void(Bench&)>> kKernels{
    {"setup", [](Bench&) {}},
    {"find_edges", [](Bench& bench) { bench.find_edges_of_values(); }},
    {"encode", &Bench::encode_values},
    {"update", &Bench::update},
    {"count_histograms", &Bench::count_root},
    {"search", &Bench::search_root},
    {"split", &Bench::split_root},
    {"add_votes", &Bench::predict},
};

std::size_t number(const char* word) { return std::strtoull(word, nullptr, 10); }

}  // namespace

int main(int argc, char** argv) {
    const auto kernel = argc == 6 ? kKernels.find(argv[1]) : kKernels.end();
    if (kernel == kKernels.end()) {
        std::fprintf(stderr, "usage: kernels KERNEL n_rows n_features n_classes n_trees\nkernels:");
        for (const auto& [name, run] : kKernels) std::fprintf(stderr, " %s", name.c_str());
        std::fprintf(stderr, "\n");
        return 2;
    }
    Bench bench({number(argv[2]), number(argv[3]), number(argv[4]), number(argv[5])});
    kernel->second(bench);
    return 0;
}
