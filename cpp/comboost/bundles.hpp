// Features of few bins that share a code: a row is added to one histogram for all of them, and the histograms of the
// features are its exact sums.
#pragma once

#include <span>
#include <vector>

#include "comboost/types.hpp"

namespace comboost {

// A feature alone, or features that share a code, whose digits are their codes, the first feature's the lowest.
struct Bundle {
    std::vector<std::size_t> features;
    std::size_t n_codes;       // the product of the features' bins
    std::size_t n_copies = 1;  // of its histogram: several if many rows have the same code
    AlignedArray<Code> codes;  // of every row, if features share one

    bool is_shared() const { return features.size() > 1; }

    // Bins of its histograms, if it has any of its own.
    std::size_t n_bins() const { return n_copies * n_codes; }

    // Whether it takes less to count so many rows in histograms of its own, and to sum these up, than to count every
    // feature.
    bool pays(std::size_t n_rows) const;
};

class Bundles {
  public:
    static constexpr std::size_t kMostCodes = 256;
    static constexpr std::size_t kFewBins = 16;  // two features of so many can share a code

    // Features of at most 16 bins, in their order, share a code as long as their bins multiply to at most 256; but not
    // if there are too few rows to gain by it.
    Bundles(const Codes& codes, const BinLayout& layout, int n_threads);
    Bundles(Bundles&&) = default;

    // Whether they may be those of these codes.
    bool fit(const Codes& codes, const BinLayout& layout) const;

    std::span<const Bundle> all() const { return bundles_; }

    // Bins of all histograms that bundles have of their own.
    std::size_t n_bins() const;

  private:
    std::size_t n_rows_;
    std::vector<std::int64_t> bin_offsets_;
    std::vector<Bundle> bundles_;
};

// Adds a bundle's own histograms, which are lost, to those of its features.
void add_margins(const Bundle& bundle, const BinLayout& layout, std::size_t width, Sum* own, Sum* histogram);

}  // namespace comboost
