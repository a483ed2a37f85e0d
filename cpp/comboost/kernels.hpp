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

// What a sample loses by class j, E being its excess over it.
enum class LossKind {
    exponential,  // c·E
    logistic,     // c·log2(1 + E)
    log           // all classes together: top·log2(1 + Σ c·E)
};

// A pass over the samples: a round is multiplied into the excess, and losses or costs follow from it.
struct SamplePass {
    LossKind kind;
    std::span<const Label> labels;
    std::span<const Weight> weights;   // empty if all are 1
    std::span<const RowIndex> leaves;  // of the samples; empty if there is no round to add
    std::span<const Label> classes;    // that the leaves predict; empty if a leaf has one value per class
    std::span<const double> growth;    // exp(v), K per leaf; e^α alone if leaves predict a class
    std::span<const double> shrink;    // exp(-v), K per leaf; e^-α alone
    std::span<const double> factors;   // K×K, zero diagonal
    std::span<const double> tops;      // K, the most that a sample of a class may cost; of the log-loss only
    std::span<const double>
        log_units;  // K, what a bit of log-loss counts for a sample of a class; empty if it does not
    Channels channels;
    std::span<double> excess;  // K per sample
    Unit* units;               // one record per sample, if costs are quantised
};

// Where losses of up to 2^51 units are added up. Those of samples with weights are cut into two digits; others have but
// the low one, which 2^12 samples do not fill. The low digits of all losses of a true class stand before the high ones.
struct LossSums {
    static constexpr int kDigit = 26;  // bits

    std::uint64_t* digits;
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

    std::span<const Signed> codes;
    std::size_t n_rows;
};

// Trees laid out for many rows at once. The paths through the first levels are all made as long as the longest one, so
// that they need no branches: tree t has the steps [t·(2^depth - 1), ...), the children of step s being 2s + 1 and
// 2s + 2. They lead to 2^depth ends, which are the leaves t·2^depth, ... or, if some trees are deeper, the nodes
// starts[t·2^depth], ... from which the rows go on to a leaf.
struct LevelTrees {
    struct Step {
        std::uint32_t column;     // where it begins in a block
        CodeBlock::Signed least;  // codes from it on go right
    };
    // A node below the levels. A leaf is its own left child, and `least`, which no code reaches, encodes its index.
    struct Stop {
        std::uint32_t column;
        std::uint32_t left;
        std::int32_t least;
    };
    static constexpr std::size_t kMaxDepth = 7;      // the end that a row reaches is a code
    static constexpr std::int32_t kFirstLeaf = 128;  // `least` of leaf 0
    static constexpr std::size_t kMaxTabled = 8;     // classes

    std::size_t depth;
    std::size_t leaves_per_tree;  // at most, or about
    std::span<const Step> steps;
    std::span<const std::uint32_t> starts;  // empty if no tree is deeper
    std::span<const Stop> stops;
    std::span<const double> weights;            // of the trees
    std::span<const double> table;              // values of the leaves, padded to 4 or 8 classes; empty if too large
    std::span<const Label> labels;              // classes that the leaves predict; empty if not needed
    std::span<const std::uint32_t> value_rows;  // rows of the leaves in `leaf_values`; empty if leaves predict a class
    std::span<const float> leaf_values;
};

// The histogram of one column of codes, or four of them that take turns and are added up later: an update of the bin
// that was updated last waits for that one.
struct SpreadHistogram {
    static constexpr std::size_t kCopies = 4;

    Sum* sums;
    std::size_t stride;  // from one to the next; 0 if there is but one

    Sum* copy(std::size_t c) const { return sums + c * stride; }
};

// The path to a leaf, which some features decide, for a few rows at once.
struct LeafPath {
    static constexpr std::size_t kRows = 8;
    static constexpr std::size_t kScratch = 3;  // numbers per feature and row

    std::span<const std::uint32_t> features;  // their indices in the sums
    std::span<const double> fractions;        // of the training weight that each feature lets pass
    std::span<const double> follows;          // per feature, whether it lets pass each of the rows: 1 or 0
    std::span<const double> points;           // of the quadrature rule
    std::span<const double> point_weights;
    std::span<double> scratch;
};

// What a leaf adds to the scores of the classes first .. last - 1: one value each, or the weight of its tree.
struct LeafScores {
    std::size_t n_classes;
    std::size_t first, last;
    std::span<const float> values;  // one per class; empty if the leaf predicts one class
    double weight;
};

struct Kernels {
    // Adds the trees first .. last - 1, in this order: scores[row] += leaf values, or scores[row][label] += weight.
    void (*add_scores)(const LevelTrees& trees, std::size_t first, std::size_t last, const CodeBlock& block,
                       std::size_t n_classes, std::span<double> scores);

    // codes[i] = number of the edges, ascending, below values[i], none of them being below NaN.
    void (*count_floats)(std::span<const float> edges, std::span<const float> values,
                         std::span<CodeBlock::Signed> codes);
    void (*count_doubles)(std::span<const double> edges, std::span<const double> values,
                          std::span<CodeBlock::Signed> codes);

    // sides[i] = 0 if codes[i] is in the set, otherwise 1.
    void (*find_sides)(const CodeSet& left, std::span<const Code> codes, std::span<CodeBlock::Signed> sides);

    // Does a pass for the samples begin .. end - 1: quantises their costs.
    PassResult (*update)(const SamplePass& pass, std::size_t begin, std::size_t end);

    // Does one that adds up their losses by true class and class, for the log-loss by true class. The largest sum of a
    // sample's costs, scaled as the factors.
    double (*add)(const SamplePass& pass, std::size_t begin, std::size_t end, const LossSums& sums);

    // Does one that leaves the excess as it is, and adds the costs to the sums of leaf, true class and class.
    void (*sum_pairs)(const SamplePass& pass, std::size_t begin, std::size_t end, Sum* sums);

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

    // sums[feature][class][row] += what the features on the path to a leaf add to the scores of these rows.
    void (*explain_leaf)(const LeafPath& path, const LeafScores& leaf, std::span<double> sums);

    Scanned<double> (*scan_gini)(const ScanInput& input);
    Scanned<Sum> (*scan_cost)(const ScanInput& input);

    // e to the power of each value, none of which is above 0, in place: right but for the last two bits, and at least
    // e^-708.
    void (*exponentiate)(std::span<double> values);
};

// The kernels in use: the widest that this CPU has, unless limited.
const Kernels& kernels();

// Whether wider vectors may be used; true at first. For tests: the result is the same.
void allow_wide_vectors(bool allowed);

}  // namespace comboost
