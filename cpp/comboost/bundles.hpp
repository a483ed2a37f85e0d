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
    AlignedArray<Code> codes;  // of every row, if they share one

    bool is_shared() const { return features.size() > 1; }

    // Whether it takes less to count the shared code of so many rows, and to sum up, than to count every feature.
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

    // Whether it pays to count the shared codes of so many rows.
    bool pay(std::size_t n_rows) const;

    // Codes of all bundles that share one.
    std::size_t n_shared_codes() const;

  private:
    std::size_t n_rows_;
    std::vector<std::int64_t> bin_offsets_;
    std::vector<Bundle> bundles_;
};

// Adds the histogram of a shared code, which is lost, to those of its features.
void add_margins(const Bundle& bundle, const BinLayout& layout, std::size_t width, Sum* shared, Sum* histogram);

}  // namespace comboost
