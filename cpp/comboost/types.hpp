// The vocabulary of the core: number types, the records that cross the border, and the limits. src/comboost/_types.py
// is its mirror.
#pragma once

#include <bit>
#include <cfloat>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <span>

namespace comboost {

static_assert(std::endian::native == std::endian::little, "records cross the border, and are stored, in this order");
static_assert(sizeof(std::size_t) == 8, "rows times classes are counted in 64 bits, and log-losses in 128");
static_assert(std::numeric_limits<float>::is_iec559 && std::numeric_limits<double>::is_iec559, "numbers are of IEEE");
static_assert(FLT_EVAL_METHOD == 0, "every operation is rounded to a double");
static_assert(std::numeric_limits<double>::round_style == std::round_to_nearest, "to the nearest one");
#ifdef __FAST_MATH__
#error "The bits of models, and missing values, need arithmetic without -ffast-math."
#endif

using Code = std::uint8_t;               // bin of a value
using Label = std::uint16_t;             // class index
using Weight = std::uint32_t;            // integer sample weight; the weights of all rows add up to at most 2^32
using Unit = std::int32_t;               // quantised cost per unit of weight, at most 2^30 per row
using Sum = std::int64_t;                // sum of weight times unit, at most 2^62
__extension__ using WideSum = __int128;  // sum of weight times log-loss, at most 2^93
using RowIndex = std::uint32_t;

inline constexpr std::size_t kMaxBins = 255;
inline constexpr std::size_t kMaxClasses = 65535;
inline constexpr std::int32_t kLeaf = -1;   // the feature and left child of a leaf
inline constexpr std::int32_t kNoSet = -1;  // the set of a node that needs none
inline constexpr std::int32_t kBySet = -1;  // the bin of a split that only a set of codes can tell

// What a feature is, and with it what its code 0 means.
enum class Kind : std::uint8_t {
    complete,   // numbers, none of them missing
    missing,    // numbers; code 0 is kept for the missing ones
    categories  // categories; code 0 is kept for the missing ones
};

inline bool keeps_code_for_missing(Kind kind) { return kind != Kind::complete; }

// A set of codes. Packed, so that it may lie at any address: sets cross the border as bytes, which need no alignment.
struct [[gnu::packed]] CodeSet {
    std::uint32_t words[8] = {};

    bool contains(Code code) const { return (words[code / 32] >> (code % 32)) & 1; }
    void insert(Code code) { words[code / 32] |= std::uint32_t{1} << (code % 32); }
};
static_assert(sizeof(CodeSet) == 32 && alignof(CodeSet) == 1, "sets cross the border as 32 bytes");
static_assert(offsetof(CodeSet, words) == 0 && sizeof(CodeSet::words) == 32);

// A node of a flat tree. Children stand next to each other, so `left` names both. A value <= threshold goes left, and a
// code <= bin, or in `set` if there is one. Trees of a forest share their sets.
struct Node {
    static constexpr std::uint8_t kMissingLeft = 1;  // where a missing value goes
    static constexpr std::uint8_t kCategorical = 2;  // the values are categories: `set` decides, not the threshold

    double threshold;
    std::int32_t feature;
    std::int32_t left;
    std::int32_t set;
    Label label;
    Code bin;
    std::uint8_t flags;

    bool has(std::uint8_t flag) const { return (flags & flag) != 0; }
};
static_assert(sizeof(Node) == 24 && alignof(Node) == 8, "NODE_DTYPE of _types.py mirrors this record");
static_assert(offsetof(Node, threshold) == 0 && sizeof(Node::threshold) == 8);
static_assert(offsetof(Node, feature) == 8 && sizeof(Node::feature) == 4);
static_assert(offsetof(Node, left) == 12 && sizeof(Node::left) == 4);
static_assert(offsetof(Node, set) == 16 && sizeof(Node::set) == 4);
static_assert(offsetof(Node, label) == 20 && sizeof(Node::label) == 2);
static_assert(offsetof(Node, bin) == 22 && sizeof(Node::bin) == 1);
static_assert(offsetof(Node, flags) == 23 && sizeof(Node::flags) == 1);

// A tree that is being grown, or one of a forest.
struct Tree {
    std::span<const Node> nodes;
    std::span<const CodeSet> sets;

