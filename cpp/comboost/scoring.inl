// The inner loops of prediction, a part of kernels.inl: the leaf that every row of a block reaches, and its scores.
namespace comboost::COMBOOST_KERNELS {
namespace {

using SignedLanes = CodeBlock::Signed __attribute__((vector_size(32)));
using CodeLanes = Code __attribute__((vector_size(32)));

constexpr std::size_t kGroup = sizeof(CodeLanes);  // rows whose leaves are found at once

// The leaf that each row of a group reaches, among those of all trees.
using GroupLeaves = std::uint32_t[kGroup];
using FindLeaves = void (*)(const LevelTrees& trees, std::size_t tree, const CodeBlock& block, std::size_t first,
                            GroupLeaves& leaves);

// Where rows leave the levels of a tree below one of its steps: every step chooses between what its children chose.
template <std::size_t Depth, std::size_t Level = 0, std::size_t Index = 0>
inline CodeLanes find_ends(const LevelTrees::Step* steps, const CodeBlock::Signed* codes) {
    if constexpr (Level == Depth) {
        return CodeLanes{} + static_cast<Code>(Index);
    } else {
        const CodeLanes left = find_ends<Depth, Level + 1, 2 * Index>(steps, codes);
        const CodeLanes right = find_ends<Depth, Level + 1, 2 * Index + 1>(steps, codes);
        const LevelTrees::Step& step = steps[(std::size_t{1} << Level) - 1 + Index];
        SignedLanes of_rows;
        std::memcpy(&of_rows, codes + step.column, sizeof(of_rows));
        return (SignedLanes{} + step.least) > of_rows ? left : right;
    }
}

template <std::size_t Depth>
void find_leaves(const LevelTrees& trees, std::size_t tree, const CodeBlock& block, std::size_t first,
                 GroupLeaves& leaves) {
    const LevelTrees::Step* steps = trees.steps.data() + tree * ((std::size_t{1} << Depth) - 1);
    const CodeLanes ends = find_ends<Depth>(steps, block.codes.data() + first);
    const auto first_leaf = static_cast<std::uint32_t>(tree << Depth);
    for (std::size_t k = 0; k < kGroup; ++k) leaves[k] = first_leaf + ends[k];
}

// Goes on from the levels node by node. Some rows go side by side, so that none waits for what another one loads; those
// that have arrived stay where they are.
void walk_on(const LevelTrees& trees, std::size_t tree, const CodeBlock& block, std::size_t first,
             GroupLeaves& leaves) {
    constexpr std::size_t kAbreast = 8;
    static_assert(kGroup % kAbreast == 0);
    find_leaves<LevelTrees::kMaxDepth>(trees, tree, block, first, leaves);
    for (std::size_t begin = 0; begin < kGroup; begin += kAbreast) {
        std::uint32_t at[kAbreast];
        for (std::size_t k = 0; k < kAbreast; ++k) at[k] = trees.starts[leaves[begin + k]];
        const CodeBlock::Signed* codes = block.codes.data() + first + begin;
        for (std::uint32_t moved = 1; moved != 0;) {
            moved = 0;
            COMBOOST_UNROLLED(8)
            for (std::size_t k = 0; k < kAbreast; ++k) {
                const LevelTrees::Stop& stop = trees.stops[at[k]];
                const std::uint32_t next = stop.left + (codes[stop.column + k] >= stop.least ? 1 : 0);
                moved |= next ^ at[k];
                at[k] = next;
            }
        }
        for (std::size_t k = 0; k < kAbreast; ++k)
            leaves[begin + k] = static_cast<std::uint32_t>(trees.stops[at[k]].least - LevelTrees::kFirstLeaf);
    }
}

FindLeaves finder_of(const LevelTrees& trees) {
    static_assert(LevelTrees::kMaxDepth == 7);
    if (!trees.starts.empty()) return &walk_on;
    return dispatch<0, 1, 2, 3, 4, 5, 6, 7>(trees.depth,
                                            []<std::size_t Depth>() -> FindLeaves { return &find_leaves<Depth>; });
}

// Some trees are added at a time, as many as have leaf values that stay in the nearest cache: so the scores of a row
// stay in registers meanwhile.
constexpr std::size_t kMaxTrees = 32;
constexpr std::size_t kCachedBytes = 1 << 14;

template <class Add>
void for_each_group(const LevelTrees& trees, std::size_t first, std::size_t last, const CodeBlock& block,
                    std::size_t bytes_per_leaf, Add&& add) {
    const FindLeaves find = finder_of(trees);
    const std::size_t step =
        std::clamp<std::size_t>(kCachedBytes / (trees.leaves_per_tree * bytes_per_leaf), 1, kMaxTrees);
    GroupLeaves leaves[kMaxTrees];
    for (; first < last; first += step) {
        const std::size_t n_trees = std::min(step, last - first);
        for (std::size_t row = 0; row < block.n_rows; row += kGroup) {
            for (std::size_t t = 0; t < n_trees; ++t) find(trees, first + t, block, row, leaves[t]);
            add(row, first, n_trees, leaves);
        }
    }
}

inline FloatLanes load(const double* from) {
    FloatLanes lanes;
    std::memcpy(&lanes, from, sizeof(lanes));
    return lanes;
}

inline void store(const FloatLanes& lanes, double* to) { std::memcpy(to, &lanes, sizeof(lanes)); }

inline FloatLanes load_floats(const float* from) {
    using Narrow = float __attribute__((vector_size(kLanes * sizeof(float))));
    Narrow floats;
    std::memcpy(&floats, from, sizeof(floats));
    return __builtin_convertvector(floats, FloatLanes);
}

// Few classes, padded to V vectors.
template <std::size_t V>
void add_tabled(const LevelTrees& trees, std::size_t first, std::size_t last, const CodeBlock& block,
                std::size_t n_classes, std::span<double> scores) {
    constexpr std::size_t kWidth = V * kLanes;
    constexpr std::size_t kAbreast = 8 / V;  // rows; more would not stay in registers
    alignas(64) double sums[CodeBlock::kRows * kWidth];
    std::fill_n(sums, (block.n_rows + kGroup - 1) / kGroup * kGroup * kWidth, 0.0);
    for (std::size_t i = 0; i < block.n_rows; ++i)
        std::copy_n(scores.data() + i * n_classes, n_classes, sums + i * kWidth);
    const auto add = [&](std::size_t row, std::size_t, std::size_t n_trees, const GroupLeaves* leaves) {
        for (std::size_t k = 0; k < kGroup; k += kAbreast) {
            double* to = sums + (row + k) * kWidth;
            FloatLanes sum[kAbreast * V];
            for (std::size_t v = 0; v < kAbreast * V; ++v) sum[v] = load(to + v * kLanes);
            for (std::size_t t = 0; t < n_trees; ++t) {
                COMBOOST_UNROLLED(8)
                for (std::size_t r = 0; r < kAbreast; ++r) {
                    const double* values = trees.table.data() + std::size_t{leaves[t][k + r]} * kWidth;
                    for (std::size_t v = 0; v < V; ++v) sum[r * V + v] += load(values + v * kLanes);
                }
            }
            for (std::size_t v = 0; v < kAbreast * V; ++v) store(sum[v], to + v * kLanes);
        }
    };
    for_each_group(trees, first, last, block, kWidth * sizeof(double), add);
    for (std::size_t i = 0; i < block.n_rows; ++i)
        std::copy_n(sums + i * kWidth, n_classes, scores.data() + i * n_classes);
}

// V vectors of the leaf values of many classes, from the class `begin` on. The last one ends with the last class: what
// it shares with the one before comes to the same.
template <std::size_t V>
void add_vectors(const float* const* leaf_values, std::size_t n_trees, std::size_t begin, std::size_t n_classes,
                 double* scores) {
    std::size_t at[V];
    FloatLanes sum[V];
    for (std::size_t v = 0; v < V; ++v) {
        at[v] = std::min(begin + v * kLanes, n_classes - kLanes);
        sum[v] = load(scores + at[v]);
    }
    for (std::size_t t = 0; t < n_trees; ++t)
        for (std::size_t v = 0; v < V; ++v) sum[v] += load_floats(leaf_values[t] + at[v]);
    for (std::size_t v = 0; v < V; ++v) store(sum[v], scores + at[v]);
}

// Adds the values of one leaf per tree to the scores of a row.
void add_row(const float* const* leaf_values, std::size_t n_trees, std::size_t n_classes, double* scores) {
    constexpr std::size_t kVectors = 8;
    std::size_t begin = 0;
    // No vector may share classes with one that is stored already, so the rest is a whole one at least.
    for (; begin + (kVectors + 1) * kLanes <= n_classes; begin += kVectors * kLanes)
        add_vectors<kVectors>(leaf_values, n_trees, begin, n_classes, scores);
    dispatch<1, 2, 3, 4, 5, 6, 7, 8, 9>((n_classes - begin + kLanes - 1) / kLanes, [&]<std::size_t V>() {
        add_vectors<V>(leaf_values, n_trees, begin, n_classes, scores);
    });
}

void add_rows(const LevelTrees& trees, std::size_t first, std::size_t last, const CodeBlock& block,
              std::size_t n_classes, std::span<double> scores) {
    const auto add = [&](std::size_t row, std::size_t, std::size_t n_trees, const GroupLeaves* leaves) {
        const std::size_t n_rows = std::min(kGroup, block.n_rows - row);
        for (std::size_t k = 0; k < n_rows; ++k) {
            const float* leaf_values[kMaxTrees];
            for (std::size_t t = 0; t < n_trees; ++t)
                leaf_values[t] = trees.leaf_values.data() + std::size_t{trees.value_rows[leaves[t][k]]} * n_classes;
            add_row(leaf_values, n_trees, n_classes, scores.data() + (row + k) * n_classes);
        }
    };
    for_each_group(trees, first, last, block, n_classes * sizeof(float), add);
}

// Many classes of which a leaf predicts one. Row after row, so that no sum waits for the one before.
void add_weights(const LevelTrees& trees, std::size_t first, std::size_t last, const CodeBlock& block,
                 std::size_t n_classes, std::span<double> scores) {
    const auto add = [&](std::size_t row, std::size_t tree, std::size_t n_trees, const GroupLeaves* leaves) {
        const std::size_t n_rows = std::min(kGroup, block.n_rows - row);
        for (std::size_t t = 0; t < n_trees; ++t)
            for (std::size_t k = 0; k < n_rows; ++k)
                scores[(row + k) * n_classes + trees.labels[leaves[t][k]]] += trees.weights[tree + t];
    };
    for_each_group(trees, first, last, block, sizeof(Label), add);
}

void add_scores(const LevelTrees& trees, std::size_t first, std::size_t last, const CodeBlock& block,
                std::size_t n_classes, std::span<double> scores) {
    static_assert(LevelTrees::kMaxTabled == 2 * kLanes);
    if (!trees.table.empty())
        n_classes <= kLanes ? add_tabled<1>(trees, first, last, block, n_classes, scores)
                            : add_tabled<2>(trees, first, last, block, n_classes, scores);
    else
        trees.value_rows.empty() ? add_weights(trees, first, last, block, n_classes, scores)
                                 : add_rows(trees, first, last, block, n_classes, scores);
}

}  // namespace
}  // namespace comboost::COMBOOST_KERNELS
