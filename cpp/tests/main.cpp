// Properties of the core on random problems, run under the address and undefined-behaviour sanitizers.
#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "check.hpp"
#include "comboost/balancing.hpp"
#include "comboost/binning.hpp"
#include "comboost/costs.hpp"
#include "comboost/forest.hpp"
#include "comboost/growing.hpp"
#include "comboost/histogram.hpp"
#include "comboost/interrupts.hpp"
#include "comboost/kernels.hpp"
#include "comboost/parallel.hpp"
#include "comboost/partition.hpp"
#include "comboost/predicting.hpp"
#include "comboost/random.hpp"
#include "comboost/sparse.hpp"
#include "comboost/tree_rows.hpp"
#include "comboost/validating.hpp"

using namespace comboost;

namespace {

struct Problem {
    std::size_t n_rows, n_features, n_classes;
    std::vector<double> values;  // row by row
    std::vector<Label> labels;
    std::vector<Weight> weights;  // empty: every row weighs 1
    std::vector<Kind> kinds;
    std::vector<double> edges;
    std::vector<std::int64_t> offsets, starts;
    std::vector<Code> codes;

    Matrix<double> matrix() const {
        return {values.data(), n_rows, n_features, static_cast<std::ptrdiff_t>(n_features), 1};
    }
    Codes code_view() const { return {codes.data(), n_rows, n_features}; }
};

// Some features become categories, 1, 2, ... without a gap, and some lose values.
void add_missing_and_categories(Problem& p, std::mt19937& random) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t f = 0; f < p.n_features; ++f) {
        const bool is_category = random() % 3 == 0, misses = random() % 3 == 0;
        const std::size_t n_categories = std::min<std::size_t>(p.n_rows, 1 + random() % (random() % 2 ? 254 : 12));
        p.kinds.push_back(is_category ? Kind::categories : Kind::complete);
        for (std::size_t i = 0; i < p.n_rows; ++i) {
            double& value = p.values[i * p.n_features + f];
            if (is_category) value = static_cast<double>(1 + (i < n_categories ? i : random() % n_categories));
            if (misses && i >= (is_category ? n_categories : 0) && random() % 4 == 0) value = random() % 2 ? nan : -nan;
        }
    }
}

Problem random_problem(std::mt19937& random) {
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    Problem p{2 + below(below(20) == 0 ? 6000 : 300), 1 + below(6), 2 + below(11), {}, {}, {}, {}, {}, {}, {}, {}};
    const std::size_t n_distinct = 1 + below(400);
    for (std::size_t k = 0; k < p.n_rows * p.n_features; ++k)
        p.values.push_back(static_cast<double>(below(n_distinct)) / 7 - 3);
    add_missing_and_categories(p, random);
    for (std::size_t i = 0; i < p.n_rows; ++i) p.labels.push_back(static_cast<Label>(below(p.n_classes)));
    if (below(2) == 1)
        for (std::size_t i = 0; i < p.n_rows; ++i) p.weights.push_back(static_cast<Weight>(1 + below(1000)));
    p.offsets = p.starts = {0};
    const std::size_t max_bins = 2 + below(254);
    const auto coarse = find_edges(p.matrix(), p.weights, max_bins, 1);
    const auto fine = find_edges(p.matrix(), p.weights, kMaxBins, 1);
    for (std::size_t f = 0; f < p.n_features; ++f) {
        if (coarse[f].missing && p.kinds[f] == Kind::complete) p.kinds[f] = Kind::missing;
        const auto& column = p.kinds[f] == Kind::categories ? fine[f].edges : coarse[f].edges;
        p.edges.insert(p.edges.end(), column.begin(), column.end());
        p.starts.push_back(static_cast<std::int64_t>(p.edges.size()));
        p.offsets.push_back(p.offsets.back() + static_cast<std::int64_t>(column.size()) + 1 +
                            (keeps_code_for_missing(p.kinds[f]) ? 1 : 0));
    }
    p.codes.resize(p.n_rows * p.n_features);
    encode(p.matrix(), p.edges, p.starts, p.kinds, 1, p.codes.data());
    return p;
}

void codes_count_the_edges_below_a_value(const Problem& p) {
    for (std::size_t f = 0; f < p.n_features; ++f) {
        const auto from = p.edges.begin() + p.starts[f], to = p.edges.begin() + p.starts[f + 1];
        CHECK(std::adjacent_find(from, to, std::greater_equal<>()) == to);
        for (std::size_t i = 0; i < p.n_rows; ++i) {
            const double x = p.values[i * p.n_features + f];
            const auto below = std::count_if(from, to, [&](double edge) { return edge < x; });
            const bool reserved = keeps_code_for_missing(p.kinds[f]);
            CHECK(p.codes[f * p.n_rows + i] == (std::isnan(x) ? 0 : below + (reserved ? 1 : 0)));
            CHECK(!std::isnan(x) || reserved);
            if (p.kinds[f] == Kind::categories && !std::isnan(x)) CHECK(p.codes[f * p.n_rows + i] == x);
        }
    }
}

ValueKey key_of(double value) {
    const auto bits = std::bit_cast<ValueKey>(value == 0 ? 0.0 : value);
    return bits >> 63 ? ~bits : bits | ValueKey{1} << 63;
}

struct Question {
    std::vector<ValueKey> lows, highs;
    std::vector<std::uint8_t> shifts;
    std::vector<std::int64_t> starts{0};

    KeyIntervals intervals() const { return {lows, highs, shifts, starts}; }
};