    // Whether a code goes left; the quick way if no node needs a set.
    template <bool WithSets>
    bool goes_left(const Node& node, Code code) const {
        if (WithSets && node.set != kNoSet) return sets[static_cast<std::size_t>(node.set)].contains(code);
        return code <= node.bin;
    }
};

// A split of a node that is being grown: codes <= bin go left, or those of a set if `bin` is kBySet.
struct Split {
    std::int32_t node;
    std::int32_t feature;
    std::int32_t bin;
    CodeSet left;
};
static_assert(sizeof(Split) == 44 && alignof(Split) == 4, "a split crosses the border as eleven int32");
static_assert(offsetof(Split, node) == 0 && sizeof(Split::node) == 4);
static_assert(offsetof(Split, feature) == 4 && sizeof(Split::feature) == 4);
static_assert(offsetof(Split, bin) == 8 && sizeof(Split::bin) == 4);
static_assert(offsetof(Split, left) == 12 && sizeof(Split::left) == 32);

// Memory that starts on a cache line, so that no vector lies across two of them; not initialised.
template <class T>
class AlignedArray {
  public:
    static constexpr std::size_t kAlignment = 64;

    AlignedArray() = default;
    explicit AlignedArray(std::size_t size)
        : data_(static_cast<T*>(::operator new(size * sizeof(T), std::align_val_t{kAlignment}))), size_(size) {}

    T* data() const { return data_.get(); }
    std::span<T> span() const { return {data_.get(), size_}; }
    std::size_t size() const { return size_; }

  private:
    struct Free {
        void operator()(T* data) const { ::operator delete(data, std::align_val_t{kAlignment}); }
    };
    std::unique_ptr<T, Free> data_;
    std::size_t size_ = 0;
};

// Codes, feature by feature: code of row i and feature f at data[f * n_rows + i].
struct Codes {
    const Code* data;
    std::size_t n_rows;
    std::size_t n_features;

    const Code* column(std::size_t feature) const { return data + feature * n_rows; }
};

// A matrix of values in any memory order; strides count elements.
template <class T>
struct Matrix {
    const T* data;
    std::size_t n_rows;
    std::size_t n_columns;
    std::ptrdiff_t row_stride;
    std::ptrdiff_t column_stride;

    T operator()(std::size_t row, std::size_t column) const {
        return data[static_cast<std::ptrdiff_t>(row) * row_stride +
                    static_cast<std::ptrdiff_t>(column) * column_stride];
    }
};

// Where the bins of each feature lie in a histogram: feature f owns [offsets[f], offsets[f + 1]).
struct BinLayout {
    std::span<const std::int64_t> offsets;

    std::size_t n_features() const { return offsets.size() - 1; }
    std::size_t n_bins() const { return static_cast<std::size_t>(offsets.back()); }
    std::size_t begin(std::size_t feature) const { return static_cast<std::size_t>(offsets[feature]); }
    std::size_t size(std::size_t feature) const {
        return static_cast<std::size_t>(offsets[feature + 1] - offsets[feature]);
    }
};

// What one bin of a histogram holds: the sums of the first K - 1 classes, the loss, and, if rows must be counted,
// their number. The costs of a row add up to zero over the classes, so the sum of the last class follows from the
// others. A row's record has the same channels, and zeros up to a whole number of vectors.
struct Channels {
    static constexpr std::size_t kLanes = 4;  // sums in a vector of 256 bits

    std::size_t n_classes;
    bool counted;

    std::size_t loss() const { return n_classes - 1; }
    std::size_t count() const { return n_classes; }
    std::size_t size() const { return n_vectors() * kLanes; }
    std::size_t n_vectors() const { return (n_classes + (counted ? 1 : 0) + kLanes - 1) / kLanes; }
};

}  // namespace comboost
