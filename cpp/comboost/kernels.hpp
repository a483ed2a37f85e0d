// The inner loops, compiled once for every x86-64 CPU and once for wider vectors; chosen when the program runs.
// Both give the same bits: the sums are integers, and the floats are added in one fixed order without contraction.
#pragma once

#include "comboost/types.hpp"

namespace comboost {

// The records of some rows, one after the other, and their weights if not all are 1.
struct Records {
    const Unit* units;
    const Weight* weights;
    Channels channels;
};

// What a pass over the samples measures.
struct PassResult {
    Sum loss = 0;          // Λ, the sum of n·Σ_j u(i,j)
    double largest = 0.0;  // the largest Σ_j v(i,j), still scaled by 2^e
    WideSum log_loss = 0;  // the sum of n·b(i) for the log-loss, 0 for others
};

// A pass over the samples: a round is multiplied into the excess, and the costs are quantised into the records.
struct UpdatePass {
    std::span<const Label> labels;
    std::span<const Weight> weights;    // empty if all are 1
    std::span<const RowIndex> leaves;   // of the samples; empty if there is no round to add
    std::span<const Label> classes;     // that the leaves predict; empty if a leaf has one value per class
    std::span<const double> growth;     // exp(v), K per leaf; e^α alone if leaves predict a class
    std::span<const double> shrink;     // exp(-v), K per leaf; e^-α alone
    std::span<const double> factors;    // K×K, zero diagonal
    std::span<const double> tops;       // K, the most that a sample of a class may cost; empty for the exponential loss
    std::span<const double> log_units;  // K, what a bit of log-loss counts for a sample of a class
    Channels channels;
    std::span<double> excess;  // K per sample
    Unit* units;               // one record per sample
};

struct ScanInput {
    const Sum* bins;
    std::size_t n_bins;
    Channels channels;
    const Sum* node_costs;  // D of every class
    Sum node_loss;
    Sum node_count;
    Sum min_count;
    double min_loss;
    double smoothing;  // added to the loss of a side that its costs are divided by
    // The cuts to try, ascending; empty if all are. A cut is after a bin that is not empty, numbered by these bins.
    std::span<const std::size_t> cuts;
};

// The first bin with the highest score above that of not splitting; kLeaf if there is none.
template <class S>
struct Scanned {
    S score;
    std::int32_t bin;
};

// Codes of a few rows, column after column. Columns are read up to a whole number of vectors. The codes are signed,
// since that is what vectors compare: 128 less than a Code.
struct CodeBlock {
    using Signed = std::int8_t;
    static constexpr std::size_t kRows = 256;
    static constexpr int kOffset = 128;
    static_assert(kRows % 32 == 0);

    const Signed* codes;
    std::size_t n_rows;
};

// Trees laid out for many rows at once. The paths through the first levels are all made as long as the longest one, so
// that they need no branches: tree t has the steps [t·(2^depth - 1), ...), the children of step s being 2s + 1 and
// 2s + 2. They lead to 2^depth ends; their places among the leaves are t·2^depth, ... or, if some trees are deeper,
// those where walks from starts[t·2^depth], ... arrive.
struct LevelTrees {
    struct Step {
        std::uint32_t column;     // where it begins in a block
        CodeBlock::Signed least;  // codes from it on go right
    };
    // A node of a walk. A leaf is its own left child, and its number, which no code reaches, tells its place.
    struct Stop {
        std::uint32_t column;
        std::uint32_t left;
        std::int32_t least;
    };
    static constexpr std::size_t kMaxDepth = 7;       // the end that a row reaches is a code
    static constexpr std::int32_t kFirstPlace = 128;  // of the leaf in place 0
    static constexpr std::size_t kMaxTabled = 8;      // classes