// Intervals from one value of a feature to another, and none for some features; cells of a key, of many, or in between.
Question random_question(const Problem& p, std::mt19937& random) {
    Question question;
    for (std::size_t f = 0; f < p.n_features; ++f) {
        std::vector<ValueKey> ends;
        const std::size_t n_ends = random() % 4 == 0 ? 0 : 2 * (1 + random() % (random() % 3 == 0 ? 100 : 2));
        for (std::size_t k = 0; k < n_ends; ++k)
            ends.push_back(key_of(p.values[random() % p.n_rows * p.n_features + f]));
        std::sort(ends.begin(), ends.end());
        for (std::size_t k = 0; k + 1 < ends.size(); k += 2) {
            const auto shift = static_cast<std::uint8_t>(random() % 2 ? 44 + random() % 8 : random() % 64);
            if (k > 0 && ends[k] >> shift <= ends[k - 1] >> shift) continue;  // no cell belongs to two intervals
            question.lows.push_back(ends[k]);
            question.highs.push_back(ends[k + 1]);
            question.shifts.push_back(shift);
        }
        question.starts.push_back(static_cast<std::int64_t>(question.lows.size()));
    }
    return question;
}

using Place = std::pair<std::size_t, ValueKey>;

std::map<Place, Cell> count_slowly(const Problem& p, const Question& question) {
    std::map<Place, Cell> cells;
    for (std::size_t f = 0; f < p.n_features; ++f)
        for (std::size_t i = 0; i < p.n_rows; ++i)
            for (auto k = static_cast<std::size_t>(question.starts[f]);
                 k < static_cast<std::size_t>(question.starts[f + 1]); ++k) {
                const ValueKey key = key_of(p.values[i * p.n_features + f]), low = question.lows[k];
                if (key < low || key > question.highs[k]) continue;
                const auto tag = static_cast<std::uint32_t>(f << Cell::kShiftBits | question.shifts[k]);
                const ValueKey place = std::max(low, key >> question.shifts[k] << question.shifts[k]);
                Cell& cell = cells.try_emplace({f, place}, Cell{key, key, 0, 0, tag}).first->second;
                cell.low = std::min(cell.low, key);
                cell.high = std::max(cell.high, key);
                ++cell.rows;
                cell.weight += p.weights.empty() ? 1 : p.weights[i];
            }
    return cells;
}

bool are_same(const std::vector<Cell>& cells, const std::map<Place, Cell>& expected) {
    return std::equal(
        cells.begin(), cells.end(), expected.begin(), expected.end(), [](const Cell& a, const auto& item) {
            const Cell& b = item.second;
            return a.tag == b.tag && a.low == b.low && a.high == b.high && a.rows == b.rows && a.weight == b.weight;
        });
}

void cells_hold_their_rows_and_those_of_parts_add_up(const Problem& p, std::mt19937& random) {
    const Question question = random_question(p, random);
    const auto expected = count_slowly(p, question);
    const Matrix<double> all = p.matrix();
    CHECK(are_same(count_cells(all, p.weights, question.intervals(), 1), expected));
    CHECK(are_same(count_cells(all, p.weights, question.intervals(), 2), expected));

    std::vector<std::vector<Cell>> parts;
    for (std::size_t begin = 0; begin < p.n_rows;) {
        const std::size_t size = 1 + random() % (p.n_rows - begin);
        const Matrix<double> part{all.data + begin * p.n_features, size, p.n_features, all.row_stride, 1};
        const auto weights = p.weights.empty() ? std::span<const Weight>{} : std::span(p.weights).subspan(begin, size);
        parts.push_back(count_cells(part, weights, question.intervals(), 1));
        begin += size;
    }
    const std::vector<std::span<const Cell>> sets(parts.begin(), parts.end());
    CHECK(are_same(merge_cells(sets), expected));
}

void floats_have_the_cells_of_the_same_doubles(std::mt19937& random) {
    std::vector<float> floats;
    for (int i = 0; i < 3000; ++i) floats.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
    const std::vector<double> doubles(floats.begin(), floats.end());
    const double infinity = std::numeric_limits<double>::infinity();
    const Question question{{key_of(-infinity)}, {key_of(infinity)}, {50}, {0, 1}};
    const auto cells = count_cells(Matrix<float>{floats.data(), 3000, 1, 1, 1}, {}, question.intervals(), 1);
    const Problem p{3000, 1, 2, doubles, {}, {}, {}, {}, {}, {}, {}};
    CHECK(are_same(cells, count_slowly(p, question)));
    std::int64_t rows = 0;
    for (const Cell& cell : cells) rows += cell.rows;
    CHECK(rows == std::count_if(doubles.begin(), doubles.end(), [](double x) { return !std::isnan(x); }));
}

std::vector<double> factors(const Problem& p, double scale) {
    std::vector<double> factors(p.n_classes * p.n_classes, scale);
    for (std::size_t l = 0; l < p.n_classes; ++l) factors[l * p.n_classes + l] = 0.0;
    return factors;
}

using Histogram = std::vector<Sum>;

Histogram count(const Problem& p, const CostTable& costs, const RowSet& set, int n_threads) {
    const BinLayout layout{p.offsets};
    Histogram histogram(layout.n_bins() * costs.channels().size());
    RecordPacker packer;
    const Bundles bundles(p.code_view(), layout, n_threads);
    count_histograms(p.code_view(), bundles, costs, layout, std::span(&set, 1), n_threads, packer, histogram.data());
    return histogram;
}

