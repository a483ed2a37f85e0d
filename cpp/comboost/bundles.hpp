// Features of few bins that share a code: a row is added to one histogram for all of them, and the histograms of the
// features are its exact sums.
#pragma once

#include <span>
#include <vector>

#include "comboost/types.hpp"

namespace comboost {

// Sums that a bundle may have of its own: they should stay in the second-level cache.
inline constexpr std::size_t kMostOwnSums = 1 << 15;

// How rows are counted: in the features' histograms, or in one of the bundle's own, or in several that take turns.
enum class Counting : std::uint8_t { by_feature, together, in_turns };

// A feature alone, or features that share a code, whose digits are their codes, the first feature's the lowest.
struct Bundle {
    std::vector<std::size_t> features;
    std::size_t n_codes;       // the product of the features' bins
    AlignedArray<Code> codes;  // of every row, if features share one
    bool crowded = false;      // whether many rows have the same code

    bool is_shared() const { return features.size() > 1; }

    // What takes least for so many rows and channels, with what it takes to sum up the bundle's own histograms.
    Counting cheapest(std::size_t n_rows, std::size_t width) const;

    // Bins of its own histograms.
    std::size_t n_bins(Counting counting) const;
};

class Bundles {
  public:
    static constexpr std::size_t kMostCodes = 256;
    static constexpr std::size_t kFewBins = 16;  // two features of so many can share a code

    // Features of at most 16 bins, in their order, share a code as long as their bins multiply to at most 256; but not
    // if there are too few rows to gain by it.
    Bundles(const Codes& codes, const BinLayout& layout, int n_threads);

    std::span<const Bundle> all() const { return bundles_; }

    // Whether, for so many rows, any of them takes less with histograms of its own.
    bool pay(std::size_t n_rows, std::size_t width) const;

    // Bins of all histograms that bundles have of their own, at most.
    std::size_t n_bins(std::size_t width) const;

  private:
    std::size_t n_rows_;
    std::vector<Bundle> bundles_;
};

// Adds a bundle's own histograms, which are lost, to those of its features.
void add_margins(const Bundle& bundle, Counting counting, const BinLayout& layout, std::size_t width, Sum* own,
                 Sum* histogram);

}  // namespace comboost
