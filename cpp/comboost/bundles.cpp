#include "comboost/bundles.hpp"

#include <algorithm>
#include <array>

#include "comboost/kernels.hpp"
#include "comboost/parallel.hpp"

namespace comboost {
namespace {

// Which features stand together.
std::vector<std::vector<std::size_t>> groups_of(const BinLayout& layout) {
    std::vector<std::vector<std::size_t>> groups;
    std::vector<std::size_t> open;
    std::size_t n_codes = 1;
    for (std::size_t f = 0; f < layout.n_features(); ++f) {
        if (layout.size(f) > Bundles::kFewBins || layout.size(f) == 0) {
            groups.push_back({f});
            continue;
        }
        if (n_codes * layout.size(f) > Bundles::kMostCodes) {
            groups.push_back(std::move(open));
            open.clear();
            n_codes = 1;
        }
        open.push_back(f);
        n_codes *= layout.size(f);
    }
    if (!open.empty()) groups.push_back(std::move(open));
    return groups;
}

AlignedArray<Code> share_codes(const Codes& codes, const BinLayout& layout, std::span<const std::size_t> features,
                               int n_threads) {
    AlignedArray<Code> shared(codes.n_rows);
    for_each_block(codes.n_rows, features.size(), n_threads, [&](std::size_t begin, std::size_t end) {
        std::fill(shared.data() + begin, shared.data() + end, Code{0});
        for (std::size_t k = features.size(); k-- > 0;) {
            const Code* digits = codes.column(features[k]);
            const std::size_t n_bins = layout.size(features[k]);
            for (std::size_t i = begin; i < end; ++i)
                shared.data()[i] = static_cast<Code>(shared.data()[i] * n_bins + digits[i]);
        }
    });
    return shared;
}

// Whether so many rows have the same code that updates of its bin would wait for each other, as far as some rows tell.
bool is_crowded(const Code* codes, std::size_t n_rows) {
    constexpr std::size_t kAsked = 4096;
    constexpr std::size_t kCrowd = 8;  // one row in so many
    std::array<std::size_t, 256> sizes{};
    const std::size_t step = n_rows / kAsked + 1;
    for (std::size_t i = 0; i < n_rows; i += step) ++sizes[codes[i]];
    return *std::ranges::max_element(sizes) * kCrowd * step > n_rows;
}

}  // namespace

Counting Bundle::cheapest(std::size_t n_rows, std::size_t width) const {
    // In updates of a bin. One that waits for the last one takes as long as two that do not, unless all take that long.
    const bool waits = crowded && width <= 3 * Channels::kLanes;
    const std::size_t update = waits ? 2 : 1;
    const std::size_t by_feature = n_rows * features.size() * update;
    const std::size_t together = n_rows * update + 2 * n_codes;
    const std::size_t in_turns = n_rows + 2 * SpreadHistogram::kCopies * n_codes;
    if (waits && in_turns < std::min(by_feature, together)) return Counting::in_turns;
    if (together < by_feature && n_codes * width <= kMostOwnSums) return Counting::together;
    return Counting::by_feature;
}

std::size_t Bundle::n_bins(Counting counting) const {
    if (counting == Counting::by_feature) return 0;
    return counting == Counting::together ? n_codes : SpreadHistogram::kCopies * n_codes;
}

Bundles::Bundles(const Codes& codes, const BinLayout& layout, int n_threads) : n_rows_(codes.n_rows) {
    InterruptPoll poll;
    for (auto& features : groups_of(layout)) {
        poll.after(features.size() * codes.n_rows);
        Bundle bundle{features, 1, {}};
        for (const std::size_t f : features) bundle.n_codes *= layout.size(f);
        if (bundle.cheapest(codes.n_rows, Channels::kLanes) != Counting::by_feature) {
            bundle.codes = share_codes(codes, layout, features, n_threads);
            bundles_.push_back(std::move(bundle));
        } else {
            for (const std::size_t f : features) bundles_.push_back({{f}, layout.size(f), {}});
        }
    }
    for (Bundle& bundle : bundles_)
        bundle.crowded =
            is_crowded(bundle.is_shared() ? bundle.codes.data() : codes.column(bundle.features[0]), codes.n_rows);
}

bool Bundles::pay(std::size_t n_rows, std::size_t width) const {
    return std::ranges::any_of(
        bundles_, [&](const Bundle& bundle) { return bundle.cheapest(n_rows, width) != Counting::by_feature; });
}

std::size_t Bundles::n_bins(std::size_t width) const {
    std::size_t n_bins = 0;
    for (const Bundle& bundle : bundles_) n_bins += bundle.n_bins(bundle.cheapest(n_rows_, width));
    return n_bins;
}

void add_margins(const Bundle& bundle, Counting counting, const BinLayout& layout, std::size_t width, Sum* own,
                 Sum* histogram) {
    const std::size_t size = bundle.n_codes * width;
    for (std::size_t begin = size; begin < bundle.n_bins(counting) * width; begin += size)
        for (std::size_t j = 0; j < size; ++j) own[j] += own[begin + j];
    std::size_t n_codes = bundle.n_codes;
    for (std::size_t k = bundle.features.size(); k-- > 0;) {
        const std::size_t feature = bundle.features[k];
        n_codes /= layout.size(feature);
        kernels().sum_digit(layout.size(feature), n_codes, width, own, histogram + layout.begin(feature) * width);
    }
}

}  // namespace comboost