// Few rows are walked node by node, many in blocks.
void few_rows_get_the_scores_of_many(const Problem& p, const Forest& forest, const std::vector<Label>& predicted) {
    const Matrix<double> all = p.matrix();
    for (std::size_t i = 0; i < std::min<std::size_t>(p.n_rows, 10); ++i) {
        std::vector<double> scores(p.n_classes);
        const Matrix<double> one{all.data + i * p.n_features, 1, p.n_features, all.row_stride, 1};
        add_scores(one, true, forest, 0, 1, p.n_classes, 1, scores);
        CHECK(scores[predicted[i]] == 0.5);
    }
}

// Whatever is written into a tree: the sanitizers see whether what is not refused can be followed.
void forged_trees_are_refused_or_followed(const Problem& p, const Forest& forest, std::mt19937& random) {
    const ForestShape shape{p.n_features, p.n_classes, p.kinds};
    check_forest(forest, shape);
    std::vector<double> scores(p.n_rows * p.n_classes);
    std::vector<Label> predicted(p.n_rows);
    for (int repetition = 0; repetition < 40; ++repetition) {
        std::vector<Node> nodes(forest.nodes.begin(), forest.nodes.end());
        Node& node = nodes[random() % nodes.size()];
        reinterpret_cast<unsigned char*>(&node)[random() % sizeof(Node)] ^=
            static_cast<unsigned char>(1U << random() % 8);
        const Forest forged{nodes, forest.sets, forest.offsets, forest.weights, {}, {}};
        try {
            check_forest(forged, shape);
        } catch (const std::invalid_argument&) {
            continue;
        }
        add_scores(p.matrix(), true, forged, 0, 1, p.n_classes, 2, scores);
        predict_classes(p.code_view(), forged, p.n_classes, 2, predicted);
        std::vector<RowIndex> leaves(p.n_rows);
        Partition(p.n_rows).find_leaves(p.code_view(), {nodes, forest.sets}, 2, leaves);
        for (const Label label : predicted) CHECK(label < p.n_classes);
        for (const RowIndex leaf : leaves) CHECK(leaf <= nodes.size() / 2);
    }
}

std::vector<RowIndex> leaves_of(const Partition& partition, const Problem& p, const Grower& grower) {
    std::vector<RowIndex> leaves(p.n_rows);
    std::vector<Sum> covers(grower.nodes().size() / 2 + 1);
    partition.find_leaves(p.code_view(), {grower.nodes(), grower.sets()}, 2, leaves, {p.weights, covers});
    for (std::size_t i = 0; i < p.n_rows; ++i) covers[leaves[i]] -= p.weights.empty() ? 1 : Sum{p.weights[i]};
    CHECK(std::ranges::count(covers, Sum{0}) == std::ssize(covers));
    return leaves;
}

// Grows a tree with the partition beside it, as the Python loop does, checking every level.
void trees_keep_sums_and_agree_with_their_partition(const Problem& p, std::mt19937& random) {
    const GrowthRules rules{random() % 2 ? Criterion::cost : Criterion::gini,
                            static_cast<Sum>(1 + random() % 3),
                            0.0,
                            1 + random() % p.n_features,
                            random(),
                            random() % 4,
                            0.5 * static_cast<double>(random() % 3)};
    Grower grower(p.offsets, p.kinds, p.edges, p.starts, p.n_classes, rules);
    const std::vector<double> unit = factors(p, 1e5);
    CostTable costs(p.labels, p.weights, grower.channels(), {unit, {}}, 2);
    std::vector<Label> votes(p.n_rows);
    for (Label& vote : votes) vote = static_cast<Label>(random() % p.n_classes);
    costs.set_predicted(votes);
    const double growth = 1.5, shrink = 1 / 1.5;
    costs.quantise({std::span(&growth, 1), std::span(&shrink, 1)}, 0);

    Partition partition(p.n_rows);
    Histogram histograms = count(p, costs, partition.rows(0), 1);
    CHECK(histograms == count(p, costs, partition.rows(0), 2));
    std::vector<Sum> totals(grower.channels().size());
    costs.sum_rows(totals);
    grower.plant(totals, 3);

    for (int depth = 0; depth < 6; ++depth) {
        grower.search(0, histograms.data(), grower.frontier_size(), 1 + depth % 2);
        const std::size_t first_child = partition.n_nodes();
        const std::vector<Split> splits = grower.branch();
        if (splits.empty()) break;
        partition.split(p.code_view(), splits, 2);

        Histogram counted, expected;
        std::vector<std::int32_t> counted_nodes;
        for (std::size_t k = 0; k < splits.size(); ++k) {
            const RowSet left = partition.rows(first_child + 2 * k), right = partition.rows(first_child + 2 * k + 1);
            CHECK(left.size >= static_cast<std::size_t>(rules.min_samples_leaf) &&
                  right.size >= static_cast<std::size_t>(rules.min_samples_leaf));
            CHECK(left.size + right.size == partition.rows(static_cast<std::size_t>(splits[k].node)).size);
            CHECK(std::is_sorted(left.rows, left.rows + left.size) &&
                  std::is_sorted(right.rows, right.rows + right.size));
            const Histogram both[2] = {count(p, costs, left, 1), count(p, costs, right, 1)};
            const std::size_t smaller = right.size < left.size ? 1 : 0;
            counted_nodes.push_back(static_cast<std::int32_t>(first_child + 2 * k + smaller));
            counted.insert(counted.end(), both[smaller].begin(), both[smaller].end());
            for (const Histogram& side : both) expected.insert(expected.end(), side.begin(), side.end());
        }
        Histogram derived(expected.size());
        grower.derive(histograms.data(), counted.data(), counted_nodes, 2, derived.data());
        CHECK(derived == expected);
        histograms = derived;
    }

    const std::vector<RowIndex> leaves = leaves_of(partition, p, grower);
    std::vector<Label> classes;
    for (const Node& node : grower.nodes())
        if (node.feature == kLeaf) classes.push_back(node.label);
    for (std::size_t i = 0; i < p.n_rows; ++i) votes[i] = classes[leaves[i]];
    std::vector<Label> predicted(p.n_rows);
    const std::vector<std::int64_t> tree_offsets{0, static_cast<std::int64_t>(grower.nodes().size())};
    const std::vector<double> tree_weights{0.5};
    const Forest forest{grower.nodes(), grower.sets(), tree_offsets, tree_weights, {}, {}};
    predict_classes(p.code_view(), forest, p.n_classes, 2, predicted);
    CHECK(predicted == votes);

    std::vector<double> scores(p.n_rows * p.n_classes);
    add_scores(p.matrix(), true, forest, 0, 1, p.n_classes, 2, scores);
    for (std::size_t i = 0; i < p.n_rows; ++i) CHECK(scores[i * p.n_classes + votes[i]] == 0.5);
    few_rows_get_the_scores_of_many(p, forest, votes);
    forged_trees_are_refused_or_followed(p, forest, random);

    costs.set_predicted(votes);
    CHECK(costs.advantage() == grower.advantage());
    std::vector<Sum> losses(p.n_classes * p.n_classes);
    costs.sum_leaf_losses(losses);
    CHECK(std::accumulate(losses.begin(), losses.end(), Sum{0}) == grower.loss());
}

