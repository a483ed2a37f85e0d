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

bool Bundle::pays(std::size_t n_rows) const {
    constexpr std::size_t kUpdatesPerBin = 4;  // to clear it, and to add it to the features' histograms
    const std::size_t saved = is_shared() ? features.size() - 1 : n_copies / SpreadHistogram::kCopies;
    return n_rows * saved > kUpdatesPerBin * n_bins();
}

Bundles::Bundles(const Codes& codes, const BinLayout& layout, int n_threads)
    : n_rows_(codes.n_rows), bin_offsets_(layout.offsets.begin(), layout.offsets.end()) {
    for (auto& features : groups_of(layout)) {
        Bundle bundle{features, 1, 1, {}};
        for (const std::size_t f : features) bundle.n_codes *= layout.size(f);
        if (bundle.pays(codes.n_rows)) {
            bundle.codes = share_codes(codes, layout, features, n_threads);
            bundles_.push_back(std::move(bundle));
        } else {
            for (const std::size_t f : features) bundles_.push_back({{f}, layout.size(f), 1, {}});
        }
    }
    for (Bundle& bundle : bundles_)
        if (is_crowded(bundle.is_shared() ? bundle.codes.data() : codes.column(bundle.features[0]), codes.n_rows))
            bundle.n_copies = SpreadHistogram::kCopies;
}

bool Bundles::fit(const Codes& codes, const BinLayout& layout) const {
    return codes.n_rows == n_rows_ && std::ranges::equal(layout.offsets, bin_offsets_);
}

std::size_t Bundles::n_bins() const {
    std::size_t n_bins = 0;
    for (const Bundle& bundle : bundles_) n_bins += bundle.pays(n_rows_) ? bundle.n_bins() : 0;
    return n_bins;
}

void add_margins(const Bundle& bundle, const BinLayout& layout, std::size_t width, Sum* own, Sum* histogram) {
    std::size_t n_codes = bundle.n_codes;
    for (std::size_t c = 1; c < bundle.n_copies; ++c)
        for (std::size_t j = 0; j < n_codes * width; ++j) own[j] += own[c * n_codes * width + j];
    // The highest digit first: once its feature is served, the code is summed up over it and has one digit less.
    for (std::size_t k = bundle.features.size(); k-- > 0;) {
        const std::size_t n_bins = layout.size(bundle.features[k]);
        n_codes /= n_bins;
        const std::size_t size = n_codes * width;
        Sum* bin = histogram + layout.begin(bundle.features[k]) * width;
        for (std::size_t digit = 0; digit < n_bins; ++digit, bin += width) {
            const Sum* part = own + digit * size;
            for (std::size_t c = 0; c < size; c += width)
                for (std::size_t j = 0; j < width; ++j) bin[j] += part[c + j];
            if (digit == 0) continue;
            for (std::size_t c = 0; c < size; ++c) own[c] += part[c];
        }
    }
}

}  // namespace comboost