    std::size_t depth;
    std::size_t leaves_per_tree;  // at most, or about
    const Step* steps;
    const std::uint32_t* starts;  // null if no tree is deeper
    const Stop* stops;
    const double* weights;      // of the trees
    const double* table;        // votes of the places, padded to 4 or 8 classes; null if that would be too much
    const Label* labels;        // for which the places vote
    const std::uint32_t* rows;  // of the places' votes for every class; null if they vote for one
    const float* votes;
};

// The histogram of one column of codes, or four of them that take turns and are added up later: an update of the bin
// that was updated last waits for that one.
struct SpreadHistogram {
    static constexpr std::size_t kCopies = 4;

    Sum* sums;
    std::size_t stride;  // from one to the next; 0 if there is but one

    Sum* copy(std::size_t c) const { return sums + c * stride; }
};

// The way to a leaf, which some features decide, for a few rows at once.
struct LeafPath {
    static constexpr std::size_t kRows = 8;
    static constexpr std::size_t kScratch = 3;  // numbers per feature and row

    std::size_t n_features;
    const std::uint32_t* places;  // of the features in what is summed up
    const double* shares;         // of the training weight that the features let pass
    const double* follows;        // per feature, whether it lets pass each of the rows: 1 or 0
    std::size_t n_points;         // of the rule that integrates
    const double* points;
    const double* point_weights;
    double* scratch;
};

// What a leaf votes for the classes first .. last - 1: each its own vote, or one class the weight of the tree.
struct LeafBallot {
    std::size_t n_classes;
    std::size_t first, last;
    const float* votes;  // null if the leaf votes for one class
    double weight;
};

struct Kernels {
    // scores[row][label] += weight of the trees first .. last - 1, in this order, or scores[row] += votes of the leaf.
    void (*add_votes)(const LevelTrees& trees, std::size_t first, std::size_t last, const CodeBlock& block,
                      std::size_t n_classes, double* scores);

    // codes[i] = number of the edges, ascending, below values[i], none of them being below NaN.
    void (*count_floats)(std::span<const float> edges, const float* values, std::size_t n_values,
                         CodeBlock::Signed* codes);
    void (*count_doubles)(std::span<const double> edges, const double* values, std::size_t n_values,
                          CodeBlock::Signed* codes);

    // sides[i] = 0 if codes[i] is in the set, otherwise 1.
    void (*find_sides)(const CodeSet& left, const Code* codes, std::size_t n_codes, CodeBlock::Signed* sides);

    // Does a pass for the samples begin .. end - 1.
    PassResult (*update)(const UpdatePass& pass, std::size_t begin, std::size_t end);

    // Adds the records of the rows begin .. end - 1 to the sums of their leaf and class, K records per leaf.
    void (*sum_leaves)(const RowIndex* leaves, const Label* labels, std::size_t begin, std::size_t end,
                       const Records& records, Sum* sums);

    // Adds records to the histogram of a column. The code of the k-th is codes[rows[k]], or codes[k] if `rows` is
    // null.
    void (*accumulate)(const Code* codes, const RowIndex* rows, std::size_t n_rows, const Records& records,
                       const SpreadHistogram& to);

    // Adds a histogram over joint codes to the bins of its highest digit, and to that over the codes without it.
    void (*sum_digit)(std::size_t n_bins, std::size_t n_codes, std::size_t width, Sum* sums, Sum* bins);

    // Adds the records of rows[k], k < n_rows, to the sums of bins[k].
    void (*add_records)(const RowIndex* rows, const std::uint32_t* bins, std::size_t n_rows, const Records& records,
                        Sum* sums);

    // sums[place of feature][class][row] += what the features on the way to a leaf add to its votes on these rows.
    void (*explain_leaf)(const LeafPath& path, const LeafBallot& ballot, double* sums);

    Scanned<double> (*scan_gini)(const ScanInput& input);
    Scanned<Sum> (*scan_cost)(const ScanInput& input);

    // e to the power of each value, none of which is above 0, in place: right but for the last two bits, and at least
    // e^-708.
    void (*exponentiate)(double* values, std::size_t n_values);
};

// The kernels in use: the widest that this CPU has, unless limited.
const Kernels& kernels();

// Whether wider vectors may be used; true until told otherwise. For tests: the result is the same.
void allow_wide_vectors(bool allowed);

}  // namespace comboost