// A table by its entries: what is not the zero of its column, column after column.
struct EntryTable {
    std::vector<std::int64_t> starts{0};
    std::vector<RowIndex> rows;
    std::vector<double> values, zeros;

    EntryTable(const Problem& p, std::vector<double> of_columns) : zeros(std::move(of_columns)) {
        for (std::size_t f = 0; f < p.n_features; ++f) {
            for (std::size_t i = 0; i < p.n_rows; ++i) {
                const double value = p.values[i * p.n_features + f];
                if (value == zeros[f] || (std::isnan(value) && std::isnan(zeros[f]))) continue;
                rows.push_back(static_cast<RowIndex>(i));
                values.push_back(value);
            }
            starts.push_back(static_cast<std::int64_t>(rows.size()));
        }
    }

    SparseMatrix matrix(const Problem& p) const { return {starts, rows, values, p.n_rows}; }
};

void sparse_edges_are_those_of_the_dense_table(const Problem& p, std::mt19937& random) {
    const EntryTable table(p, std::vector<double>(p.n_features, 0.0));
    const std::size_t max_bins = 2 + random() % 254;
    const auto dense = find_edges(p.matrix(), p.weights, max_bins, 1);
    const SparseEdges sparse =
        find_sparse_edges(table.matrix(p), p.weights, max_bins, 1 + static_cast<int>(random() % 2));
    for (std::size_t f = 0; f < p.n_features; ++f) {
        const std::vector<double> edges(sparse.edges.begin() + sparse.starts[f],
                                        sparse.edges.begin() + sparse.starts[f + 1]);
        CHECK(edges == dense[f].edges && sparse.missing[f] == dense[f].missing);
    }
}

void rounds_of_sparse_rows_are_those_of_binned_rows(const Problem& p, const SparseCodes& codes, GrowthRules rules,
                                                    std::mt19937& random) {
    rules.limits = {1 + random() % 6, random() % 2 ? TreeLimits::kNone : 2 + random() % 20};
    const std::vector<double> unit = factors(p, 1.0), hidden(unit.size(), 0.25);
    Grower dense_grower(p.offsets, p.kinds, p.edges, p.starts, p.n_classes, rules);
    Grower sparse_grower(p.offsets, p.kinds, p.edges, p.starts, p.n_classes, rules);
    BinnedRows dense(p.labels, p.weights, {unit, {}}, dense_grower, p.code_view(), {1 << 20, 1.0, 1 << 19}, 2);
    SparseRows sparse(p.labels, p.weights, {unit, {}}, sparse_grower, codes, 1);
    TreeRows* const both[] = {&dense, &sparse};
    Costs costs[2];
    for (std::size_t k = 0; k < 2; ++k) costs[k] = both[k]->update({}, static_cast<double>(p.n_classes), true);
    for (std::uint64_t round = 0; round < 3; ++round) {
        LeafValues values[2];
        for (std::size_t k = 0; k < 2; ++k) {
            both[k]->grow(round, 1.0);
            values[k] = both[k]->leaf_values({unit, hidden, costs[k].exponent}, 0.5, random() % 2 == 0 || k == 1);
        }
        CHECK(std::memcmp(dense_grower.nodes().data(), sparse_grower.nodes().data(),
                          dense_grower.nodes().size() * sizeof(Node)) == 0);
        CHECK(dense.leaves() == sparse.leaves() && dense.covers() == sparse.covers());
        for (std::size_t k = 0; k < 2; ++k)
            costs[k] = both[k]->update(values[1].factors(), costs[k].largest * values[1].largest, true);
        CHECK(costs[0].loss == costs[1].loss && costs[0].exponent == costs[1].exponent);
        CHECK(costs[0].largest == costs[1].largest);
    }
}

void sparse_trees_are_those_of_the_dense_table(const Problem& p, std::mt19937& random) {
    // Any value of a column will do as its zero; here that of some row.
    const std::size_t row = random() % p.n_rows;
    const EntryTable table(p, {p.values.begin() + static_cast<std::ptrdiff_t>(row * p.n_features),
                               p.values.begin() + static_cast<std::ptrdiff_t>((row + 1) * p.n_features)});
    const SparseCodes codes(table.matrix(p), table.zeros, p.edges, p.starts, p.kinds, 2);
    for (std::size_t f = 0; f < p.n_features; ++f) {
        const auto [rows, of_rows, zero] = codes.entries(codes.rank(f));
        std::vector<Code> column(p.n_rows, zero);
        for (std::size_t k = 0; k < rows.size(); ++k) column[rows[k]] = of_rows[k];
        CHECK(std::equal(column.begin(), column.end(), p.code_view().column(f)));
    }

    const GrowthRules rules{random() % 2 ? Criterion::cost : Criterion::gini,
                            static_cast<Sum>(1 + random() % 3),
                            0.02 * static_cast<double>(random() % 3),
                            1 + random() % p.n_features,
                            random(),
                            random() % 4,
                            0.5 * static_cast<double>(random() % 3)};
    Grower dense(p.offsets, p.kinds, p.edges, p.starts, p.n_classes, rules);
    Grower sparse(p.offsets, p.kinds, p.edges, p.starts, p.n_classes, rules);
    const std::vector<double> unit = factors(p, 1e5);
    CostTable costs(p.labels, p.weights, dense.channels(), {unit, {}}, 2);
    costs.quantise({}, 0);
    std::vector<Sum> totals(dense.channels().size());
    costs.sum_rows(totals);
    const double smoothing = random() % 2 ? 0.0 : 1e6;
    dense.plant(totals, 1, smoothing);
    sparse.plant(totals, 1, smoothing);
    Partition partition(p.n_rows);
    SparsePartition sparse_partition(p.n_rows);
    for (int depth = 0; depth < 6; ++depth) {
        for (std::size_t k = 0; k < dense.frontier_size(); ++k)
            dense.search(k, count(p, costs, partition.rows(dense.frontier_begin() + k), 1).data(), 1, 1);
        sparse.search_sparse(codes, costs.records(), sparse_partition, 1 + depth % 2);
        const std::vector<Split> splits = dense.branch();
        const std::vector<Split> same = sparse.branch();
        CHECK(splits.size() == same.size());
        if (splits.empty()) break;
        CHECK(std::memcmp(splits.data(), same.data(), splits.size() * sizeof(Split)) == 0);
        if (depth == 5) break;
        partition.split(p.code_view(), splits, 1);
        sparse_partition.split(codes, same);
    }
    CHECK(std::memcmp(dense.nodes().data(), sparse.nodes().data(), dense.nodes().size() * sizeof(Node)) == 0);
    std::vector<RowIndex> sparse_leaves(p.n_rows);
    sparse_partition.find_leaves(codes, {sparse.nodes(), sparse.sets()}, sparse_leaves);
    CHECK(leaves_of(partition, p, dense) == sparse_leaves);
    rounds_of_sparse_rows_are_those_of_binned_rows(p, codes, rules, random);
}

void log_loss_is_the_same_for_any_threads_and_at_most_52_bits(const Problem& p, std::mt19937& random) {
    std::vector<double> scores(p.n_rows * p.n_classes);
    for (double& score : scores) score = static_cast<double>(random() % 7) * (random() % 50 == 0 ? 1e9 : 0.5);
    const auto loss = [&](int n_threads) {
        return balanced_log_loss(scores, p.labels, p.weights, p.n_classes, 0.5, n_threads);
    };
    CHECK(loss(1) >= 0.0 && loss(1) <= 36.05);
    CHECK(loss(1) == loss(2) && loss(1) == loss(7));
}

// Values of random leaves: what the sums of the leaves say will remain is what remains.
void leaves_guarantee_what_their_values_leave(const Problem& p, std::mt19937& random) {
    const std::size_t k = p.n_classes;
    std::vector<Label> predicted(p.n_rows);
    for (Label& label : predicted) label = static_cast<Label>(random() % k);
    std::vector<double> unit(k * k, 1.0 / static_cast<double>(k)), smoothing(k * k, 1e6);
    const std::vector<double> tops(k, 1.0), hidden(k * k);
    for (std::size_t l = 0; l < k; ++l) unit[l * k + l] = smoothing[l * k + l] = 0.0;
    const int exponent = 25;
    for (const bool log : {false, true}) {
        CostTable costs(p.labels, p.weights, Channels{k, false},
                        {unit, log ? std::span(tops) : std::span<double>(), 40}, 2);
        CostTable alone(p.labels, p.weights, Channels{k, false}, costs.loss(), 1);
        const PassResult before = costs.quantise({}, exponent);
        alone.quantise({}, exponent);
        std::vector<Sum> pairs(k * k * k), again(pairs.size()), losses(k * k), of_classes(k * k);
        for (CostTable* table : {&costs, &alone}) table->set_predicted(predicted);
        costs.sum_leaves(pairs);
        alone.sum_leaves(again);
        costs.sum_leaf_losses(losses);
        CHECK(pairs == again && std::accumulate(pairs.begin(), pairs.end(), Sum{0}) == before.loss);
        for (std::size_t row = 0; row < losses.size(); ++row)
            CHECK(losses[row] == std::accumulate(&pairs[row * k], &pairs[row * k] + k, Sum{0}));
        for (std::size_t leaf = 0; leaf < k; ++leaf)
            for (std::size_t l = 0; l < k; ++l)
                for (std::size_t j = 0; j < k; ++j) {
                    of_classes[leaf * k + j] += pairs[(leaf * k + l) * k + j];
                    of_classes[leaf * k + l] -= pairs[(leaf * k + l) * k + j];
                }
        const LeafValues values = balance_leaves({pairs, {}, of_classes}, {smoothing, hidden, 0}, k, 1.0, 2);
        const LeafValues bounded = balance_leaves({{}, losses, of_classes}, {smoothing, hidden, 0}, k, 1.0, 2);
        const PassResult after = costs.quantise(values.factors(), exponent);
        const double rounding = 0x1p10 + 1e-5 * static_cast<double>(before.loss);
        CHECK(values.remaining <= static_cast<double>(before.loss) + rounding);
        CHECK(bounded.remaining <= static_cast<double>(before.loss) + rounding);
        if (log)
            CHECK(after.log_loss <= before.log_loss + (WideSum{1} << 34));
        else
            CHECK(std::abs(static_cast<double>(after.loss) - values.remaining) <= rounding);
    }
}

// Losses, priced costs and pairs of random leaves, by any threads and vectors, against what a sample says by itself.
void losses_and_priced_costs_are_those_of_the_samples(const Problem& p, std::mt19937& random) {
    const std::size_t k = p.n_classes;
    std::uniform_real_distribution<double> values(-2.0, 2.0), some_prices(0.0, 4.0);
    std::vector<Label> predicted(p.n_rows);
    for (Label& label : predicted) label = static_cast<Label>(random() % k);
    const bool one_hot = random() % 2 == 0;
    std::vector<double> unit(k * k, 1.0 / static_cast<double>(k)), growth(one_hot ? 1 : k * k), shrink(growth.size());
    const std::vector<double> tops(k, 1.0);
    for (std::size_t l = 0; l < k; ++l) unit[l * k + l] = 0.0;
    for (std::size_t q = 0; q < growth.size(); ++q) {
        growth[q] = std::exp(values(random));
        shrink[q] = 1.0 / growth[q];
    }
    const auto excess = [&](std::size_t row, std::size_t j) {
        const std::size_t truth = p.labels[row], leaf = predicted[row];
        if (j == truth) return 1.0;
        if (one_hot) return leaf == truth ? shrink[0] : (leaf == j ? growth[0] : 1.0);
        return growth[leaf * k + j] * shrink[leaf * k + truth];
    };
    constexpr int kLossExponent = 44, kCostExponent = 20;
    for (const LossKind kind : {LossKind::exponential, LossKind::logistic, LossKind::log}) {
        const bool log = kind == LossKind::log;
        const Loss loss{unit, log ? std::span(tops) : std::span<const double>(), 40, kind == LossKind::logistic};
        CHECK(loss.kind() == kind);
        std::vector<double> prices(log ? k : k * k);
        for (double& price : prices) price = some_prices(random);

        std::vector<double> losses(log ? k : k * k), pairs(k * k * k);
        double largest = 0.0, priced_loss = 0.0, weight_sum = 0.0;
        for (std::size_t i = 0; i < p.n_rows; ++i) {
            const double weight = p.weights.empty() ? 1.0 : static_cast<double>(p.weights[i]);
            const std::size_t truth = p.labels[i];
            double sum = 0.0, cost_sum = 0.0;
            for (std::size_t j = 0; j < k; ++j) sum += unit[truth * k + j] * excess(i, j);
            for (std::size_t j = 0; j < k; ++j) {
                const double c = unit[truth * k + j], e = excess(i, j);
                const double cost = c * e / (log ? 1.0 + sum : kind == LossKind::logistic ? 1.0 + e : 1.0);
                cost_sum += cost;
                pairs[(predicted[i] * k + truth) * k + j] += weight * cost;
                priced_loss += weight * cost * prices[log ? truth : truth * k + j];
                if (!log) losses[truth * k + j] += weight * c * (loss.logistic ? std::log2(1.0 + e) : e);
            }
            if (log) losses[truth] += weight * std::log2(1.0 + sum);
            largest = std::max(largest, cost_sum);
            weight_sum += weight;
        }

        std::vector<WideSum> first;
        std::vector<Sum> first_pairs;
        for (const int n_threads : {1, 2, 5}) {
            allow_wide_vectors(n_threads != 5);
            CostTable costs(p.labels, p.weights, Channels{k, false}, loss, n_threads);
            costs.set_predicted(predicted);
            std::vector<WideSum> sums(costs.n_losses());
            std::vector<Sum> of_leaves(pairs.size());
            const double most = costs.add({growth, shrink}, kLossExponent, sums);
            costs.sum_pairs(kCostExponent, of_leaves);
            const PassResult pass = costs.quantise({}, kCostExponent, prices);
            const Costs updated = costs.update({}, 4.0 * most, prices);
            allow_wide_vectors(true);
            CHECK(std::abs(most - largest) <= 1e-13 * largest);
            CHECK(pass.log_loss == 0 && updated.log_loss == 0);
            CHECK(std::ldexp(pass.largest, -kCostExponent) == updated.largest);
            const auto kn = static_cast<double>(k);
            CHECK(std::abs(static_cast<double>(pass.loss) - std::ldexp(priced_loss, kCostExponent)) <=
                  0.51 * kn * weight_sum);
            if (n_threads == 1) {
                first = sums;
                first_pairs = of_leaves;
            }
            CHECK(sums == first && of_leaves == first_pairs);
            for (std::size_t c = 0; c < sums.size(); ++c)
                CHECK(std::abs(std::ldexp(static_cast<double>(sums[c]), -kLossExponent) - losses[c]) <=
                      1e-12 * (losses[c] + weight_sum));
            for (std::size_t c = 0; c < pairs.size(); ++c)
                CHECK(std::abs(static_cast<double>(of_leaves[c]) - std::ldexp(pairs[c], kCostExponent)) <=
                      0.51 * weight_sum);
        }
    }
}

void forecasts_without_a_step_are_the_sums(std::mt19937& random) {
    const std::vector<Sum> pairs{0, 3, 5, 0, 0, 7, 11, 0};
    const std::vector<double> values{0.5, -0.5, -1.0, 1.0};
    const Forecast still = forecast(pairs, values, 2, 0.0);
    CHECK(still.value == std::vector<double>({0.0, 10.0, 16.0, 0.0}));
    CHECK(still.slope == std::vector<double>({0.0, 3.0 * -1.0 + 7.0 * 2.0, 5.0 * 1.0 + 11.0 * -2.0, 0.0}));
    const double step = static_cast<double>(random() % 1000) / 1000.0;
    const Forecast moved = forecast(pairs, values, 2, step);
    CHECK(std::abs(moved.value[1] - (3.0 * std::exp(-step) + 7.0 * std::exp(2.0 * step))) <= 1e-12);
}

void the_largest_losses_fit() {
    // Losses of 2^51 units, of samples that weigh 2^32 together, and of more samples than a low digit holds.
    const std::vector<double> unit{0.0, 1.0, 1.0, 0.0};
    const std::vector<Weight> weights{0xFFFFFFFF, 1};
    const std::vector<Label> two(2, 1), many(10'000, 1);
    for (const bool weighted : {true, false}) {
        const std::vector<Label>& labels = weighted ? two : many;
        CostTable costs(labels, weighted ? std::span<const Weight>(weights) : std::span<const Weight>(),
                        Channels{2, false}, {unit, {}}, 1);
        std::vector<WideSum> sums(4);
        costs.add({}, 51, sums);
        const WideSum weight = weighted ? WideSum{1} << 32 : WideSum{10'000};
        CHECK(sums[2] == weight << 51 && sums[0] == 0 && sums[1] == 0 && sums[3] == 0);
    }
}

void the_largest_sums_fit(std::size_t n_classes) {
    // Two rows of weight 2^31 whose costs add up to 2^30 each: the loss is 2^62, and a node's best cost is -2^62.
    const Weight half = Weight{1} << 31;
    const std::vector<Label> labels{0, 0};
    const std::vector<Weight> weights{half, half};
    std::vector<double> unit(n_classes * n_classes, 0.0);
    unit[1] = 1.0;
    CostTable costs(labels, weights, Channels{n_classes, false}, {unit, {}}, 1);
    const PassResult pass = costs.quantise({}, 30);
    CHECK(pass.loss == Sum{1} << 62);
    const std::vector<Code> codes{0, 1};
    const std::vector<std::int64_t> offsets{0, 2};
    const std::vector<double> edges{0.5};
    const std::vector<std::int64_t> starts{0, 1};
    const std::vector<Kind> kinds{Kind::complete};
    Grower grower(offsets, kinds, edges, starts, n_classes, {Criterion::gini, 1, 0.0, 1, 0});
    Histogram root(2 * grower.channels().size());
    const RowSet all{nullptr, 2};
    RecordPacker packer;
    const Codes view{codes.data(), 2, 1};
    const Bundles bundles(view, {offsets}, 1);
    count_histograms(view, bundles, costs, {offsets}, std::span(&all, 1), 1, packer, root.data());
    std::vector<Sum> totals(grower.channels().size());
    costs.sum_rows(totals);
    grower.plant(totals, 0);
    CHECK(grower.advantage() == Sum{1} << 62 && grower.loss() == Sum{1} << 62);
}

void extreme_values_have_edges_between_them() {
    const double huge = std::numeric_limits<double>::max(), tiny = std::numeric_limits<double>::denorm_min();
    const std::vector<double> values{-huge, -0.0, 0.0, tiny, 2 * tiny, huge};
    const auto edges = find_edges(Matrix<double>{values.data(), values.size(), 1, 1, 1}, {}, 255, 1).front().edges;
    const std::vector<double> distinct{-huge, 0.0, tiny, 2 * tiny, huge};
    CHECK(edges.size() + 1 == distinct.size());
    for (std::size_t k = 0; k < edges.size(); ++k) CHECK(distinct[k] <= edges[k] && edges[k] < distinct[k + 1]);
}

void drawn_features_are_distinct_and_ascending() {
    for (std::uint64_t node = 0; node < 200; ++node) {
        const auto drawn = draw_features(node_key(7, 1, node), 10, 4);
        CHECK(drawn.size() == 4 && drawn.back() < 10 &&
              std::adjacent_find(drawn.begin(), drawn.end(), std::greater_equal<>()) == drawn.end());
    }
}

// The tasks begun, if each is worth a look and one of them throws.
std::size_t n_begun_if_one_throws(std::size_t n_tasks, int n_threads, std::size_t culprit) {
    std::atomic<std::size_t> n_begun = 0;
    try {
        for_each_task(n_tasks, n_tasks * kUpdatesPerPoll, n_threads, [&](std::size_t task) {
            ++n_begun;
            if (task == culprit) throw std::invalid_argument("this one");
        });
        CHECK(false);
    } catch (const std::invalid_argument&) {
        CHECK(true);
    }
    return n_begun;
}

void no_task_is_begun_after_one_has_failed() {
    CHECK(n_begun_if_one_throws(1000, 1, 10) == 11);
    // Another thread is kept in a task until the first has failed: it leaves that one, and begins no other.
    std::atomic<bool> has_failed = false;
    std::atomic<int> n_begun_late = 0;
    try {
        for_each_task(1000, kSerialWork, 2, [&](std::size_t task) {
            if (task == 0) {
                has_failed = true;
                throw std::invalid_argument("this one");
            }
            while (!has_failed) std::this_thread::yield();
            ++n_begun_late;
            for (;;) poll_interrupts();  // ends only by being abandoned
        });
        CHECK(false);
    } catch (const std::invalid_argument&) {
        CHECK(n_begun_late <= 1);
    }
}

std::atomic<std::size_t> n_asked = 0;

struct Interrupted {};

template <class Call>
bool is_interrupted(Call&& call) {
    try {
        call();
    } catch (const Interrupted&) {
        return true;
    }
    return false;
}

void long_calls_ask_and_end_if_interrupted() {
    const std::vector<double> values(4 * kUpdatesPerPoll, 1.0);
    const Matrix<double> column{values.data(), values.size(), 1, 1, 1}, few{values.data(), 100, 1, 1, 1};
    for (const int n_threads : {1, 2}) {
        n_asked = 0;
        set_interrupt_hook([] { ++n_asked; }, std::chrono::nanoseconds(0));
        find_edges(few, {}, 255, n_threads);
        CHECK(n_asked == 0);  // short calls do not pay
        find_edges(column, {}, 255, n_threads);
        CHECK(n_asked > 0);
        set_interrupt_hook([] { throw Interrupted{}; }, std::chrono::nanoseconds(0));
        CHECK(!is_interrupted([&] { find_edges(few, {}, 255, n_threads); }));
        CHECK(is_interrupted([&] { find_edges(column, {}, 255, n_threads); }));
    }
    set_interrupt_hook([] { ++n_asked; }, std::chrono::hours(1));
    poll_interrupts();
    const std::size_t n_before = n_asked;
    for (int k = 0; k < 1000; ++k) poll_interrupts();
    CHECK(n_asked == n_before);  // not again within the interval
    set_interrupt_hook(nullptr, std::chrono::nanoseconds(0));
}

void stretches_cover_every_item_once() {
    for (const std::size_t updates : {std::size_t{0}, std::size_t{3}, kUpdatesPerPoll / 7, 2 * kUpdatesPerPoll})
        for (const std::size_t size : std::initializer_list<std::size_t>{0, 1, 6, 7, 8, 21, 1000}) {
            std::size_t next = 5;
            for_each_stretch(5, 5 + size, updates, [&](std::size_t from, std::size_t to) {
                CHECK(from == next && (to > from || size == 0));
                next = to;
            });
            CHECK(next == 5 + size);
        }
}

void exponentials_are_right_and_the_same_for_any_vectors(std::mt19937& random) {
    std::uniform_real_distribution<double> exponents(-708.0, 0.0);
    for (const std::size_t n : std::initializer_list<std::size_t>{1, 3, 4, 7, 1000}) {
        std::vector<double> values(n), narrow, wide;
        for (double& value : values)
            value = random() % 10 == 0 ? 0.0 : exponents(random) / static_cast<double>(1 + random() % 50);
        allow_wide_vectors(false);
        kernels().exponentiate(narrow = values);
        allow_wide_vectors(true);
        kernels().exponentiate(wide = values);
        CHECK(std::memcmp(narrow.data(), wide.data(), n * sizeof(double)) == 0);
        for (std::size_t i = 0; i < n; ++i) {
            const double right = std::exp(values[i]);
            CHECK(std::abs(wide[i] - right) <= 0x1p-51 * right);
            CHECK(values[i] != 0.0 || wide[i] == 1.0);
        }
    }
    double least[] = {-708.0, -709.0, -1e300, -std::numeric_limits<double>::infinity()};
    kernels().exponentiate(std::span(least));
    CHECK(least[0] > 0.0 && least[1] == least[0] && least[2] == least[0] && least[3] == least[0]);
}

}  // namespace

int main() {
    std::mt19937 random(20131);
    for (int repetition = 0; repetition < 200; ++repetition) {
        const Problem p = random_problem(random);
        codes_count_the_edges_below_a_value(p);
        cells_hold_their_rows_and_those_of_parts_add_up(p, random);
        trees_keep_sums_and_agree_with_their_partition(p, random);
        sparse_edges_are_those_of_the_dense_table(p, random);
        sparse_trees_are_those_of_the_dense_table(p, random);
        log_loss_is_the_same_for_any_threads_and_at_most_52_bits(p, random);
        leaves_guarantee_what_their_values_leave(p, random);
        losses_and_priced_costs_are_those_of_the_samples(p, random);
    }
    for (const std::size_t n_classes : std::initializer_list<std::size_t>{2, 3, 9, 40}) the_largest_sums_fit(n_classes);
    the_largest_losses_fit();
    forecasts_without_a_step_are_the_sums(random);
    extreme_values_have_edges_between_them();
    floats_have_the_cells_of_the_same_doubles(random);
    drawn_features_are_distinct_and_ascending();
    no_task_is_begun_after_one_has_failed();
    long_calls_ask_and_end_if_interrupted();
    stretches_cover_every_item_once();
    exponentials_are_right_and_the_same_for_any_vectors(random);
    std::printf("native tests: %d passed, %d failed\n", check::n_passed, check::n_failed);
    return check::n_failed != 0;
}
